"""Arrays as users hold them: of NumPy, pandas, polars and pyarrow, and lists.

One rule applies to all, and none of those packages is imported. A *frame* is a table of rows. A
*column* (a series, an array of pyarrow) is a list of values. Only their order counts; names and
index labels do not. Missing values among numbers become NaN. Text and dates are never numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import ContextError


class HasArray(Protocol):
    """Objects that NumPy can turn into an array: arrays, frames and columns of other packages."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the array."""


Contexts = Sequence[Any] | HasArray
"""Several contexts, in the forms that `as_rows` takes."""

_NUMBERS = "fiub"  # kinds of NumPy types that are numbers


def as_array(values: Any) -> NDArray[Any]:
    """Return an array-like object as an array; frames become two-dimensional.

    >>> import pandas as pd
    >>> as_array(pd.DataFrame({"age": [31, 48], "new": [True, False]}))
    array([[31,  1],
           [48,  0]])
    >>> as_array(pd.Series([1, None], dtype="Int64"))
    array([ 1., nan])
    """
    if type(values) is np.ndarray:
        return values if values.dtype.kind != "O" else _resolved(values)
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    if is_lazy(values):
        raise TypeError("a LazyFrame is not a number yet: call .collect() first")
    if is_frame(values):
        return _stacked(values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, MemoryError):
        raise
    except Exception as error:  # __array__ of another class may raise anything
        raise TypeError(f"{type(values).__name__} cannot be converted to an array") from error
    if array.dtype.kind == "O":
        return _resolved(array)
    # Kernels are compiled for writable arrays; arrays borrowed from frames are read-only.
    return array if array.flags.writeable else array.copy()


def _stacked(frame: Any) -> NDArray[Any]:
    """Stack the columns of a frame: as numbers if all are numbers, else as Python objects."""
    columns = [column for _, column in columns_of(frame)]
    parts = [as_array(column) for column in columns]
    if parts and all(part.dtype.kind in _NUMBERS for part in parts):
        return np.stack(parts, axis=1)
    objects = np.empty((len(frame), len(parts)), dtype=object)
    for i, column in enumerate(columns):
        objects[:, i] = as_list(column)
    return objects


def as_floats(given: Any) -> NDArray[np.float64]:
    """Return an array-like object as float64, or raise a `TypeError`.

    >>> as_floats([1, 2.5, None])
    array([1. , 2.5, nan])
    >>> as_floats(["1", "2.5"])
    Traceback (most recent call last):
    ...
    TypeError: text is not a number
    """
    found = as_array(given)
    if found.dtype.kind in _NUMBERS:
        return found.astype(np.float64, copy=False)
    if found.size == 0 and found.dtype.kind == "O":
        return found.astype(np.float64)
    kinds = {"U": "text", "S": "text", "T": "text", "M": "a date", "m": "a span of time"}
    raise TypeError(f"{kinds.get(found.dtype.kind, 'a value')} is not a number")


def grown(array: NDArray[Any], size: int, value: Any = 0, axis: int = -1) -> NDArray[Any]:
    """Return a copy with more entries along an axis, filled with `value`.

    >>> grown(np.array([1.0, 2.0]), 4)
    array([1., 2., 0., 0.])
    """
    shape = list(array.shape)
    shape[axis] = size - shape[axis]
    return np.concatenate([array, np.full(shape, value, array.dtype)], axis=axis)


def as_list(given: Any) -> list[Any]:
    """Return the values of a column, an array or any iterable as Python objects.

    >>> import pyarrow as pa
    >>> as_list(pa.chunked_array([["rain"], ["sun", "rain"]]))
    ['rain', 'sun', 'rain']
    """
    if isinstance(given, np.ndarray) and given.dtype.kind in "mM":
        return list(given)  # `tolist` makes whole numbers of some dates
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(given, method):
            return list(getattr(given, method)())
    return list(given)


def as_rows(given: Any) -> Sequence[Any]:
    """Return several contexts as a sequence, to iterate over.

    The rows of a frame are arrays if all columns are numbers, else tuples; the values of a column
    are unchanged. Missing values raise a `ContextError`. Any other sequence is returned itself.

    >>> import polars as pl
    >>> as_rows(pl.DataFrame({"hour": [9, 17], "sky": ["grey", "blue"]}))
    [(9, 'grey'), (17, 'blue')]
    >>> as_rows(pl.Series(["rain", None]))
    Traceback (most recent call last):
    ...
    hannan.core.errors.ContextError: Contexts must not be missing; number 1, counting from 0, is...
    """
    if is_lazy(given):
        raise ContextError("Contexts must be known; got a LazyFrame: call .collect() first.")
    if isinstance(given, np.ndarray):
        return as_list(given) if given.ndim == 1 else given  # type: ignore[return-value]
    if is_frame(given):
        for name, column in columns_of(given):
            _refuse_missing(as_list(column), f" in column {str(name)!r}")
        table = as_array(given)
        if table.dtype.kind in _NUMBERS:
            return list(table)
        return [tuple(row) for row in table.tolist()]
    if not hasattr(given, "__array__") or isinstance(given, np.generic):
        return given  # type: ignore[no-any-return]
    values = as_list(given)
    _refuse_missing(values, "")
    return values


