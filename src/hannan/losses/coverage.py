"""The weight of the items that a set covers."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import InputTypeError
from hannan.core.arrays import Contexts, as_array, as_list
from hannan.core.validation import refuse
from hannan.losses._set_loss import SetLoss, check_indices, check_numbers
from hannan.losses._terms import Bend, Terms


class Coverage(SetLoss):
    r"""The weight of all items covered, each counted once:
    :math:`f(A) = \sum_{i \in \bigcup_{j \in A} S_j} w_i`.

    Minus gains of the elements, `Coverage(...) + Linear(-gains)`, it is a cost shared by elements
    that need the same items.

    Parameters
    ----------
    covers
        For each element j the items :math:`S_j` it covers, integers ≥ 0; K = len(covers).
    weights
        w ≥ 0, one for each item; by default 1.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Coverage([[0, 1], [1, 2], [2]], weights=[0.25, 0.5, 0.125])
    >>> f([0]), f([0, 1]), f([1, 2]), f.extremes()
    (0.75, 0.875, 0.625, (0.0, 0.875))
    """

    def __init__(self, covers: Contexts, weights: Any = None) -> None:
        try:
            lists = [as_array(items) for items in as_list(covers)]
        except TypeError:
            raise InputTypeError(
                f"Coverage needs a list of items for each element; got {covers!r}."
            ) from None
        if not lists:
            raise refuse(self, "covers", "a list of items for each of one or more elements", covers)
        self.covers = covers
        self.weights = (
            None if weights is None else check_numbers(self, "weights", weights, nonnegative=True)
        )
        most = 2**62 if self.weights is None else len(self.weights)
        sets = [check_indices(self, "covers", items, most) for items in lists]
        n_items = 1 + max((int(items.max()) for items in sets if items.size), default=-1)
        self.n_actions = len(sets)
        table = np.zeros((n_items, self.n_actions), dtype=bool)
        for j, items in enumerate(sets):
            table[items, j] = True
        self.terms = Terms(self.n_actions)
        each = np.ones(n_items) if self.weights is None else self.weights[:n_items]
        for row, weight in zip(table, each, strict=True):
            self._add_item(row, float(weight))
        self._covered = float(each[table.any(axis=1)].sum())

    def _add_item(self, row: Any, weight: float) -> None:
        if weight == 0.0 or not row.any():
            return
        terms = self.terms
        if row.sum() == 1:
            terms.modular[row] += weight
            return
        bend = Bend(row.astype(np.float64), "cap", 1.0)
        known = terms.bends.get(bend.key, (bend, 0.0))
        terms.bends[bend.key] = (known[0], known[1] + weight)

    def extremes(self) -> tuple[float, float]:
        """Zero, and the weight of all items that can be covered: both are attained."""
        return 0.0, self._covered
