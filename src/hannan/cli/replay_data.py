"""The data of `hannan replay`: from options to an environment, and a first reading of it."""

from __future__ import annotations

import math
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hannan.adapters.vw.files import FromVW, format_of, is_vw, offers_change
from hannan.core import ParameterError
from hannan.environments import FromFile, FromLog
from hannan.environments._columns import check_names
from hannan.environments._files import TableFile, open_table
from hannan.environments._kinds import Columns, look
from hannan.environments.from_log import Logged
from hannan.experiments.over_data import Units

_LIMITS = ("max_columns", "max_unpacked")
_DIALECT = ("delimiter", "decimal", "encoding", "header")
_OUTCOMES = ("label", "action", "loss", "reward", "propensity", "current")
_STARTS = {b"PK": ".csv.zip", b"\x1f\x8b": ".csv.gz", b"PAR1": ".parquet", b"{": ".jsonl"}


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
    dropped
        Rows left out because what they cost is missing.
    """

    table: dict[str, Any]
    environment: FromFile | FromLog | FromVW
    rounds: int
    columns: Columns | None
    dropped: int
    units: Units

    @property
    def logged(self) -> bool:
        """Whether losses are known only for the actions that were taken."""
        return isinstance(self.environment, Logged)

    @property
    def described(self) -> bool:
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


def spooled(folder: Path) -> Path:
    """Standard input as a file in a folder: it is read more than once."""
    stream = sys.stdin.buffer
    start = stream.read(512)
    ending = next((e for mark, e in _STARTS.items() if start.lstrip()[:4].startswith(mark)), ".csv")
    path = folder / f"stdin{ending}"
    with path.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path


def read_stream(path: Path, asked: dict[str, Any], rounds: int | None) -> Stream:
    """Read a file once: all of its values are checked, and what is needed of it is found.

    `asked` has columns and options by the names that `FromFile` and `FromLog` have for them, None
    for those not given.
    """
    options = {name: value for name, value in asked.items() if value is not None}
    if is_vw(path):
        return _vw(path, options, rounds)
    environment, columns = _table(path, options)
    rows = environment.horizon if rounds is None else rounds
    if rows == 0:
        raise ParameterError(f"There are no rows in the file {str(path)!r}.")
    _check_actions(environment)
    if rows > environment.horizon:
        raise ParameterError(
            f"There are {environment.horizon} rows in the file {str(path)!r}; {rows} were asked "
            "for."
        )
    for _ in environment.clone(context=None).rounds(rows, np.random.default_rng(0)):
        pass  # what is wrong is told before anybody plays
    described = _described(environment)
    dropped = columns.rows - environment.horizon
    units = Units.of({**described, "reward": options.get("reward")})
    return Stream(described, environment, rows, columns, dropped, units)


def _table(path: Path, options: dict[str, Any]) -> tuple[FromFile | FromLog, Columns]:
    """The environment of a file of rows, and what its columns hold."""
    limits = {name: options.pop(name) for name in _LIMITS if name in options}
    dialect = {name: options.pop(name) for name in _DIALECT if name in options}
    file = open_table(path, **limits, dialect=dialect or None)
    outcomes = [options.get(name) for name in _OUTCOMES]
    used = [name for name in [*outcomes, *options.get("losses", ())] if isinstance(name, str)]
    asked = dict.fromkeys(options.pop("categorical", ()), "category")
    asked |= dict.fromkeys(options.pop("text", ()), "text")
    wanted = options.pop("context", None)
    check_names(file.source, [*used, *(wanted or ()), *asked], file.names)
    names = [name for name in file.names if name not in used]
    if wanted is not None:
        names = list(dict.fromkeys([*wanted, *asked]))
    columns = look(file, names, asked, wanted is not None, used)
    table = {**options, **limits, "path": str(path), "missing": "drop"}
    table["context"] = [[name, kind] for name, kind in columns.kinds.items()] or None
    if hasattr(file, "dialect"):
        table["dialect"] = asdict(file.dialect)
    if "cost" in options:
        table["cost"] = _costs(options["cost"])
        costs = [cost for row in table["cost"].values() for cost in row.values()]
        if not all(map(math.isfinite, costs)):
            raise ParameterError("--cost must be finite numbers.")
        table.setdefault("value_range", (min([0.0, *costs]), max([1.0, *costs])))
    values = options.get("losses") or [options.get("loss") or options.get("reward")]
    if "value_range" not in table and "label" not in options and None not in values:
        table["value_range"] = _extremes(file, values)
    return FromLog(**table) if "action" in options else FromFile(**table), columns


def _costs(entries: list[str]) -> dict[str, dict[str, float]]:
    """Costs by class and action: of a file with a matrix, or of weights such as yes:no=50."""
    costs: dict[str, dict[str, float]] = {}
    for text in entries:
        if "=" not in text:
            return _matrix(text)
        pair, _, value = text.rpartition("=")
        right, _, action = pair.partition(":")
        try:
            costs.setdefault(right, {})[action] = float(value)
        except ValueError:
            right = ""
        if not (right and action):
            raise ParameterError(
                "--cost must be RIGHT:DONE=COST, such as yes:no=50 (yes was right, no was done), "
                f"or a file with a matrix; got {text!r}."
            )
    return costs


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
                    f"--cost: the row {str(name)!r} of {file.source} must hold numbers."
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
            if math.isfinite(value):
                low, high = min(low, value), max(high, value)
    if low < high:
        return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
    return (min(low, 0.0), max(high, 1.0)) if low == high else (0.0, 1.0)


def _vw(path: Path, options: dict[str, Any], rounds: int | None) -> Stream:
    """Read a log of Vowpal Wabbit; where offers change, actions are described by their features."""
    limit = options.get("max_unpacked")
    format = format_of(path, options.get("format"), "--format", max_unpacked=limit)
    same = ("format", "method", "floor", "value_range", "max_unpacked")
    known = {"context": "columns", "hash": "columns"} | {name: name for name in same}
    for name in options.keys() - known.keys():
        raise ParameterError(f"--{name.replace('_', '-')} does not go with a file of {format}.")
    arguments = {known[name]: value for name, value in options.items()}
    if offers_change(path, format, limit):
        arguments["described"] = True
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
    return Stream(table, environment, rows, None, 0, Units(low, high, False))


def _check_actions(environment: FromFile | FromLog | FromVW) -> None:
    if environment.n_actions == 1:
        raise ParameterError(
            f"There is one action only, {str(environment.actions[0])!r}: nothing to choose. "
            "Declare all of them (--labels, --actions)."
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
