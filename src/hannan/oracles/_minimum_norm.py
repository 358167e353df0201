"""Minimisers of submodular functions from values alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hannan.core import LossError
from hannan.core.validation import FloatArray

Chain = Callable[[NDArray[np.intp]], FloatArray]

_EXACT = 1e-10  # relative to the size of the function
_NORM = 1e-14
_STEPS = 200  # major cycles for each element, at most; a dozen in all are usual


class MinimumNorm:
    r"""The minimum-norm-point algorithm of Fujishige and Wolfe.

    The point x of least norm in the base polytope of f has :math:`\{j: x_j < 0\}` as its smallest
    minimiser. Vertices come from Edmonds' greedy algorithm: the values of f along a chain of sets.
    For every x of the polytope :math:`f(\emptyset) + \sum_j \min(x_j, 0)` is a lower bound on f, so
    the search ends when a set attains it, which proves that the set is optimal. `chain` gives the
    values of f at the first 0, 1, …, n elements of an order.
    """

    def __init__(self, chain: Chain, n: int) -> None:
        self.chain = chain
        self.n = n
        self.best = np.inf
        self.minimiser: NDArray[np.bool_] = np.zeros(n, dtype=bool)
        self.gap = np.inf
        """How far the minimiser may be from a true one; about 1e-10 of the size of f."""

    def solve(self) -> NDArray[np.bool_]:
        """Find the smallest minimiser, up to rounding."""
        vertex = self._vertex(np.zeros(self.n))
        size = np.abs(vertex).sum() + 1e-300
        points, x, share = vertex[None, :], vertex, np.ones(1)
        for _ in range(_STEPS * self.n):
            vertex = self._vertex(x)
            if self._proved(x, _EXACT * size):
                break
            if x @ x - x @ vertex <= _NORM * size * size or (points == vertex).all(axis=1).any():
                break
            points, share = np.vstack([points, vertex]), np.append(share, 0.0)
            points, share = _nearest(points, share)
            x = share @ points
        return self.minimiser

    def _vertex(self, x: FloatArray) -> FloatArray:
        """Return the vertex that is least in direction x; sets on the way are candidates."""
        order = np.argsort(x, kind="stable")
        values = self.chain(order)
        self._order, self._values = order, values
        k = int(values.argmin())
        if values[k] < self.best:
            self._take(order[:k], float(values[k]))
        vertex = np.empty(self.n)
        vertex[order] = np.diff(values)
        return vertex

    def _take(self, chosen: NDArray[np.intp], value: float) -> None:
        self.best = value
        self.minimiser = np.zeros(self.n, dtype=bool)
        self.minimiser[chosen] = True

    def _proved(self, x: FloatArray, slack: float) -> bool:
        """Return whether the best set is proved optimal and no smaller set is as good."""
        self.gap = self.best - float(self._values[0] + np.minimum(x, 0.0).sum())
        if self.gap < -1e3 * slack:
            raise LossError(
                f"A loss is not submodular: the set {np.flatnonzero(self.minimiser).tolist()} has "
                f"value {self.best:g}, which is {-self.gap:g} below a bound for submodular "
                "functions."
            )
        if self.gap > slack:
            return False
        # All minimisers contain the elements with x < 0. Test whether these suffice.
        k = int((x < -slack).sum())
        if self._values[k] > self.best + slack:
            return False
        self._take(self._order[:k], float(self._values[k]))
        return True


def _nearest(points: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Run Wolfe's minor cycles: find the point of least norm in the hull of some of the points."""
    while True:
        affine = _affine(points)
        inside = affine > 1e-12
        if inside.all():
            return points, affine
        falling = ~inside & (share > affine)
        if not falling.any():
            keep = inside
            share = affine
        else:
            reach = share[falling] / (share[falling] - affine[falling])
            theta = min(1.0, float(reach.min()))
            share = theta * affine + (1.0 - theta) * share
            keep = share > 1e-12
            keep[np.flatnonzero(falling)[reach.argmin()]] = False
        points, share = points[keep], share[keep] / share[keep].sum()


def _affine(points: FloatArray) -> FloatArray:
    """Compute weights, adding up to 1, of the point of least norm in the affine hull."""
    if len(points) == 1:
        return np.ones(1)
    base = points[-1]
    steps = points[:-1] - base
    try:
        weights = np.linalg.solve(steps @ steps.T, -(steps @ base))
        slope = np.abs(steps @ (base + weights @ steps)).max()  # zero at the point sought
        exact = slope <= 1e-12 * np.abs(steps).max() * np.abs(base).sum()
    except np.linalg.LinAlgError:
        exact = False
    if not exact:  # nearly dependent points; ten times slower
        weights = np.linalg.lstsq(steps.T, -base, rcond=None)[0]
    return np.append(weights, 1.0 - weights.sum())
