"""Pages of the API: one for each public package, with a table of its public names."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import hannan

# The order in which somebody who meets the library would look at them.
PACKAGES = (
    "hannan",
    "hannan.decisions",
    "hannan.oracles",
    "hannan.predictors",
    "hannan.features",
    "hannan.off_policy",
    "hannan.replays",
    "hannan.environments",
    "hannan.experiments",
    "hannan.baselines",
    "hannan.adapters",
    "hannan.bounds",
    "hannan.losses",
    "hannan.networks",
    "hannan.detectors",
    "hannan.separators",
    "hannan.paper",
    "hannan.checks",
    "hannan.report",
    "hannan.verify",
)


def public(package: str) -> dict[str, list[str]]:
    """Return the public names of a package by kind, modules left out."""
    module = importlib.import_module(package)
    names: dict[str, list[str]] = {"Classes": [], "Functions": [], "Errors": [], "Constants": []}
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if inspect.ismodule(value) or name.startswith("__"):
            continue
        if inspect.isclass(value):
            kind = "Errors" if issubclass(value, Exception) else "Classes"
        else:
            kind = "Functions" if callable(value) else "Constants"
        names[kind].append(name)
    return {kind: found for kind, found in names.items() if found}


def path_of(package: str, name: str) -> str:
    """Return the path under which a name has its page: the shorter one if `hannan` exports it."""
    value = getattr(importlib.import_module(package), name)
    short = name in hannan.__all__ and getattr(hannan, name) is value
    return f"hannan.{name}" if short else f"{package}.{name}"


def all_paths() -> set[str]:
    """Return the paths of all public names."""
    kinds = {package: public(package) for package in PACKAGES}
    return {
        path_of(package, name)
        for package, found in kinds.items()
        for names in found.values()
        for name in names
    }


def hidden(app, what, name: str, value, skip: bool, options) -> bool | None:
    """Leave out what files store, and methods that scikit-learn adds for metadata routing."""
    routing = name.startswith("set_") and name.endswith("_request")
    return True if routing or name == "stored" else None


def keep_guarantee(app, what, name: str, value, options, lines: list[str]) -> None:
    """Turn the section Guarantee, which numpydoc does not know, into a part of the notes."""
    if "Guarantee" in lines:
        i = lines.index("Guarantee")
        alone = "Notes" not in lines
        lines[i : i + 2] = [*(["Notes", "-----"] if alone else []), *_GUARANTEE]


def name_guarantee(app, what, name: str, value, options, lines: list[str]) -> None:
    """Drop the title of notes that hold nothing but the guarantee."""
    if _GUARANTEE[0] in lines:
        above = lines[: lines.index(_GUARANTEE[0])]
        while above and not above[-1]:
            above.pop()
        if above[-1] == ".. rubric:: Notes":
            del lines[len(above) - 1]


_GUARANTEE = (".. rubric:: Guarantee", "")


def page(package: str) -> str:
    """Return the page of a package: its docstring, and a table for each kind of name."""
    title = f"``{package}``"
    lines = [title, "=" * len(title), "", f".. automodule:: {package}", ""]
    lines += [".. currentmodule:: hannan", ""]
    for kind, names in public(package).items():
        lines += [kind, "-" * len(kind), "", ".. autosummary::", "   :toctree: names", ""]
        paths = [path_of(package, name).removeprefix("hannan.") for name in names]
        lines += [*(f"   ~{path}" for path in paths), ""]
    return "\n".join(lines)


def write_pages(folder: Path) -> None:
    """Write the pages of all packages into a folder, where their text has changed."""
    (folder / "names").mkdir(parents=True, exist_ok=True)
    wanted = all_paths()
    for old in (folder / "names").glob("*.rst"):
        if old.stem not in wanted:
            old.unlink()
    listed = "\n".join(f"   {package} <{package}>" for package in PACKAGES)
    index = (
        "Python API\n==========\n\nFind every public class and function by package. For\n"
        "readers of code: ``import hannan as hn`` gives access to all packages.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{listed}\n"
    )
    for name, text in {"index": index, **{name: page(name) for name in PACKAGES}}.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
