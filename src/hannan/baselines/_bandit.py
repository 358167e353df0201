"""What learners that see the loss of one action have in common."""

from __future__ import annotations

import copy
import math
from typing import Any, Self

import numpy as np

from hannan.core import Action, ContextError, Feedback, Learner
from hannan.core.validation import check_loss_range, check_losses, refuse
from hannan.oracles._features import check_row


class Bandit(Learner):
    """One action a round, of which the loss is seen, and what was learned stays as it is in `act`.

    Subclasses learn from losses scaled to [0, 1].
    """

    feedback = Feedback.SEMI
    _rng: np.random.Generator

    def __init__(self, loss_range: tuple[float, float]) -> None:
        super().__init__()
        self.loss_range = loss_range
        if loss_range is None:
            raise refuse(self, "loss_range", "a pair (low, high)", loss_range)
        self._range = check_loss_range(self, loss_range)

    def _scaled(self, loss: Any) -> float:
        """The loss of the action played, in units of the range and from its lower end."""
        low, high = self._range
        if type(loss) is not float or not low <= loss <= high:
            given = np.atleast_1d(loss)
            loss = float(check_losses(given, 1, self._range, "the chosen action's")[0][0])
        return float((loss - low) / (high - low))

    def _cost(self, action: Action, loss: Any) -> float:
        low, high = self._range
        return low + self._scaled(loss) * (high - low)

    def _twin(self, coins: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._rng = coins
        return twin


def row_or_name(context: Any) -> Any:
    """A row of features as float64; anything that can be hashed is a discrete context instead."""
    if type(context) is not np.ndarray:
        try:
            hash(context)
        except TypeError:
            return check_row(context)
        if isinstance(context, float) and not math.isfinite(context):
            raise ContextError(f"A context must not be {context!r}: mend or leave out the row.")
        return context
    return check_row(context)
