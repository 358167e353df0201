"""Decision stumps: one feature, one cut, an action on each side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Policy
from hannan.core.validation import FloatArray
from hannan.oracles._binning import Grid
from hannan.oracles._histograms import BinnedObjective, BinnedOracle


class Stumps(BinnedOracle):
    r"""Decision stumps: one feature, one cut, an action on each side; and constants.

    A stump plays b if :math:`x_f \ge \theta`, else a. The total loss of each action below every cut
    θ of every feature f is a sufficient statistic. So the leader is exact, and a round costs
    O(features × bins × K) for every t and every number of contexts.

    The set X of perturbed contexts determines the cuts: all values of a feature if it has at
    most `n_bins` values on X, so that no stump is missing; otherwise n_bins - 1 values evenly
    spread among them. Before there is noise, X is the set of contexts seen so far. If the contexts
    are not known in advance, cuts follow X until 4096 distinct contexts have been seen. With
    `edges` the class is fixed from the start.

    Ties go to constants, the smallest action first; then to the smallest feature, the largest
    cut, the smallest action below it, the smallest from it on.

    Parameters
    ----------
    n_actions
        Number K of actions.
    n_bins
        Largest number of bins of a feature, one more than its cuts. Default: 32.
    edges
        Array of rising cuts for each feature, instead of the cuts found on X. Default: None.

    Examples
    --------
    >>> import hannan as hn
    >>> total = hn.oracles.Stumps(n_actions=2).objective()
    >>> for x, y, label in [(0, 5, 0), (1, 3, 0), (2, 4, 1), (3, 6, 1)]:
    ...     total.add(np.array([x, y], float), np.array([label, 1 - label], float))
    >>> total.leader()
    <stump: 1 if x[0] >= 2 else 0>
    >>> total.leader()([2.5, 0.0])
    1
    """

    def __init__(self, n_actions: int, n_bins: int = 32, edges: Any = None) -> None:
        super().__init__(n_actions, n_bins, edges)

    def objective(self) -> BinnedObjective:
        return BinnedObjective(self)

    def log_size(self, contexts: Sequence[Any]) -> float:
        r"""Return :math:`\log(K + K(K-1)C)` for C cuts that separate some of these contexts."""
        K = self.n_actions
        return math.log(K + K * (K - 1) * len(self.partitions(contexts)))

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Return whether each cut splits these contexts, and no two cuts split them equally."""
        n_cuts = int(self.cuts_on(contexts).n_cuts.sum())
        return self.n_actions == 1 or len(self.partitions(contexts)) == n_cuts

    def decode(self, code: NDArray[np.int64], grid: Grid) -> StumpPolicy:
        return decode_stump(self, code, grid)


@dataclass(eq=False, repr=False)
class CutPolicy(Policy):
    """One side if `x[feature] >= threshold`, otherwise the other; a constant if feature is -1."""

    oracle: BinnedOracle
    feature: int
    threshold: float
    below: Any
    above: Any

    def side(self, row: FloatArray) -> Any:
        """Return the policy or action on the side of a context."""
        high = self.feature >= 0 and row[self.feature] >= self.threshold
        return self.above if high else self.below


class StumpPolicy(CutPolicy):
    """Policy that plays `above` if `x[feature] >= threshold`, else `below`."""

    def __call__(self, context: Any = None) -> int:
        return self.side(self.oracle.check_context(context))  # type: ignore[no-any-return]

    @property
    def rule(self) -> str:
        """Policy in words."""
        if self.feature < 0:
            return str(self.below)
        return f"{self.above} if x[{self.feature}] >= {self.threshold:g} else {self.below}"

    def __repr__(self) -> str:
        return f"<stump: {self.rule}>"


def decode_stump(oracle: BinnedOracle, code: NDArray[np.int64], grid: Grid) -> StumpPolicy:
    """Make the policy from a feature (-1 for a constant), a cut and two actions."""
    feature, cut, below, above = (int(i) for i in code)
    threshold = -math.inf if feature < 0 else float(grid.edges[feature, cut])
    return StumpPolicy(oracle, feature, threshold, below, above)
