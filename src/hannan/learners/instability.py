"""What instability cost in a round of semi-bandit feedback."""

from __future__ import annotations

from typing import NamedTuple

from hannan.core import Objective
from hannan.core.policy import loss_of
from hannan.core.rounds import Draw
from hannan.core.validation import FloatArray
from hannan.learners.perturbed_leader import NoisyRound, PerturbedLeader
from hannan.learners.resampling import Resampling
from hannan.learners.restricted import restricted


class Measured(NamedTuple):
    """What was measured of a round, and what that took."""

    instability: float = 0.0
    """What it cost not to have known the estimate: residual(π) - residual(π̂), on average."""
    calls: int = 0
    draws: int = 0
    added: bool = False
    """Whether the estimate has been added to the total."""


def measure(
    leader: PerturbedLeader,
    resampling: Resampling,
    opened: NoisyRound,
    draw: Draw,
    baseline: FloatArray | None,
    residual: FloatArray,
    law: FloatArray | None = None,
    *,
    signed: bool,
    add: bool,
) -> Measured:
    """Compare leaders before and after baseline + residual, by their laws or under one more draw.

    The draw must be independent of the round's own: the estimate is large just where the round's
    draw chose, so under that draw instability would be overstated. `law` is that of the leader's
    choice with the baseline, where it is known already. With `add` the estimate may be added on
    the way, where that spares a pass.

    Where scores decide among the available actions, leaders are compared by what they play. Where
    a substitute stands in, by what they choose: estimates are equal for choices that are played
    alike.
    """
    total, context = leader.total, opened.context

    def view(seen: Objective) -> Objective:
        return restricted(seen, opened) if seen.scored else seen

    estimate = residual if baseline is None else baseline + residual
    before = view(total if baseline is None else total.tilted(context, baseline))
    if law is None:
        law = resampling.law(before, context, draw)
    if law is not None:
        after = view(total.tilted(context, estimate)).law(context, draw.noise, draw.scale)
        assert after is not None
        instability = max(0.0, float(residual @ (law - after)))
        if instability > 0.0:
            leader.get_ready()
        return Measured(instability, 2)
    at_first = loss_of(residual, before.action(context, *draw))
    if at_first == 0.0 and not signed:
        # The new leader suffers nothing either: it would not have been preferred.
        return Measured(0.0, 1, 1)
    leader.get_ready()  # now, so that a failing oracle leaves the total alone
    choice = (leader.settle if add else leader.foresee)(opened, estimate, draw)
    return Measured(max(0.0, at_first - loss_of(residual, choice)), 2, 1, add)
