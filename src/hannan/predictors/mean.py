"""The mean loss of each element on each context."""

from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.validation import FloatArray, refuse
from hannan.predictors._table import TablePredictor, as_loss


class Mean(TablePredictor):
    r"""Mean of the losses seen on this context, less a width.

    The guess is :math:`\bar\ell - \alpha/\sqrt{n+1}` after n observations, where the width never
    takes it below 0; with α = 0 it is the plain mean. `baseline` uses α = 1, `estimate` is the
    mean itself. With full information, α = 0 and `by_context=False` regret follows the variance
    :math:`\sum_t \|\ell_t - \bar\ell_{t-1}\|^2` of the losses.

    Parameters
    ----------
    alpha
        How far below the mean to guess.
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
    """

    def __init__(self, alpha: float = 0.1, by_context: bool = True) -> None:
        super().__init__(by_context)
        if not alpha >= 0.0:
            raise refuse(self, "alpha", "a number >= 0", alpha)
        self.alpha = alpha

    def predict(self, context: Any) -> FloatArray:
        """The mean on this context, less the width."""
        return self._lower(context, self.alpha)

    def baseline(self, context: Any) -> FloatArray:
        """The mean, less a width with α = 1."""
        return self._lower(context, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The mean on this context; 0 where nothing was seen."""
        total, count = self._row(context, 2)
        return np.asarray(total / np.maximum(count, 1.0))

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count what was seen."""
        loss = as_loss(self, loss)
        row = self._row(context, 2)
        row[0, action] += loss
        row[1, action] += 1.0

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        mean = self.estimate(context)
        width = alpha / np.sqrt(self._row(context, 2)[1] + 1.0)
        return np.asarray(np.maximum(mean - width, np.minimum(mean, 0.0)))
