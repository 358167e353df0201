"""Ranges of the rewards, costs and losses that other libraries hand over."""

from __future__ import annotations

import math
from typing import Any

from hannan.core import LossError
from hannan.core.validation import FloatArray, LossRange, check_bounded_range


def check_inside(values: FloatArray, bounds: LossRange, accepted: str, advice: str) -> None:
    """Refuse values outside their range; `accepted` and `advice` begin and end the message."""
    if values.size and not (values.min() >= bounds[0] and values.max() <= bounds[1]):
        raise LossError(
            f"{accepted}; got values from {values.min():g} to {values.max():g}. {advice}"
        )


class Rewards:
    r"""Rewards in [low, high] as losses in [0, 1]: :math:`(high - r)/(high - low)`."""

    def __init__(self, owner: object, reward_range: Any) -> None:
        self._low, self._high = check_bounded_range(owner, reward_range, "reward_range")
        self._accepted = f"Rewards must lie in reward_range=({self._low:g}, {self._high:g})"

    def loss(self, reward: Any, clip: bool = False) -> float:
        """Return the loss in [0, 1] of a reward, which may be moved to the end of its range."""
        try:
            value = math.nan if isinstance(reward, str) else float(reward)
        except (TypeError, ValueError):
            value = math.nan
        if clip and math.isfinite(value):
            value = min(max(value, self._low), self._high)
        if not self._low <= value <= self._high:
            raise LossError(f"{self._accepted}; got {reward!r}. Pass the range they really have.")
        return (self._high - value) / (self._high - self._low)

    def losses(self, rewards: FloatArray) -> FloatArray:
        """Return the losses in [0, 1] of rewards."""
        bounds = self._low, self._high
        check_inside(rewards, bounds, self._accepted, "Pass the range they really have.")
        return (self._high - rewards) / (self._high - self._low)

    def rewards(self, who: str, losses: FloatArray) -> FloatArray:
        """Return the rewards that have these losses; `who` needs them to lie in [0, 1]."""
        accepted = f"{who} needs losses in [0, 1]"
        check_inside(losses, (0.0, 1.0), accepted, "Rescale them first.")
        return self._high - losses * (self._high - self._low)
