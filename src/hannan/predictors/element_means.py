"""Mean loss of each element, with a separate width for each."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, LossRange
from hannan.kernels import elements as kernel
from hannan.predictors._elements import ElementPredictor
from hannan.predictors._table import ByContext, TablePredictor


class ElementMeans(ElementPredictor, TablePredictor):
    r"""Predict the mean loss of each element, minus a width that fits the element's own scale.

    Use this predictor if actions are sets of elements, such as routes or slates. After n
    observations of an element with sum s, the estimate is :math:`V = (s + g)/(n + 1)`. Here g is
    the first guess, or the lowest loss without one, so an optimiser tries unknown elements. The
    prediction is

    .. math:: V - \alpha \sigma \sqrt{\frac{1 + \ell/3}{n+1}} , \qquad
              \sigma^2 = \frac{e + 8v}{n + 8} , \qquad \ell = \log^+ \frac{\bar n+1}{n+1} ,

    where e is the sum of squared deviations from the element's mean. The pooled variance v is the
    same sum over all elements and contexts, divided by the number of observations except the first
    of each element. v begins with one observation of a quarter of the squared range. So a road with
    steady times gets a narrow width, and a new road gets a usual one. An element with fewer
    observations than the average :math:`\bar n` gets a wider width, so that a few bad losses at
    first do not exclude it for good.

    Predictions are not clipped to the range of the losses: use them as the objective of an
    optimiser. `estimate` is V. `baseline` is the prediction with `explore="bound"`.

    Parameters
    ----------
    alpha
        Factor α of the width, >= 0. Default 0.7. A larger α explores more.
    by_context
        Whether each context has separate means (default), or all contexts share them. Or a function
        of the context: contexts with equal values share their means.
    guess
        First guess of each element's loss, K numbers. It counts as one observation. Default None:
        the lowest loss.
    loss_range
        Range (low, high) of the losses. Default (0, 1).
    explore
        `"bound"` (default) subtracts the width. `"sample"` adds the width times a standard
        normal number, as in Thompson sampling. `predict` returns a new sample after each call of
        `learn`.
    seed
        Seed of the samples. Default 0.

    Examples
    --------
    The first road always takes 8 minutes, the second one 4 or 6, and the third one is unknown:

    >>> import hannan as hn
    >>> roads = hn.predictors.ElementMeans(loss_range=(0.0, 10.0))
    >>> roads.prepare(n_actions=3)
    >>> for t in range(30):
    ...     roads.learn("to work", [0, 1], [8.0, 4.0 + 2.0 * (t % 2)])
    >>> roads.estimate("to work").round(1)
    array([7.7, 4.8, 0. ])
    >>> roads.predict("to work").round(1)
    array([ 7.7,  4.7, -1. ])

    Contexts in the same part of the day share their means:

    >>> roads = hn.predictors.ElementMeans(by_context=lambda hour: hour < 12)
    >>> roads.prepare(n_actions=2)
    >>> roads.learn(8, [0, 1], [1.0, float("nan")])  # the second loss was not observed
    >>> roads.estimate(9), roads.estimate(15)
    (array([0.5, 0. ]), array([0., 0.]))
    """

    _numbers = 3

    stored = State(_errors=Array(low=0.0))

    def __init__(
        self,
        alpha: float = 0.7,
        by_context: ByContext = True,
        guess: Any = None,
        loss_range: LossRange = (0.0, 1.0),
        explore: str = "bound",
        seed: int = 0,
    ) -> None:
        TablePredictor.__init__(self, by_context)
        ElementPredictor.__init__(self, alpha, guess, loss_range, explore, seed)
        self._errors = np.zeros(2)  # see the kernel

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements; not with a first guess."""
        self._check_extension("guess", self.guess)
        twin = super().extended(n_actions)
        twin._errors = self._errors.copy()
        return twin

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        values = self._empty()
        if alpha == 0.0:
            kernel.means(self._row(context), self._prior, values)
            return values
        row, prior = self._row(context), self._prior
        kernel.lower(row, prior, self._variance, alpha, np.empty(len(values)), values)
        return values

    def bounds_and_estimates(self, context: Any) -> tuple[FloatArray, FloatArray]:
        if self.explore == "sample" or self.alpha == 0.0:
            return super().bounds_and_estimates(context)
        lower, estimates = self._empty(), self._empty()
        row, prior, variance = self._row(context), self._prior, self._variance
        kernel.lower(row, prior, variance, self.alpha, estimates, lower)
        return lower, estimates

    @property
    def _variance(self) -> float:
        """The variance of all elements."""
        low, high = self.loss_range
        return float(kernel.pooled(self._errors, 0.25 * (high - low) ** 2))

    def _sample(self, context: Any, rng: np.random.Generator) -> FloatArray:
        means, low = self._lower(context, 0.0), self._lower(context, self.alpha)
        return np.asarray(means + rng.standard_normal(len(means)) * (means - low))

    def _learn(self, context: Any, elements: IntArray, losses: FloatArray) -> None:
        kernel.count(self._row(context, keep=True), self._errors, elements, losses)
