"""Logs of decisions that were made elsewhere, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame
from hannan.decisions.answers import Units
from hannan.decisions.names import Name
from hannan.off_policy import Log

Row = tuple[Any, Any, dict[str, Any], Any]
"""Context, action, the outcome under its name, and the propensity."""


def logged(log: Any, names: Sequence[Name], units: Units) -> Iterator[Row]:
    """The rows of a log, of whatever kind, with outcomes in these units."""
    word = units.word
    if isinstance(log, Log):
        if log.n_actions != len(names):
            raise ParameterError(
                f"The log has {log.n_actions} actions, 0 to {log.n_actions - 1}; this Decider has "
                f"{len(names)}, which they would stand for in their order."
            )
        for number, one in enumerate(log):
            if word == "reward" and not 0.0 <= one.loss <= 1.0:
                raise ParameterError(
                    f"Losses of a Log stand for rewards if they lie in [0, 1], 0 for the highest; "
                    f"row {number} has {one.loss:g}. Or give rows (context, action, reward, "
                    "propensity)."
                )
            outcome = units.back(one.loss) if word == "reward" else one.loss
            yield one.context, names[one.action], {word: outcome}, one.propensity
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
        yield _row(row, number, word)


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
