"""The data of a replay: conversion of options to an environment, checks, a first reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hannan.adapters.vw.files import FromVW, format_of, is_vw, offers_change
from hannan.core import ParameterError
from hannan.core.params import short
from hannan.environments import FromFile, FromLog
from hannan.environments._columns import as_float, check_names, listed
from hannan.environments._files import CsvFile, TableFile, open_table
from hannan.environments._kinds import ColumnKinds, look
from hannan.environments._tabular import LeftOut
from hannan.environments.from_log import Logged
from hannan.experiments.over_data import LossUnits
from hannan.kernels.losses import LARGEST
from hannan.replays.copies import copies_in
from hannan.replays.estimates import ESTIMATED, with_estimates

_SILENT, _MOST_LEFT_OUT = 0.01, 0.1  # shares of rows left out: without a warning, by default
_FEW = 5  # maximum of values that a sentence lists
_MOST_NUMBERS = 30  # different numbers that may be classes if some are not integers
_LIMITS = ("max_columns", "max_unpacked")
_DIALECT = ("delimiter", "decimal", "encoding", "header")
_OUTCOMES = ("label", "action", "loss", "reward", "propensity", "current")
_LOG = ("action", "actions", "loss", "reward", "propensity", "method", "floor")
LISTS = ("context", "categorical", "text", "labels", "losses", "actions")
"""Options whose value is a list of names."""
OPTIONS = (
    *("context", "categorical", "text", "label", "labels", "losses", "cost", "current", "unit"),
    *(*_LOG, "value_range", "missing", *_LIMITS, *_DIALECT, "format", "hash"),
)
"""Names of all options that describe the data."""


@dataclass(frozen=True, slots=True)
class ReplayData:
    """A data file after the first reading.

    Attributes
    ----------
    table
        The environment as a table of an experiment file, including everything that was inferred
        from the data.
    columns
        Kinds of the columns, and columns that are not used; None for files of Vowpal Wabbit.
    rows_left_out
        Rows that lack an action, a class or an outcome; None for files of Vowpal Wabbit.
    copies
        Warning about rows that the file holds more than once; empty if there are none.
    """

    table: dict[str, Any]
    environment: FromFile | FromLog | FromVW
    rounds: int
    columns: ColumnKinds | None
    rows_left_out: LeftOut | None
    units: LossUnits
    copies: str = ""

    @property
    def caution(self) -> str:
        """Warning about copies of rows, and about rows left out if they exceed 1 %."""
        rows = self.rows_left_out
        left_out = "" if rows is None or rows.share <= _SILENT else f"{_left_out_rows(rows)}."
        return " ".join(filter(None, [left_out, self.copies]))

    @property
    def assumption(self) -> str:
        """Condition under which the answer is right, as a clause; empty if there is none."""
        if self.table.get("propensity") != ESTIMATED:
            return ""
        return ", if only the columns used here influenced the logged actions"

    @property
    def logged(self) -> bool:
        """Whether the data are a log, with losses only for the actions taken."""
        return isinstance(self.environment, Logged)

    @property
    def chance(self) -> float | None:
        """Mean importance weight of a learner whose actions the log takes; None if it varies.

        By rejection sampling, it is the probability that a row counts.
        """
        log = self.environment
        if not isinstance(log, FromLog):
            return None
        if log.method == "importance":
            return 1.0
        least = log.smallest_propensity
        return None if log.floor is not None and log.floor > least else log.floor or least

    @property
    def takes_items(self) -> bool:
        """Whether each round has its items: actions with features."""
        return self.environment.n_actions is None

    @property
    def features(self) -> Any:
        """Features of the contexts; None or empty without features."""
        return getattr(self.environment, "features", None)

    @property
    def names(self) -> list[str]:
        """Names of the actions."""
        return [str(name) for name in self.environment.actions]


def read_data(path: Path, asked: dict[str, Any], rounds: int | None, spare: Path) -> ReplayData:
    """Read a file once, check all of its values, and infer the options that are not given.

    `asked` maps the names in `OPTIONS` to values, None if an option is not given. `spare` is a
    folder for temporary files.
    """
    options = {name: value for name, value in asked.items() if value is not None}
    unit = options.pop("unit", "")
    if is_vw(path):
        return _vw(path, options, rounds, unit)
    check_options(options)
    environment, columns, copies = _table(path, options)
    rows = environment.horizon if rounds is None else rounds
    if rows == 0:
        raise ParameterError(f"There are no rows in the file {str(path)!r}.")
    left_out = environment.left_out
    _check_left_out(left_out, options.get("missing"))
    _check_actions(environment)
    if rows > environment.horizon:
        raise ParameterError(
            f"There are {environment.horizon} rows in the file {str(path)!r}; rounds={rows} is too "
            "large."
        )
    for _ in environment.clone(context=None).rounds(rows, np.random.default_rng(0)):
        pass  # raises errors in the rows before the first run
    if isinstance(environment, FromLog):
        environment = _with_propensities(environment, spare)
    described = _described(environment)
    units = LossUnits.of({**described, "reward": options.get("reward")}, unit)
    return ReplayData(described, environment, rows, columns, left_out, units, copies)


def _with_propensities(log: FromLog, spare: Path) -> FromLog:
    """Check the propensities of a log, or estimate them, and return the log."""
    file = open_table(log.path, log.max_columns, log.max_unpacked, log.dialect)
    if log.propensity == "estimate" and "estimate" not in file.names:
        return with_estimates(log, spare / "estimates.csv")
    log.clone(check=True)
    return log


def _check_left_out(rows: LeftOut, missing: str | None) -> None:
    """Raise `ParameterError` if too many rows are left out without `missing="drop"`."""
    if rows.share > _MOST_LEFT_OUT and missing != "drop":
        raise ParameterError(
            f"{_left_out_rows(rows)}. At most {100 * _MOST_LEFT_OUT:g} % are left out by default, "
            "because a rule that fits the other rows may be wrong for these. Fill in the values, "
            "or pass missing='drop' to leave out the rows."
        )


def _left_out_rows(rows: LeftOut) -> str:
    """Describe the rows left out: their number, the cells that are the reason, other values."""
    reasons = [
        f"{name} is {cell!r}" if cell else f"{name} is empty"
        for name, cells in rows.reasons.items()
        for cell in list(cells)[:_FEW]
    ]
    text = f"{rows.rows:,} of {rows.of:,} rows ({100 * rows.share:.3g} %) are left out because "
    text += " or ".join(reasons)
    counts = [
        f"{count:,} with {name} {value}"
        for name, values in rows.counts.items()
        for value, count in list(values.items())[:_FEW]
        if value
    ]
    return f"{text}: {', '.join(counts)}" if counts else text


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `ParameterError` for contradictory options, or if the kind of rows is unknown."""
    for name in ("format", "hash"):
        if name in options:
            raise ParameterError(
                f"{name}= is only for files of Vowpal Wabbit (.vw or .dsjson). Leave it out."
            )
    if options.get("missing", "drop") != "drop":
        raise ParameterError(
            "missing= must be 'drop', which leaves out any number of rows, or None; got "
            f"{options['missing']!r}."
        )
    chosen = [name for name in ("label", "losses", "action") if name in options]
    if len(chosen) != 1:
        got = " and ".join(f"{name}=" for name in chosen) or "none of them"
        raise ParameterError(
            "Say what the rows hold: label= (column of the right class), losses= (one column for "
            "each action) or action= (column of the action taken, with loss= or reward= and "
            f"propensity=). Got {got}."
        )
    strange = {"action": ("labels", "current", "cost"), "losses": (*_LOG, "cost")}
    for name in strange.get(chosen[0], _LOG):
        if name in options and name != chosen[0]:
            raise ParameterError(f"{name}= does not go with {chosen[0]}=.")
    given = options.get("propensity")
    if not isinstance(given, str | Real) and chosen == ["action"]:
        raise ParameterError(
            "action= needs propensity=, the probability of each logged action. Pass the column of "
            "these probabilities. Pass 'estimate' if they were not logged. Pass a number only if "
            f"each row's action was drawn uniformly at random. Got {short(given)}."
        )


