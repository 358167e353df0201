"""Prior estimates of the losses, updated by all observations."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core.arrays import as_floats
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.predictors._table import TablePredictor


class FirstGuess(TablePredictor):
    r"""Predict given prior losses at first, and their weighted mean with the observed losses later.

    Let w be the weight of the first guess g. For an element with n observations of sum s, over all
    contexts, the prediction is :math:`(w g + s)/(w + n)`. The first guess can be an attribute of
    the edges of a graph, a price list or last year's means. Under semi-bandit feedback on sets,
    `ElementMeans(guess=...)` is usually better, because it has a width for each element.

    Parameters
    ----------
    first
        First guess g: a finite number for each element, in the unit of the losses.
    weight
        Weight w of the first guess, as a number of observations > 0. Default 3.

    Examples
    --------
    >>> import hannan as hn
    >>> minutes = hn.predictors.FirstGuess([4.0, 9.0], weight=3)
    >>> minutes.prepare(n_actions=2)
    >>> minutes.learn("a trip", 1, 5.0)
    >>> minutes.predict("another trip")
    array([4., 8.])
    """

    stored = State()

    def __init__(self, first: ArrayLike, weight: float = 3.0) -> None:
        super().__init__(by_context=False)
        self.first = first
        self.weight = check_positive(self, "weight", weight)
        accepted = "a finite number for each element"
        try:
            self._first = as_floats(first).copy()
        except (TypeError, ValueError):
            raise refuse(self, "first", accepted, first) from None
        if self._first.ndim != 1 or not self._first.size or not np.isfinite(self._first).all():
            raise refuse(self, "first", accepted, first)

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K, which must be the length of the first guess."""
        if n_actions != len(self._first):
            raise refuse(self, "first", f"{n_actions} numbers, one for each element", self.first)
        super().prepare(n_actions)

    def predict(self, context: Any) -> FloatArray:
        """Return the first guess, updated by the observations in all contexts."""
        sums, counts = self._row(context)
        return np.asarray((self.weight * self._first + sums) / (self.weight + counts))
