"""The data of a replay: from options to an environment, and a first reading of it."""

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
from hannan.environments._kinds import Columns, look
from hannan.environments._tabular import LeftOut
from hannan.environments.from_log import Logged
from hannan.experiments.over_data import Units
from hannan.kernels.losses import LARGEST
from hannan.replays.copies import words_on_copies
from hannan.replays.estimates import ESTIMATED, with_estimates

_SILENT, _MOST_LEFT_OUT = 0.01, 0.1  # shares of rows left out that need a word, and a consent
_FEW = 5  # values that a sentence lists
_MOST_NUMBERS = 30  # that may be classes where some are not whole
_LIMITS = ("max_columns", "max_unpacked")
_DIALECT = ("delimiter", "decimal", "encoding", "header")
_OUTCOMES = ("label", "action", "loss", "reward", "propensity", "current")
_LOG = ("action", "actions", "loss", "reward", "propensity", "method", "floor")
LISTS = ("context", "categorical", "text", "labels", "losses", "actions")
"""Options that take lists of names."""
OPTIONS = (
    *("context", "categorical", "text", "label", "labels", "losses", "cost", "current", "unit"),
    *(*_LOG, "value_range", "missing", *_LIMITS, *_DIALECT, "format", "hash"),
)
"""What may be said of the data, by the names of options."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A file that has been read once.

    Attributes
    ----------
    table
        The environment as an experiment file would describe it; nothing in it has to be looked
        up in the file again.
    columns
        What was found in the columns; None for files of Vowpal Wabbit.
    rows_left_out
        Rows that lack an action, a class or an outcome; None for files of Vowpal Wabbit.
    copies
        A sentence about rows that the file holds more than once; empty if there are none.
    """

    table: dict[str, Any]
    environment: FromFile | FromLog | FromVW
    rounds: int
    columns: Columns | None
    rows_left_out: LeftOut | None
    units: Units
    copies: str = ""

    @property
    def caution(self) -> str:
        """Say which rows are left out, where they are more than one in a hundred, and copies."""
        rows = self.rows_left_out
        left_out = "" if rows is None or rows.share <= _SILENT else f"{_told(rows)}."
        return " ".join(filter(None, [left_out, self.copies]))

    @property
    def assumption(self) -> str:
        """The condition under which the answer is right."""
        if self.table.get("propensity") != ESTIMATED:
            return ""
        return ", if nothing but the columns used here influenced who got which action"

    @property
    def logged(self) -> bool:
        """Whether losses are known only for the actions that were taken."""
        return isinstance(self.environment, Logged)

    @property
    def chance(self) -> float | None:
        """The probability that a row counts for a learner, if the log takes all of its actions.

        None where it is not one number.
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
        """Whether rounds offer actions of their own, described by features."""
        return self.environment.n_actions is None

    @property
    def features(self) -> Any:
        """Those of a context, where contexts have some."""
        return getattr(self.environment, "features", None)

    @property
    def names(self) -> list[str]:
        """Of the actions."""
        return [str(name) for name in self.environment.actions]


def read_stream(path: Path, asked: dict[str, Any], rounds: int | None, spare: Path) -> Stream:
    """Read a file once, check all of its values, and infer the options that are not given.

    `asked` has columns and options by their names in `OPTIONS`, None for those not given. `spare`
    is a folder for files of the replay.
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
            f"There are {environment.horizon} rows in the file {str(path)!r}; {rows} were asked "
            "for."
        )
    for _ in environment.clone(context=None).rounds(rows, np.random.default_rng(0)):
        pass  # what is wrong is told before anybody plays
    if isinstance(environment, FromLog):
        environment = _with_propensities(environment, spare)
    described = _described(environment)
    units = Units.of({**described, "reward": options.get("reward")}, unit)
    return Stream(described, environment, rows, columns, left_out, units, copies)


