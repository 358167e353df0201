"""The traces on file, and how those of the present code differ from them."""

import json
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding
import numpy as np

from tests.golden.settings import family, settings

PATH = Path(__file__).with_name("traces.json")
ROOT = PATH.parents[2]
AROUND = ("adapters", "checks", "cli", "report", "verify")  # no learner imports these
PLAYED = ("src/hannan", *(f":(exclude)src/hannan/{package}" for package in AROUND))
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


def _git(*arguments: str) -> str:
    """Return what git prints; raise where there is no git, no history or no such commit."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def may_play_differently() -> bool:
    """Return whether code that learners run or golden settings changed since the trunk.

    The state before a change is where its branch left `origin/HEAD`, or the first parent of a
    merge. Where git cannot tell, everything may have changed.
    """
    try:
        head, trunk = _git("rev-parse", "HEAD"), _git("rev-parse", "origin/HEAD")
        if head == trunk:
            before = _git("rev-parse", "HEAD^1")
            _git("rev-parse", "--verify", "HEAD^2")  # a plain commit may be the last of many
        else:
            before = _git("merge-base", head, trunk)
        changed = _git(
            "diff", "--name-only", before, "--", *PLAYED, "tests/golden", "constraints.txt"
        )
        untracked = _git("status", "--porcelain", "--", *PLAYED)
    except (OSError, subprocess.CalledProcessError):
        return True
    return bool(changed or untracked)


def sample() -> list[str]:
    """A few settings of each family that together take a few seconds: the same ones each time."""
    chosen = []
    for names in families().values():
        step = max(1, len(names) // 4)
        chosen += names[step // 2 :: step]
    return [name for name in chosen if not name.startswith(LONG)]