def check_file_options(asked: Mapping[str, Any], fitting: Sequence[str], source: str) -> None:
    """Raise `ParameterError` for options that only files of separated values have."""
    for name in _DIALECT:
        if asked.get(name) is not None and name not in fitting:
            raise ParameterError(
                f"{name}= goes with files of separated values only, not with {source}."
            )


def _table(path: Path, options: dict[str, Any]) -> tuple[FromFile | FromLog, ColumnKinds, str]:
    """Return the environment of a table file, the kinds of its columns, and a copies warning."""
    limits = {name: options.pop(name) for name in _LIMITS if name in options}
    dialect = {name: options.pop(name) for name in _DIALECT if name in options}
    file = open_table(path, **limits, dialect=dialect or None)
    if not isinstance(file, CsvFile):
        check_file_options(dialect, ("encoding",) if hasattr(file, "dialect") else (), file.source)
    outcomes = [options.get(name) for name in _OUTCOMES]
    if options.get("propensity") == "estimate" and "estimate" not in file.names:
        outcomes.remove("estimate")
    used = [name for name in [*outcomes, *options.get("losses", ())] if isinstance(name, str)]
    asked = dict.fromkeys(options.pop("categorical", ()), "category")
    asked |= dict.fromkeys(options.pop("text", ()), "text")
    wanted = options.pop("context", None)
    current = [name for name in used if name == options.get("current")]
    check_names(f"{file.source} for current=, the column of past decisions", current, file.names)
    check_names(file.source, [*used, *(wanted or ()), *asked], file.names)
    names = [name for name in file.names if name not in used]
    if wanted is not None:
        names = list(dict.fromkeys([*wanted, *asked]))
    _check_classes(file, options)
    columns = look(file, names, asked, wanted is not None, used)
    copies = copies_in(file, [*dict.fromkeys([*used, *columns.kinds])])
    table = {**options, **limits, "path": str(path), "missing": "drop"}
    table["context"] = [[name, kind] for name, kind in columns.kinds.items()] or None
    if hasattr(file, "dialect"):
        table["dialect"] = asdict(file.dialect)
    if "cost" in options:
        table["cost"] = _costs(options["cost"])
        costs = [cost for row in table["cost"].values() for cost in row.values()]
        if not all(map(math.isfinite, costs)):
            raise ParameterError("cost= must hold finite numbers.")
        table.setdefault("value_range", (min([0.0, *costs]), max([1.0, *costs])))
    values = options.get("losses") or [options.get("loss") or options.get("reward")]
    if "value_range" not in table and "label" not in options and None not in values:
        table["value_range"] = _extremes(file, values)
    if "action" in options:
        return FromLog(**table, check=False), columns, copies
    return FromFile(**table), columns, copies


