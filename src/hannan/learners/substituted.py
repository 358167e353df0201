"""What is played for a leader's choice where some actions are not there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Noise, Objective, Policy
from hannan.core.available import IntArray, awake
from hannan.core.validation import FloatArray


def restricted(total: Objective, context: Any, stands: IntArray | None) -> Objective:
    """A total for questions about a context, seen through what is played for each action."""
    if stands is None:
        return total
    return total.among(context, awake(stands)) if total.scored else Substituted(total, stands)


def settle(
    total: Objective,
    context: Any,
    losses: Any,
    draw: tuple[Noise | None, int, float],
    stands: IntArray | None,
) -> Action:
    """`Objective.settle`, where what is there is played by its score."""
    if stands is None or not total.scored:
        return total.settle(context, losses, *draw)
    action = restricted(total.tilted(context, losses), context, stands).action(context, *draw)
    total.add(context, losses)
    return action


class Substituted(Objective):
    """A total whose leader's choices are replaced: r[b] is played for b.

    So the law of what is played is that of the choices, summed over those with the same r.
    """

    def __init__(self, total: Objective, stands: IntArray) -> None:
        self.oracle = total.oracle
        self.draws_in_batches = total.draws_in_batches
        self.total = total
        self.stands = stands

    def copy(self) -> Substituted:
        """An independent copy."""
        return Substituted(self.total.copy(), self.stands)

    def add(self, context: Any, losses: FloatArray) -> None:
        """Add to the total itself."""
        self.total.add(context, losses)

    def leaders(self, noise: Noise | None, first: int, count: int, scale: float) -> list[Policy]:
        """Those of the total, which know of all actions."""
        return self.total.leaders(noise, first, count, scale)

    def minima(self, noise: Noise | None, first: int, count: int, scale: float) -> FloatArray:
        """Those of the total."""
        return self.total.minima(noise, first, count, scale)

    def action(self, context: Any, noise: Noise | None, draw: int, scale: float) -> int:
        """What is played for the leader's choice."""
        return int(self.stands[self.total.action(context, noise, draw, scale)])

    def chosen(
        self, context: Any, noise: Noise | None, first: int, count: int, scale: float
    ) -> NDArray[np.bool_]:
        """What is played for the leader's choice under each draw."""
        choices = self.total.chosen(context, noise, first, count, scale)
        inclusion = np.zeros_like(choices)
        inclusion[np.arange(count), self.stands[choices.argmax(axis=1)]] = True
        return inclusion

    def resample_one(
        self,
        context: Any,
        element: int,
        noise: Noise | None,
        first: int,
        limit: int,
        successes: int,
        scale: float,
    ) -> tuple[float, int]:
        """The total's own way, where nothing but the element itself leads to it."""
        one = np.count_nonzero(self.stands == element) == 1
        way = self.total.resample_one if one else super().resample_one
        return way(context, element, noise, first, limit, successes, scale)

    def law(self, context: Any, noise: Noise | None, scale: float) -> FloatArray | None:
        """The law of the choices, added up."""
        law = self.total.law(context, noise, scale)
        if law is None:
            return None
        played = np.zeros(len(law))
        np.add.at(played, self.stands, law)
        return played
