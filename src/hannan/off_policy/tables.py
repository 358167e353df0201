"""Logs as columns of a table, which any data frame, CSV or Parquet file can hold."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short
from hannan.environments import FromLog

if TYPE_CHECKING:
    from hannan.off_policy.log import Log


def columns(log: Log) -> dict[str, Any]:
    """The columns of `Log.to_frame`."""
    table: dict[str, Any] = {}
    if log.features is not None:
        table |= {f"x{j}": column for j, column in enumerate(log.features.T)}
    elif any(context is not None for context in log.contexts):
        table["context"] = log.contexts
    table |= {"action": log.actions, "loss": log.losses, "propensity": log.propensities}
    if log.weights is not None:
        table["weight"] = log.weights
    if log.draws is not None:
        table["draws"] = np.full(len(log), log.draws)
    if log.available is not None:
        table["available"] = [" ".join(map(str, row.tolist())) for row in log.available]
    if log.distribution is None:
        table["n_actions"] = np.full(len(log), log.n_actions)
    else:
        table |= {f"p{k}": column for k, column in enumerate(log.distribution.T)}
    return table


def arguments(frame: Any, n_actions: int | None) -> dict[str, Any]:
    """What `Log` takes, from the columns of `Log.to_frame`."""
    names = _names(frame)
    absent = [name for name in ("action", "loss", "propensity") if name not in names]
    if absent:
        raise ParameterError(
            f"A frame with the columns of Log.to_frame() needs {absent[0]!r}; there are {names}."
        )
    found = {name: np.asarray(frame[name]) for name in names}
    laws, features = _numbered("p", found), _numbered("x", found)
    if n_actions is None:
        n_actions = len(laws) or _told(found.get("n_actions"))
    if n_actions is None:
        raise ParameterError(
            "Log.from_frame needs n_actions=, as the frame has neither rows with 'n_actions' nor "
            "columns p0, p1…"
        )
    contexts = np.column_stack(features) if features else found.get("context")
    draws, available = found.get("draws"), found.get("available")
    return {
        "contexts": contexts,
        "actions": found["action"],
        "losses": found["loss"],
        "propensities": found["propensity"],
        "n_actions": n_actions,
        "available": None if available is None else [_actions(row) for row in available],
        "distribution": np.column_stack(laws) if laws else None,
        "weights": found.get("weight"),
        "draws": None if draws is None or not len(draws) else int(draws[0]),
    }


def from_file(path: str | PathLike[str], options: dict[str, Any]) -> dict[str, Any]:
    """What `Log` takes, from a file of somebody's log."""
    try:
        inspect.signature(FromLog).bind(path, **options)
    except TypeError as error:
        raise ParameterError(
            "Log.from_file takes the names of columns as environments.FromLog does: context=, "
            f"action=, loss= or reward=, propensity=; {error}."
        ) from None
    world = FromLog(path, **{**options, "method": "importance"})
    contexts, actions, losses, inverse = [], [], [], []
    for this_round in world.rounds(world.horizon, np.random.default_rng(0)):
        assert this_round.current is not None
        this_round.reveal(this_round.current)
        contexts.append(this_round.context)
        actions.append(this_round.current)
        losses.append(this_round.loss)
        inverse.append(this_round.weight)
    return {
        "contexts": contexts,
        "actions": np.array(actions, dtype=np.intp),
        "losses": losses,
        "propensities": np.minimum(1.0 / np.array(inverse), 1.0),
        "n_actions": world.n_actions,
    }


def _names(frame: Any) -> list[Any]:
    for names in ("column_names", "columns"):  # pyarrow has both, of which one is the data
        if hasattr(frame, names):
            return list(getattr(frame, names))
    if isinstance(frame, Mapping):
        return list(frame)
    raise InputTypeError(
        "Log.from_frame takes a frame or a mapping of names to columns; got "
        f"{short(frame)}. Read a file first, by pandas.read_csv or the like, or use Log.from_file."
    )


def _told(column: Any) -> Any:
    """K, by a column that repeats it."""
    if column is None or not len(column):
        return None
    if (column != column[0]).any():
        other = column[column != column[0]][0]
        raise ParameterError(
            f"The column 'n_actions' must hold one number throughout; got {column[0]} and {other}."
        )
    return column[0]


def _numbered(letter: str, found: dict[str, Any]) -> list[Any]:
    """The columns p0, p1, … in order."""
    listed: list[Any] = []
    while f"{letter}{len(listed)}" in found:
        listed.append(found[f"{letter}{len(listed)}"])
    return listed


def _actions(row: Any) -> list[int]:
    try:
        return [int(action) for action in str(row).split()]
    except ValueError:
        raise ParameterError(
            f"The column 'available' must hold actions such as '0 2 5'; got {row!r}."
        ) from None
