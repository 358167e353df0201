"""Conversion of a Decider's decisions to a `Log`, and of logs of other systems to rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame
from hannan.decisions.answers import OpenDecisions, Units
from hannan.decisions.names import Name
from hannan.decisions.records import request_in
from hannan.decisions.scoreboard import Scoreboard
from hannan.off_policy import Log

Row = tuple[Any, Any, dict[str, Any], Any]
"""Context, action, {"reward" or "loss": outcome}, and propensity."""


def log_of(
    known: OpenDecisions, scoreboard: Scoreboard, names: Sequence[Name], units: Units
) -> Log:
    """Return the closed decisions with outcomes as a log, in the order of the decisions."""
    closed = [each for each in known.closed.values() if each[3] is not None]
    closed.sort(key=lambda each: each[5])
    requests = [request_in(each[6] or "") for each in closed]  # each has a text
    available = [request[1] for request in requests]
    outcomes = np.array([each[3] for each in closed], dtype=np.float64)
    rewards = units.word == "reward"
    return Log(
        contexts=[request[0] for request in requests],
        actions=np.array([each[0] for each in closed], dtype=np.intp),
        propensities=[each[1] for each in closed],
        available=None if all(len(each) == len(names) for each in available) else available,
        names=names,
        value_range=(units.low, units.high),
        times=[each[5] for each in closed],
        notes=notes_on(len(closed), known, scoreboard),
        rewards=outcomes if rewards else None,
        losses=None if rewards else outcomes,
    )


def notes_on(kept: int, known: OpenDecisions, scoreboard: Scoreboard) -> tuple[str, ...]:
    """Return a note about the decisions that a log leaves out, if there are any."""
    decisions, waiting = int(scoreboard.plays.sum()), len(known.waiting)
    if kept == decisions:
        return ()
    earlier = decisions - kept - waiting - scoreboard.expired
    reasons = {"open": waiting, "expired without an outcome": scoreboard.expired}
    reasons["too old to be in memory"] = earlier
    told = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count > 0)
    note = f"The log has {kept:,} of {decisions:,} decisions; left out: {told}"
    if waiting or scoreboard.expired:
        note += "; estimates are right only if the gaps do not depend on actions and outcomes"
    return (note,)


def logged(log: Any, names: Sequence[Name], units: Units) -> Iterator[Row]:
    """Yield the rows of a log of any kind, with outcomes in these units."""
    if isinstance(log, Log):
        yield from _rows_of(log, names, units)
        return
    if is_frame(log):
        columns = {name: as_list(column) for name, column in columns_of(log)}
        log = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    if isinstance(log, Mapping | str | bytes) or not isinstance(log, Iterable):
        raise InputTypeError(
            "warm_start takes a Log, a frame, or rows (context, action, outcome, propensity); got "
            f"{log!r:.100}."
        )
    for number, row in enumerate(log):
        yield _row(row, number, units.word)


def _rows_of(log: Log, names: Sequence[Name], units: Units) -> Iterator[Row]:
    """Yield the rows of a `Log`, with its names and units if it has them."""
    word = units.word
    if log.rewards is not None and word == "loss":
        raise ParameterError(
            "The log holds rewards, but this Decider was created with losses=. Create the Decider "
            "with rewards=."
        )
    if log.names is None and log.n_actions != len(names):
        raise ParameterError(
            f"The log has {log.n_actions} actions without names, but this Decider has "
            f"{len(names)} actions. Pass a log with names, or with the same number of actions."
        )
    for number, one in enumerate(log):
        name = names[one.action] if log.names is None else one.name
        outcome = one.loss if one.reward is None else one.reward
        if one.reward is None and word == "reward":
            if not 0.0 <= one.loss <= 1.0:
                raise ParameterError(
                    "To convert the losses of a Log to rewards, they must lie in [0, 1] (0 for the "
                    f"highest reward); row {number} has {one.loss:g}. Or pass rows (context, "
                    "action, reward, propensity)."
                )
            outcome = units.back(one.loss)
        yield one.context, name, {word: outcome}, one.propensity


def _row(row: Any, number: int, word: str) -> Row:
    if isinstance(row, Mapping):
        left, names = dict(row), ("action", word, "propensity")
        missing = [name for name in names if name not in left]
        if missing:
            raise ParameterError(f"Row {number} of the log has no {' and no '.join(missing)}.")
        action, outcome, q = map(left.pop, names)
        return left.pop("context", left or None), action, {word: outcome}, q
    if not isinstance(row, tuple | list) or len(row) != 4:
        raise InputTypeError(
            f"Row {number} of the log must be (context, action, {word}, propensity), or a mapping "
            f"with these names; got {row!r:.100}."
        )
    context, action, outcome, q = row
    return context, action, {word: outcome}, q
