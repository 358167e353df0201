"""The mean loss of each element on each context."""

from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.validation import FloatArray, refuse
from hannan.predictors._table import TablePredictor


class Mean(TablePredictor):
    r"""Mean of the losses seen on this context, less a width.

    The guess is :math:`\bar\ell - \alpha/\sqrt{n+1}` after n observations, never below 0; with
    α = 0 it is the plain mean. `baseline` uses α = 1.

    Parameters
    ----------
    alpha
        How far below the mean to guess.

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

    def __init__(self, alpha: float = 0.1) -> None:
        super().__init__()
        if not alpha >= 0.0:
            raise refuse(self, "alpha", "a number >= 0", alpha)
        self.alpha = alpha

    def predict(self, context: Any) -> FloatArray:
        """The mean on this context, less the width."""
        return self._lower(context, self.alpha)

    def baseline(self, context: Any) -> FloatArray:
        """The mean, less a width with α = 1."""
        return self._lower(context, 1.0)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count what was seen."""
        row = self._row(context, 2)
        row[0, action] += loss
        row[1, action] += 1.0

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        total, count = self._row(context, 2)
        mean = total / np.maximum(count, 1.0)
        return np.asarray(np.maximum(mean - alpha / np.sqrt(count + 1.0), 0.0))
