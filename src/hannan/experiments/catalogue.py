"""Find classes from names and build objects from tables.

The table `{type = "Mean", alpha = 0.1}` gives `Mean(alpha=0.1)`. A name refers to a class of Hannan
first, then to a class that another package registers as an entry point `hannan.oracles`,
`hannan.learners`, …:

    [project.entry-points."hannan.oracles"]
    Shifts = "shifts.oracle:Shifts"

A package that cannot be loaded does not affect the others: using one of its names raises its error.

`mine:Name` is a class or function in the file `mine.py` next to the experiment file. No other name
leads to code, because a table from an unknown source must not choose the code that runs.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from hannan._recommended import options_of
from hannan.core import Environment, HannanError, Learner, Oracle, ParameterError, Predictor

BASES: dict[str, type] = {
    "learners": Learner,
    "baselines": Learner,
    "environments": Environment,
    "oracles": Oracle,
    "predictors": Predictor,
    "detectors": object,
    "networks": object,
}
"""The base class of each kind."""

KINDS = tuple(BASES)

OPTIONS = {
    "Anytime": "hannan.learners.step_size",
    "Pool": "hannan.learners.context_set",
    "RandomFourier": "hannan.oracles.random_fourier",
    "Resampling": "hannan.learners.importance_weights",
    "SelfTuned": "hannan.learners.step_size",
    "Trust": "hannan.learners.hint",
}
"""Small objects that learners, oracles and predictors take as arguments, and their modules."""

# For each argument name, the kinds that are searched first.
_KINDS_OF_ARGUMENT = {
    "policies": ("oracles",),
    "oracle": ("oracles",),
    "base": ("oracles", "learners"),
    "predictor": ("predictors",),
    "detector": ("detectors",),
    "environment": ("environments",),
    "learner": ("learners", "baselines"),
    "network": ("networks",),
} | dict.fromkeys(("contexts", "epsilon", "features", "resampling", "trust"), ("options",))


RECOMMENDED = ("bandit", "experts")
"""Functions at the top of the package that return a learner; "hn.bandit" equals "bandit"."""


_UNLISTED = frozenset(("hannan.adapters.vw.files:FromVW",))
"""Classes of Hannan that only `hannan replay` uses."""

MINE = "mine.py"
"""The file next to an experiment file whose classes and functions the experiment may use."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A class that an experiment may name, or a function that returns a learner."""

    name: str
    made: Any
    """The class or function."""

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return summary_of(self.made)


