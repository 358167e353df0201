"""Axis-aligned decision trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Objective, Policy
from hannan.core.oracle import Available, Draw, Noise, Plus
from hannan.core.state import Array, Object, OneOf, Part, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import trees as kernel
from hannan.oracles._binning import NO_FEATURES, Grid, check_length, learn_grid
from hannan.oracles._histograms import BinnedNoise, BinnedObjective, BinnedOracle, fits
from hannan.oracles._totals import FeatureRows, Solved
from hannan.oracles.stumps import CutPolicy, StumpPolicy, decode_stump

_DEEPEST = 100  # largest depth, because trees are grown by recursion


class Trees(BinnedOracle):
    r"""Decision trees of bounded depth, with an action in each leaf.

    A path holds at most `depth` cuts :math:`x_f \ge \theta`. Depth 1 is `Stumps`. At depth 2 the
    leader is exact: totals are stored for every pair of cuts. A leader costs time and memory
    O((features × bins)² K), and no cost grows with t.

    Deeper trees are grown greedily: the root cut is that of the best tree of depth 2, then each
    side is treated in the same way with one level less. The result need not be the best tree:
    `exact` is False, and no theorem applies. A leader costs O(contexts × features² × bins × K) per
    level.

    Cuts are found as in `Stumps`. Ties go to stumps in their order; then to the smallest root
    feature, its largest cut, the first stump below the cut, the first stump from the cut on.

    Parameters
    ----------
    n_actions
        Number K of actions.
    depth
        Largest number of cuts on a path, from 1 to 100. Default: 2.
    n_bins, edges
        Largest number of bins of a feature (default: 16), or cuts of each feature, as in `Stumps`.

    Examples
    --------
    No single cut tells when two bits differ:

    >>> import hannan as hn
    >>> total = hn.oracles.Trees(n_actions=2).objective()
    >>> for x, y in [(0, 0), (0, 1), (1, 0), (1, 1)]:
    ...     differ = x != y
    ...     total.add(np.array([x, y], float), np.array([differ, not differ], float))
    >>> print(total.leader())
    if x[0] < 1:
        1 if x[1] >= 1 else 0
    else:
        0 if x[1] >= 1 else 1
    """

    def __init__(self, n_actions: int, depth: int = 2, n_bins: int = 16, edges: Any = None) -> None:
        super().__init__(n_actions, n_bins, edges)
        self.depth = check_integer(self, "depth", depth, 1)
        if depth > _DEEPEST:
            raise refuse(self, "depth", f"an integer from 1 to {_DEEPEST}", depth)
        self.pairs = self.depth == 2
        self.exact = self.depth <= 2  # type: ignore[misc]

    def objective(self) -> Objective:
        return BinnedObjective(self) if self.depth <= 2 else GreedyObjective(self)

    def log_size(self, contexts: Sequence[Any]) -> float:
        r"""Bound log N by :math:`N_{D+1} \le N_D + C N_D (N_D - 1)`, :math:`N_0 = K`, and d log K.

        C is the number of cuts that separate some of these contexts.
        """
        K, d = self.n_actions, len(contexts)
        cuts = len(self.partitions(contexts))
        N = K
        for _ in range(self.depth):
            N += cuts * N * (N - 1)
            if math.log(N) >= d * math.log(K):
                return d * math.log(K)
        return math.log(N)

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        """Return the answer if there is one action or no cut splits the contexts, else None."""
        if self.n_actions == 1:
            return True
        n_cuts = int(self.cuts_on(contexts).n_cuts.sum())
        return None if len(self.partitions(contexts)) == n_cuts else False

    def decode(self, code: NDArray[np.int64], grid: Grid) -> Policy:
        if len(code) == 4:
            return decode_stump(self, code, grid)
        below = decode_stump(self, code[2:6], grid)
        if code[0] < 0:
            return below
        threshold = float(grid.edges[code[0], code[1]])
        return TreePolicy(
            self, int(code[0]), threshold, below, decode_stump(self, code[6:10], grid)
        )


class TreePolicy(CutPolicy):
    """Policy that follows `above` if `x[feature] >= threshold`, else `below`."""

    def __call__(self, context: Any = None) -> Any:
        row = self.oracle.check_context(context)
        return self.side(row)(row)

    def __str__(self) -> str:
        below, above = (_indented(side) for side in (self.below, self.above))
        return f"if x[{self.feature}] < {self.threshold:g}:\n{below}\nelse:\n{above}"

    def __repr__(self) -> str:
        return f"<tree with root x[{self.feature}] >= {self.threshold:g}>"


def _indented(policy: Policy) -> str:
    text = policy.rule if isinstance(policy, StumpPolicy) else str(policy)
    return "\n".join("    " + line for line in text.splitlines())


class GreedyObjective(Solved):
    """Total loss vector of each distinct context, for trees grown from the root."""

    oracle: Trees
    draws_in_batches = False

    stored = State(
        _met=OneOf("before") | None,
        _rows=Part(),
        _grid=(Object(Grid) | None).where(lambda self, grid: self._could_be(grid)),
        _places=Array(None, dtype=np.intp, low=0, below=lambda self: len(self._rows)),
    )

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "_met": None if self._met is None else "before"}

    def _could_be(self, grid: Grid | None) -> bool:
        fixed = self.oracle.grid
        if grid is None:
            return fixed is None
        return fits(grid, self._rows) and (fixed is None or fixed.key == grid.key)

    def __init__(self, oracle: Trees) -> None:
        self.oracle = oracle
        self._rows = FeatureRows(oracle.n_actions)
        self._met: object | None = None  # the noise that determined the cuts
        self._grid = oracle.grid
        self._counts: FloatArray = np.zeros((0, 0))  # counts of the rows; recomputed when outdated
        self._places = np.zeros(0, np.intp)

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        self._rows.add(context, losses)

    def action(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if plus is not None or available is not None:
            return super().action(context, draw, plus, available)
        found = self._solve(draw)[0]
        if self._rows.n_features is not None:
            check_length(context, self._rows.n_features)
        return found(context)

    def _solve(self, draw: Draw) -> tuple[Policy, float]:
        noise, number, scale = draw
        places = self._agree(noise)
        totals = self._rows.totals
        if noise is not None and scale != 0.0:
            np.add.at(totals, places, scale * noise.unit(number))
        return self._node(np.arange(len(totals)), totals, self.oracle.depth)

    def _node(
        self, members: NDArray[np.intp], totals: FloatArray, depth: int
    ) -> tuple[Policy, float]:
        """Grow the tree for some of the rows."""
        assert self._grid is not None
        code = np.empty(10, np.int64)
        shape = self._grid.shape(self.n_actions)
        value = float(kernel.grow(self._counts[members], totals[members], shape, code))
        if depth == 2 or max(code[0], code[2]) < 0:
            return self.oracle.decode(code, self._grid), value
        feature, cut = code[0:2] if code[0] >= 0 else code[2:4]
        above = self._counts[members, feature] <= cut
        low, low_value = self._node(members[~above], totals, depth - 1)
        high, high_value = self._node(members[above], totals, depth - 1)
        threshold = float(self._grid.edges[feature, cut])
        return TreePolicy(self.oracle, int(feature), threshold, low, high), low_value + high_value

    def _agree(self, noise: Noise | None) -> NDArray[np.intp]:
        """Update cuts and counts; return the rows of the perturbed contexts."""
        if isinstance(noise, BinnedNoise) and noise is not self._met:
            self._met = noise
            self._places = np.array([self._rows.place(row) for row in noise.rows], np.intp)
            self._grid = noise.grid
            self._counts = np.zeros((0, 0))
        if len(self._counts) != len(self._rows) or self._grid is None:
            rows = self._rows.contexts
            if self.oracle.grid is None and self._met is None:
                bins = self.oracle.n_bins
                self._grid = learn_grid(rows, bins) if len(rows) else NO_FEATURES
            assert self._grid is not None
            self._counts = self._grid.padded_counts(rows)
        return self._places