def _with_propensities(log: FromLog, spare: Path) -> FromLog:
    """Return a log whose propensities are checked, once, or estimated, once."""
    file = open_table(log.path, log.max_columns, log.max_unpacked, log.dialect)
    if log.propensity == "estimate" and "estimate" not in file.names:
        return with_estimates(log, spare / "estimates.csv")
    log.clone(check=True)
    return log


def _check_left_out(rows: LeftOut, missing: str | None) -> None:
    """Refuse to leave out more than a tenth of the rows unless that is meant."""
    if rows.share > _MOST_LEFT_OUT and missing != "drop":
        raise ParameterError(
            f"{_told(rows)}. At most {100 * _MOST_LEFT_OUT:g} % are left out without your consent, "
            "because a rule that fits the other rows may be wrong for these. Fill in the values, "
            "or pass missing='drop' if the rows may be left out."
        )


def _told(rows: LeftOut) -> str:
    """Say how many rows are left out, because of which cells, and what else they hold."""
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
    """Refuse options of a table that contradict each other, or do not say what the rows hold."""
    for name in ("format", "hash"):
        if name in options:
            raise ParameterError(f"{name}= goes with files of Vowpal Wabbit: .vw or .dsjson.")
    if options.get("missing", "drop") != "drop":
        raise ParameterError(
            "missing= must be 'drop', which accepts that many rows are left out, or None; got "
            f"{options['missing']!r}."
        )
    chosen = [name for name in ("label", "losses", "action") if name in options]
    if len(chosen) != 1:
        got = " and ".join(f"{name}=" for name in chosen) or "none of them"
        raise ParameterError(
            "Say what the rows hold: label=, the column of the right class; losses=, a column for "
            "each action; or action=, the column of the action taken, with loss= or reward= and "
            f"propensity=. Got {got}."
        )
    strange = {"action": ("labels", "current", "cost"), "losses": (*_LOG, "cost")}
    for name in strange.get(chosen[0], _LOG):
        if name in options and name != chosen[0]:
            raise ParameterError(f"{name}= does not go with {chosen[0]}=.")
    given = options.get("propensity")
    if not isinstance(given, str | Real) and chosen == ["action"]:
        raise ParameterError(
            "action= needs propensity= to say how likely each logged action was. Give the column "
            "of these probabilities. Give 'estimate' if they were not logged. Give a number only "
            f"if each row's action was drawn uniformly at random. Got {short(given)}."
        )


def check_file_options(asked: Mapping[str, Any], fitting: Sequence[str], source: str) -> None:
    """Refuse what can be said of a file of separated values only."""
    for name in _DIALECT:
        if asked.get(name) is not None and name not in fitting:
            raise ParameterError(f"{name}= goes with files of separated values; {source} is none.")


def _table(path: Path, options: dict[str, Any]) -> tuple[FromFile | FromLog, Columns, str]:
    """Return the environment of a file of rows, the kinds of its columns, and words on copies."""
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
    now = [name for name in used if name == options.get("current")]
    check_names(f"{file.source} for current=, the column of past decisions", now, file.names)
    check_names(file.source, [*used, *(wanted or ()), *asked], file.names)
    names = [name for name in file.names if name not in used]
    if wanted is not None:
        names = list(dict.fromkeys([*wanted, *asked]))
    _check_classes(file, options)
    columns = look(file, names, asked, wanted is not None, used)
    copies = words_on_copies(file, [*dict.fromkeys([*used, *columns.kinds])])
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
    """Refuse a column of measurements as one of classes, by its first rows."""
    label = options.get("label")
    if label is None or "labels" in options:
        return
    _, batch = next(file.batches([label]), (1, {label: []}))
    numbers = {x for x in map(as_float, listed(batch[label])) if math.isfinite(x)}
    if len(numbers) > _MOST_NUMBERS and any(x % 1.0 for x in numbers):
        raise ParameterError(
            f"label= is a column of classes; {label!r} holds {len(numbers)} different numbers or "
            "more. If they are what rows brought or cost, give reward=, loss= or losses=; if they "
            "are classes, declare them: labels=."
        )


