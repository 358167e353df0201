"""The mean loss of each element on each context."""

from typing import Any, Self

import numpy as np

from hannan.core.policy import Action
from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray
from hannan.kernels import table_means as kernel
from hannan.kernels.blend import deviation
from hannan.predictors._table import TablePredictor, as_loss, check_alpha, lowest


class Mean(TablePredictor):
    r"""Mean of the losses seen on this context, shrunk and less a width.

    After n observations with sum s the guess is

    .. math:: \frac{s}{n+1} - \alpha \frac{\sigma}{\sqrt{n+1}} ,

    where the width never takes it below 0. The observation that is counted too many has loss 0, so
    that a bad first loss does not exclude an element for good. σ is the size of past errors:
    :math:`\sigma^2 = (\tfrac14 + \sum e^2)/(1 + N)`, with :math:`e = \ell - s/(n+1)` before a loss
    is counted and N the number of rounds, on all contexts together; both sums lose a thousandth
    with every round, and a round in which several losses are seen counts their mean square. Both
    suppose losses in [0, 1].

    With α = 0 nothing is to be explored, and the guess is the plain mean: with full information
    and `by_context=False` regret then follows the variance
    :math:`\sum_t \|\ell_t - \bar\ell_{t-1}\|^2` of the losses.

    `estimate` is the plain mean s/n whatever α, which needs no range of the losses, and 0 where
    nothing was seen: what is greedy on it tries everything once, and inside a loss estimate 0
    changes nothing. `baseline` is the plain mean less :math:`1/\sqrt{n+1}`, not below 0 either.

    Parameters
    ----------
    alpha
        α, how far below the mean to guess.
    by_context
        Whether each context has its own means; otherwise all share them.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Mean(alpha=0.0)
    >>> guess.prepare(n_actions=2)
    >>> guess.learn(3, 0, 1.0)
    >>> guess.learn(3, 0, 0.5)
    >>> guess.predict(3)
    array([0.75, 0.  ])

    An element that was expensive once comes back when the others are no better than half of that:

    >>> guess = hn.predictors.Mean()
    >>> guess.prepare(n_actions=2)
    >>> guess.learn(3, 0, 1.0)
    >>> for _ in range(20):
    ...     guess.learn(3, 1, 0.6)
    >>> guess.advise(3)
    (0, array([1. , 0.6]))
    """

    stored = State(_errors=Array(low=0.0))

    def __init__(self, alpha: float = 1.0, by_context: bool = True) -> None:
        super().__init__(by_context)
        self.alpha = check_alpha(self, alpha)
        self._errors = np.zeros(2)  # see the kernel

    def extended(self, n_actions: int) -> Self:
        """One that knows what this one does, where there are more elements."""
        twin = super().extended(n_actions)
        twin._errors = self._errors.copy()
        return twin

    def predict(self, context: Any) -> FloatArray:
        """The mean on this context, shrunk and less the width; the plain mean for α = 0."""
        mean, low = self._lower(context)
        return np.asarray(np.maximum(low, np.minimum(mean, 0.0)))

    def baseline(self, context: Any) -> FloatArray:
        """The plain mean, less 1/√(n+1)."""
        mean = self.estimate(context)
        return np.asarray(np.maximum(mean - self.widths(context), np.minimum(mean, 0.0)))

    def estimate(self, context: Any) -> FloatArray:
        """The plain mean on this context; 0 where nothing was seen."""
        total, count = self._row(context)
        return np.asarray(total / np.maximum(count, 1.0))

    def widths(self, context: Any) -> FloatArray:
        """1/√(n+1), how far each mean may be off, in units of the size of an error."""
        return np.asarray(1.0 / np.sqrt(self._row(context)[1] + 1.0))

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action of the least guess, even below 0, and `estimate`."""
        if available is not None or self.alpha == 0.0:
            return lowest(self._lower(context)[1], available), self.estimate(context)
        estimate = np.empty(self._n_actions)
        return kernel.advise(self._row(context), self._errors, self.alpha, estimate), estimate

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count what was seen."""
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
        """The shrunk means, and the same less their widths; plain means for α = 0."""
        if self.alpha == 0.0:
            return (self.estimate(context),) * 2
        total, count = self._row(context)
        shrunk = np.asarray(total / (count + 1.0))
        return shrunk, np.asarray(
            shrunk - self.alpha * deviation(self._errors) / np.sqrt(count + 1.0)
        )
