"""Importance weights of the actions played, and the cost of instability of their estimates.

What is found depends on the state of a decision. It is found when the loss comes, or just before
another round is learned, whichever is first.

==================== ========== =============================== =================================
distribution of the choice    actions    weight                          cost of instability
==================== ========== =============================== =================================
known                any        its mean, (1 - (1-q)^L)/q       by the distributions before and
after
not known, in pairs  single     draws and their negatives       by one more draw and its negative
not known            any        draws until r successes         by leaders under one more draw
==================== ========== =============================== =================================

A round that others overtake is compared with the state of its decision: by the distribution there,
or under
a draw of noise that nothing else uses (`PerturbedLeader.hidden_draw`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hannan.core import Action, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, Draw, Lesson, Trials, paired_lesson
from hannan.core.params import Parametrised
from hannan.core.policy import loss_of
from hannan.core.rounds import PropensityRecord
from hannan.core.state import Flag, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.learners.perturbed_leader import NoisyRound, Past, PerturbedLeader, distribution_of
from hannan.learners.step_size import StepSize

# c with q E[W^2] <= c E[W] for every q and L, W from r successes; exact weights have 1.
# It bounds q^2 E[W^2] too (there 2, 1.5, 1.36, 1.32, 1.31, then 1.3 would do).
# Probabilities in place of successes: at most this, and for a known part of the draw much less.
_SECOND_MOMENT = {1: 2.0, 2: 1.51, 3: 1.38}
_MOST_SUCCESSES = 10_000
# Less than r in the sum of probabilities spares draws. Up to a half of that leaves those that are
# 0 or 1 as they were, and these are the worst case.
_HALF = 0.5
_MOST_IN_PAIRS = 10  # what the integral in `kernels.weights` is exact for


class Resampling(Parametrised):
    r"""Geometric resampling until r successes; or, where the distribution is known, its mean itself.

    A chosen element's weight has mean :math:`(1-(1-q)^L)/q`, q its probability and L the most
    draws, whatever r is.

    With `pairs` a draw serves as itself and as its negative, which has the same distribution, and
    counts for
    the probability that the element is chosen, given as much of the draw as is easily computed, in
    place of a success or none. Draws stop once these probabilities add up to r - 1/2, which takes r
    of them where they are 0 or 1. The mean is the same, to the last digit; the variance is smaller.

    Parameters
    ----------
    successes
        r, below 10,000: more of them, less variance and more draws; at most 10 with pairs.
    exact
        True: the mean itself, which takes an oracle that can compute q. False: always draws.
        None: the mean where the oracle can compute q, else draws.
    pairs
        True: for single actions. None: for single actions where the class searches under a draw and
        its negative in about the time of one. Sets are drawn until all elements have r successes.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.AllPolicies(2, 3), resampling=hn.Resampling(successes=4, exact=False), seed=0
    ... )
    >>> learner.decide(0).weights
    array([1.])
    """

    stored = State(known=Flag() | None)

    def __init__(
        self, successes: int = 2, exact: bool | None = None, pairs: bool | None = False
    ) -> None:
        self.successes = check_integer(self, "successes", successes, 1, _MOST_SUCCESSES)
        for name, value in (("exact", exact), ("pairs", pairs)):
            if value not in (None, True, False):
                raise refuse(self, name, "True, False or None", value)
        if pairs is not False and successes > _MOST_IN_PAIRS:
            raise refuse(self, "successes", f"at most {_MOST_IN_PAIRS} with pairs", successes)
        self.exact = exact
        self.pairs = pairs
        # What the probabilities of draws in pairs must add up to; 0 where none are drawn.
        self.enough = 0.0 if pairs is False or exact else self.successes - _HALF
        # Whether all weights so far were exact; None before the first.
        self.known: bool | None = exact or None

    @property
    def second_moment(self) -> float:
        """An upper bound on q E[W²]/E[W] of all weights so far."""
        return self.moment(self.known)

    def moment(self, exact: bool | None) -> float:
        """An upper bound on q E[W²]/E[W] of weights that are exact, or drawn."""
        return 1.0 if exact else _SECOND_MOMENT.get(self.successes, 1.34)

    def note(self, exact: bool | None) -> None:
        """Whether the weights of a round were exact; None where none were needed."""
        if exact is not None:
            self.known = exact and self.known is not False

    def trials(self, leader: PerturbedLeader, limit: int, share: float = 0.0) -> Trials:
        """Return how a weight may be found: from the distribution if that is used, or by draws in pairs."""
        return Trials(limit, self.enough, leader.key, share, self.exact is not False)

    def lesson(
        self, past: Past, context: Any, action: int, loss: float, draw: Draw, trials: Trials
    ) -> Lesson | None:
        """Return a weight by draws in pairs, and the cost of instability; None without pairs."""
        if trials.enough == 0.0:
            return None
        trials = trials._replace(exact=False)
        found = None
        if past.available is None:
            found = past.total.lesson(context, action, loss, draw, trials, past.plus)
        if found is None and self.pairs:
            given = past.total, context, action, loss, draw, trials, past.plus, past.available
            found = paired_lesson(*given)
        return found

    def weights(
        self, past: Past, context: Any, action: Action, draw: Draw, limit: int, needed: Any
    ) -> tuple[Any, int]:
        """Return weights of the chosen elements by draws from `draw` on, and how many were used.

        One for each element, a number for a single action; 0 where `needed` is 0.
        """
        r = self.successes
        if isinstance(action, int):
            weights, used = past.weights(context, np.array([action]), draw, limit, r)
            return weights.item(0), used
        some = np.arange(len(action)) if needed is None else needed.nonzero()[0]
        weights = np.zeros(len(action))
        weights[some], used = past.weights(context, action[some], draw, limit, r)
        return weights, used

    def mixed_weight(
        self, leader: PerturbedLeader, past: Past, opened: NoisyRound, draw: Draw, limit: int
    ) -> tuple[float, int, bool]:
        """Return the weight of a single action, which others than the leader may have chosen.

        It is played with probability s (c + (1 - c) x), x that of the leader. So its weight is 1/s
        times one for trials that are successes with probability c, or else if the leader chooses
        it: the trials up to the first success of the former kind are one random number, and the
        leader is asked only in these. In pairs the probability of a trial takes the place of its
        success. Also returns the draws used, and whether they were in pairs.
        """
        context, action, r = opened.context, opened.action, self.successes
        assert isinstance(action, int)
        certain, s = opened.weighing(action)
        found = self.lesson(past, context, action, 0.0, draw, self.trials(leader, limit, certain))
        if found is not None:
            return found.weight / s, found.used, True
        if certain == 0.0:
            weight, used = self.weights(past, context, action, draw, limit, None)
            return weight / s, used, False
        element, total, used = np.array([action]), 0.0, 0
        for _ in range(r):
            later = draw.later(used)
            trials = 1.0 + math.log1p(-leader.uniform(later.number)) // math.log1p(-certain)
            weights, drawn = past.weights(context, element, later, int(min(trials, limit)), 1)
            total += weights.item(0)
            used += max(1, drawn)  # the uniform number goes with a draw, which is not used again
        return total / (r * s), used, False


PRESETS = {
    "auto": Resampling(pairs=None),
    "conditional": Resampling(2, False, pairs=True),
    "exact": Resampling(1, True),
    "shared": Resampling(1, False),
    "rao-blackwell": Resampling(2, False),
}


def check_resampling(owner: object, resampling: Any) -> Resampling:
    """What a word, a number of successes or a `Resampling` says."""
    found = PRESETS.get(resampling) if isinstance(resampling, str) else resampling
    if isinstance(found, Resampling):
        return found.clone()
    if isinstance(resampling, str) or resampling is None:
        words = ", ".join(map(repr, PRESETS))
        accepted = f"one of {words}, a number of successes, or a Resampling"
        raise refuse(owner, "resampling", accepted, resampling)
    return Resampling(check_integer(owner, "resampling", resampling, 1), exact=False)


def no_distribution(oracle: object) -> ParameterError:
    """What to say where exact weights were asked for."""
    return ParameterError(
        f"resampling='exact' needs the distribution of the action, which {type(oracle).__name__} cannot "
        "compute here. Use 'auto'."
    )


def mean_weights(distribution: FloatArray, opened: NoisyRound, limit: int) -> Any:
    """Return the mean weights themselves, for a known distribution of the leader's choice."""
    action = opened.action
    if not isinstance(action, int):
        return np.array([mean_weight(float(q), limit) for q in distribution[action]])
    certain, s = opened.weighing(action)
    return mean_weight(certain + (1.0 - certain) * distribution.item(action), limit) / s


