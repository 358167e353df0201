"""Columns as frames: of pandas or polars if one of them is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

Table = Mapping[Any, Sequence[Any]]


class Columns(dict[str, Any]):
    """Columns in a dict, with the `attrs` that frames of pandas have."""

    def __init__(self, columns: Table) -> None:
        super().__init__(columns)
        self.attrs: dict[str, Any] = {}


def frame(columns: Table, attrs: Mapping[str, Any] | None = None) -> Any:
    """Return columns as a frame of pandas, else of polars; without both packages, as a dict.

    `attrs` are facts about the whole table. Frames of polars have no place for them, so a table
    with `attrs` is a dict if pandas is not installed.

    >>> frame({"action": ["red", "green"], "reward": [3.0, 5.0]})
      action  reward
    0    red     3.0
    1  green     5.0
    """
    pandas = _installed("pandas")
    polars = None if attrs is not None else _installed("polars")
    if pandas is None and polars is not None:
        return polars.DataFrame(dict(columns), strict=False)
    made = Columns(columns) if pandas is None else pandas.DataFrame(columns)
    if attrs:
        made.attrs.update(attrs)
    return made


def like(table: Any, columns: Table) -> Any:
    """Return columns as a frame of the same kind as a frame, with its index if it has one.

    >>> import pandas as pd
    >>> like(pd.DataFrame({"age": [31]}, index=["ann"]), {"action": ["red"]})
        action
    ann    red
    """
    kind = type(table)
    if hasattr(kind, "from_pydict"):  # pyarrow
        return kind.from_pydict({str(name): column for name, column in columns.items()})
    if hasattr(kind, "iloc"):  # pandas
        return kind(columns, index=table.index)
    return kind({str(name): column for name, column in columns.items()}, strict=False)


def by_column(rows: Sequence[Mapping[str, Any]], names: Iterable[str] = ()) -> dict[str, list[Any]]:
    """Return the columns of rows that have the same names; all of them, or those named.

    >>> by_column([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'x': [1, 3], 'y': [2, 4]}
    """
    return {name: [row[name] for row in rows] for name in names or rows[0]}


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
