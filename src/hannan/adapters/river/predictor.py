"""Online models of river as predictors."""

from typing import Any

import numpy as np

from hannan.adapters.river._models import (
    Names,
    as_dict,
    check_model,
    check_names,
    finite,
    takes_weight,
)
from hannan.core import Action, InputTypeError, LossFunction, Predictor
from hannan.core.validation import FloatArray, check_bounded_range, check_not_negative


class RiverPredictor(Predictor):
    r"""Predict losses with a regressor or classifier of river, one for each element.

    A *regressor* learns the losses of its element, and its prediction is the estimate
    :math:`\hat\ell_k(x)`. A *classifier* learns whether the loss is high. For a loss ℓ in
    loss_range = [lo, hi] it learns the label True with weight :math:`v = (\ell - lo)/(hi - lo)` and
    the label False with weight 1 - v, and :math:`\hat\ell_k(x) = lo + (hi - lo)\, P(\text{True}
    \mid x)`. If the classifier takes no weights, the label is :math:`v \ge \frac12`, which is right
    only for losses at the ends of the range.

    The prediction is a lower confidence value, so that rarely observed elements are tried:
    :math:`\hat\ell_k(x) - \alpha (hi - lo)/\sqrt{n_k + 1}` after :math:`n_k` losses of element k,
    clipped to the range. `baseline` uses α = 1; `estimate` is :math:`\hat\ell_k(x)`, clipped.
    Without observations `estimate` is lo.

    Parameters
    ----------
    model
        A regressor, a classifier with `predict_proba_one`, or a pipeline that ends in one of them.
        The model is cloned for each element and never changed; random models need their `seed`.
    alpha
        Factor α of the width below the estimate, >= 0. Default 0.3. A larger α explores more.
    features
        Names of the features of a row. Default: 0, 1, …. A context that is not a feature vector,
        such as an integer or a word, becomes a single feature of this name with value 1.
    loss_range
        Range (lo, hi) of the losses. Default (0, 1).

    Examples
    --------
    >>> import hannan as hn
    >>> from river import linear_model, optim
    >>> model = linear_model.LinearRegression(optimizer=optim.SGD(0.1))
    >>> guess = hn.adapters.RiverPredictor(model, alpha=0.0)
    >>> guess.prepare(n_actions=2)
    >>> for x in [0.0, 0.5, 1.0] * 300:
    ...     guess.learn([x], 1, 0.2 + 0.6 * x)
    >>> guess.predict([0.25]).round(2)
    array([0.  , 0.35])
    """

    _unstorable = "it contains models of river, which only pickle can store"

    def __init__(
        self,
        model: Any,
        *,
        alpha: float = 0.3,
        features: Names = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self._classifies = check_model(self, model)
        self.model = model
        self.alpha = check_not_negative(self, "alpha", alpha)
        self.features = features
        self.loss_range = loss_range
        self._names = check_names(self, features)
        self._low, self._high = check_bounded_range(self, loss_range)
        self._weighted = takes_weight(model)
        self._models: list[Any] = []
        self._counts: FloatArray = np.zeros(0)

    def prepare(self, n_actions: int) -> None:
        self._models = [self.model.clone() for _ in range(n_actions)]
        self._counts = np.zeros(n_actions)

    def predict(self, context: Any) -> FloatArray:
        """Return the models' predictions minus a width."""
        return self._lower(context, self.alpha)

    def baseline(self, context: Any) -> FloatArray:
        """Return the models' predictions minus a width with α = 1."""
        return self._lower(context, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """Return the models' predictions."""
        return self._lower(context, 0.0)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        if isinstance(loss, LossFunction):
            raise InputTypeError(
                f"RiverPredictor learns from one loss for each element; got {loss!r}."
            )
        x = as_dict(context, self._names)
        for k, cost in zip(np.atleast_1d(action).tolist(), np.atleast_1d(loss), strict=True):
            self._teach(self._models[k], x, float(cost))
            self._counts[k] += 1.0

    def _teach(self, model: Any, x: dict[Any, Any], loss: float) -> None:
        if not self._classifies:
            model.learn_one(x, loss)
            return
        share = min(max((loss - self._low) / (self._high - self._low), 0.0), 1.0)
        if not self._weighted:
            model.learn_one(x, share >= 0.5)
            return
        for label, weight in ((True, share), (False, 1.0 - share)):
            if weight > 0.0:
                model.learn_one(x, label, w=weight)

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        x = as_dict(context, self._names)
        low, width = self._low, self._high - self._low
        if self._classifies:
            # A classifier that has learned only one label may not know the other.
            shares = [model.predict_proba_one(x).get(True, 0.0) for model in self._models]
            guess = low + width * finite(np.array(shares), self.model)
        else:
            guess = finite(np.array([float(m.predict_one(x)) for m in self._models]), self.model)
        guess[self._counts == 0.0] = low
        return np.clip(guess - alpha * width / np.sqrt(self._counts + 1.0), low, self._high)

    def __repr__(self) -> str:
        return f"RiverPredictor(<{self.model}>, alpha={self.alpha:g})"
