"""Learners that other libraries give the reward of one action, and losses from rewards."""

import math
from typing import Any

import numpy as np

from hannan.core import Feedback, Learner, LossError, ParameterError
from hannan.core.validation import FloatArray, LossRange, check_bounded_range, refuse
from hannan.experiments.game import nested


def check_bandit(owner: str, learner: Any) -> None:
    """Raise an error unless a learner can learn from the reward of a single action."""
    if not isinstance(learner, Learner):
        raise refuse(owner, "learner", "a learner with bandit feedback", learner)
    if getattr(learner, "learns", True) and learner.feedback is Feedback.FULL:
        raise ParameterError(
            f"{type(learner).__name__} learns from the losses of all actions, but {owner} reports "
            "only one reward. Use a learner with bandit feedback, such as ContextSemiBanditFTPL."
        )
    if getattr(learner.oracle, "max_chosen", 1) > 1:
        raise ParameterError(
            f"{owner} plays single actions, but {type(learner.oracle).__name__} chooses sets. Use "
            "an oracle with single actions."
        )


def count_actions(learner: Learner) -> int:
    """Return the number of actions of a learner."""
    if learner.action_count is None:
        raise ParameterError(
            f"{type(learner).__name__} does not know its number of actions: pass n_actions= to "
            "its oracle."
        )
    return learner.action_count


def losses_of(learner: Learner) -> LossRange:
    """Return the loss range of a learner, or of a learner inside it."""
    ranges = (getattr(part, "loss_range", None) for part in nested(learner))
    return next(filter(None, ranges), (0.0, 1.0))


class Scale:
    """Conversion of rewards or costs in a range to losses: 0 for the best, 1 for the worst.

    `name` is the name of the parameter, reward_range or cost_range; `advice` ends messages.
    """

    def __init__(
        self,
        owner: object,
        given: Any,
        name: str = "reward_range",
        advice: str = "Pass the true range.",
    ) -> None:
        self._low, self._high = check_bounded_range(owner, given, name)
        rewards = name == "reward_range"
        self.best, worst = (self._high, self._low) if rewards else (self._low, self._high)
        self.width = worst - self.best  # worst minus best, negative for rewards
        what = "Rewards" if rewards else "Costs"
        self._accepted = f"{what} must lie in {name}=({self._low:g}, {self._high:g})"
        self._advice = advice

    def loss(self, reward: Any, clip: bool = False) -> float:
        """Return the loss in [0, 1] of a reward, which `clip` moves into its range first."""
        try:
            value = math.nan if isinstance(reward, str) else float(reward)
        except (TypeError, ValueError):
            value = math.nan
        if clip and math.isfinite(value):
            value = min(max(value, self._low), self._high)
        if not self._low <= value <= self._high:
            raise LossError(f"{self._accepted}; got {reward!r}. {self._advice}")
        return abs(value - self.best) / (self._high - self._low)

    def losses(self, values: FloatArray) -> FloatArray:
        """Return the losses in [0, 1] of rewards or costs."""
        _check_inside(values, (self._low, self._high), self._accepted, self._advice)
        return np.abs(values - self.best) / (self._high - self._low)

    def rewards(self, who: str, losses: FloatArray) -> FloatArray:
        """Return the rewards of these losses; `who` needs losses in [0, 1]."""
        _check_inside(losses, (0.0, 1.0), f"{who} needs losses in [0, 1]", "Rescale them first.")
        return self.best + losses * self.width


def _check_inside(values: FloatArray, bounds: LossRange, accepted: str, advice: str) -> None:
    if values.size and not (values.min() >= bounds[0] and values.max() <= bounds[1]):
        raise LossError(
            f"{accepted}; got values from {values.min():g} to {values.max():g}. {advice}"
        )
