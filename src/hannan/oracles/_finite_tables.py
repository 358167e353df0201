"""Tables of policies in the formats of users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_array


def as_table(
    actions: ArrayLike, n_actions: int | None
) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
    """Return the table of codes, the sets of the codes (None for single elements), and K."""
    table = as_array(actions)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim not in (2, 3) or 0 in table.shape:
        raise ParameterError(
            "FinitePolicies needs a table of actions with at least one policy and one context; got "
            f"an array of shape {table.shape}. Pass [N, d] or [N, d, m] integers, or [N, d, K] "
            "booleans."
        )
    if table.dtype == bool and table.ndim == 3:
        width = table.shape[2]
        if n_actions not in (None, width):
            raise ParameterError(f"A table of {width} booleans per context has n_actions={width}.")
        inclusion = table
    else:
        width = _check_actions(table, n_actions)
        if table.ndim == 2:
            return table.copy(order="K"), None, width
        inclusion = np.zeros((*table.shape[:2], width), dtype=bool)
        np.put_along_axis(inclusion, table.astype(np.intp), True, axis=2)
        if (inclusion.sum(axis=2) != table.shape[2]).any():
            raise ParameterError("FinitePolicies needs sets of m different elements in each cell.")
    packed = np.packbits(inclusion.reshape(-1, width), axis=1)
    _, first, codes = np.unique(
        packed.view(np.dtype((np.void, packed.shape[1]))).ravel(),
        return_index=True,
        return_inverse=True,
    )
    sets = inclusion.reshape(-1, width)[first]
    return codes.reshape(inclusion.shape[:2]), sets, width


def _check_actions(table: NDArray[Any], n_actions: int | None) -> int:
    """Return K, or raise an error for cells that do not hold an action."""
    if table.dtype.kind == "f" and np.isnan(table).any():
        row, column = (int(i) for i in np.argwhere(np.isnan(table))[0][:2])
        raise ParameterError(
            f"FinitePolicies needs an action in every cell; the action of policy {row} on context "
            f"{column} is missing."
        )
    if not np.issubdtype(table.dtype, np.integer):
        raise InputTypeError(
            f"FinitePolicies needs integer actions; got a table of type {table.dtype}."
        )
    low, top = int(table.min()), int(table.max())
    width = top + 1 if n_actions is None else n_actions
    if low < 0 or top >= width:
        raise ParameterError(
            f"Actions are 0 to n_actions - 1 = {width - 1}; the table holds "
            f"{low if low < 0 else top}."
        )
    return width


def distinct_rows(table: NDArray[Any]) -> int:
    """Count the distinct rows."""
    rows = np.ascontiguousarray(table)
    return len(np.unique(rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))))
