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


def page(package: str) -> str:
    """Return the page of a package: its docstring, and a table for each kind of name."""
    title = f"``{package}``"
    lines = [title, "=" * len(title), "", f".. automodule:: {package}", ""]
    lines += [".. currentmodule:: hannan", ""]
    for kind, names in public(package).items():
        lines += [kind, "-" * len(kind), "", ".. autosummary::", "   :toctree: names", ""]
        # A name that `hannan` exports, too, has one page, under the shorter path.
        home = [package if name not in hannan.__all__ else "hannan" for name in names]
        lines += [*(f"   ~{at}.{name}" for at, name in zip(home, names, strict=True)), ""]
    return "\n".join(lines)


def write_pages(folder: Path) -> None:
    """Write the pages of all packages into a folder, where their text has changed."""
    folder.mkdir(parents=True, exist_ok=True)
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
