"""Concave functions of a sum of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hannan.core import LossError
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.losses._set_loss import SetLoss, check_numbers
from hannan.losses._terms import NAMED, Bend, Terms

_GRID = 33  # points at which a user's g is checked


class ConcaveOfModular(SetLoss):
    r"""The function :math:`f(A) = g\bigl(\sum_{j \in A} w_j\bigr)`, w ≥ 0 and g concave.

    Parameters
    ----------
    weights
        w ≥ 0; K = len(weights).
    g
        "sqrt"; "log1p"; "cap" for min(·, cap); or a function of one number, concave between 0 and
        the sum of all weights (checked at a few points).
    cap
        For g="cap".

    Notes
    -----
    With g="cap" sums are cut functions on a larger graph, which are minimised quickly; the others
    need the general algorithm, in time proportional to the number of distinct ones.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.ConcaveOfModular([0.04, 0.12, 0.09], "sqrt")
    >>> round(f([0, 1]), 6), f.extremes()
    (0.4, (0.0, 0.5))
    >>> hn.losses.ConcaveOfModular([1, 1, 1], lambda x: x * (3 - x))([0, 2])
    2.0
    """

    def __init__(
        self,
        weights: Any,
        g: str | Callable[[float], float] = "sqrt",
        cap: float | None = None,
    ) -> None:
        self.weights = check_numbers(self, "weights", weights, nonnegative=True)
        if self.weights.size == 0:
            raise refuse(self, "weights", "at least one number", weights)
        if not (callable(g) or g in ("cap", *NAMED)):
            raise refuse(self, "g", "'sqrt', 'log1p', 'cap' or a function", g)
        if (g == "cap") != (cap is not None):
            raise refuse(self, "cap", "a positive number with g='cap', and None otherwise", cap)
        self.g = g
        self.cap = None if cap is None else check_positive(self, "cap", cap)
        self.n_actions = len(self.weights)
        self._whole = float(self.weights.sum())
        self._samples = self._look() if callable(g) else None
        self.terms = Terms(self.n_actions)
        bend = Bend(self.weights, g, self.cap or 0.0)
        if g == "cap" and bend.cap >= self._whole:
            self.terms.modular += self.weights
        else:
            self.terms.bends[bend.key] = (bend, 1.0)

    def extremes(self) -> tuple[float, float]:
        """A concave g is smallest at an end; its largest value is bounded from above."""
        if self._samples is None:
            return 0.0, self(np.arange(self.n_actions))
        values = self._samples
        return float(min(values[0], values[-1])), _largest(values)

    def _look(self) -> FloatArray:
        assert callable(self.g)
        values = np.array([float(self.g(float(x))) for x in np.linspace(0, self._whole, _GRID)])
        if not np.isfinite(values).all():
            raise LossError(
                f"g must be finite from 0 to {self._whole:g}, the sum of the weights; got "
                f"{values[~np.isfinite(values)][0]}."
            )
        sag = np.diff(values, 2)
        if sag.max() > 1e-9 * (1.0 + np.abs(values).max()):
            x = self._whole * (1 + int(sag.argmax())) / (_GRID - 1)
            raise LossError(
                f"g must be concave, or the loss is not submodular; it bends up at {x:g}."
            )
        return values


def _largest(values: FloatArray) -> float:
    """An upper bound on a concave function with known values at equal distances.

    Between two points it lies below the lines through the two points before and after.
    """
    step = np.diff(values)
    most = np.full(len(step), np.inf)
    # A line is highest at one of the ends of the interval.
    before, after = step[:-1], step[1:]
    most[1:] = values[1:-1] + np.maximum(before, 0.0)
    most[:-1] = np.minimum(most[:-1], values[1:-1] + np.maximum(-after, 0.0))
    return float(max(most.max(), values.max()))
