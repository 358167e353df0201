"""A total seen through what is played where some actions are not available."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Noise, Objective, Policy
from hannan.core.rounds import IntArray, OpenRound
from hannan.core.validation import FloatArray


def restricted(total: Objective, opened: OpenRound) -> Objective:
    """A total for questions about a round's context, among what is available there."""
    if opened.plays is None:
        return total
    if total.scored:
        return total.among(opened.context, opened.plays)
    return Restricted(total, opened.plays)


class Restricted(Objective):
    """A total whose leader's choices are replaced: r[b] is played for b.

    So the law of what is played is that of the choices, summed over those with the same r.
    """

    def __init__(self, total: Objective, plays: IntArray) -> None:
        self.oracle = total.oracle
        self.draws_in_batches = total.draws_in_batches
        self.total = total
        self.plays = plays

    def copy(self) -> Restricted:
        """An independent copy."""
        return Restricted(self.total.copy(), self.plays)

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
        return int(self.plays[self.total.action(context, noise, draw, scale)])

    def chosen(
        self, context: Any, noise: Noise | None, first: int, count: int, scale: float
    ) -> NDArray[np.bool_]:
        """What is played for the leader's choice under each draw."""
        choices = self.total.chosen(context, noise, first, count, scale)
        inclusion = np.zeros_like(choices)
        inclusion[np.arange(count), self.plays[choices.argmax(axis=1)]] = True
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
        one = np.count_nonzero(self.plays == element) == 1
        way = self.total.resample_one if one else super().resample_one
        return way(context, element, noise, first, limit, successes, scale)

    def law(self, context: Any, noise: Noise | None, scale: float) -> FloatArray | None:
        """The law of the choices, added up."""
        law = self.total.law(context, noise, scale)
        if law is None:
            return None
        played = np.zeros(len(law))
        np.add.at(played, self.plays, law)
        return played
