"""What there is: every public class by kind and name."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hannan.core import Environment, Learner, Oracle, ParameterError, Predictor

_BASES = {
    "learners": Learner,
    "baselines": Learner,
    "environments": Environment,
    "oracles": Oracle,
    "predictors": Predictor,
    "detectors": object,
    "networks": object,
}
KINDS = tuple(_BASES)


@dataclass(frozen=True, slots=True)
class Entry:
    """A class that an experiment may name."""

    kind: str
    name: str
    summary: str
    """The first line of its docstring."""
    made: Any
    """The class."""


@cache
def entries(kind: str) -> tuple[Entry, ...]:
    """The classes of a kind, in alphabetical order."""
    package = importlib.import_module(f"hannan.{kind}")
    found = []
    for name in sorted(package.__all__):
        made = getattr(package, name)
        if inspect.isclass(made) and issubclass(made, _BASES[kind]) and not _is_contract(made):
            found.append(Entry(kind, name, (made.__doc__ or "").strip().splitlines()[0], made))
    return tuple(found)


def find(name: str, kinds: Iterable[str] = KINDS) -> Any:
    """The class or constructor of this name: "Paths", "oracles.Switching", "Paths.towards".

    A name with a colon, "package.module:Name", is imported from outside.

    Parameters
    ----------
    name
        What to look for.
    kinds
        Kinds to look through first, in order; then all others.
    """
    if ":" in name:
        return _outside(name)
    kind, _, rest = name.partition(".")
    order = [kind] if kind in KINDS else [*kinds, *(k for k in KINDS if k not in kinds)]
    wanted, _, constructor = (rest if kind in KINDS else name).partition(".")
    for place in order:
        for entry in entries(place):
            if entry.name == wanted:
                return _constructor(entry, constructor)
    known = [entry.name for place in order for entry in entries(place)]
    raise ParameterError(f"there is no {wanted!r}{nearest(wanted, known)}")


def nearest(wrong: str, known: Iterable[str]) -> str:
    """A hint at the name that was probably meant: "; did you mean 'x'?", or what there is."""
    listed = list(dict.fromkeys(known))
    lowered = {name.lower(): name for name in reversed(listed)}
    close = difflib.get_close_matches(wrong.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    if len(listed) <= 12:
        return f"; there are {', '.join(listed)}." if listed else "; none are known."
    return "; `hannan list` shows all names."


def _is_contract(made: type) -> bool:
    """Whether a class cannot be made itself."""
    return inspect.isabstract(made) or getattr(made, "_is_protocol", False)


def _constructor(entry: Entry, name: str) -> Any:
    if not name:
        return entry.made
    made = getattr(entry.made, name, None)
    methods = [
        key
        for key, value in inspect.getmembers(entry.made, inspect.ismethod)
        if not key.startswith("_")
    ]
    if name not in methods:
        raise ParameterError(f"{entry.name} has no constructor {name!r}{nearest(name, methods)}")
    return made


def _outside(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"{name!r} cannot be imported: {error}.") from None
    return found