def _costs(asked: Any) -> dict[str, dict[str, float]]:
    """Return costs by class and action: of mappings, a file with a matrix, or texts yes:no=50."""
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
                "cost= must be RIGHT:DONE=COST, such as yes:no=50 (yes was right, no was done; in "
                f"Python {{'yes': {{'no': 50}}}}), or a file with a matrix; got {short(text)}."
            )
    return costs


def _named(row: Mapping[Any, Any]) -> dict[str, float]:
    return {str(action): value for action, value in row.items()}


def _pair(pair: Any) -> str:
    """Return RIGHT:DONE of a key, which is that text already or a pair."""
    return pair if isinstance(pair, str) else ":".join(map(str, pair))


def _matrix(path: str) -> dict[str, dict[str, float]]:
    """A table: the first column names the right class, the others what each action costs."""
    file = open_table(path, dialect={"header": True})
    right, *actions = file.names
    matrix: dict[str, dict[str, float]] = {}
    for _, batch in file.batches(file.names):
        for i, name in enumerate(batch[right]):
            try:
                matrix[str(name)] = {action: float(batch[action][i]) for action in actions}
            except (TypeError, ValueError):
                raise ParameterError(
                    f"cost=: the row {str(name)!r} of {file.source} must hold numbers."
                ) from None
    return matrix


def _extremes(file: TableFile, names: list[Any]) -> tuple[float, float]:
    """The smallest and the largest number in some columns, or 0 and 1 where these are outside."""
    low, high = math.inf, -math.inf
    for _, batch in file.batches(names):
        for cell in (cell for name in names for cell in batch[name]):
            try:
                value = float(cell)
            except (TypeError, ValueError, OverflowError):
                continue  # missing, or wrong: then the row is named when it is played
            if abs(value) <= LARGEST:
                low, high = min(low, value), max(high, value)
    if low < high:
        return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
    return (min(low, 0.0), max(high, 1.0)) if low == high else (0.0, 1.0)


def _vw(path: Path, options: dict[str, Any], rounds: int | None, unit: str) -> Stream:
    """Read a log of Vowpal Wabbit; where offers change, actions are described by their features."""
    limit = options.get("max_unpacked")
    format = format_of(path, options.get("format"), "format=", max_unpacked=limit)
    same = ("format", "method", "floor", "value_range", "max_unpacked")
    known = {"context": "columns", "hash": "columns"} | {name: name for name in same}
    for name in options.keys() - known.keys():
        raise ParameterError(f"{name}= does not go with a file of {format}.")
    arguments = {known[name]: value for name, value in options.items()}
    if offers_change(path, format, limit):
        arguments["items"] = True
        if isinstance(arguments.get("columns"), int):
            arguments["action_columns"] = arguments["columns"]
    environment = FromVW(str(path), **arguments)
    _check_actions(environment)
    if not environment.oblivious:
        raise ParameterError(
            f"The actions in the file {str(path)!r} are not available in every round. Make a log "
            "with hn.adapters.log_from_vw, and play that."
        )
    rows = environment.horizon if rounds is None else min(rounds, environment.horizon)
    low, high = environment.value_range
    params = environment.params.items()
    table = {name: value for name, value in params if value not in (None, False)}
    table |= {"type": f"{FromVW.__module__}:FromVW", "value_range": [float(low), float(high)]}
    return Stream(table, environment, rows, None, None, Units(low, high, False, unit))


def _check_actions(environment: FromFile | FromLog | FromVW) -> None:
    if environment.n_actions == 1:
        raise ParameterError(
            f"There is one action only, {str(environment.actions[0])!r}: nothing to choose. "
            "Declare all of them: labels= or actions=."
        )


def _described(environment: FromFile | FromLog) -> dict[str, Any]:
    """The environment as a table, with all that it has looked up."""
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
