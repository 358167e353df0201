"""The data of `hannan replay`: from options to an environment, and a first reading of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hannan.adapters.vw.files import FromVW, format_of, is_vw
from hannan.adapters.vw.items import FromVWItems, offers_change
from hannan.core import ParameterError
from hannan.core.validation import FloatArray
from hannan.environments import FromFile, FromLog
from hannan.environments._files import open_table

LIMITS = ("max_columns", "max_unpacked")


@dataclass(frozen=True, slots=True)
class Units:
    """From losses in [0, 1] back to what the file holds."""

    low: float
    high: float
    rewards: bool

    @property
    def name(self) -> str:
        """Of what is measured."""
        return "reward" if self.rewards else "loss"

    def mean(self, loss: float) -> float:
        """A mean loss as it would stand in the file."""
        width = self.high - self.low
        return self.high - loss * width if self.rewards else self.low + loss * width

    def difference(self, loss: float) -> float:
        """A difference of losses: positive is worse, also of rewards."""
        return loss * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Stream:
    """A file that has been read once.

    Attributes
    ----------
    table
        The environment as an experiment file would describe it; nothing in it has to be looked
        up in the file again.
    constant
        The action that would have been the best one in all rounds; estimated if this is a log.
        None where actions are described, and come and go.
    current
        The mean loss of what was really done, where the file says so.
    unused
        Columns of text that were not asked for.
    """

    table: dict[str, Any]
    environment: FromFile | FromLog | FromVWItems
    rounds: int
    constant: int | None
    current: float | None
    unused: list[str]
    units: Units

    @property
    def logged(self) -> bool:
        """Whether losses are known only for the actions that were taken."""
        return isinstance(self.environment, FromLog | FromVWItems)

    @property
    def described(self) -> bool:
        """Whether rounds offer actions of their own, described by features."""
        return isinstance(self.environment, FromVWItems)

    @property
    def names(self) -> list[str]:
        """Of the actions."""
        if isinstance(self.environment, FromVWItems):
            return []
        return [str(name) for name in self.environment.actions]


def read_stream(path: Path, given: dict[str, Any], rounds: int | None) -> Stream:
    """Read a file once: all of its values are checked, and what is needed of it is found.

    `given` has columns and options by the names that `FromFile` and `FromLog` have for them, None
    for those not given.
    """
    options = {name: value for name, value in given.items() if value is not None}
    environment: FromFile | FromLog
    unused: list[str] = []
    if is_vw(path):
        found = _vw(path, options)
        if isinstance(found, FromVWItems):
            return _items(found, rounds)
        environment = found
    else:
        environment, unused = _table(path, options)
    logged = isinstance(environment, FromLog)
    rows = environment.horizon if rounds is None else rounds
    if rows == 0:
        raise ParameterError(f"There are no rows in the file {str(path)!r}.")
    totals, current, extremes = _totals(environment, rows)
    low, high = options.get("value_range", (0.0, 1.0))
    if not logged and "value_range" not in options and not 0.0 <= extremes[0] <= extremes[1] <= 1.0:
        low, high = extremes if extremes[0] < extremes[1] else (extremes[0], extremes[0] + 1.0)
        environment = environment.clone(value_range=(low, high))
        current = None if current is None else (current - rows * low) / (high - low)
    units = Units(low, high, "reward" in options)
    mean = None if current is None else current / rows
    described = _described(environment, options.get("categorical", []))
    return Stream(described, environment, rows, int(totals.argmin()), mean, unused, units)


def _table(path: Path, options: dict[str, Any]) -> tuple[FromFile | FromLog, list[str]]:
    """The environment of a file of rows, and the columns of text left out."""
    used = [options.get(name) for name in ("label", "action", "loss", "reward", "propensity")]
    used += [options.get("current"), *options.get("losses", ())]
    context = options.get("context")
    unused: list[str] = []
    if context is None:
        free = [name for name in used if name]
        limits = {name: options[name] for name in LIMITS if name in options}
        context, unused = _numeric_columns(path, free, options.get("categorical", []), limits)
    table = {**options, "path": str(path), "context": context or None}
    return FromLog(**table) if "action" in options else FromFile(**table), unused


def _items(environment: FromVWItems, rounds: int | None) -> Stream:
    """A log whose rounds offer actions of their own."""
    rows = environment.horizon if rounds is None else min(rounds, environment.horizon)
    low, high = environment.value_range
    mean = float(environment.log.losses[:rows].mean())
    table = {name: value for name, value in environment.params.items() if value is not None}
    if environment.method == "rejection":
        table.setdefault("floor", environment.smallest_propensity)
    kind = f"{type(environment).__module__}:{type(environment).__name__}"
    described = {"type": kind, **table, "value_range": [low, high]}
    return Stream(described, environment, rows, None, mean, [], Units(low, high, False))


def _vw(path: Path, options: dict[str, Any]) -> FromVW | FromVWItems:
    """The environment of a file of Vowpal Wabbit."""
    limit = options.get("max_unpacked")
    format = format_of(path, options.get("format"), "--format", max_unpacked=limit)
    same = ("format", "method", "floor", "value_range", "max_unpacked")
    known = {"context": "columns", "hash": "columns"} | {name: name for name in same}
    for name in options.keys() - known.keys():
        raise ParameterError(f"--{name.replace('_', '-')} does not go with a file of {format}.")
    given = {known[name]: value for name, value in options.items()}
    if offers_change(path, format, max_unpacked=limit):
        if isinstance(given.get("columns"), int):
            given["action_columns"] = given["columns"]
        return FromVWItems(str(path), **given)
    return FromVW(str(path), **given)


def _numeric_columns(
    path: Path, used: Sequence[str], categorical: Sequence[str], limits: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """The columns that can be contexts, and those that cannot because they hold text."""
    table = open_table(path, **limits)
    free = [name for name in table.names if name not in used]
    first: Mapping[str, Any] = {}
    for _, first in table.batches(free):  # noqa: B007
        break
    text = [name for name in free if not _looks_numeric(first.get(name, ()))]
    unused = dict.fromkeys(name for name in text if name not in categorical)
    return [name for name in free if name not in unused], list(unused)


def _looks_numeric(values: Sequence[Any]) -> bool:
    """Whether at least one value is a number, so that others that are not are worth an error."""
    for value in values:
        try:
            if math.isfinite(float(value)):
                return True
        except (TypeError, ValueError, OverflowError):
            continue
    return False


def _totals(
    environment: FromFile | FromLog, rows: int
) -> tuple[FloatArray, float | None, tuple[float, float]]:
    """The losses of each action and of what was done, added up; and the extremes of all losses."""
    totals = np.zeros(environment.n_actions)
    done, known = 0.0, False
    low, high = math.inf, -math.inf
    for this_round in environment.rounds(rows, np.random.default_rng(0)):
        this_round.reveal(0)
        losses = this_round.losses
        totals += losses
        low, high = min(low, float(losses.min())), max(high, float(losses.max()))
        current = this_round.current_loss
        if current is not None:
            done += current
            known = True
    return totals, done if known else None, (low, high)


def _described(environment: FromFile | FromLog, categorical: Sequence[str]) -> dict[str, Any]:
    """The environment as a table, with all that it has looked up."""
    table = {name: value for name, value in environment.params.items() if value is not None}
    kind = type(environment).__name__
    if isinstance(environment, FromVW):
        kind = f"{type(environment).__module__}:{kind}"
        if not isinstance(environment.columns, int):
            table["columns"] = environment.features or None
    else:
        found = environment.categories
        table["categorical"] = {name: found[name] for name in categorical} if categorical else []
    if isinstance(environment, FromLog):
        if environment.method == "rejection":
            table.setdefault("floor", environment.smallest_propensity)
    elif environment.label is not None:
        table["labels"] = environment.actions
    if "value_range" in table:
        table["value_range"] = list(table["value_range"])
    return {"type": kind, **table}
