"""The previous loss."""

from typing import Any

import numpy as np

from hannan.core.policy import Action
from hannan.core.validation import FloatArray
from hannan.predictors._table import TablePredictor


class Last(TablePredictor):
    r"""What the element cost when it was last seen on this context; 0 before.

    Regret with this guess follows the path length
    :math:`\sum_t \|\ell_t - \ell_{t-1}\|^2` of the losses.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Last()
    >>> guess.prepare(n_actions=2)
    >>> guess.learn("rain", 1, 0.75)
    >>> guess.predict("rain"), guess.predict("sun")
    (array([0.  , 0.75]), array([0., 0.]))
    """

    def __init__(self) -> None:
        super().__init__()

    def predict(self, context: Any) -> FloatArray:
        """The last losses seen on this context."""
        return np.array(self._row(context, 1)[0])

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Remember what was seen."""
        self._row(context, 1)[0, action] = loss