@dataclass(frozen=True, slots=True)
class Registered:
    """A class that another package has registered as an entry point."""

    kind: str
    name: str
    package: str
    """The distribution that registered it."""
    version: str
    point: EntryPoint

    @property
    def qualified(self) -> str:
        """Name with the package in front, which is unique."""
        return f"{self.package}.{self.name}"

    def load(self) -> type:
        """Load the class; turn any error of the package into an `ImportError`."""
        try:
            made = self.point.load()
        except Exception as error:
            raise ImportError(
                f"{self.point.value} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        base = BASES[self.kind]
        if not inspect.isclass(made) or not issubclass(made, base):
            what = "a class" if base is object else f"a subclass of hannan.{base.__name__}"
            raise ImportError(f"{self.point.value} is {made!r}, not {what}")
        if inspect.isabstract(made):
            lacking = ", ".join(sorted(getattr(made, "__abstractmethods__", ())))
            raise ImportError(f"{self.point.value} is abstract: it lacks {lacking}")
        return made


@cache
def registered(kind: str) -> tuple[Registered, ...]:
    """List the registered classes of a kind without loading them, in alphabetical order."""
    if kind not in KINDS:
        return ()
    found: dict[tuple[str, str], Registered] = {}
    for point in entry_points(group=f"hannan.{kind}"):
        dist = point.dist
        package, version = ("?", "") if dist is None else (dist.name, dist.version)
        entry = Registered(kind, point.name, package, version, point)
        found.setdefault((entry.name, entry.package), entry)  # the first on the path is imported
    return tuple(entry for _, entry in sorted(found.items()))


def unknown_groups() -> list[str]:
    """Return a line for each group of entry points `hannan.…` that Hannan does not know.

    Hannan never finds the classes in such a group, which is probably a misspelt name.
    """
    known = [f"hannan.{kind}" for kind in BASES]
    lines = []
    for group in sorted(entry_points().groups):
        if group.startswith("hannan.") and group not in known:
            dists = {point.dist.name for point in entry_points(group=group) if point.dist}
            close = difflib.get_close_matches(group, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(known)}."
            lines.append(
                f"{group} ({', '.join(sorted(dists))}) is not an entry point group of Hannan: "
                f"{hint}"
            )
    return lines


def summary_of(made: Any) -> str:
    """Return the first line of the docstring of a class or function."""
    return (inspect.getdoc(made) or "").partition("\n")[0]


@cache
def entries(kind: str) -> tuple[Entry, ...]:
    """List Hannan's own classes of a kind in alphabetical order, recommended learners first.

    The kind "options" contains the small objects of `OPTIONS`.
    """
    named: dict[str, Any]
    if kind == "options":
        named = {name: getattr(importlib.import_module(at), name) for name, at in OPTIONS.items()}
    else:
        package, base = importlib.import_module(f"hannan.{kind}"), BASES[kind]
        public = {name: getattr(package, name) for name in sorted(package.__all__)}
        named = {
            name: made
            for name, made in public.items()
            if inspect.isclass(made) and issubclass(made, base)
            if not (inspect.isabstract(made) or getattr(made, "_is_protocol", False))
        }
    if kind == "learners":
        top = importlib.import_module("hannan")
        named = {name: getattr(top, name) for name in RECOMMENDED} | named
    return tuple(Entry(name, made) for name, made in named.items())


def find(name: str, kinds: Iterable[str] = KINDS, folder: str | None = None) -> Any:
    """Find a class or constructor: "Paths", "oracles.Switching", "Paths.towards".

    The search goes through `kinds` in order, then through all other kinds. Hannan's own classes
    come before the classes of other packages, so an installed package never changes the meaning of
    a name. "package.Name" always refers to the other package, and "mine:Name" to the file `mine.py`
    in `folder`.
    """
    return located(name, kinds, folder)()


def located(name: str, kinds: Iterable[str], folder: str | None) -> Callable[[], Any]:
    """Return a function that finds a class as `find` does, but imports other packages only then.

    An unknown name raises `ParameterError` before the function is called.
    """
    if ":" in name:
        return _by_place(name, folder)
    if name.removeprefix("hn.") in RECOMMENDED:
        name = name.removeprefix("hn.")
    places = (*KINDS, "options")
    order = [*kinds, *(kind for kind in places if kind not in kinds)]
    kind, _, rest = name.partition(".")
    if kind in places:
        kinds, order, name = [kind], [kind], rest
    wanted, _, constructor = name.partition(".")
    for entry in (entry for place in order for entry in entries(place)):
        if entry.name == wanted:
            ours = _constructor(entry.made, wanted, constructor)
            return lambda: ours
    theirs = _registered_as(name, order)
    if theirs is not None:
        return lambda: _loaded(*theirs)
    fitting = list(kinds) or order
    known = [entry.name for place in fitting for entry in entries(place)]
    known += [entry.name for place in fitting for entry in registered(place)]
    raise ParameterError(f"there is no {wanted!r}{nearest(wanted, known)}")


def code_of(name: str, folder: str | None) -> Path | None:
    """Return the file with the code of a name, if `find` has found it outside of Hannan."""
    if ":" in name:
        return None if name in _UNLISTED or folder is None else Path(folder, MINE)
    try:
        made = find(name)
    except ParameterError:
        return None
    module = str(getattr(made, "__module__", ""))
    if module.partition(".")[0] in ("", "hannan"):
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    return file and Path(file)


def short_name(entry: Registered) -> str:
    """Return the shortest name that finds a registered class: without its package, if unique."""
    ours = {own.name for kind in KINDS for own in entries(kind)}
    theirs = [other for other in registered(entry.kind) if other.name == entry.name]
    return entry.qualified if entry.name in ours or len(theirs) > 1 else entry.name


def nearest(wrong: str, known: Iterable[str], most: int = 12) -> str:
    """Return a hint for a wrong name: "; did you mean 'x'?", or a list of at most `most` names."""
    listed = list(dict.fromkeys(known))
    lowered = {name.lower(): name for name in reversed(listed)}
    close = difflib.get_close_matches(wrong.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    if len(listed) <= most:
        return f"; there are {', '.join(listed)}." if listed else "; none are known."
    return "; `hannan list` shows all names."


@contextmanager
def at_place(place: object) -> Iterator[None]:
    """Put a place (a key, an option or a file) in front of the messages of errors raised inside."""
    try:
        yield
    except HannanError as error:
        raise ParameterError(f"{place}: {error}") from None


@dataclass(frozen=True)
class Workshop:
    """Builder of objects from tables."""

    names: Mapping[str, Any] = field(default_factory=dict)
    """Values that replace a text "$name" in a table."""
    supplied: Mapping[str, Any] = field(default_factory=dict)
    """Default arguments of learners and environments, also of those inside others."""
    folder: str | None = None
    """Folder of the experiment file."""

    def build(self, table: Mapping[str, Any], place: str, kinds: tuple[str, ...]) -> Any:
        """Build the object of a table with a `type` and the arguments of its constructor.

        An argument that is itself a table with a type is built first. Error messages begin with
        `place`, the place of the table in the experiment file.
        """
        with at_place(place):
            kind = _type_of(table)
            make = find(kind, kinds, self.folder)
        parameters = inspect.signature(make).parameters
        recommended = inspect.isfunction(make) and make in [e.made for e in entries("learners")]
        accepted = [p.name for p in parameters.values() if p.kind != p.VAR_KEYWORD]
        if recommended:
            accepted = list(dict.fromkeys([*accepted, *options_of(make.__name__)]))
        given = {key: value for key, value in table.items() if key != "type"}
        for key, value in given.items():
            if key not in accepted:
                near = nearest(key, accepted, len(accepted))
                raise ParameterError(f"{place}: {kind} has no argument {key!r}{near}")
            given[key] = self.made(value, f"{place}.{key}", _KINDS_OF_ARGUMENT.get(key, ()))
        owner = getattr(make, "__self__", make)
        if recommended or (inspect.isclass(owner) and issubclass(owner, Learner | Environment)):
            # `actions` are the policies of a listed class, but in hn.bandit the actions of rounds.
            wanted = [k for k in parameters if not (recommended and k == "actions")]
            given = {k: v for k, v in self.supplied.items() if k in wanted} | given
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        needed = [p.name for p in parameters.values() if p.default is p.empty and p.kind in named]
        missing = [name for name in needed if name not in given]
        if missing:
            # Learners take their policy class from the table of the environment.
            policies = {"oracle", "actions"} & set(missing) and place.startswith("learners")
            hint = " (or policies in the table of its environment)" if policies else ""
            raise ParameterError(f"{place}: {kind} needs {' and '.join(missing)}{hint}.")
        try:
            return make(**given)
        except HannanError as error:
            raise type(error)(f"{place}: {error}") from None
        except Exception as error:  # an error that the constructor itself does not expect
            why = str(error) or type(error).__name__
            raise ParameterError(f"{place}: {kind} cannot be made: {why}") from error

    def made(self, value: Any, place: str, kinds: tuple[str, ...]) -> Any:
        """Return the object for a value of a table: build tables, look up "$name", enter lists."""
        if isinstance(value, Mapping) and "type" in value:
            return self.build(value, place, kinds)
        if isinstance(value, list):
            return [self.made(inner, f"{place}[{i}]", kinds) for i, inner in enumerate(value)]
        if isinstance(value, str) and value.startswith("$"):
            name, names = value[1:], self.names
            if name not in names:
                raise ParameterError(f"{place}: {value} is not defined{nearest(name, names)}")
            return names[name]
        return value


def check_types(value: Any, place: str, kinds: tuple[str, ...], folder: str | None = None) -> None:
    """Raise `ParameterError` if `build` would not find a type in a table or in its inner tables.

    The check builds no object and imports no other package.
    """
    if isinstance(value, Mapping) and "type" in value:
        with at_place(place):
            located(_type_of(value), kinds, folder)
        for key, inner in value.items():
            check_types(inner, f"{place}.{key}", _KINDS_OF_ARGUMENT.get(key, ()), folder)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            check_types(inner, f"{place}[{i}]", kinds, folder)


def _type_of(table: Mapping[str, Any]) -> str:
    kind = table.get("type")
    if not isinstance(kind, str):
        got = "none" if kind is None else repr(kind)
        raise ParameterError(f"type must be the name of a class; got {got}.")
    return kind


def _constructor(made: Any, owner: str, name: str) -> Any:
    if not name:
        return made
    methods = [key for key, _ in inspect.getmembers(made, inspect.ismethod) if key[0] != "_"]
    if name not in methods:
        raise ParameterError(f"{owner} has no constructor {name!r}{nearest(name, methods)}")
    return getattr(made, name)


def _registered_as(name: str, kinds: Iterable[str]) -> tuple[Registered, str] | None:
    """Return the registered class of a name, and the name of its constructor; None if unknown."""
    for kind in kinds:
        found = [
            (entry, name[len(own) + 1 :])
            for entry in registered(kind)
            for own in (entry.name, entry.qualified)
            if name == own or name.startswith(f"{own}.")
        ]
        if len(found) > 1:
            choices = " or ".join(repr(entry.qualified) for entry, _ in found)
            raise ParameterError(
                f"{len(found)} packages have {kind} called {name!r}: write {choices}."
            )
        if found:
            return found[0]
    for package in {entry.package for kind in KINDS for entry in registered(kind)}:
        if name.startswith(f"{package}."):
            wanted = name[len(package) + 1 :]
            known = [e.name for kind in KINDS for e in registered(kind) if e.package == package]
            raise ParameterError(
                f"the package {package!r} has registered no {wanted!r}{nearest(wanted, known)}"
            )
    return None


def _loaded(other: Registered, constructor: str) -> Any:
    try:
        return _constructor(other.load(), other.name, constructor)
    except ImportError as error:
        raise ParameterError(
            f"{other.name!r} of the package {other.package!r} cannot be loaded: {error}."
        ) from None


def _by_place(name: str, folder: str | None) -> Callable[[], Any]:
    module, _, attribute = name.partition(":")
    if name in _UNLISTED:
        return lambda: getattr(importlib.import_module(module), attribute)
    if module != "mine":
        raise ParameterError(
            f"{name!r} is not allowed: only 'mine:Name' can refer to your own code, in the file "
            f"{MINE} next to the experiment file. Write your class there, or register it as an "
            "entry point of its package; `hannan list` shows all names."
        )
    file = None if folder is None else Path(folder, MINE)
    wanted, _, constructor = attribute.partition(".")
    if file is None or not file.is_file():
        raise ParameterError(f"{name!r} needs a file {MINE} next to the experiment file.")
    return lambda: _constructor(_defined(_run(file), wanted), wanted, constructor)


def _run(file: Path) -> ModuleType:
    """Return the module of a file; run the file once for each version of its content."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror}.") from None
    digest = hashlib.sha256(str(file).encode() + b"\0" + content).hexdigest()
    name = f"mine_{digest[:16]}"  # files of two experiments can be loaded together
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # so that imports inside mine.py work
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ParameterError(f"{file} cannot be run: {type(error).__name__}: {error}.") from error
    return module


def _defined(module: ModuleType, name: str) -> Any:
    """Return a class or function that the module itself defines, not one that it imports."""
    known = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) or inspect.isfunction(value)
        if value.__module__ == module.__name__ and not key.startswith("_")
    }
    if name not in known:
        raise ParameterError(f"{module.__file__} defines no {name!r}{nearest(name, known)}")
    return known[name]
