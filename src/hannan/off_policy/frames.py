"""Conversion of logs to frames, and from frames and files."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from itertools import count, takewhile
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_list, as_scalar, columns_of, is_frame, missing
from hannan.core.frames import frame
from hannan.core.params import short
from hannan.environments import FromLog
from hannan.environments._columns import check_names
from hannan.environments._files import open_table
from hannan.environments._kinds import look
from hannan.kernels.losses import LARGEST

if TYPE_CHECKING:
    from hannan.off_policy.log import Log

Columns = dict[str, Any]
_OWN = ("context", "action", "loss", "reward", "propensity", "weight", "draws", "time", "available")
ESTIMATE = "estimate"
_ANY = (-LARGEST, LARGEST)  # range of outcomes before the file is read


# Writing ----------------------------------------------------------------------------------------


def frame_of(log: Log) -> Any:
    """Return a log as a frame of pandas, or as a dict of columns if pandas is not installed."""
    columns, own = columns_of_log(log)
    attrs: dict[str, Any] = {"context": own} if own else {}
    for name in ("names", "value_range", "notes"):
        if getattr(log, name):
            attrs[name] = list(getattr(log, name))
    return frame(columns, attrs)


def columns_of_log(log: Log) -> tuple[Columns, dict[str, str]]:
    """Return a log as columns, and the names of the values of contexts that are mappings."""
    contexts, own = _contexts_of(log)
    named = log.names is not None
    action = [log.names[place] for place in log.actions] if named else log.actions
    table = {**contexts, "action": action, log.unit: log.outcomes, "propensity": log.propensities}
    return table | _extras(log, named), own


def _extras(log: Log, named: bool) -> Columns:
    """Return the columns that only some logs have."""
    n = len(log)
    draws = None if log.draws is None else np.full(n, log.draws)
    extras: Columns = {"weight": log.weights, "time": log.times, "draws": draws}
    extras = {name: column for name, column in extras.items() if column is not None}
    if log.available is not None:
        extras["available"] = [" ".join(map(str, row.tolist())) for row in log.available]
    if log.distribution is not None:
        return extras | {f"p{k}": column for k, column in enumerate(log.distribution.T)}
    return extras if named else extras | {"n_actions": np.full(n, log.n_actions)}


def context_frame(log: Log) -> Any:
    """Return contexts that are mappings as a frame, with the columns they were read from."""
    columns, own = _contexts_of(log)
    return frame({own[label]: column for label, column in columns.items()})


def _contexts_of(log: Log) -> tuple[Columns, dict[str, str]]:
    """Return the columns of the contexts, with the keys of these columns for mappings."""
    contexts = log.contexts
    if isinstance(contexts, np.ndarray):
        return {f"x{j}": column for j, column in enumerate(contexts.T)}, {}
    if not log.mapped:
        return ({"context": contexts} if any(each is not None for each in contexts) else {}), {}
    names = list(dict.fromkeys(str(name) for row in contexts for name in row))
    own = {f"context {name}" if _is_own(name) else name: name for name in names}
    return {label: [row.get(name) for row in contexts] for label, name in own.items()}, own


def _is_own(name: str) -> bool:
    """Return whether this name is reserved for a column of `Log.to_frame`."""
    return name in (*_OWN, "n_actions") or (name[:1] in ("x", "p") and name[1:].isdecimal())


# Reading ----------------------------------------------------------------------------------------


def columns_in(frame: Any) -> Columns:
    """Return the columns of a frame, or of a mapping, as a dictionary."""
    if not is_frame(frame) and not isinstance(frame, Mapping):
        raise InputTypeError(
            "Log.from_frame takes a frame or a mapping of names to columns; got "
            f"{short(frame)}. To read a file, use Log.from_file, or read it first, for example "
            "with pandas.read_csv."
        )
    return {str(name): column for name, column in columns_of(frame)}


def read_own(given: Columns, attrs: Mapping[str, Any], n_actions: int | None) -> Columns:
    """Return the arguments of a `Log`, from the columns of `Log.to_frame`."""
    columns = {name: np.asarray(column) for name, column in given.items()}
    outcome = "reward" if "reward" in columns else "loss"
    for name in ("action", outcome, "propensity"):
        if name not in columns:
            raise ParameterError(
                f"A frame with the columns of Log.to_frame() needs {name!r}; got "
                f"{list(columns)}. If it is another frame, name the columns: "
                "Log.from_frame(frame, action=…, reward=… or loss=…, propensity=…)."
            )
    distributions, draws = _numbered("p", columns), columns.get("draws")
    available, names = columns.get("available"), attrs.get("names")
    if columns["action"].dtype.kind not in "iu" and names is None:
        names = names_in(as_list(given["action"]), "action")
    if n_actions is None and names is None:
        n_actions = len(distributions) or _repeated(columns.get("n_actions"))
    actions = columns["action"]
    if names is not None:
        actions = places_of(as_list(given["action"]), names, "action")
    values = attrs.get("value_range")
    return {
        "contexts": _own_contexts(columns, given, attrs.get("context")),
        "actions": actions,
        "losses" if outcome == "loss" else "rewards": columns[outcome],
        "propensities": columns["propensity"],
        "n_actions": n_actions,
        "available": None if available is None else [_actions_in(text) for text in available],
        "distribution": np.column_stack(distributions) if distributions else None,
        "weights": columns.get("weight"),
        "draws": None if draws is None or not len(draws) else int(draws[0]),
        "value_range": None if values is None else tuple(values),
        "names": names,
        "times": columns.get("time"),
        "notes": tuple(attrs.get("notes", ())),
    }


def _own_contexts(columns: Columns, given: Columns, own: Mapping[str, str] | None) -> Any:
    features = _numbered("x", columns)
    if features:
        return np.column_stack(features)
    labels = {name: name for name in columns if not _is_own(name)} if own is None else dict(own)
    return rows_of(given, labels) if labels else columns.get("context")


def read(
    columns: Columns,
    named: Mapping[str, Any],
    context: Any,
    names: Sequence[Any] | None,
    value_range: Any,
) -> Columns:
    """Return the arguments of a `Log`, from columns with the given names."""
    outcome = _check_named(named)
    chances = named["propensity"]
    if chances == ESTIMATE and ESTIMATE not in columns:
        chances = None
    used = [named["action"], outcome, *([chances] if isinstance(chances, str) else [])]
    check_names("the frame", used, columns)
    labels = [name for name in columns if name not in used]
    if context is not None:
        labels = [context] if isinstance(context, str) else list(context)
        check_names("the frame", labels, columns)
    actions = as_list(columns[named["action"]])
    if names is None:
        names = names_in(actions, named["action"])
    if not isinstance(chances, str | None):
        chances = np.full(len(actions), float(chances))
    return {
        "contexts": rows_of(columns, dict(zip(labels, labels, strict=True))) if labels else None,
        "actions": places_of(actions, names, named["action"]),
        "losses" if named["reward"] is None else "rewards": columns[outcome],
        "propensities": columns[chances] if isinstance(chances, str) else chances,
        "names": names,
        "value_range": value_range,
    }


def read_file(
    path: str | PathLike[str],
    named: Mapping[str, Any],
    context: Any,
    names: Sequence[Any] | None,
    value_range: Any,
    options: Mapping[str, Any],
) -> Columns:
    """Return the arguments of a `Log`, from the columns of a file."""
    known = inspect.signature(FromLog).parameters
    strange = [name for name in options if name not in known]
    if strange:
        raise ParameterError(
            f"Log.from_file has no option {strange[0]!r}. Its options are action=, reward= or "
            "loss=, propensity=, context=, names=, value_range=, and missing=, dialect= and others "
            "of environments.FromLog."
        )
    outcome = _check_named(named)
    estimated = named["propensity"] == ESTIMATE
    chances = 1.0 if estimated else named["propensity"]
    world = FromLog(
        path,
        **{"actions": names, **options, **named, "propensity": chances},
        context=_kinds(path, named, outcome, context, options),
        method="importance",
        check=False,
        value_range=_ANY if value_range is None else value_range,
    )
    actions, outcomes, propensities = world.columns()
    n = len(actions)
    contexts: Any = None
    if isinstance(context, str):
        rounds = world.rounds(n, np.random.default_rng(0))
        contexts = [this_round.context for this_round in rounds]
    elif world.context:
        contexts = list(world.rows(n))
    return {
        "contexts": contexts,
        "actions": actions,
        "losses" if named["reward"] is None else "rewards": outcomes,
        "propensities": None if estimated else propensities,
        "names": list(world.actions),
        "value_range": value_range,
    }


def _kinds(
    path: Any, named: Mapping[str, Any], outcome: str, context: Any, options: Mapping[str, Any]
) -> Any:
    """Return the columns of the context with inferred kinds; stated kinds stay unchanged."""
    if isinstance(context, str | Mapping):
        return context
    limits = [options.get(name) for name in ("max_columns", "max_unpacked", "dialect")]
    table = open_table(path, *limits)
    used = [named["action"], outcome, named["propensity"]]
    names = [name for name in table.names if name not in used]
    if context is not None:
        names = list(context)
        check_names(table.source, names, table.names)
    kinds = look(table, names, {}, context is not None, []).kinds if names else {}
    return list(kinds.items()) or None


def _check_named(named: Mapping[str, Any]) -> str:
    """Return the column of the outcomes; raise `ParameterError` if a needed column is missing."""
    outcomes = [named[word] for word in ("reward", "loss") if named[word] is not None]
    if named["action"] is None or len(outcomes) != 1 or named["propensity"] is None:
        got = ", ".join(f"{word}={column!r}" for word, column in named.items())
        raise ParameterError(
            "A log needs action= (the column of the actions), either reward= or loss= (the column "
            "of the outcomes), and propensity= (the column of the actions' probabilities); got "
            f"{got}. If the probabilities were not logged, pass propensity='estimate'. Pass a "
            "number only if all actions were drawn uniformly at random."
        )
    return str(outcomes[0])


def names_in(actions: list[Any], column: str) -> list[Any]:
    """Return the different actions in a column: numbers ascending, anything else as text."""
    _check_whole(actions, column)
    distinct = list(dict.fromkeys(as_scalar(each) for each in actions))
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=str)


def places_of(actions: list[Any], names: Sequence[Any], column: str) -> Any:
    """Return the index of each action in the list of names."""
    _check_whole(actions, column)
    places = {name: i for i, name in enumerate(names)}
    numbers = [places.get(as_scalar(each), -1) for each in actions]
    if -1 in numbers:
        row = numbers.index(-1)
        raise ParameterError(
            f"Row {row}, column {column!r}: {actions[row]!r:.100} is not one of "
            f"names={list(names)!r:.200}. Add it, or leave out the row."
        )
    return np.array(numbers, dtype=np.intp)


def _check_whole(actions: list[Any], column: str) -> None:
    empty = [i for i, each in enumerate(actions) if missing(each) or each == ""]
    if empty:
        raise ParameterError(
            f"In {len(empty)} of {len(actions)} rows, column {column!r} has no action; the first "
            f"is row {empty[0]}. A log needs every action, because leaving out rows by their "
            "action biases all estimates. Fill in the actions, for example with 'none'."
        )


def rows_of(columns: Columns, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of some columns as mappings from names to values."""
    cells = [[as_scalar(cell) for cell in as_list(columns[label])] for label in labels]
    return [dict(zip(labels.values(), row, strict=True)) for row in zip(*cells, strict=True)]


def _numbered(letter: str, columns: Columns) -> list[Any]:
    """Return the numbered columns of a letter, such as p0, p1, …, in order."""
    names = takewhile(columns.__contains__, (f"{letter}{i}" for i in count()))
    return [columns[name] for name in names]


def _repeated(column: Any) -> Any:
    """Return K from a column that repeats it."""
    if column is None or not len(column):
        raise ParameterError(
            "Log.from_frame needs n_actions=, because the frame has neither rows with 'n_actions' "
            "nor columns p0, p1…"
        )
    others = column[column != column[0]]
    if len(others):
        raise ParameterError(
            f"The column 'n_actions' must hold the same number in all rows; got {column[0]} and "
            f"{others[0]}."
        )
    return column[0]


def _actions_in(text: Any) -> list[int]:
    try:
        return [int(action) for action in str(text).split()]
    except ValueError:
        raise ParameterError(
            f"The column 'available' must hold actions such as '0 2 5'; got {text!r}."
        ) from None
