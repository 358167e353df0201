"""What there is: every public class by kind and name."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from hannan.core import ParameterError
from hannan.experiments.plugins import BASES, Registered, registered

KINDS = tuple(BASES)


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
    """Hannan's own classes of a kind, in alphabetical order."""
    package = importlib.import_module(f"hannan.{kind}")
    found = []
    for name in sorted(package.__all__):
        made = getattr(package, name)
        if inspect.isclass(made) and issubclass(made, BASES[kind]) and not _is_contract(made):
            found.append(Entry(kind, name, (made.__doc__ or "").strip().splitlines()[0], made))
    return tuple(found)


def find(name: str, kinds: Iterable[str] = KINDS) -> Any:
    """The class or constructor of this name: "Paths", "oracles.Switching", "Paths.towards".

    Other packages may have registered classes: those come after all of Hannan's own, so that
    what is installed never changes what a name means; "package.Name" is always theirs. A name with
    a colon, "package.module:Name", is imported as it stands.

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
                return _constructor(entry.made, wanted, constructor)
    theirs = _registered_as(rest if kind in KINDS else name, order)
    if theirs is not None:
        return _constructor(_loaded(theirs[0]), theirs[0].name, theirs[1])
    _refuse_unregistered(rest if kind in KINDS else name)
    known = [entry.name for place in order for entry in entries(place)]
    known += [entry.name for place in order for entry in registered(place)]
    raise ParameterError(f"there is no {wanted!r}{nearest(wanted, known)}")


def outside_module(name: str) -> str | None:
    """The module outside of Hannan that a name leads to, once it was found; else None."""
    if ":" in name:
        return name.partition(":")[0]
    try:
        made = find(name)
    except ParameterError:
        return None
    module = str(getattr(made, "__module__", ""))
    return None if module.partition(".")[0] in ("", "hannan") else module


def short_name(entry: Registered) -> str:
    """The shortest name that finds a registered class: its own, if that is nobody else's."""
    ours = {own.name for kind in KINDS for own in entries(kind)}
    theirs = [other for other in registered(entry.kind) if other.name == entry.name]
    return entry.qualified if entry.name in ours or len(theirs) > 1 else entry.name


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


def _constructor(made: Any, owner: str, name: str) -> Any:
    if not name:
        return made
    methods = [
        key for key, value in inspect.getmembers(made, inspect.ismethod) if not key.startswith("_")
    ]
    if name not in methods:
        raise ParameterError(f"{owner} has no constructor {name!r}{nearest(name, methods)}")
    return getattr(made, name)


def _registered_as(name: str, kinds: Iterable[str]) -> tuple[Registered, str] | None:
    """What packages have registered under a name, and the constructor that is asked for."""
    for kind in kinds:
        found = []
        for entry in registered(kind):
            for own in (entry.name, entry.qualified):
                if name == own or name.startswith(f"{own}."):
                    found.append((entry, name[len(own) + 1 :]))
        if len(found) > 1:
            choices = " or ".join(repr(entry.qualified) for entry, _ in found)
            raise ParameterError(
                f"{len(found)} packages have {kind} called {name!r}: say which, {choices}."
            )
        if found:
            return found[0]
    return None


def _refuse_unregistered(name: str) -> None:
    """Raise for "package.Name" where the package has registered other classes."""
    others: dict[str, list[str]] = {}
    for entry in (entry for kind in KINDS for entry in registered(kind)):
        others.setdefault(entry.package, []).append(entry.name)
    for package, known in others.items():
        if name.startswith(f"{package}."):
            wanted = name[len(package) + 1 :]
            raise ParameterError(
                f"the package {package!r} has registered no {wanted!r}{nearest(wanted, known)}"
            )


def _loaded(entry: Registered) -> type:
    try:
        return entry.load()
    except ImportError as error:
        raise ParameterError(
            f"{entry.name!r} of the package {entry.package!r} cannot be had: {error}."
        ) from None


def _outside(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"{name!r} cannot be imported: {error}.") from None
    return found
