"""Convert one row, in any supported form, to a dictionary or a list of values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import is_frame, is_lazy
from hannan.core.errors import ContextError

Cells = dict[Any, Any] | list[Any]

_SINGLE = (str, bytes, Number, date, np.generic)


def cells_of(row: Any) -> Cells:
    """Return a dictionary for a row with names, a list for one without, and {} for an empty row.

    >>> cells_of((31, "pro")), cells_of("pro"), cells_of(None)
    ([31, 'pro'], ['pro'], {})
    """
    kind = type(row)
    if kind is dict or kind is list:
        return row or {}
    if row is None:
        return {}
    try:
        cells = _read(row)
    except ContextError:
        raise
    except Exception as error:  # errors in a user's class
        raise _refused(row, f"reading it raised {type(error).__name__}") from error
    return cells or {}


def _read(row: Any) -> Cells:
    if isinstance(row, _SINGLE):
        return [row]
    if isinstance(row, np.ndarray):
        return _read_array(row)
    if is_lazy(row) or is_frame(row):
        advice = "pass one row, such as frame.iloc[i] or frame.row(i, named=True)"
        raise _refused(row, f"a frame has many rows: {advice}")
    fields = getattr(row, "_fields", None)
    if isinstance(row, tuple):
        return list(row) if fields is None else dict(zip(fields, row, strict=True))
    if isinstance(row, Mapping):
        return {name: row[name] for name in row}
    if hasattr(row, "keys") and hasattr(row, "items"):  # a series of pandas
        return dict(row.items())
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    return _read_sequence(row)


def _read_array(row: NDArray[Any]) -> list[Any]:
    if row.ndim > 1:
        raise _refused(row, f"its shape is {row.shape}: pass one row, table[i]")
    plain = row.dtype.kind in "fiub"
    return [row[()]] if row.ndim == 0 else row.tolist() if plain else list(row)


def _read_sequence(row: Any) -> Cells:
    """Read a scalar of pyarrow, a series of polars, or any other sequence, by its methods."""
    if hasattr(row, "as_py"):  # a scalar of pyarrow
        return cells_of(row.as_py())
    if hasattr(row, "to_list"):  # a series of polars
        return list(row.to_list())
    if hasattr(row, "__len__") and hasattr(row, "__getitem__"):
        return [row[i] for i in range(len(row))]
    raise _refused(row, "it is neither a mapping nor a sequence")


def _refused(row: Any, why: str) -> ContextError:
    return ContextError(
        f"A row must be a mapping, a sequence, a single value or None; got an object of type "
        f"{type(row).__name__}, and {why}."
    )
