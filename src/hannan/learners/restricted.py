"""A total seen through what is played where some actions are not available."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Objective, Policy
from hannan.core.oracle import WITHOUT_NOISE, Draw
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

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        """Those of the total, which know of all actions."""
        return self.total.leaders(draw, count)

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        """Those of the total."""
        return self.total.minima(draw, count)

    def action(self, context: Any, draw: Draw) -> int:
        """What is played for the leader's choice."""
        return int(self.plays[self.total.action(context, draw)])

    def chosen(self, context: Any, draw: Draw, count: int) -> NDArray[np.bool_]:
        """What is played for the leader's choice under each draw."""
        choices = self.total.chosen(context, draw, count)
        inclusion = np.zeros_like(choices)
        inclusion[np.arange(count), self.plays[choices.argmax(axis=1)]] = True
        return inclusion

    def resample_one(
        self,
        context: Any,
        element: int,
        draw: Draw,
        limit: int,
        successes: int,
    ) -> tuple[float, int]:
        """The total's own way, where nothing but the element itself leads to it."""
        one = np.count_nonzero(self.plays == element) == 1
        way = self.total.resample_one if one else super().resample_one
        return way(context, element, draw, limit, successes)

    def law(self, context: Any, draw: Draw) -> FloatArray | None:
        """The law of the choices, added up."""
        law = self.total.law(context, draw)
        if law is None:
            return None
        played = np.zeros(len(law))
        np.add.at(played, self.plays, law)
        return played
