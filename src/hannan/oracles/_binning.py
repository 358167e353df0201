"""Binned features: the cuts of stumps and trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, ParameterError
from hannan.core.arrays import as_floats, columns_of, is_frame
from hannan.core.state import Array, State, require
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels import histograms as kernel
from hannan.kernels.lanes import WIDTH


class Grid(Stored):
    """Edges of the bins of every feature, rising; a bin includes its lower edge.

    For each feature, `lowest` is its smallest value if the edges and this value are all its known
    values, and NaN otherwise.
    """

    stored = State()

    @classmethod
    def _rebuild(cls, **params: Any) -> Self:
        edges, lowest = params["edges"], params["lowest"]
        rising = all(Array(None, rising=True).fits(own) for own in edges)
        padded = len(edges) * max(map(len, edges), default=0)
        require(cls, edges=rising and padded <= 2**24 + 64 * sum(map(len, edges)))
        grid = cls(edges, lowest)
        shaped = isinstance(lowest, np.ndarray) and lowest.dtype == np.float64
        require(grid, lowest=shaped and lowest.shape == (grid.n_features,))
        require(grid, lowest=not np.isinf(lowest).any())
        return grid

    def _params_to_store(self) -> dict[str, Any]:
        cuts = zip(self.edges, self.n_cuts, strict=True)
        return {"edges": [own[:n][::-1].copy() for own, n in cuts], "lowest": self._lowest}

    def __init__(self, edges: Sequence[FloatArray], lowest: FloatArray | None = None) -> None:
        self.n_features = len(edges)
        self.n_cuts = np.array([len(own) for own in edges], dtype=np.int64)
        most = int(self.n_cuts.max(initial=0))
        # In descending order, as kernels take them, padded with -inf.
        self.edges = np.full((self.n_features, most), -np.inf)
        for f, own in enumerate(edges):
            self.edges[f, : len(own)] = own[::-1]
        self._lowest = np.full(self.n_features, np.nan) if lowest is None else lowest

    @cached_property
    def key(self) -> tuple[bytes, bytes]:
        """Key that is equal for equal cuts."""
        return self.n_cuts.tobytes(), self.edges.tobytes()

    def shape(self, n_actions: int) -> tuple[int, int, int, int]:
        """Return the sizes for kernels: groups of features, cuts, actions, features."""
        groups = -(-self.n_features // WIDTH)
        return groups, self.edges.shape[1], n_actions, self.n_features

    def counts(self, context: FloatArray) -> FloatArray:
        """Count for each feature the edges above the context; pad to whole lanes."""
        found = np.zeros(-(-self.n_features // WIDTH) * WIDTH)
        if self.n_features:
            check_length(context, self.n_features)
            kernel.count_above(self.edges, context, found)
        return found

    def count_rows(self, rows: FloatArray) -> NDArray[np.uint16]:
        """Compute `counts` of several contexts, [features, contexts]."""
        return self.padded_counts(rows)[:, : self.n_features].T.astype(np.uint16, order="C")

    def padded_counts(self, rows: FloatArray) -> FloatArray:
        """Compute `counts` of several contexts, [contexts, padded features]."""
        width = -(-self.n_features // WIDTH) * WIDTH
        return np.array([self.counts(row) for row in rows]).reshape(len(rows), width)

    def knows(self, context: FloatArray) -> bool:
        """Return whether the context has only known values in features with all values known."""
        if not self.n_features:
            return False
        counts = self.counts(context)[: self.n_features].astype(np.intp)
        floor = self._floors[np.arange(self.n_features), counts]
        return bool(((floor == context) | np.isnan(self._lowest)).all())

    def splits(self, rows: FloatArray) -> NDArray[np.bool_]:
        """Return which rows lie at or above each cut, [cuts, rows]."""
        counts = self.count_rows(rows)
        cuts = [counts[f] <= c for f in range(self.n_features) for c in range(self.n_cuts[f])]
        return np.array(cuts, dtype=bool).reshape(len(cuts), len(rows))

    @cached_property
    def _floors(self) -> FloatArray:
        """The largest known value not above a context, for each feature and count."""
        floors = np.concatenate([self.edges, np.full((self.n_features, 1), -np.inf)], axis=1)
        floors[np.arange(self.n_features), self.n_cuts] = self._lowest
        return floors


NO_FEATURES = Grid([])


def learn_grid(rows: FloatArray, n_bins: int) -> Grid:
    """Make a grid with edges at all values of each feature, if it has at most `n_bins` values.

    For other features there are n_bins - 1 edges, evenly spread among the distinct values.
    """
    edges: list[FloatArray] = []
    lowest = np.full(rows.shape[1], np.nan)
    for f, column in enumerate(np.sort(rows, axis=0).T):
        values = column[np.concatenate([[True], column[1:] != column[:-1]])]
        if len(values) <= n_bins:
            lowest[f] = values[0]
            edges.append(values[1:])
        else:
            edges.append(values[np.arange(1, n_bins) * len(values) // n_bins])
    return Grid(edges, lowest)


def given_grid(owner: object, edges: Any) -> Grid:
    """Check the edges that a user gives, and make a grid of them."""
    name = type(owner).__name__
    try:
        listed = [column for _, column in columns_of(edges)] if is_frame(edges) else edges
        found = [as_floats(own).copy() for own in listed]
    except (TypeError, ValueError):
        found = []
    if not found or any(own.ndim != 1 for own in found):
        raise ParameterError(
            f"The 'edges' parameter of {name} must be a list with an array of numbers for each "
            f"feature. Got {str(edges)[:100]} instead."
        )
    for f, own in enumerate(found):
        if not np.isfinite(own).all() or (np.diff(own) <= 0).any():
            raise ParameterError(
                f"The 'edges' parameter of {name} must hold finite, strictly rising numbers; those "
                f"of feature {f} are {str(own)[:100]}."
            )
    return Grid(found)


def check_length(context: FloatArray, n_features: int) -> None:
    """Raise `ContextError` unless a context has this number of features."""
    if len(context) != n_features:
        raise ContextError(
            f"Contexts have {n_features} features here; got a row of {len(context)}."
        )


def stack(contexts: Sequence[FloatArray]) -> FloatArray:
    """Stack rows of equal length to a table; it has no columns if there are no rows."""
    if not len(contexts):
        return np.zeros((0, 0))
    for context in contexts:
        check_length(context, len(contexts[0]))
    return np.ascontiguousarray(contexts, dtype=np.float64)
