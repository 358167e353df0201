"""Policy classes on feature vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Menu, Oracle
from hannan.core.arrays import as_floats, as_list, as_scalar, columns_of, is_frame, is_lazy, missing
from hannan.core.validation import FloatArray
from hannan.kernels.losses import LARGEST, copy_usable, extremes

_FLOAT64 = np.dtype(np.float64)


class FeatureOracle(Oracle):
    """A policy class on feature vectors.

    A context is a feature vector: a one-dimensional array, a sequence of numbers, or a row of a
    pandas or polars frame. Contexts need not be known in advance.
    """

    takes_new_contexts = True

    def check_context(self, context: Any) -> FloatArray:
        """Return the feature vector as float64; every feature must be a finite number."""
        if type(context) is not np.ndarray:
            self._check_kind(context)
        return check_row(context)

    def check_contexts(self, contexts: Any) -> list[Any]:
        """Return the distinct rows of a two-dimensional array or a frame."""
        table = as_numbers(contexts, 2)
        if not extremes(table.ravel())[0] <= LARGEST:
            raise _not_usable(table, contexts, 2)
        return [self.check_context(row) for row in {row.tobytes(): row for row in table}.values()]

    def _check_kind(self, context: Any) -> None:
        """Raise `ContextError` for a `Menu` or None, which are not feature vectors."""
        if isinstance(context, Menu):
            raise ContextError(
                f"{type(self).__name__} needs the same actions in every round; got a Menu of "
                "actions with features. Use oracles.SharedLinear, or "
                'hn.bandit(actions="items"), for a Menu.'
            )
        if context is None:
            raise ContextError(
                f"{type(self).__name__} needs a feature vector as the context; got None. Pass a "
                "list of numbers to act(). For a multi-armed bandit without contexts use "
                "hn.bandit(n_actions, n_contexts=1) or AllPolicies(1, n_actions)."
            )

    def key(self, context: FloatArray) -> bytes:
        return context.tobytes()


class MenuOracle(Oracle):
    """A policy class for actions with features: a context is a menu."""

    takes_items = True
    n_actions = None

    def check_contexts(self, contexts: Any) -> list[Any]:
        """Check several menus and remove duplicates."""
        return list({each.key: each for each in map(self.check_context, contexts)}.values())

    def key(self, context: Any) -> Hashable:
        return context.key if isinstance(context, Menu) else context

    def _check_menu(self, context: Any) -> Menu:
        if not isinstance(context, Menu):
            raise ContextError(
                f"{type(self).__name__} needs the actions of the round with their features; got "
                f"only the context {context!r:.100}. Call act(context, actions=rows)."
            )
        return context


def check_row(context: Any) -> FloatArray:
    """Copy a feature vector as float64; each feature must be a finite number."""
    if type(context) is np.ndarray and context.dtype == _FLOAT64:
        if context.ndim == 1 and context.flags.carray:  # as kernels are compiled for
            row = np.empty(len(context))  # a copy, because the caller may reuse the array
            if copy_usable(context, row):
                return row
        row = context + 0.0  # without negative zeros
    else:
        row = as_numbers(context, 1)
    if row.ndim != 1:
        raise ContextError(f"A context must be one feature vector; got shape {row.shape}.")
    if not extremes(row)[0] <= LARGEST:
        raise _not_usable(row[None, :], context, 1)
    return row


def as_numbers(given: Any, ndim: int) -> FloatArray:
    """Convert a frame, array or sequence to contiguous float64, without negative zeros."""
    try:
        found = np.ascontiguousarray(as_floats(given)) + 0.0
    except (TypeError, ValueError):
        if isinstance(given, Mapping):
            raise ContextError(
                f"Features are identified by order, not by name; got {str(given)[:100]}. Pass "
                "the values as a list, always in the same order."
            ) from None
        raise _not_numbers(given, ndim) from None
    if found.ndim == 1 and ndim == 2:
        found = found[:, None]
    if ndim == 1 and len(found) == 1 and is_frame(given):
        found = found[0]
    if found.ndim != ndim or found.size == 0:
        what = "one feature vector" if ndim == 1 else "feature vectors, a two-dimensional array"
        raise ContextError(f"Expected {what}; got an array of shape {found.shape}.")
    return found


def _not_usable(table: FloatArray, given: Any, ndim: int) -> ContextError:
    row, column = (int(i) for i in np.argwhere(~(np.abs(table) <= LARGEST))[0])
    here, value = _place(given, ndim, row, column), table[row, column]
    if np.isfinite(value):
        return ContextError(
            f"Features are squared, so they must not exceed {LARGEST:g}; {here} is {value:g}. "
            "Scale features to the order of 1."
        )
    return ContextError(
        f"Features must be finite; {here} is {value}. Fill in or drop missing values first."
    )


def _not_numbers(given: Any, ndim: int) -> ContextError:
    if is_lazy(given):
        return ContextError("Features must be numbers; got a LazyFrame: call .collect() first.")
    for (row, column), cell in np.ndenumerate(_cells(given, ndim)):
        nested = hasattr(cell, "__len__") and not isinstance(cell, str | bytes)
        if not (nested or missing(cell) or isinstance(as_scalar(cell), Real | Decimal)):
            return ContextError(
                f"Features must be numbers; {_place(given, ndim, row, column)} is {cell!r}. "
                "Encode categories and dates as numbers."
            )
    return ContextError(
        f"Features must be numbers; got {str(given)[:100]!r}. Encode categories as numbers."
    )


def _cells(given: Any, ndim: int) -> NDArray[Any]:
    """Convert the data to a table of objects, [rows, features]; empty if that is impossible."""
    try:
        if is_frame(given):
            columns = [as_list(column) for _, column in columns_of(given)]
            return np.array(columns, dtype=object).T
        found = np.array([] if isinstance(given, str) else as_list(given), dtype=object)
    except Exception:  # __array__ of other packages may raise any exception
        found = np.empty(0)
    if found.ndim == 1:
        return found[:, None] if ndim == 2 else found[None, :]
    return found if found.ndim == 2 else np.empty((0, 0))


def _place(given: Any, ndim: int, row: int, column: int) -> str:
    """Describe the position of a feature, with its column name if it has one."""
    names: Any = getattr(given, "index", None) if ndim == 1 else None
    if is_frame(given):
        names = [name for name, _ in columns_of(given)]
    known = names is not None and not callable(names) and len(names) > column
    name = f" ({names[column]!r})" if known else ""
    return f"feature {column}{name} of row {row}, counting from 0,"