def mean_weight(q: float, limit: int) -> float:
    """(1 - (1-q)^L)/q"""
    if q <= 0.0:
        return float(limit)
    return 1.0 if q >= 1.0 else -math.expm1(limit * math.log1p(-q)) / q


_TRIALS = 8  # draws that estimate the distribution of the leader's choice, for the price of a hint


def past_of(leader: PerturbedLeader, opened: Any) -> Past:
    """Return ℓ̂_1..t-1, with the baseline as one more round, among what is available."""
    return Past(leader.total, opened.baseline, opened.plays)


def weigh(leader: PerturbedLeader, J: Resampling, opened: Any, needed: Any = None) -> Any:
    """J_t(j): draw {y}^1, {y}^2, … until the leader chooses j on x_t again, L times at most.

    Where the distribution of the leader's choice is known: the mean of J_t(j). `needed` is 0 for
    elements
    whose weights are not needed.
    """
    context, action, draw = opened.context, opened.action, opened.draw
    mixes = opened.advice is not None or opened.explores > 0.0
    if draw.scale == 0.0 and not mixes:
        return 1.0 if isinstance(action, int) else np.ones(len(action))
    distribution = None
    if draw.noise is None:
        draw = leader.again(draw)
    if not draw.scale:
        sure = past_of(leader, opened).chosen(context, WITHOUT_NOISE, 1)[0]
        distribution = np.asarray(sure, dtype=np.float64)
    elif J.exact is not False:
        distribution = leader.total.distribution(context, draw, opened.baseline, opened.plays)
    opened.distribution, opened.exact = distribution, distribution is not None
    if distribution is not None:
        return mean_weights(distribution, opened, opened.limit)
    if J.exact:
        raise no_distribution(leader.oracle)
    past = past_of(leader, opened)
    fresh, paired = leader.draw(draw.scale, opened.draws), False
    if isinstance(action, int):
        weights, used, paired = J.mixed_weight(leader, past, opened, fresh, opened.limit)
    else:
        weights, used = J.weights(past, context, action, fresh, opened.limit, needed)
    if opened.advice is not None:
        opened.distribution = past.chosen(context, fresh.later(used), _TRIALS).mean(axis=0)
        used += _TRIALS
    opened.draws += used
    opened.calls += 2 * used if paired else used
    return weights


