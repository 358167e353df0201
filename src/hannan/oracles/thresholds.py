"""Thresholds on a line."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Oracle, Policy
from hannan.core.arrays import as_scalar
from hannan.core.oracle import Noise
from hannan.core.state import Array, Context, ListOf, State
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels import thresholds as kernel
from hannan.oracles._blockwise import BlockObjective, Codes
from hannan.perturbation import Blocks, LaplaceNoise


class Thresholds(Oracle):
    r"""Threshold policies on one feature: an action below θ, and an action from θ on.

    They play b if :math:`x \ge \theta`, else a, for all a, b and θ. A threshold between two
    neighbouring contexts splits the total loss, so with the n distinct contexts seen or perturbed
    in order, sums from the right give all values
    :math:`\min_a \sum_{x_s < \theta} \ell_s(a) + \min_b \sum_{x_s \ge \theta} \ell_s(b)`. Leaders
    are exact and cost O(nK) for any number of rounds.

    Ties go to constants, the smallest action first; then to the largest θ, the smallest a, the
    smallest b. A leader's θ is always a context.

    Parameters
    ----------
    n_actions
        Number K of actions.

    Examples
    --------
    >>> import hannan as hn
    >>> total = hn.oracles.Thresholds(n_actions=2).objective()
    >>> for x, label in [(0.1, 0), (0.4, 0), (0.7, 1), (0.9, 1)]:
    ...     total.add(x, np.array([label, 1 - label], float))
    >>> total.leader()
    <threshold: 1 if x >= 0.7 else 0>

    Contexts are compared as they are, so fractions stay exact:

    >>> from fractions import Fraction
    >>> total.leader()(Fraction(7, 10) + Fraction(1, 10**30))
    1
    """

    takes_new_contexts = True

    def __init__(self, n_actions: int = 2) -> None:
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)

    def check_context(self, context: Any) -> Any:
        """Check that a context is a finite real number, or a vector with one feature."""
        if type(context) is float and math.isfinite(context):
            return context
        number = as_scalar(context)
        if isinstance(number, list | tuple) or hasattr(number, "__array__"):
            try:
                found = np.ravel(np.asarray(number, dtype=object))
            except Exception:  # __array__ of other packages may raise any exception
                found = np.empty(0)
            number = as_scalar(found[0]) if len(found) == 1 else number
        if isinstance(number, Rational) or (isinstance(number, Real) and math.isfinite(number)):
            return number
        raise ContextError(
            "The contexts of Thresholds must be finite numbers, or lists of one number; got "
            f"{str(context)[:100]!r}."
        )

    def objective(self) -> ThresholdObjective:
        return ThresholdObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return ThresholdNoise(contexts, self.n_actions, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        r"""Return :math:`\log(K + K(K-1)(d-1))`, exact for policies that differ on d contexts."""
        K = self.n_actions
        return math.log(K + K * (K - 1) * (len(set(contexts)) - 1))

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Return False: two thresholds can lie between neighbouring contexts of any finite set."""
        return self.n_actions == 1


class ThresholdPolicy(Policy):
    """Policy that plays `above` if `x >= threshold`, else `below`; a constant if no threshold."""

    def __init__(self, oracle: Thresholds, threshold: Any, below: int, above: int) -> None:
        self.oracle = oracle
        self.threshold = threshold
        self.below = below
        self.above = above

    def __call__(self, context: Any = None) -> int:
        x = self.oracle.check_context(context)
        if self.threshold is None or x < self.threshold:
            return self.below
        return self.above

    def __repr__(self) -> str:
        if self.threshold is None:
            return f"<threshold: {self.below}>"
        return f"<threshold: {self.above} if x >= {self.threshold} else {self.below}>"


class ThresholdObjective(BlockObjective):
    """Total loss vector of each distinct context, in order."""

    oracle: Thresholds
    _kernel = kernel
    _code_width = 3

    stored = State(
        _points=ListOf(Context()).where(lambda self, xs: all(a < b for a, b in pairwise(xs))),
        _totals=Array(lambda self: len(self._points), "n_actions"),
        _places=Array(None, dtype=np.int64, low=0, below=lambda self: len(self._points)),
    )

    def __init__(self, oracle: Thresholds) -> None:
        self.oracle = oracle
        self._points: list[Any] = []
        self._totals = np.zeros((0, oracle.n_actions))
        self._met: Noise | None = None
        self._places = np.zeros(0, np.int64)  # places of the perturbed contexts among the points

    def add(self, context: Any, losses: FloatArray) -> None:
        place = bisect_left(self._points, context)
        if place == len(self._points) or self._points[place] != context:
            self._points.insert(place, context)
            self._totals = np.insert(self._totals, place, 0.0, axis=0)
            self._places[self._places >= place] += 1
        self._totals[place] += losses

    @property
    def _statistic(self) -> tuple[FloatArray, NDArray[np.int64]]:
        return self._totals, self._places

    def _blocks(self, noise: Noise | None) -> Blocks | None:
        if not isinstance(noise, ThresholdNoise):
            return None
        if noise is not self._met:  # add the perturbed contexts to the points
            points = sorted({*self._points, *noise.points})
            totals = np.zeros((len(points), self.n_actions))
            totals[[bisect_left(points, x) for x in self._points]] = self._totals
            self._places = np.array([bisect_left(points, x) for x in noise.points], np.int64)
            self._points, self._totals = points, totals
            self._met = noise
        return noise.blocks

    def _place(self, context: Any) -> int:
        return bisect_right(self._points, context)

    def _policy(self, code: NDArray[np.int64]) -> ThresholdPolicy:
        first, below, above = (int(i) for i in code)
        threshold = None if first == len(self._points) else self._points[first]
        return ThresholdPolicy(self.oracle, threshold, below, above)

    def _plays(self, codes: Codes, place: int) -> NDArray[np.int64]:
        return np.where(place > codes[:, 0], codes[:, 2], codes[:, 1])


class ThresholdNoise(LaplaceNoise):
    """Fake outcomes in the order of their contexts."""

    def __init__(
        self, contexts: Sequence[Any], n_actions: int, key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, n_actions, key, stream)
        order = sorted(range(len(contexts)), key=contexts.__getitem__)
        self.points = [contexts[i] for i in order]
        self._order = np.array(order, np.int64)
        self.blocks = Blocks(self._fill, max(1, self.n_cells), memory)

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        kernel.fill(self.key, self.stream, first, self._order, self.n_actions, block)
