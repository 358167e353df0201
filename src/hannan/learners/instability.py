"""What instability cost in a round of semi-bandit feedback."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hannan.core import Action, Objective
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray
from hannan.kernels.law import lesson
from hannan.learners.perturbed_leader import NoisyRound, PerturbedLeader
from hannan.learners.resampling import Resampling
from hannan.learners.restricted import restricted
from hannan.learners.step_size import StepSize


class Measured(NamedTuple):
    """What was measured of a round, and what that took."""

    instability: float = 0.0
    """What it cost not to have known the estimate: residual(π) - residual(π̂), on average."""
    calls: int = 0
    draws: int = 0
    added: bool = False
    """Whether the estimate has been added to the total."""
    late: bool = False
    """Whether others have overtaken the round, so that it may have cost less than nothing."""


NOTHING = Measured()
_STEADY = Measured(0.0, 2)


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

    Where weights are drawn in pairs, so is this: by how much less likely the action becomes.

    The draw must be independent of the round's own: the estimate is large just where the round's
    draw chose, so under that draw instability would be overstated. `law` is that of the leader's
    choice with the baseline, where it is known already. With `add` the estimate may be added on
    the way, where that spares a pass.
    """
    context = opened.context
    estimate = residual if baseline is None else baseline + residual
    if opened.plays is not None and opened.exact is False and leader.total.scored:
        # The law of the choice among what is available was not known for the weights either.
        first = leader.total.pick(context, opened.plays, baseline, draw)
        return _under_one_draw(leader, opened, draw, first, estimate, residual, signed, add)
    before = compared(leader, opened, baseline)
    if law is None:
        law = resampling.law(before, context, draw)
    if law is not None:
        after = compared(leader, opened, estimate).law(context, draw)
        assert after is not None
        instability = max(0.0, float(residual @ (law - after)))
        if instability > 0.0:
            leader.get_ready()
        return Measured(instability, 2)
    if isinstance(opened.action, int) and opened.plays is None and resampling.in_pairs(before):
        amount = float(residual[opened.action])
        instability = before.unrest(context, opened.action, amount, draw)
        if instability > 0.0:
            leader.get_ready()
        return Measured(instability, 4, 1)
    first = before.action(context, draw)
    return _under_one_draw(leader, opened, draw, first, estimate, residual, signed, add)


def _under_one_draw(
    leader: PerturbedLeader,
    opened: NoisyRound,
    draw: Draw,
    first: Action,
    estimate: FloatArray,
    residual: FloatArray,
    signed: bool,
    add: bool,
) -> Measured:
    """What the leader's choice before the estimate costs more than the one after it."""
    at_first = loss_of(residual, first)
    if at_first == 0.0 and not signed:
        # The new leader suffers nothing either: it would not have been preferred.
        return Measured(0.0, 1, 1)
    leader.get_ready()  # now, so that a failing oracle leaves the total alone
    choice = (leader.settle if add else leader.foresee)(opened, estimate, draw)
    return Measured(max(0.0, at_first - loss_of(residual, choice)), 2, 1, add)


def measure_known(
    leader: PerturbedLeader, opened: NoisyRound, draw: Draw, amount: float
) -> Measured:
    """The same where only this amount of the action is new and the law of the choice is known."""
    action, law = opened.action, opened.law
    assert isinstance(action, int)
    assert law is not None
    after = leader.total.chance_after(opened.context, action, amount, draw)
    lost = amount * (law.item(action) - after)
    if lost <= 0.0:
        return _STEADY
    leader.get_ready()
    return tuple.__new__(
        Measured, (lost, 2, 0, False, False)
    )  # a third of the time of `Measured(…)`