def comparable(rows: Sequence[Any]) -> Sequence[Any]:
    """Check contexts that are compared by value: NaN equals nothing and could not recur.

    >>> comparable([0.5, float("nan")])
    Traceback (most recent call last):
    ...
    hannan.core.errors.ContextError: Contexts must not be missing; number 1, counting from 0, is...
    """
    _refuse_missing(rows, "", unless_none=True)
    return rows


def equals_itself(context: Any) -> bool:
    """Return whether a context equals itself: NaN does not, nor does a container of NaN.

    >>> equals_itself((1, "rain")), equals_itself((1, float("nan")))
    (True, False)
    """
    if type(context) in (int, str):
        return True
    if isinstance(context, Mapping):
        return all(map(equals_itself, context.values()))
    if isinstance(context, list | tuple | set | frozenset):
        return all(map(equals_itself, context))
    try:
        if hasattr(context, "__array__") and not isinstance(context, np.generic):
            cells = np.asarray(context)
            if cells.dtype.kind == "O":
                return all(map(equals_itself, cells.ravel().tolist()))
            return bool((cells == cells).all())
        return context is None or (not missing(context) and (context == context) is not False)
    except Exception:  # __eq__ and __array__ of another class may raise anything
        return False


def check_comparable(context: Any) -> Any:
    """Return a context unchanged if it equals itself, else raise a `ContextError`."""
    if not equals_itself(context):
        raise ContextError(
            "A context must not contain NaN or missing values, because it could not be recognised "
            f"again; got {context!r:.100}. Fill in or drop missing values first."
        )
    return context


def as_scalar(given: Any) -> Any:
    """Return a number or a name without the wrapper of NumPy or pyarrow.

    >>> import pyarrow as pa
    >>> as_scalar(pa.scalar(3)), as_scalar(np.float32(0.5)), as_scalar("rain")
    (3, 0.5, 'rain')
    """
    if hasattr(given, "as_py"):
        return given.as_py()
    plain = isinstance(given, np.generic) and given.dtype.kind not in "mM"
    return given.item() if plain else given


def is_frame(given: Any) -> bool:
    """Return whether this is a table with columns: a frame of pandas or polars, a pyarrow table."""
    kind = type(given)  # not the object, because its columns may be computed on access
    return all(hasattr(kind, name) for name in ("columns", "shape", "__array__"))


def is_series(given: Any) -> bool:
    """Return whether this is a column of pandas or polars; a row of pandas has the same type."""
    kind = type(given)
    return hasattr(kind, "to_frame") and hasattr(kind, "__array__")


def is_lazy(given: Any) -> bool:
    """Return whether this is a frame of polars that is not computed yet."""
    return type(given).__name__ == "LazyFrame"


def columns_of(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the columns of a frame with their names, which may repeat."""
    if hasattr(frame, "items"):  # pandas
        yield from frame.items()
    elif hasattr(frame, "column_names"):  # pyarrow, where `columns` are the data
        yield from zip(frame.column_names, frame.columns, strict=True)
    else:
        yield from zip(frame.columns, frame.get_columns(), strict=True)


def missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or a missing value of pandas."""
    # pandas' NA is neither equal to anything nor unequal to itself: only its text tells.
    if type(value).__module__.startswith("pandas"):
        return str(value) in ("<NA>", "NaT")
    if value is None:
        return True
    return isinstance(value, Real | Decimal | np.datetime64) and bool(value != value)


def _refuse_missing(values: Sequence[Any], where: str, unless_none: bool = False) -> None:
    for i, value in enumerate(values):
        if missing(value) and not (unless_none and value is None):
            raise ContextError(
                f"Contexts must not be missing; number {i}{where}, counting from 0, is {value}. "
                "Fill in or drop missing values first."
            )


def _resolved(found: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects as numbers if all are numbers, else unchanged."""
    cells = [as_scalar(cell) for cell in found.ravel().tolist()]
    filled = [np.nan if missing(cell) else cell for cell in cells]
    if not all(isinstance(cell, Real | Decimal) for cell in filled):
        return found
    numbers = np.array(filled)
    if numbers.dtype.kind not in _NUMBERS:  # fractions, or whole numbers beyond all types
        try:
            numbers = np.array([float(cell) for cell in filled])
        except OverflowError:
            raise ValueError("a whole number is too large") from None
    return numbers.reshape(found.shape)


def _unmasked(given: Any) -> NDArray[Any]:
    data = as_array(np.asarray(given))
    hidden = np.ma.getmaskarray(given)
    if not hidden.any():
        return data
    filled = data.astype(np.float64 if data.dtype.kind in _NUMBERS else object)
    filled[hidden] = np.nan
    return filled