def out_of_order(
    leader: PerturbedLeader,
    J: Resampling,
    opened: Any,
    others: Iterable[Any],
    measures: bool,
    guessed: bool,
) -> list[tuple[Any, Any]]:
    """Rounds that this one overtakes, with copies that have weights and the choice under a shadow.

    Both belong to the state of the decision, which ends when this round is learned. `measures`:
    whether somebody asks what instability cost; `guessed`: whether the leader knew of baselines.
    """
    found: list[tuple[Any, Any]] = []
    for other in others:
        seen = copy.copy(other)  # until nothing can fail any more
        if other.weights is None:
            seen.draws, seen.calls = opened.draws, 0
            seen.weights = weigh(leader, J, seen)
            opened.draws = seen.draws
            opened.calls += seen.calls
        elif other.exact or not measures:
            continue
        if measures and not seen.exact:
            past = leader.past(seen, seen.baseline if guessed else None)
            seen.hidden_draw = leader.hidden_draws + len(found)
            seen.hidden_choice = leader.hidden_choice(seen, past, seen.hidden_draw)
            opened.calls += 1
        found.append((other, seen))
    return found


def propensity_record_of(leader: PerturbedLeader, J: Resampling, opened: Any) -> PropensityRecord:
    """Weights and propensity of a decision."""
    action, distribution, exact = opened.action, opened.distribution, None
    if opened.exact and type(action) is int:
        return PropensityRecord(
            opened.weights, opened.likely(action, distribution.item(action)), 0.0
        )
    if opened.exact:
        exact = distribution[action]  # nobody else chooses sets
    elif opened.exact is False and J.exact is False:
        distribution = distribution_of(
            past_of(leader, opened), opened
        )  # which was not asked for the weights
        exact = None if distribution is None else distribution[action]
    drawn = exact is None and opened.exact is False
    q = 1.0 / np.asarray(opened.weights, np.float64) if exact is None else exact
    if isinstance(action, int):
        q = float(q)
        error: Any = q * math.sqrt((1.0 - q) / J.successes) if drawn else 0.0
    else:  # of one over a mean of r geometric numbers
        error = q * np.sqrt((1.0 - q) / J.successes) if drawn else 0.0 * q
    return PropensityRecord(opened.inverse, q, error, not drawn, opened.exact is False)


