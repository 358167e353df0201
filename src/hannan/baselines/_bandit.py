"""Base class of baselines with bandit feedback."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar, Self

import numpy as np

from hannan.core import Action, ContextError, Feedback, Learner, OpenRound
from hannan.core.arrays import check_comparable
from hannan.core.rounds import Choice, IntArray
from hannan.core.state import State
from hannan.core.validation import FloatArray, LossRange, check_bounded_range, check_chosen_loss
from hannan.oracles._features import check_row


class GreedyRound(OpenRound):
    """A round with the action of the best score."""

    best: int = -1

    stored = State(best=Choice())


class Bandit(Learner):
    """Base class of baselines with bandit feedback, which learn from losses scaled to [0, 1].

    A randomised subclass samples from `_rng`, and its `_act` changes nothing else. A deterministic
    subclass plays `opened.best`.
    """

    feedback = Feedback.BANDIT
    Round: ClassVar[type[OpenRound]] = GreedyRound
    _rng: np.random.Generator

    def __init__(self, loss_range: LossRange) -> None:
        super().__init__()
        self.loss_range = loss_range
        self._range = check_bounded_range(self, loss_range)

    def _scaled(self, loss: Any) -> float:
        """Return the loss of the chosen action, scaled to [0, 1] by the loss range."""
        low, high = self._range
        return (check_chosen_loss(loss, self._range) - low) / (high - low)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        low, high = self._range
        return low + self._scaled(loss) * (high - low)

    def _act(self, opened: Any) -> None:
        opened.play(opened.best)

    def _action_distribution(self, opened: Any) -> FloatArray:
        distribution = np.zeros(self.actions_on(opened.context) or 0)
        distribution[opened.best] = 1.0
        return distribution

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._rng = rng
        return twin


def lowest(scores: FloatArray, some: IntArray | None) -> int:
    """Return the available action with the lowest score; ties go to the first."""
    return int(scores.argmin() if some is None else some[scores[some].argmin()])


def row_or_name(context: Any) -> Any:
    """Return a feature vector as float64, or a hashable value as a discrete context."""
    if type(context) is np.ndarray:
        return check_row(context)
    try:
        hash(context)
    except TypeError:
        return check_row(context)
    if isinstance(context, float) and not math.isfinite(context):
        raise ContextError(f"A context must not be {context!r}. Correct or drop the row.")
    return check_comparable(context)
