"""Mean loss of each element in each context."""

from typing import Any, Self

import numpy as np

from hannan.core.policy import Action
from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray
from hannan.kernels import table_means as kernel
from hannan.kernels.blend import deviation
from hannan.predictors._table import ByContext, TablePredictor, as_loss, check_alpha, lowest


class Mean(TablePredictor):
    r"""Predict the mean of the losses observed in this context, shrunk and minus a width.

    After n observations with sum s the prediction is

    .. math:: \frac{s}{n+1} - \alpha \frac{\sigma}{\sqrt{n+1}} ,

    where subtracting the width never makes the prediction negative. The mean counts one extra
    observation with loss 0, so that a bad first loss does not exclude an element forever. σ is the
    size of past errors: :math:`\sigma^2 = (\tfrac14 + \sum e^2)/(1 + N)`. Here :math:`e = \ell -
    s/(n+1)` is computed before a loss is counted, and N is the number of rounds, over all contexts.
    Both sums are multiplied by 0.999 in every round, and a round with several observed losses
    counts their mean squared error. The extra observation and σ assume losses in [0, 1].

    With α = 0 there is no exploration, and the prediction is the plain mean. With full information
    and `by_context=False` regret then depends on the variance :math:`\sum_t \|\ell_t -
    \bar\ell_{t-1}\|^2` of the losses.

    `estimate` is the plain mean s/n for any α, which needs no range of the losses, and 0 without
    observations. So a learner that is greedy on `estimate` tries everything once, and the value 0
    does not change a loss estimate. `baseline` is the plain mean minus :math:`1/\sqrt{n+1}`, not
    made negative either.

    Parameters
    ----------
    alpha
        Factor α of the width below the mean, >= 0. Default 1. A larger α explores more.
    by_context
        Whether each context has separate means (default), or all contexts share them. Or a function
        of the context: contexts with equal values share their means.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Mean(alpha=0.0)
    >>> guess.prepare(n_actions=2)
    >>> guess.learn(3, 0, 1.0)
    >>> guess.learn(3, 0, 0.5)
    >>> guess.predict(3)
    array([0.75, 0.  ])

    An element that was expensive once is tried again if the others are not better than half of
    that:

    >>> guess = hn.predictors.Mean()
    >>> guess.prepare(n_actions=2)
    >>> guess.learn(3, 0, 1.0)
    >>> for _ in range(20):
    ...     guess.learn(3, 1, 0.6)
    >>> guess.advise(3)
    (0, array([1. , 0.6]))
    """

    stored = State(_errors=Array(low=0.0))

    def __init__(self, alpha: float = 1.0, by_context: ByContext = True) -> None:
        super().__init__(by_context)
        self.alpha = check_alpha(self, alpha)
        self._errors = np.zeros(2)  # see the kernel

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements."""
        twin = super().extended(n_actions)
        twin._errors = self._errors.copy()
        return twin

    def predict(self, context: Any) -> FloatArray:
        """Return the shrunk mean in this context minus the width; the plain mean for α = 0."""
        mean, low = self._lower(context)
        return np.asarray(np.maximum(low, np.minimum(mean, 0.0)))

    def baseline(self, context: Any) -> FloatArray:
        """Return the plain mean minus 1/√(n+1)."""
        mean = self.estimate(context)
        return np.asarray(np.maximum(mean - self.widths(context), np.minimum(mean, 0.0)))

    def estimate(self, context: Any) -> FloatArray:
        """Return the plain mean in this context; 0 without observations."""
        total, count = self._row(context)
        return np.asarray(total / np.maximum(count, 1.0))

    def widths(self, context: Any) -> FloatArray:
        """Return 1/√(n+1), the uncertainty of each mean in units of the size of an error."""
        return np.asarray(1.0 / np.sqrt(self._row(context)[1] + 1.0))

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """Return the action with the smallest prediction, even below 0, and `estimate`."""
        if available is not None or self.alpha == 0.0:
            return lowest(self._lower(context)[1], available), self.estimate(context)
        estimate = np.empty(self._n_actions)
        return kernel.advise(self._row(context), self._errors, self.alpha, estimate), estimate

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Add the observed losses."""
        loss = as_loss(self, loss)
        row = self._row(context, keep=True)
        if type(loss) is float and type(action) is int and 0 <= action < self._n_actions:
            kernel.learn(row, self._errors, action, loss)
            return
        total, count = row[0, action], row[1, action]
        off = loss - total / (count + 1.0)
        if np.size(off) == 0:
            return
        row[0, action] = total + loss
        row[1, action] = count + 1.0
        self._errors = kernel.FORGETTING * self._errors + (np.mean(off * off), 1.0)

    def _lower(self, context: Any) -> tuple[FloatArray, FloatArray]:
        """Return the shrunk means, and these minus their widths; plain means for α = 0."""
        if self.alpha == 0.0:
            return (self.estimate(context),) * 2
        total, count = self._row(context)
        shrunk = np.asarray(total / (count + 1.0))
        return shrunk, np.asarray(
            shrunk - self.alpha * deviation(self._errors) / np.sqrt(count + 1.0)
        )