class Measured(NamedTuple):
    """What was measured of a round, and what that took."""

    instability: float = 0.0
    """What it cost not to have known the estimate: residual(π) - residual(π̂), on average."""
    calls: int = 0
    draws: int = 0
    added: bool = False
    """Whether the estimate has been added to the total."""


NOTHING = Measured()


def measure(
    leader: PerturbedLeader,
    resampling: Resampling,
    opened: NoisyRound,
    draw: Draw,
    changes: tuple[FloatArray | None, FloatArray, FloatArray],
    *,
    signed: bool,
    add: bool,
) -> Measured:
    """Compare leaders before and after a round, as the table of this module says.

    `changes` are the baseline, what was seen beyond it, and the sum of both: the estimate. The draw
    must be independent of the round's own: the estimate is large just where the round's
    draw chose, so under that draw instability would be overstated. With `add` the estimate may be
    added on the way, where that spares a pass.
    """
    context, action = opened.context, opened.action
    baseline, residual, estimate = changes
    total, distribution = leader.total, None
    available = opened.plays if total.scored else None
    drawn = opened.plays is not None and opened.exact is False and total.scored
    if opened.exact and opened.plays is None and opened.draw.scale > 0.0:
        distribution = opened.distribution  # the one behind the weights
    elif not drawn and resampling.exact is not False:
        distribution = total.distribution(
            context, draw, baseline, available
        )  # else not known for weights either
    if distribution is not None:
        after = total.distribution(context, draw, estimate, available)
        assert after is not None
        instability = float(residual @ (distribution - after))
        if instability > 0.0:
            leader.get_ready()
        return Measured(max(instability, 0.0), 2)
    before = Past(total, baseline, available)
    if isinstance(action, int) and opened.plays is None:
        trials = resampling.trials(leader, 1)  # no draws for a weight
        found = resampling.lesson(before, context, action, float(residual[action]), draw, trials)
        if found is not None:
            if found.instability > 0.0:
                leader.get_ready()
            return Measured(found.instability, 4, 1)
    at_first = loss_of(residual, before.action(context, draw))
    if at_first == 0.0 and not signed:
        # The new leader suffers nothing either: it would not have been preferred.
        return Measured(0.0, 1, 1)
    leader.get_ready()  # now, so that a failing oracle leaves the total alone
    choice = (leader.settle if add else leader.foresee)(opened, estimate, draw)
    return Measured(max(0.0, at_first - loss_of(residual, choice)), 2, 1, add)


