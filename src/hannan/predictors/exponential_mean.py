"""Mean loss of each element with discounted past losses."""

from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_probability
from hannan.predictors._table import ByContext, TablePredictor, as_loss


class ExponentialMean(TablePredictor):
    r"""Predict the exponentially weighted mean of the losses observed in this context.

    After losses :math:`\ell_1, …, \ell_n` of an element the prediction is

    .. math:: \frac{\sum_{i \le n} (1-\rho)^{n-i} \ell_i}{\sum_{i \le n} (1-\rho)^{n-i}} ,

    and 0 before the first loss. It is a true mean from the first loss on, without shrinkage to 0.
    An element's weights decrease when a loss of this element is observed, not with time. With ρ = 0
    the prediction is the plain mean, with ρ = 1 the last loss.

    Parameters
    ----------
    rate
        Discount rate ρ in [0, 1]. Default 0.1. The mean covers about the last 1/ρ observations.
    by_context
        Whether each context has separate means (default), or all contexts share them. Or a function
        of the context: contexts with equal values share their means.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.ExponentialMean(rate=0.5)
    >>> guess.prepare(n_actions=2)
    >>> guess.learn(3, 0, 1.0)
    >>> guess.learn(3, 0, 0.25)
    >>> guess.predict(3)
    array([0.5, 0. ])
    """

    stored = State()

    def __init__(self, rate: float = 0.1, by_context: ByContext = True) -> None:
        super().__init__(by_context)
        self.rate = check_probability(self, "rate", rate)

    def predict(self, context: Any) -> FloatArray:
        """Return the weighted mean of each element in this context."""
        total, weight = self._row(context)
        return np.asarray(total / np.maximum(weight, 1.0))

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Discount the past of the observed elements, and add the new losses."""
        as_loss(self, loss)  # before anything changes
        self._row(context, keep=True)[:, action] *= 1.0 - self.rate
        super().learn(context, action, loss)
