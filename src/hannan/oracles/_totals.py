"""What running totals have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self, TypeVar

import numpy as np

from hannan.core import Action, Objective, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw
from hannan.core.stored import declared
from hannan.core.validation import FloatArray

T = TypeVar("T")


def twin(total: T, *own: str) -> T:
    """Copy a total: it shares all attributes but those named, of which it has copies."""
    made = object.__new__(type(total))
    vars(made).update(vars(total))
    for name in own:
        value = getattr(total, name)
        setattr(made, name, value.copy() if hasattr(value, "copy") else value)
    return made


def solve_then_add(
    total: Any, context: Any, losses: FloatArray, draw: Draw, available: Available = None
) -> Action:
    """Settle a round where a solver may fail: nothing has changed then."""
    action: Action = total.action(context, draw, losses, available)
    total.add(context, losses)
    return action


class Total(Objective):
    """A total of which copies have declared state of their own and share the rest."""

    def copy(self) -> Self:
        return twin(self, *declared(type(self)))


class Solved(Total):
    """A total whose leaders are found one after another, together with their values."""

    @abstractmethod
    def _solve(self, draw: Draw) -> tuple[Policy, float]:
        """Return the leader under one draw, and its value."""

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        return [self._solve(draw.later(i))[0] for i in range(count)]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        return np.array([self._solve(draw.later(i))[1] for i in range(count)])


class Regressed(Total):
    """A total of regressions, which do not hold the losses of policies."""

    rounds: int
    draws_in_batches = False

    def _factor(self, draw: Draw) -> float:
        """Return the size of the noise: fake losses on d contexts after n rounds."""
        assert draw.noise is not None
        return draw.scale * math.sqrt(2.0 * len(draw.noise.contexts) / (self.rounds or 1))

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        """Unknown."""
        return np.full(count, np.nan)