def _check_classes(file: TableFile, options: Mapping[str, Any]) -> None:
    """Raise `ParameterError` if the first classes in the label column look like measurements."""
    label = options.get("label")
    if label is None or "labels" in options:
        return
    _, batch = next(file.batches([label]), (1, {label: []}))
    numbers = {x for x in map(as_float, listed(batch[label])) if math.isfinite(x)}
    if len(numbers) > _MOST_NUMBERS and any(x % 1.0 for x in numbers):
        raise ParameterError(
            f"label= must be a column of classes; {label!r} holds {len(numbers)} different numbers "
            "or more. If they are rewards or losses, pass reward=, loss= or losses= instead. If "
            "they are classes, list them as labels=."
        )


def _costs(asked: Any) -> dict[str, dict[str, float]]:
    """Return costs by class and action, from mappings, a matrix file, or texts like yes:no=50."""
    costs: dict[str, dict[str, float]] = {}
    texts = asked if isinstance(asked, list | tuple) else [asked]
    if isinstance(asked, Mapping):
        if all(isinstance(row, Mapping) for row in asked.values()):
            return {str(right): _named(row) for right, row in asked.items()}
        texts = [f"{_pair(pair)}={value}" for pair, value in asked.items()]
    for text in texts:
        if isinstance(text, str | PathLike) and "=" not in str(text):
            return _matrix(str(text))
        pair, _, value = str(text).rpartition("=")
        right, _, action = pair.partition(":")
        try:
            costs.setdefault(right, {})[action] = float(value)
        except ValueError:
            right = ""
        if not (right and action):
            raise ParameterError(
                "cost= must be RIGHT:DONE=COST or a file with a matrix. For example, yes:no=50 (in "
                f"Python {{'yes': {{'no': 50}}}}) is the cost of no where yes was right. Got "
                f"{short(text)}."
            )
    return costs


