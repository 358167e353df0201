"""Predict the previous loss."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from hannan.core.loss import Losses, LossFunction
from hannan.core.policy import Action
from hannan.core.state import DictOf, Key, Object, State
from hannan.predictors._table import ByContext, TablePredictor, as_loss


class Last(TablePredictor):
    r"""Predict the last loss of each element in this context, or 0 before the first loss.

    With full information and `by_context=False` the prediction is :math:`Q_t = \ell_{t-1}`, and
    regret depends on the path length :math:`\sum_t \|\ell_t - \ell_{t-1}\|^2` of the losses. If the
    last loss is a loss function, the prediction is this function.

    Parameters
    ----------
    by_context
        Whether each context has a separate prediction (default), or all contexts share one.
        Or a function of the context: contexts with equal values share a prediction.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Last()
    >>> guess.prepare(n_actions=2)
    >>> guess.learn("rain", 1, 0.75)
    >>> guess.predict("rain"), guess.predict("sun")
    (array([0.  , 0.75]), array([0., 0.]))

    References
    ----------
    [rakhlin2013]
    """

    _numbers = 1

    stored = State(_functions=DictOf(Key(), Object(LossFunction)))

    def __init__(self, by_context: ByContext = True) -> None:
        super().__init__(by_context)
        self._functions: dict[Hashable, LossFunction] = {}

    def predict(self, context: Any) -> Losses:
        """Return the last losses observed in this context, or the last loss function."""
        function = self._functions.get(self._key(context)) if self._functions else None
        return np.array(self._row(context)[0]) if function is None else function

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Store the observed losses."""
        if isinstance(loss, LossFunction):
            self._functions[self._key(context)] = loss
            return
        self._row(context, keep=True)[0, action] = as_loss(self, loss)
        self._functions.pop(self._key(context), None)