def weigh_and_measure(
    leader: PerturbedLeader, resampling: Resampling, step: StepSize, opened: Any, loss: float
) -> tuple[float, float] | None:
    """Find the weight of a loss and what `measure` finds in one compiled call, where there is one.

    For single actions without a baseline; where others than the leader may have chosen them, if
    the distribution is known. None elsewhere. What it takes is counted in the round.
    """
    (_, _, scale), action, context = opened.draw, opened.action, opened.context
    if not scale or scale != step.scale or not step.measures or type(action) is not int:
        return None
    draw = Draw(leader.noise, leader.number + opened.draws, scale)
    mixes = opened.advice is not None or opened.explores > 0.0
    certain, kept = opened.weighing(action) if mixes else (0.0, 1.0)
    # Only from a known distribution, where others than the leader may have chosen.
    enough, exact = 0.0 if mixes else resampling.enough, resampling.exact is not False
    trials = Trials(opened.limit, enough, leader.key, certain, exact, kept)
    found = leader.total.lesson(context, action, loss, draw, trials)
    paired = found is None and not mixes and resampling.pairs and not resampling.exact
    if paired and (resampling.exact is False or leader.total.distribution(context, draw) is None):
        found = resampling.lesson(Past(leader.total), context, action, loss, draw, trials)
    if found is None:
        return None
    opened.exact = found.distribution is not None
    if found.distribution is not None:
        opened.distribution = found.distribution
        opened.calls += 2
    else:
        opened.draws += found.used + 1
        opened.calls += 2 * found.used + 4
    if found.instability > 0.0 and (leader.noise is None or leader.found is None):
        leader.get_ready()
    return found.weight, found.instability


def measure_late(
    leader: PerturbedLeader,
    opened: NoisyRound,
    top: float,
    baseline: FloatArray | None,
    residual: FloatArray,
    guessed: bool = False,
) -> Measured:
    """Compare the leader at the decision of a round with that at its arrival, at scale `top`.

    By the distribution at the decision and that now; or, where that is not known, under the shadow
    draw of
    the round, which was taken at the decision and is independent of all that has happened since.
    Losses learned in between may have made the choice better, so the sign is that of the
    difference. `guessed`: the leader at the decision knew of the baseline, under that draw too.
    """
    context = opened.context
    leader.get_ready()
    after = leader.past(opened, residual if baseline is None else baseline + residual)
    if opened.exact and opened.distribution is not None:
        found, calls = (
            float(
                residual @ (opened.distribution - _action_distribution(leader, after, context, top))
            ),
            1,
        )
        if baseline is not None:  # it counts as the leader sees it now
            before = _action_distribution(leader, leader.past(opened, baseline), context, top)
            found, calls = found + float(baseline @ (opened.distribution - before)), 2
        return Measured(found, calls)
    if opened.hidden_draw is None:  # a decision was made while it was alone: count the most
        unseen = np.abs(baseline).sum() if guessed and baseline is not None else 0.0
        return Measured(float(np.abs(residual).sum() + unseen))
    if guessed and baseline is not None:
        z = leader.hidden_draw(opened.hidden_draw, top)
        loss = loss_of(baseline + residual, opened.hidden_choice)
        loss -= loss_of(residual, after.action(context, z))
        now = leader.past(opened, baseline)  # it counts as the leader sees it now
        return Measured(loss - loss_of(baseline, now.action(context, z)), 2)
    at_first = loss_of(residual, opened.hidden_choice)
    if at_first == 0.0:  # less what the leader now suffers: at most this
        return Measured()
    choice = after.action(context, leader.hidden_draw(opened.hidden_draw, top))
    return Measured(at_first - loss_of(residual, choice), 1)


def _action_distribution(
    leader: PerturbedLeader, past: Past, context: Any, scale: float
) -> FloatArray:
    """Of the choice of a total's leader under noise of this scale, which may be none."""
    distribution = past.distribution(context, Draw(leader.noise, 0, scale)) if scale else None
    return past.chosen(context, WITHOUT_NOISE, 1)[0] if distribution is None else distribution