def _named(row: Mapping[Any, Any]) -> dict[str, float]:
    return {str(action): value for action, value in row.items()}


def _pair(pair: Any) -> str:
    """Return a key as RIGHT:DONE; the key is this text or a pair."""
    return pair if isinstance(pair, str) else ":".join(map(str, pair))


def _matrix(path: str) -> dict[str, dict[str, float]]:
    """Read costs from a table: the right class in the first column, then a column per action."""
    file = open_table(path, dialect={"header": True})
    right, *actions = file.names
    matrix: dict[str, dict[str, float]] = {}
    for _, batch in file.batches(file.names):
        for i, name in enumerate(batch[right]):
            try:
                matrix[str(name)] = {action: float(batch[action][i]) for action in actions}
            except (TypeError, ValueError):
                raise ParameterError(
                    f"cost=: the row {str(name)!r} of {file.source} must hold only numbers."
                ) from None
    return matrix


def _extremes(file: TableFile, names: list[Any]) -> tuple[float, float]:
    """Return the smallest and the largest number in some columns; (0, 1) if it holds them all."""
    low, high = math.inf, -math.inf
    for _, batch in file.batches(names):
        for cell in (cell for name in names for cell in batch[name]):
            try:
                value = float(cell)
            except (TypeError, ValueError, OverflowError):
                continue  # missing or invalid: the environment names the row later
            if abs(value) <= LARGEST:
                low, high = min(low, value), max(high, value)
    if low < high:
        return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
    return (min(low, 0.0), max(high, 1.0)) if low == high else (0.0, 1.0)


def _vw(path: Path, options: dict[str, Any], rounds: int | None, unit: str) -> ReplayData:
    """Read a log of Vowpal Wabbit; if its actions change, they are items with features."""
    limit = options.get("max_unpacked")
    format = format_of(path, options.get("format"), "format=", max_unpacked=limit)
    same = ("format", "method", "floor", "value_range", "max_unpacked")
    known = {"context": "columns", "hash": "columns"} | {name: name for name in same}
    for name in options.keys() - known.keys():
        raise ParameterError(f"{name}= does not go with a file of {format}. Leave it out.")
    arguments = {known[name]: value for name, value in options.items()}
    if offers_change(path, format, limit):
        arguments["items"] = True
        if isinstance(arguments.get("columns"), int):
            arguments["action_columns"] = arguments["columns"]
    environment = FromVW(str(path), **arguments)
    _check_actions(environment)
    if not environment.oblivious:
        raise ParameterError(
            f"The actions in the file {str(path)!r} are not available in every round. Convert the "
            "file with hn.adapters.log_from_vw, and evaluate policies on this log."
        )
    rows = environment.horizon if rounds is None else min(rounds, environment.horizon)
    low, high = environment.value_range
    params = environment.params.items()
    table = {name: value for name, value in params if value not in (None, False)}
    table |= {"type": f"{FromVW.__module__}:FromVW", "value_range": [float(low), float(high)]}
    return ReplayData(table, environment, rows, None, None, LossUnits(low, high, False, unit))


def _check_actions(environment: FromFile | FromLog | FromVW) -> None:
    if environment.n_actions == 1:
        raise ParameterError(
            f"There is only one action, {str(environment.actions[0])!r}, so there is no choice. "
            "List all actions as labels= or actions=."
        )


def _described(environment: FromFile | FromLog) -> dict[str, Any]:
    """Return the environment as a table, including everything that was inferred."""
    table = {name: value for name, value in environment.params.items() if value is not None}
    table["categorical"] = []
    if isinstance(environment, FromLog):
        table["actions"] = [*environment.actions]
        if environment.method == "rejection":
            table.setdefault("floor", environment.smallest_propensity)
    elif environment.label is not None:
        table["labels"] = environment.classes
    if "value_range" in table:
        table["value_range"] = [float(end) for end in table["value_range"]]
    return {"type": type(environment).__name__, **table}
