"""Losses of any range, for predictors that assume [0, 1]."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from hannan.core.policy import Action
from hannan.core.predictor import Predictor, adopt, extended_predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray, check_loss_range, refuse
from hannan.predictors._table import as_loss


class Scaled(Predictor):
    """Adapt a predictor for losses in [0, 1] to losses in [low, high].

    Parameters
    ----------
    predictor
        Predictor such as `Blend()`, which learns from (loss - low) / (high - low).
    loss_range
        Range (low, high) of the losses, two finite numbers.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Scaled(hn.predictors.Mean(), (0.0, 200.0))
    >>> guess.prepare(n_actions=2)
    >>> for _ in range(3):
    ...     guess.learn("rain", 1, 150.0)
    >>> guess.advise("rain")
    (0, array([  0., 150.]))
    """

    stored = State(_inner=Part())

    def __init__(self, predictor: Any, loss_range: tuple[float, float]) -> None:
        self.predictor = predictor
        self.loss_range = loss_range
        low, high = check_loss_range(self, loss_range)
        if not np.isfinite(high - low) or high == low:
            raise refuse(self, "loss_range", "two finite numbers, the first smaller", loss_range)
        self._low, self._width = low, high - low
        self._inner: Any = adopt(predictor)

    @property
    def takes_items(self) -> bool:  # type: ignore[override]
        """Whether the inner predictor is for actions with features."""
        return bool(getattr(self._inner, "items", False))

    def prepare(self, n_actions: int) -> None:
        if hasattr(self._inner, "prepare"):
            self._inner.prepare(n_actions)

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements."""
        twin = copy.copy(self)
        twin._inner = extended_predictor(self._inner, n_actions)
        return twin

    def predict(self, context: Any) -> FloatArray:
        return self._back(self._inner.predict(context))

    def baseline(self, context: Any) -> FloatArray:
        return self._back(getattr(self._inner, "baseline", self._inner.predict)(context))

    def estimate(self, context: Any) -> FloatArray:
        return self._back(getattr(self._inner, "estimate", self._inner.predict)(context))

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        if not hasattr(self._inner, "advise"):
            return super().advise(context, available)
        action, values = self._inner.advise(context, available)
        return action, self._back(values)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        self._inner.learn(context, action, (as_loss(self, loss) - self._low) / self._width)

    def _back(self, values: Any) -> FloatArray:
        return np.asarray(self._low + self._width * np.asarray(values, dtype=np.float64))