def weigh_and_measure(
    leader: PerturbedLeader,
    resampling: Resampling,
    step: StepSize,
    opened: Any,
    loss: float,
) -> tuple[float, float] | None:
    """The weight of a loss and what `measure` finds, in one compiled call, where there is one.

    For single actions that the leader alone has chosen, without a baseline, if the law of its
    choice is that of a smallest number under noise, or weights are drawn in pairs. None elsewhere.
    What it takes is counted in the round; no loss takes nothing.
    """
    (_, _, scale), action, total = opened.draw, opened.action, leader.total
    if not scale or scale != step.scale or not step.measures or type(action) is not int:
        return None
    if opened.advice is not None or opened.explores:
        return None
    if not loss:
        return 0.0, 0.0
    draw = leader.draw(scale, opened.draws)
    standing = None if resampling.exact is False else total.standing(opened.context, draw)
    if standing is not None:
        law = opened.law = np.empty(len(standing))
        weight, lost = lesson(standing, scale, action, loss, opened.limit, law)
        opened.exact = True
        opened.calls += 2
    elif resampling.in_pairs(total) and not resampling.exact:
        if not total.paired and resampling.law(total, opened.context, draw) is not None:
            return None
        given = draw, opened.limit, resampling.enough, leader.stop_key
        weight, used, lost = total.lesson(opened.context, action, loss, *given)
        opened.exact = False
        opened.draws += used + 1
        opened.calls += 2 * used + 4
    else:
        return None
    if lost > 0.0:
        leader.get_ready()
    return weight, lost


def measure_late(
    leader: PerturbedLeader,
    opened: NoisyRound,
    top: float,
    baseline: FloatArray | None,
    residual: FloatArray,
    guessed: bool = False,
) -> Measured:
    """Compare the leader at the decision of a round with that at its arrival, at scale `top`.

    By the law at the decision and that now; or, where that is not known, under the shadow draw of
    the round, which was taken at the decision and is independent of all that has happened since.
    Losses learned in between may have made the choice better, so the sign is that of the
    difference. `guessed`: the leader at the decision knew of the baseline, under that draw too.
    """
    context = opened.context
    leader.get_ready()
    after = compared(leader, opened, residual if baseline is None else baseline + residual)
    if opened.exact and opened.law is not None:
        found, calls = float(residual @ (opened.law - _law(leader, after, context, top))), 1
        if baseline is not None:  # it counts as the leader sees it now
            before = _law(leader, compared(leader, opened, baseline), context, top)
            found, calls = found + float(baseline @ (opened.law - before)), 2
        return Measured(found, calls, late=True)
    if opened.shadow is None:  # a decision was made while it was alone: count the most
        unseen = np.abs(baseline).sum() if guessed and baseline is not None else 0.0
        return Measured(float(np.abs(residual).sum() + unseen))
    if guessed and baseline is not None:
        z = leader.shadow(opened.shadow, top)
        loss = loss_of(baseline + residual, opened.shadow_choice)
        loss -= loss_of(residual, after.action(context, z))
        now = compared(leader, opened, baseline)  # it counts as the leader sees it now
        return Measured(loss - loss_of(baseline, now.action(context, z)), 2, late=True)
    at_first = loss_of(residual, opened.shadow_choice)
    if at_first == 0.0:  # less what the leader now suffers: at most this
        return Measured()
    choice = after.action(context, leader.shadow(opened.shadow, top))
    return Measured(at_first - loss_of(residual, choice), 1, late=True)


def _law(leader: PerturbedLeader, total: Objective, context: Any, scale: float) -> FloatArray:
    """Of the choice of a total's leader under noise of this scale, which may be none."""
    law = total.law(context, Draw(leader.noise, 0, scale)) if scale else None
    return total.chosen(context, WITHOUT_NOISE, 1)[0] if law is None else law


def compared(
    leader: PerturbedLeader, opened: NoisyRound, estimate: FloatArray | None = None
) -> Objective:
    """The total, with an estimate as one more round, for questions about a round's context.

    Where scores decide among the available actions, leaders are compared by what they play. Where
    a substitute stands in, by what they choose: estimates are equal for choices that are played
    alike.
    """
    seen = leader.total
    if estimate is not None:
        seen = seen.tilted(opened.context, estimate)
    return seen if opened.plays is None or not seen.scored else restricted(seen, opened)
