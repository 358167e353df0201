"""Assignments of one side to another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.core import Action
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles._combinatorial import Elements, SetOracle


class Matchings(SetOracle):
    r"""Assignments: crews to shifts, drivers to rides, reviewers to papers.

    Element :math:`i \cdot n_\mathrm{right} + j` pairs i on the left with j on the right. An
    action pairs everyone on the smaller side with someone else on the larger. The leader is the
    cheapest assignment for the totals :math:`\sum_s \ell_s(i, j)` of any sign, found by SciPy's
    `linear_sum_assignment` (shortest augmenting paths). Of several cheapest ones it returns the
    one SciPy does, which is a function of the totals alone.

    Parameters
    ----------
    n_left, n_right
        How many there are on each side.

    Examples
    --------
    >>> import hannan as hn
    >>> shifts = hn.oracles.Matchings(2, 3)
    >>> total = shifts.objective()
    >>> total.add(None, np.array([[0.9, 0.1, 0.5], [0.8, 0.2, 0.9]]).ravel())
    >>> action = total.leader()(None)
    >>> action, shifts.pairs(action)
    (array([2, 4]), [(0, 2), (1, 1)])

    References
    ----------
    [crouse2016]
    """

    def __init__(self, n_left: int, n_right: int) -> None:
        self.n_left = check_integer(self, "n_left", n_left, 1)
        self.n_right = check_integer(self, "n_right", n_right, 1)
        self._set_size(self.n_left * self.n_right, min(n_left, n_right), antichain=True)

    def pairs(self, action: Action) -> list[tuple[int, int]]:
        """The pairs (left, right) of an action."""
        chosen = np.atleast_1d(action).tolist()
        return [divmod(element, self.n_right) for element in chosen]

    def log_size(self, contexts: Sequence[Any]) -> float:
        """log n!/(n - m)!, m of the smaller side and n of the larger."""
        large, small = max(self.n_left, self.n_right), self.rank
        return math.lgamma(large + 1) - math.lgamma(large - small + 1)

    def _solve(self, costs: FloatArray) -> Elements:
        from scipy.optimize import linear_sum_assignment

        left, right = linear_sum_assignment(costs.reshape(self.n_left, self.n_right))
        return np.sort(left * self.n_right + right)  # type: ignore[no-any-return]
