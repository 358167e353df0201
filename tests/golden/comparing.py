"""The traces on file, and how those of the present code differ from them."""

import json
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding
import numpy as np

from tests.golden.settings import family, settings

PATH = Path(__file__).with_name("traces.json")
MACHINE = " machine"  # no setting has this name; the space puts it first
OPTIONAL = "baseline/vowpal-wabbit/"
Hashes = dict[str, str]
LONG = (
    "class/full/switching/listed-intervals",
    "class/full/submodular/custom",
)  # leave them to the slow tests


def machine() -> Hashes:
    """What the last bits of floats depend on beside the code."""
    packages = ("numpy", "scipy", "numba", "scikit-learn")
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[index]
    return {
        "processor": f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}",
        "instructions": " ".join(extensions.get("found", [])),
        **{name: version(name) for name in packages},
    }


def stored() -> dict[str, Hashes]:
    """The traces on file."""
    found: dict[str, Hashes] = json.loads(PATH.read_text()) if PATH.exists() else {}
    return found


def store(traces: dict[str, Hashes]) -> None:
    """Write the traces, one setting a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(traces[name])}" for name in sorted(traces)]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def played(names: Iterable[str]) -> dict[str, Hashes]:
    """The hashes of settings, played now."""
    known = settings()
    return {name: known[name]().hashes() for name in names}


def differences(names: Iterable[str]) -> list[str]:
    """A line for each setting that differs from the trace on file, with the fields that do."""
    on_file, known = stored(), settings()
    found = []
    for name in names:
        try:
            now = known[name]().hashes()
        except Exception as error:  # the other settings are still worth playing
            found.append(f"{name}: crashed with {type(error).__name__}: {error}")
            continue
        then = on_file.get(name)
        if then is None:
            found.append(f"{name}: not on file")
        elif then != now:
            fields = [key for key in {**then, **now} if then.get(key) != now.get(key)]
            refusals = {"refused": f"refused ({then.get('refused')} -> {now.get('refused')})"}
            if "refused" in fields:
                fields = ["refused"]
            found.append(f"{name}: {', '.join(refusals.get(each, each) for each in fields)}")
    return found


def gone() -> list[str]:
    """Settings on file that are not played any more."""
    missing = stored().keys() - settings().keys() - {MACHINE}
    return sorted(name for name in missing if not name.startswith(OPTIONAL))


def families() -> dict[str, list[str]]:
    """The names of all settings by family."""
    found: dict[str, list[str]] = {}
    for name in settings():
        found.setdefault(family(name), []).append(name)
    return found


def sample() -> list[str]:
    """A few settings of each family that together take a few seconds: the same ones each time."""
    chosen = []
    for names in families().values():
        step = max(1, len(names) // 4)
        chosen += names[step // 2 :: step]
    return [name for name in chosen if not name.startswith(LONG)]
