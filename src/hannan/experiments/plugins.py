"""Classes that other packages register, as entry points `hannan.oracles`, `hannan.learners`, …

    [project.entry-points."hannan.oracles"]
    Shifts = "shifts.oracle:Shifts"

A package that cannot be loaded spoils nothing for the others: what went wrong is kept with its
entry, and told to those who ask for it.
"""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hannan.core import Environment, Learner, Oracle, Predictor

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
        """The class.

        Raises
        ------
        ImportError
            Saying why it cannot be had, whatever the package itself raised.
        """
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
    """What the packages at hand have registered of a kind, by name and package; nothing is loaded.

    Examples
    --------
    >>> all(entry.package != "hannan" for entry in registered("oracles"))
    True
    """
    found: dict[tuple[str, str], Registered] = {}
    for point in entry_points(group=f"hannan.{kind}"):
        package = "?" if point.dist is None else point.dist.name
        version = "" if point.dist is None else point.dist.version
        entry = Registered(kind, point.name, package, version, point)
        found.setdefault((entry.name, entry.package), entry)  # the first on the path is imported
    return tuple(entry for _, entry in sorted(found.items()))


def unknown_groups() -> list[str]:
    """Groups of entry points that look like Hannan's and are none, with the packages they are of.

    What they register is never found, so somebody should be told.
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


def describe(entry: Registered) -> tuple[str, str | None]:
    """The first line of a class's docstring, and what is wrong with it if it cannot be loaded."""
    try:
        made: Any = entry.load()
    except ImportError as error:
        return "", str(error)
    return (inspect.getdoc(made) or "").partition("\n")[0], None
