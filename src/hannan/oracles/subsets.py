"""Subsets of items of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action
from hannan.core.oracle import Available, Draw, Plus
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import inclusion as kernel_distribution
from hannan.kernels import subsets as kernel
from hannan.oracles._combinatorial import (
    Elements,
    Resampling,
    SetObjective,
    SetOracle,
    check_flag,
    check_labels,
    prefix_sums,
)

_MOST_COMPUTED = 64  # largest m for which computing a propensity is cheaper than drawing


class Subsets(SetOracle):
    r"""All sets of m out of n items, or of at most m: slates, portfolios, committees.

    The leader for past losses is the m items with the smallest totals
    :math:`\sum_s \ell_s(j)`; with `exactly=False` only the items of negative total among them.
    Ties go to the smallest item. A partial sort finds the leader in one pass over the totals.

    Semi-bandit learners need no resampling draws here: for m up to 64 the probability of an item to
    be chosen is computed, with a relative error of about 1e-6.

    Parameters
    ----------
    n
        Number K of items.
    m
        Number of chosen items, from 1 to n.
    exactly
        Whether an action has exactly m items. If False, it has at most m items, perhaps none.
        Default: True.
    labels
        Name of each item, for `items` and the display of policies. Default: None.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(6, 2), seed=0)
    >>> for t in range(300):
    ...     slate = learner.act()
    ...     learner.update([0.1 if item in (1, 4) else 0.8 for item in slate])
    >>> learner.best_policy()(None)
    array([1, 4])

    At most two items, with losses that may be negative:

    >>> total = hn.oracles.Subsets(4, 2, exactly=False).objective()
    >>> total.add(None, np.array([0.5, -1.0, 0.0, 2.0]))
    >>> total.leader()(None)
    array([1])
    """

    _fuller = "exactly=True"

    def __init__(self, n: int, m: int, exactly: bool = True, *, labels: Any = None) -> None:
        self.n = check_integer(self, "n", n, 1)
        self.m = check_integer(self, "m", m, 1)
        if m > n:
            raise refuse(self, "m", f"at most n = {n}", m)
        self.exactly = check_flag(self, "exactly", exactly)
        self.labels = labels
        self._names = check_labels(self, labels, self.n)
        self._set_size(self.n, self.m, antichain=self.exactly)
        self._below = np.inf if self.exactly else 0.0
        self._no_noise = np.zeros(self.n, np.float32)

    def objective(self) -> SubsetObjective:
        return SubsetObjective(self)

    def items(self, action: Action) -> list[Any]:
        """Return the names of the chosen items.

        >>> import hannan as hn
        >>> hn.oracles.Subsets(3, 2, labels=["tea", "rice", "oil"]).items(np.array([0, 2]))
        ['tea', 'oil']
        """
        return self.named(action)

    @cached_property
    def _are_actions(self) -> NDArray[np.bool_]:
        return np.ones(self.n_actions, dtype=bool)

    def log_size(self, contexts: Sequence[Any]) -> float:
        return log_subsets(self.n, self.m, self.exactly)

    def complexity(self, contexts: Sequence[Any]) -> float:
        """Return the expected sum of the m largest of n Laplace variates, exactly."""
        return mean_of_largest(self.n, self.m, self.exactly)

    def interval_minima(
        self, contexts: Sequence[Any], losses: FloatArray, cuts: NDArray[np.intp]
    ) -> FloatArray:
        values = np.zeros((len(cuts), len(cuts)))
        kernel.interval_minima(prefix_sums(losses, cuts), self.m, self._below, values)
        return values

    def _resampling(self, costs: FloatArray) -> Resampling:
        return kernel.resample, (self.m, self._below)

    def _solve(self, costs: FloatArray) -> Elements:
        return kernel.select(costs, self._no_noise, 0.0, self.m, self._below)  # type: ignore[no-any-return]


class SubsetObjective(SetObjective):
    """Total loss of every item."""

    oracle: Subsets

    stored = State()

    def _choose(self, costs: FloatArray, draw: Draw) -> Elements:
        noise, number, scale = draw
        oracle = self.oracle
        z = oracle._no_noise if scale == 0.0 else noise.row(number)  # type: ignore[union-attr]
        return kernel.select(costs, z, scale, oracle.m, oracle._below)  # type: ignore[no-any-return]

    def _choose_rows(
        self, costs: FloatArray, block: Any, start: int, scale: float, part: NDArray[np.bool_]
    ) -> None:
        rows = block[start : start + len(part), : len(costs)]
        kernel.select_rows(costs, rows, scale, self.oracle.m, self.oracle._below, part)

    def inclusion(
        self,
        context: None,
        elements: Elements,
        draw: Draw,
        plus: Plus = None,
        available: Available = None,
    ) -> FloatArray | None:
        """Compute the probability of each of some items; None for large sets."""
        oracle = self.oracle
        if draw.scale == 0.0 or oracle.m > _MOST_COMPUTED or self._replaces(available):
            return None
        totals, q = self._costs(plus, available), np.empty(len(elements))
        m = oracle.m if available is None else min(oracle.m, np.isfinite(totals).sum())
        if len(elements):
            kernel_distribution.inclusion(
                totals, oracle._no_noise, draw.scale, m, oracle._below, elements, q
            )
        return q

    def weights(
        self,
        context: None,
        elements: Elements,
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        """Compute the mean weight (1 - (1-q)^L)/q from q; for large sets, draw the weights."""
        q = self.inclusion(context, elements, draw, plus, available)
        if q is None:
            return super().weights(context, elements, draw, limit, successes, plus, available)
        weights = np.empty(len(elements))
        kernel_distribution.mean_weights(q, limit, weights)
        return weights, 0


def log_subsets(n: int, m: int, exactly: bool = True) -> float:
    """Return the log of the number of sets of m out of n, or of at most m."""
    return float(np.logaddexp.reduce(_log_binomials(n)[m if exactly else 0 : m + 1]))


def mean_of_largest(n: int, m: int, exactly: bool = True) -> float:
    r"""Compute the expected sum of the m largest (or positive) of n unit Laplace variates.

    Given that p of them are positive, those are p exponentials, whose j-th largest has mean
    :math:`H_p - H_{j-1}` with H the harmonic numbers; and if p < m, the rest of the sum is minus
    the m - p smallest of n - p exponentials, the j-th of mean :math:`H_{n-p} - H_{n-p-j}`.

    >>> round(mean_of_largest(2, 1), 6), round(mean_of_largest(3, 3, exactly=False), 6)
    (0.75, 1.5)
    """
    H = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    sums = np.concatenate([[0.0], np.cumsum(H)])  # sums[k] = H_0 + … + H_{k-1}
    p = np.arange(n + 1)
    top = np.minimum(p, m)
    value = top * H[p] - sums[top]
    if exactly:
        r, rest = m - top, n - p
        value -= r * H[rest] - (sums[rest] - sums[rest - np.minimum(r, rest)])
    return float(np.exp(_log_binomials(n) - n * np.log(2.0)) @ value)


def _log_binomials(n: int) -> FloatArray:
    """Compute the log of n choose 0, 1, …, n."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    return np.asarray(factorials[n] - factorials - factorials[::-1])
