"""The mean loss of each element, the recent past counting most."""

from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_probability
from hannan.predictors._table import TablePredictor, as_loss


class ExponentialMean(TablePredictor):
    r"""Exponentially weighted mean of the losses seen on this context.

    After losses :math:`\ell_1, …, \ell_n` of an element the guess is

    .. math:: \frac{\sum_{i \le n} (1-\rho)^{n-i} \ell_i}{\sum_{i \le n} (1-\rho)^{n-i}} ,

    and 0 before: a true mean from the first loss on, without pull towards 0. An element's weights
    fade when the element itself is seen, not with time. ρ = 0 is the plain mean, ρ = 1 the last
    loss.

    Parameters
    ----------
    rate
        ρ, how fast the past fades; it reaches back about 1/ρ observations.
    by_context
        Whether each context has its own means; otherwise all share them.

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

    def __init__(self, rate: float = 0.1, by_context: bool = True) -> None:
        super().__init__(by_context)
        self.rate = check_probability(self, "rate", rate)

    def predict(self, context: Any) -> FloatArray:
        """The weighted mean on this context."""
        total, weight = self._row(context)
        return np.asarray(total / np.maximum(weight, 1.0))

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Let the past of what was seen fade, and count the new."""
        as_loss(self, loss)  # before anything changes
        self._row(context, keep=True)[:, action] *= 1.0 - self.rate
        super().learn(context, action, loss)
