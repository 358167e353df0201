"""Projection of raw noise on (context, element) cells to noise on listed policies."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.kernels.lanes import WIDTH

_FIRST_LEVEL_CACHE = 48 * 1024
_GROUP_ROWS = (1, 4, 16, 32, 64, 128, 256, 1024, 4096)


class ProjectionPlan(NamedTuple):
    """Groups of contexts for the projection of noise on policies.

    For each group a table holds the noise of every combination of its contexts' actions, and the
    noise of a policy is the sum of one row of each table. An entry is an action of some policy on a
    context. `steps` are the arrays of `kernels.finite.fill_tables`: the cells of each entry, the
    entries of each context, the contexts of each group and the table rows of each group.
    `codes[n, g]` is policy n's row for group g.
    """

    steps: tuple[NDArray[np.int64], ...]
    codes: NDArray[Any]
    n_rows: int


def make_plan(
    columns: NDArray[Any], n_actions: int, sets: Sequence[NDArray[np.intp]] | None
) -> ProjectionPlan:
    """Find the cheapest grouping for a table of actions, one row of `columns` for each context.

    Entries of `columns` are elements, or numbers of sets if `sets` is given.
    """
    d, n_policies = columns.shape
    local = np.empty_like(columns)
    widths = np.empty(d, np.int64)
    cells: list[NDArray[np.intp]] = []
    for x in range(d):
        present = np.flatnonzero(np.bincount(columns[x]))
        rank = np.zeros(int(present[-1]) + 1, np.int64)
        rank[present] = np.arange(len(present))
        local[x] = rank[columns[x]]
        widths[x] = len(present)
        members = (
            [np.array([a]) for a in present] if sets is None else [sets[int(a)] for a in present]
        )
        cells += [x * n_actions + member for member in members]
    starts = np.concatenate([[0], np.cumsum([len(cell) for cell in cells])])
    first_entry = np.concatenate([[0], np.cumsum(widths)])

    groupings = [_group(widths, rows) for rows in _GROUP_ROWS]
    group_start, row_start = min(groupings, key=lambda found: _cost(found[0], found[1], n_policies))
    n_rows = int(row_start[-1])
    codes = np.empty((n_policies, len(row_start) - 1), np.uint16 if n_rows <= 2**16 else np.uint32)
    for g in range(len(row_start) - 1):
        code = np.zeros(n_policies, np.int64)
        for x in range(group_start[g], group_start[g + 1]):
            code = code * widths[x] + local[x]
        codes[:, g] = code + row_start[g]
    steps = (starts, np.concatenate(cells), first_entry, group_start, row_start)
    return ProjectionPlan(tuple(step.astype(np.int64) for step in steps), codes, n_rows)


def _group(
    widths: NDArray[np.int64], most_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group contexts with at most `most_rows` combinations; return starts of groups and rows."""
    starts, rows = [0], [0]
    size = int(widths[0])
    for x in range(1, len(widths)):
        if size * int(widths[x]) <= most_rows:
            size *= int(widths[x])
        else:
            starts.append(x)
            rows.append(rows[-1] + size)
            size = int(widths[x])
    return np.array([*starts, len(widths)]), np.array([*rows, rows[-1] + size])


def _cost(group_start: NDArray[np.int64], row_start: NDArray[np.int64], n_policies: int) -> float:
    """Count vector additions for sixteen draws, twice as many if the tables exceed the cache."""
    rows = int(row_start[-1])
    factor = 2.0 if rows * WIDTH * 4 > _FIRST_LEVEL_CACHE else 1.0
    return factor * float(n_policies * (len(group_start) - 1) + rows)
