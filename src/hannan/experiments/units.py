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

    @property
    def width(self) -> float:
        """What a loss of 1 is more than none."""
        return self.high - self.low

    def mean(self, loss: Any) -> Any:
        """Mean losses as they would stand in the file; None, which is not known, stays None."""
        if loss is None:
            return None
        return self.high - loss * self.width if self.rewards else self.low + loss * self.width

    def difference(self, loss: Any) -> Any:
        """Differences of losses: positive is worse, also of rewards; None stays None."""
        return None if loss is None else loss * self.width
