"""Tables of contexts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hannan.core import ContextError, InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, is_lazy, is_series
from hannan.core.params import short

_ROW = (Mapping, list, tuple, np.ndarray)


def is_table(contexts: Any) -> bool:
    """Return whether these are several contexts: a frame, a 2-d array, or a list of rows.

    >>> is_table([{"age": 31}, {"age": 40}]), is_table({"age": 31}), is_table([31, "pro"])
    (True, False, False)
    """
    if is_frame(contexts) or is_lazy(contexts):
        return True
    if isinstance(contexts, np.ndarray):
        return contexts.ndim > 1
    if not isinstance(contexts, list | tuple) or hasattr(contexts, "_fields"):
        return False
    return bool(contexts) and all(
        isinstance(row, _ROW) or hasattr(row, "to_dict") for row in contexts
    )


def only_row(context: Any, method: str = "decide") -> Any:
    """Return the context of one decision; raise `ContextError` for a table of several.

    >>> only_row([{"age": 31}])
    {'age': 31}
    """
    if is_series(context) and not all(isinstance(n, str) for n in getattr(context, "index", [0])):
        raise ContextError(
            f"{method}() takes one context; got a {type(context).__name__} of {len(context)} "
            "values without names, which may be a column. Pass a row with names, such as "
            "frame.iloc[0], or a list of the values of one context."
        )
    if not is_table(context):
        return context
    rows = rows_of(context, method)
    if len(rows) != 1:
        many = "decide_many() to decide on" if method == "decide" else "warm_start() to learn from"
        raise ContextError(
            f"{method}() takes one context; got {_described(context)} with {len(rows)} rows. Call "
            f"{many} each row, or pass one row, such as frame.iloc[0]."
        )
    return rows[0]


def rows_of(contexts: Any, method: str = "decide_many") -> list[Any]:
    """Return the rows of a table: mappings for a frame, lists for an array, or a list's entries.

    >>> import polars as pl
    >>> rows_of(pl.DataFrame({"age": [31, 40], "plan": ["free", None]}))
    [{'age': 31, 'plan': 'free'}, {'age': 40, 'plan': None}]
    """
    if is_lazy(contexts):
        raise ContextError(f"{method}() does not take a lazy frame: call collect() first.")
    if is_frame(contexts):
        columns: dict[Any, list[Any]] = {}
        for name, column in columns_of(contexts):
            if name in columns:
                raise ContextError(f"Two columns of the frame are named {name!r}: rename one.")
            columns[name] = as_list(column)
        if not columns:
            return [{} for _ in range(len(contexts))]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(contexts, np.ndarray) and contexts.ndim > 2:
        raise ContextError(
            f"{method}() takes a 2-d array with a row for each decision; got shape "
            f"{contexts.shape}."
        )
    single = isinstance(contexts, Mapping | str | bytes) or is_series(contexts)
    if single or not isinstance(contexts, Iterable):
        raise InputTypeError(
            f"{method}() takes a frame, a 2-d array or a list of contexts; got "
            f"{short(contexts)}. Call decide() with one context."
        )
    return as_list(contexts)


def spread(name: str, values: Any, count: int) -> list[Any]:
    """Return a list with a value for each row; without `values`, each is None."""
    if values is None:
        return [None] * count
    if isinstance(values, Mapping | str | bytes) or not isinstance(values, Iterable):
        raise InputTypeError(
            f"{name}= must be a list with an entry for each row; got {values!r:.100}."
        )
    listed = as_list(values)
    if len(listed) != count:
        raise ParameterError(
            f"{name}= must have an entry for each of the {count} rows; got {len(listed)}."
        )
    return listed


def available_by_row(available: Any, count: int) -> list[Any]:
    """Return the available actions of each row, from names for all rows or a list for each row.

    >>> available_by_row(["red", "green"], 2), available_by_row([["red"], None], 2)
    ([['red', 'green'], ['red', 'green']], [['red'], None])
    """
    if isinstance(available, Iterable) and not isinstance(available, str | bytes):
        listed = as_list(available)
        if all(each is None or _is_collection(each) for each in listed):
            return spread("available", listed, count)
        available = listed
    return [available] * count


def _is_collection(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _described(table: Any) -> str:
    if isinstance(table, np.ndarray):
        return f"an array of shape {table.shape}"
    return f"a {type(table).__name__}"
