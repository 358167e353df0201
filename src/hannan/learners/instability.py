"""What a round of semi-bandit feedback cost: by instability, and by its hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hannan.core import Objective
from hannan.core.policy import loss_of
from hannan.core.rounds import Draw
from hannan.core.validation import FloatArray
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.resampling import Resampling
from hannan.learners.restricted import restricted


class Measured(NamedTuple):
    """What was measured of a round, and what that took."""

    instability: float = 0.0
    """What it cost not to have known the estimate: residual(π) - residual(π̂), on average."""
    boldness: float = 0.0
    """What the hinted leader cost more than the plain one, by the estimate, on average."""
    calls: int = 0
    draws: int = 0
    added: bool = False
    """Whether the estimate has been added to the total."""


class Meter:
    """Compares leaders before and after an estimate, by their laws or under one more draw.

    The draw must be independent of the round's own: the estimate is large just where the round's
    draw chose, so under that draw instability would be overstated.

    Where scores decide among the available actions, leaders are compared by what they play. Where
    a substitute stands in, by what they choose: estimates are equal for choices that are played
    alike.
    """

    def __init__(
        self, leader: PerturbedLeader, resampling: Resampling, opened: Any, draw: Draw
    ) -> None:
        self.leader = leader
        self.resampling = resampling
        self.opened = opened
        self.draw = draw

    def measure(
        self,
        bold: Callable[[], Objective] | None,
        baseline: FloatArray | None,
        residual: FloatArray,
        played: FloatArray | None = None,
        *,
        signed: bool,
        add: bool,
    ) -> Measured:
        """What baseline + residual shows; `bold` makes the total with the round's hint, if any.

        It is made when it is asked, because tilted totals share one place. `played` is the law of
        what was played, where that is known already. With `add` the estimate may be added on the
        way, where that spares a pass.

        """
        total, context, draw = self.leader.total, self.opened.context, self.draw
        estimate = residual if baseline is None else baseline + residual
        calm = self._view(total if baseline is None else total.tilted(context, baseline))
        plain = bold is None and baseline is None
        q = played if plain and played is not None else self.resampling.law(calm, context, draw)
        if q is not None:
            return self._by_law(bold, q, residual, estimate, played)
        boldness, calls = 0.0, 1
        choice = calm.action(context, *draw)
        if bold is not None:
            boldness = loss_of(estimate, bold().action(context, *draw)) - loss_of(estimate, choice)
            calls += 1
        at_first = loss_of(residual, choice)
        if at_first == 0.0 and not signed:
            # The new leader suffers nothing either: it would not have been preferred.
            return Measured(0.0, boldness, calls, 1)
        self.leader.get_ready()  # now, so that a failing oracle leaves the total alone
        find = self.leader.settle if add else self.leader.foresee
        after = find(self.opened, estimate, draw)
        instability = max(0.0, at_first - loss_of(residual, after))
        return Measured(instability, boldness, calls + 1, 1, add)

    def _by_law(
        self,
        bold: Callable[[], Objective] | None,
        q: FloatArray,
        residual: FloatArray,
        estimate: FloatArray,
        played: FloatArray | None,
    ) -> Measured:
        """The same averaged over draws; q is the law of the plain leader's choice."""
        context, (noise, _, scale) = self.opened.context, self.draw
        after = self._view(self.leader.total.tilted(context, estimate)).law(context, noise, scale)
        assert after is not None
        instability = max(0.0, float(residual @ (q - after)))
        if instability > 0.0:
            self.leader.get_ready()
        if bold is None:
            return Measured(instability, 0.0, 2)
        hinted = bold().law(context, noise, scale) if played is None else played
        assert hinted is not None
        return Measured(instability, float(estimate @ (hinted - q)), 3)

    def _view(self, total: Objective) -> Objective:
        return restricted(total, self.opened) if total.scored else total
