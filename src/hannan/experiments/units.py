"""Losses in [0, 1] as what they were in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Units:
    """From losses in [0, 1] back to what the file holds."""

    low: float = 0.0
    high: float = 1.0
    rewards: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, Any]) -> Units:
        """Those of an environment, by its table in an experiment file."""
        found = environment.get("value_range")
        if not isinstance(found, list | tuple) or len(found) != 2:
            return cls()
        return cls(float(found[0]), float(found[1]), environment.get("reward") is not None)

    @property
    def name(self) -> str:
        """Of what is measured."""
        return "reward" if self.rewards else "loss"

    def mean(self, loss: float) -> float:
        """A mean loss as it would stand in the file."""
        width = self.high - self.low
        return self.high - loss * width if self.rewards else self.low + loss * width

    def difference(self, loss: float) -> float:
        """A difference of losses: positive is worse, also of rewards."""
        return loss * (self.high - self.low)
