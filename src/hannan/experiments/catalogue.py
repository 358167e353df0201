"""Classes by name, and objects from tables: `{type = "Mean", alpha = 0.1}` is `Mean(alpha=0.1)`.

Names mean Hannan's own classes first, then those that other packages register as entry points
`hannan.oracles`, `hannan.learners`, …:

    [project.entry-points."hannan.oracles"]
    Shifts = "shifts.oracle:Shifts"

A package that cannot be loaded does not affect the others: what went wrong is kept with its entry,
and reported to those who ask for it.

`mine:Name` is a class or function that the file `mine.py` beside the experiment file defines. There
is no other way from a name to code: a table may come from anywhere, and must not choose what runs.
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
"""What the classes of each kind are subclasses of."""

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

# Where to look first for the type of an argument of this name.
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
"""Functions of the package itself that make a learner; "hn.bandit" means the same as "bandit"."""


_UNLISTED = frozenset(("hannan.adapters.vw.files:FromVW",))
"""Classes of Hannan's own that only `hannan replay` names."""

MINE = "mine.py"
"""The file beside an experiment file whose classes and functions it may name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A class that an experiment may name, or a function that makes a learner."""

    name: str
    made: Any
    """The class or function."""

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return summary_of(self.made)


@dataclass(frozen=True, slots=True)
class Registered:
    """What a package says it has."""

    kind: str
    name: str
    package: str
    """The distribution that registered it."""
    version: str
    point: EntryPoint

    @property
    def qualified(self) -> str:
        """The name that no other package has."""
        return f"{self.package}.{self.name}"

    def load(self) -> type:
        """The class, or an `ImportError` that says why not, whatever the package itself raised."""
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
    """What packages have registered of a kind, by name and package; nothing is loaded."""
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
    """Groups of entry points that look like Hannan's and are none, with the packages they are of.

    What they register is never found, so this is worth a warning.
    """
    known = [f"hannan.{kind}" for kind in BASES]
    lines = []
    for group in sorted(entry_points().groups):
        if group.startswith("hannan.") and group not in known:
            dists = {point.dist.name for point in entry_points(group=group) if point.dist}
            close = difflib.get_close_matches(group, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."
            lines.append(f"{group} ({', '.join(sorted(dists))}) is no group of Hannan's: {hint}")
    return lines


def summary_of(made: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(made) or "").partition("\n")[0]


@cache
def entries(kind: str) -> tuple[Entry, ...]:
    """Hannan's own classes of a kind, in alphabetical order; recommended learners first.

    The kind "options" has the small objects of `OPTIONS`.
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
    """The class or constructor of this name: "Paths", "oracles.Switching", "Paths.towards".

    These kinds are looked through first, in order; then all others. Classes that other packages
    have registered come after all of Hannan's own, so that what is installed never changes what a
    name means; "package.Name" is always theirs. "mine:Name" is in the file `mine.py` of `folder`.
    """
    return located(name, kinds, folder)()


def located(name: str, kinds: Iterable[str], folder: str | None) -> Callable[[], Any]:
    """A function that returns what `find` finds; nothing foreign is imported before it is called.

    A name that leads nowhere is refused at once.
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
    """The file with the code that a name leads to outside of Hannan, once it was found."""
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
    """The shortest name that finds a registered class: its own, if that is nobody else's."""
    ours = {own.name for kind in KINDS for own in entries(kind)}
    theirs = [other for other in registered(entry.kind) if other.name == entry.name]
    return entry.qualified if entry.name in ours or len(theirs) > 1 else entry.name


def nearest(wrong: str, known: Iterable[str], most: int = 12) -> str:
    """A hint at the name that was probably meant: "; did you mean 'x'?", or what there is.

    At most so many names are listed.
    """
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
    """Begin the errors of what is done inside with a place: a key, an option, or a file."""
    try:
        yield
    except HannanError as error:
        raise ParameterError(f"{place}: {error}") from None


@dataclass(frozen=True)
class Workshop:
    """Makes what tables describe."""

    names: Mapping[str, Any] = field(default_factory=dict)
    """What a text "$name" in a table stands for."""
    supplied: Mapping[str, Any] = field(default_factory=dict)
    """What learners and environments, inner ones too, are given where their table does not."""
    folder: str | None = None
    """Where the experiment is written down."""

    def build(self, table: Mapping[str, Any], place: str, kinds: tuple[str, ...]) -> Any:
        """The object that a table describes: its `type` and the arguments of its constructor.

        An argument that is a table with a type is made first. Errors begin with `place`, where the
        table stands.
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
            # `actions` are the policies of a listed class, but to hn.bandit what rounds offer.
            wanted = [k for k in parameters if not (recommended and k == "actions")]
            given = {k: v for k, v in self.supplied.items() if k in wanted} | given
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        needed = [p.name for p in parameters.values() if p.default is p.empty and p.kind in named]
        missing = [name for name in needed if name not in given]
        if missing:
            # Learners find their class in the environment's table.
            policies = {"oracle", "actions"} & set(missing) and place.startswith("learners")
            hint = " (or policies in the table of its environment)" if policies else ""
            raise ParameterError(f"{place}: {kind} needs {' and '.join(missing)}{hint}.")
        try:
            return make(**given)
        except HannanError as error:
            raise type(error)(f"{place}: {error}") from None
        except Exception as error:  # whatever a constructor makes of arguments that nobody foresaw
            why = str(error) or type(error).__name__
            raise ParameterError(f"{place}: {kind} cannot be made: {why}") from error

    def made(self, value: Any, place: str, kinds: tuple[str, ...]) -> Any:
        """What a value in a table stands for: a thing to build, a name, a list, or itself."""
        if isinstance(value, Mapping) and "type" in value:
            return self.build(value, place, kinds)
        if isinstance(value, list):
            return [self.made(inner, f"{place}[{i}]", kinds) for i, inner in enumerate(value)]
        if isinstance(value, str) and value.startswith("$"):
            name, names = value[1:], self.names
            if name not in names:
                raise ParameterError(f"{place}: nothing is called {value}{nearest(name, names)}")
            return names[name]
        return value


def check_types(value: Any, place: str, kinds: tuple[str, ...], folder: str | None = None) -> None:
    """Raise for a type in a table, or in one inside of it, that `build` would not find.

    Nothing is made, and nothing foreign is imported.
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
        raise ParameterError(f"type must name what to make; got {got}.")
    return kind


def _constructor(made: Any, owner: str, name: str) -> Any:
    if not name:
        return made
    methods = [key for key, _ in inspect.getmembers(made, inspect.ismethod) if key[0] != "_"]
    if name not in methods:
        raise ParameterError(f"{owner} has no constructor {name!r}{nearest(name, methods)}")
    return getattr(made, name)


def _registered_as(name: str, kinds: Iterable[str]) -> tuple[Registered, str] | None:
    """What packages have registered under a name, and the constructor that is asked for."""
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
                f"{len(found)} packages have {kind} called {name!r}: say which, {choices}."
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
            f"{name!r} cannot be used: before a colon stands only 'mine', the file {MINE} beside "
            "the experiment file. Write your class there, or register it as an entry point of its "
            "package; `hannan list` shows all names."
        )
    file = None if folder is None else Path(folder, MINE)
    wanted, _, constructor = attribute.partition(".")
    if file is None or not file.is_file():
        raise ParameterError(f"{name!r} is looked for in {MINE} beside the experiment file: none.")
    return lambda: _constructor(_defined(_run(file), wanted), wanted, constructor)


def _run(file: Path) -> ModuleType:
    """The module of a file, which is run once for each content that it has."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror}.") from None
    digest = hashlib.sha256(str(file).encode() + b"\0" + content).hexdigest()
    name = f"mine_{digest[:16]}"  # those of two experiments may be used side by side
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # for what it imports itself
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise ParameterError(f"{file} cannot be run: {type(error).__name__}: {error}.") from error
    return module


def _defined(module: ModuleType, name: str) -> Any:
    """A class or function of a module itself, not one that it has imported."""
    known = {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) or inspect.isfunction(value)
        if value.__module__ == module.__name__ and not key.startswith("_")
    }
    if name not in known:
        raise ParameterError(f"{module.__file__} defines no {name!r}{nearest(name, known)}")
    return known[name]
