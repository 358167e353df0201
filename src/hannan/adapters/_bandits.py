"""Learners that other libraries tell the reward of one action."""

from __future__ import annotations

from typing import Any

from hannan.core import Feedback, Learner, ParameterError
from hannan.core.validation import LossRange, refuse
from hannan.experiments.game import nested


def check_bandit(owner: str, learner: Any) -> None:
    """Refuse what cannot learn from the reward of one action."""
    if not isinstance(learner, Learner):
        raise refuse(owner, "learner", "a learner with bandit feedback", learner)
    if getattr(learner, "learns", True) and learner.feedback is Feedback.FULL:
        raise ParameterError(
            f"{type(learner).__name__} learns from the losses of all actions, and {owner} tells "
            "the reward of one. Use a learner with bandit feedback, as ContextSemiBanditFTPL."
        )
    if getattr(learner.oracle, "max_chosen", 1) > 1:
        raise ParameterError(
            f"{owner} plays single actions, and {type(learner.oracle).__name__} chooses sets."
        )


def count_actions(learner: Learner) -> int:
    """Return how many actions a learner chooses among."""
    if learner.action_count is None:
        raise ParameterError(
            f"{type(learner).__name__} does not know its number of actions: give its oracle "
            "n_actions=."
        )
    return learner.action_count


def losses_of(learner: Learner) -> LossRange:
    """Return the range of losses that a learner, or one inside it, is made for."""
    ranges = (getattr(part, "loss_range", None) for part in nested(learner))
    return next(filter(None, ranges), (0.0, 1.0))
