"""Importance weights of the chosen actions, and the instability costs of their estimates.

Both depend on the learner's state at the decision. The learner computes them when the feedback
arrives, or just before it learns from another round, whichever is first.

=================== ======= ========================== ====================================
choice distribution actions weight                     instability cost
=================== ======= ========================== ====================================
known               any     its mean, (1 - (1-q)^L)/q  from distributions before and after
unknown, in pairs   single  draws and their negatives  by one more draw and its negative
unknown             any     draws until r successes    by leaders under one more draw
=================== ======= ========================== ====================================

A round with out-of-order feedback is compared with the state at its decision: by the distribution
at the decision, or under a hidden noise draw (`PerturbedLeader.hidden_draw`).
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
from hannan.learners.set_hint import weigh_elements
from hannan.learners.step_size import StepSize

# c with q E[W^2] <= c E[W] for every q and L, for weights W from r successes; 1 for exact weights.
# c also bounds q^2 E[W^2] (for which 2, 1.5, 1.36, 1.32, 1.31, then 1.3 would be enough).
# With probabilities in place of successes it is at most this, and often much less.
_SECOND_MOMENT = {1: 2.0, 2: 1.51, 3: 1.38}
_MOST_SUCCESSES = 10_000
# Stopping at a sum of probabilities below r saves draws. Subtracting up to a half does not change
# the case in which all probabilities are 0 or 1, which is the worst case.
_HALF = 0.5
_MOST_IN_PAIRS = 10  # largest r for which the integral in `kernels.weights` is exact


class Resampling(Parametrised):
    r"""Rule for importance weights: geometric resampling until r successes, or the exact mean.

    The weight of a chosen element has mean :math:`(1-(1-q)^L)/q` for every r. Here q is the
    element's probability and L the maximum number of draws.

    With `pairs`, each draw is used twice: as itself and as its negative, which has the same
    distribution. It then counts the probability that the element is chosen, given a part of the
    draw from which this probability is easily computed, instead of a success or a failure. Draws
    stop when these probabilities add up to r - 1/2; if they are all 0 or 1, this takes r
    successes. The mean is identical, and the variance is smaller.

    Parameters
    ----------
    successes
        Number of successes r, from 1 to 10,000, or to 10 with pairs. Default 2. A larger number
        means less variance and more draws.
    exact
        True: use the mean itself; the oracle must be able to compute q. False: always draw.
        None (default): use the mean if the oracle can compute q, else draw.
    pairs
        Whether to draw in pairs. True: for single actions. None: for single actions if the class
        searches under a draw and its negative in about the time of one search. False (default):
        never. Sets are never drawn in pairs, but until all elements have r successes.

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
        # Sum of probabilities at which draws in pairs stop; 0 without pairs.
        self.enough = 0.0 if pairs is False or exact else self.successes - _HALF
        # Whether all weights so far were exact; None before the first.
        self.known: bool | None = exact or None

    @property
    def second_moment(self) -> float:
        """An upper bound on q E[W²]/E[W] of all weights so far."""
        return self.moment(self.known)

    def moment(self, exact: bool | None) -> float:
        """Return an upper bound on q E[W²]/E[W] for exact or drawn weights."""
        return 1.0 if exact else _SECOND_MOMENT.get(self.successes, 1.34)

    def note(self, exact: bool | None) -> None:
        """Record whether the weights of a round were exact; None if it needed no weights."""
        if exact is not None:
            self.known = exact and self.known is not False

    def trials(self, leader: PerturbedLeader, limit: int, share: float = 0.0) -> Trials:
        """Return the settings for computing a weight: exactly, or by draws in pairs."""
        return Trials(limit, self.enough, leader.key, share, self.exact is not False)

    def lesson(
        self, past: Past, context: Any, action: int, loss: float, draw: Draw, trials: Trials
    ) -> Lesson | None:
        """Return a weight by draws in pairs, and the instability cost; None without pairs."""
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
        """Return weights of the chosen elements by draws from `draw` on, and the number of draws.

        The weights are an array with one for each element, or a number for a single action. They
        are 0 where `needed` is 0.
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
        """Return the weight of a single action that a hint or exploration may have chosen.

        The action has probability s (c + (1 - c) x), where x is the leader's probability. So its
        weight is 1/s times a weight for trials that succeed with probability c, or else if the
        leader chooses the action. One random number gives the trials up to the first success of
        the first kind; the leader is computed only for these. In pairs, the probability of a
        success replaces the success. Also return the number of draws, and whether in pairs.
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
            used += max(1, drawn)  # the draw of the uniform number is not used again
        return total / (r * s), used, False


PRESETS = {
    "auto": Resampling(pairs=None),
    "conditional": Resampling(2, False, pairs=True),
    "exact": Resampling(1, True),
    "shared": Resampling(1, False),
    "rao-blackwell": Resampling(2, False),
}


def check_resampling(owner: object, resampling: Any) -> Resampling:
    """Return the `Resampling` for a preset name, a number of successes, or a `Resampling`."""
    found = PRESETS.get(resampling) if isinstance(resampling, str) else resampling
    if isinstance(found, Resampling):
        return found.clone()
    if isinstance(resampling, str) or resampling is None:
        words = ", ".join(map(repr, PRESETS))
        accepted = f"one of {words}, a number of successes, or a Resampling"
        raise refuse(owner, "resampling", accepted, resampling)
    return Resampling(check_integer(owner, "resampling", resampling, 1), exact=False)


def no_distribution(oracle: object) -> ParameterError:
    """Return the error for exact weights without a known distribution."""
    return ParameterError(
        f"resampling='exact' needs the action distribution, which {type(oracle).__name__} cannot "
        "compute for this learner. Use resampling='auto'."
    )


def mean_weights(distribution: FloatArray, opened: NoisyRound, limit: int) -> Any:
    """Return the mean weights themselves, for a known distribution of the leader's choice."""
    action = opened.action
    if not isinstance(action, int):
        return np.array([mean_weight(float(q), limit) for q in distribution[action]])
    certain, s = opened.weighing(action)
    return mean_weight(certain + (1.0 - certain) * distribution.item(action), limit) / s


def mean_weight(q: float, limit: int) -> float:
    """Return (1 - (1-q)^L)/q, L being the limit."""
    if q <= 0.0:
        return float(limit)
    return 1.0 if q >= 1.0 else -math.expm1(limit * math.log1p(-q)) / q


_TRIALS = 8  # draws that estimate the distribution of the leader's choice, for the cost of a hint


def past_of(leader: PerturbedLeader, opened: Any) -> Past:
    """Return ℓ̂_1..t-1 with the baseline as one more round, among the available actions."""
    return Past(leader.total, opened.baseline, opened.plays)


def weigh(leader: PerturbedLeader, J: Resampling, opened: Any, needed: Any = None) -> Any:
    """Return J_t(j): draw {y}^1, {y}^2, … until the leader chooses j on x_t again, at most L times.

    If the distribution of the leader's choice is known, return the mean of J_t(j). `needed` is 0
    for elements whose weights are not needed.
    """
    context, action, draw = opened.context, opened.action, opened.draw
    mixes = opened.advice is not None or opened.explores > 0.0
    if draw.scale == 0.0 and not mixes:
        return 1.0 if isinstance(action, int) else np.ones(len(action))
    distribution = opened.distribution = _leaders_distribution(leader, J, opened)
    opened.exact = distribution is not None
    mixed_set = mixes and not isinstance(action, int)
    if distribution is not None and not mixed_set:
        return mean_weights(distribution, opened, opened.limit)
    if J.exact and distribution is None:
        raise no_distribution(leader.oracle)
    past = past_of(leader, opened)
    fresh, paired = leader.draw(draw.scale, opened.draws), False
    weights: Any
    if mixed_set:
        weights, used = weigh_elements(past, opened, fresh, J, needed, distribution)
    elif isinstance(action, int):
        weights, used, paired = J.mixed_weight(leader, past, opened, fresh, opened.limit)
    else:
        weights, used = J.weights(past, context, action, fresh, opened.limit, needed)
    if opened.advice is not None and isinstance(action, int):
        opened.distribution = past.chosen(context, fresh.later(used), _TRIALS).mean(axis=0)
        used += _TRIALS
    opened.draws += used
    opened.calls += 2 * used if paired else used
    return weights


def _leaders_distribution(leader: PerturbedLeader, J: Resampling, opened: Any) -> FloatArray | None:
    """Return the distribution of the leader's choice at a decision, or None if it is unknown."""
    context, draw = opened.context, opened.draw
    if draw.noise is None:
        draw = leader.again(draw)
    if not draw.scale:
        sure = past_of(leader, opened).chosen(context, WITHOUT_NOISE, 1)[0]
        return np.asarray(sure, dtype=np.float64)
    if J.exact is False:
        return None
    return leader.total.distribution(context, draw, opened.baseline, opened.plays)


def out_of_order(
    leader: PerturbedLeader,
    J: Resampling,
    opened: Any,
    others: Iterable[Any],
    measures: bool,
    guessed: bool,
) -> list[tuple[Any, Any]]:
    """Return earlier open rounds, each with a copy that has weights and a hidden choice.

    Both depend on the state of their decisions, which ends when the learner learns from `opened`.
    `measures`: whether the instability cost is needed; `guessed`: whether the leader knew the
    baselines.
    """
    found: list[tuple[Any, Any]] = []
    for other in others:
        seen = copy.copy(other)  # a copy, because later steps may fail
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
    """Return the weights and the propensity of a decision."""
    action, distribution, exact = opened.action, opened.distribution, None
    if opened.exact and type(action) is int:
        return PropensityRecord(
            opened.weights, opened.likely(action, distribution.item(action)), 0.0
        )
    if opened.exact:
        exact = opened.mixed(distribution)[action]
    elif opened.exact is False and J.exact is False:
        # The weights were drawn without the distribution, though it may be known.
        distribution = distribution_of(past_of(leader, opened), opened)
        exact = None if distribution is None else distribution[action]
    drawn = exact is None and opened.exact is False
    q = np.minimum(1.0 / np.asarray(opened.weights), 1.0) if exact is None else exact
    if isinstance(action, int):
        q = float(q)
        error: Any = q * math.sqrt((1.0 - q) / J.successes) if drawn else 0.0
    else:  # standard error of one over a mean of r geometric numbers
        error = q * np.sqrt((1.0 - q) / J.successes) if drawn else 0.0 * q
    return PropensityRecord(opened.inverse, q, error, not drawn, opened.exact is False)


class Measured(NamedTuple):
    """The instability cost measured in a round, and the work that this took."""

    instability: float = 0.0
    """Mean of residual(π) - residual(π̂): π̂ knows the round's estimate, and π does not."""
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
    """Measure the instability cost of a round as in the table at the top of this module.

    `changes` are the baseline, the residual beyond the baseline, and their sum, the estimate. The
    draw must be independent of the round's own: the estimate is large where the round's draw
    chose, so that draw would overstate instability. With `add`, `measure` may add the estimate to
    the total if this saves a pass.
    """
    context, action = opened.context, opened.action
    baseline, residual, estimate = changes
    total, distribution = leader.total, None
    available = opened.plays if total.scored else None
    drawn = opened.plays is not None and opened.exact is False and total.scored
    if opened.exact and opened.plays is None and opened.draw.scale > 0.0:
        distribution = opened.distribution  # the one behind the weights
    elif not drawn and resampling.exact is not False:
        # If it is unknown here, it was unknown for the weights, too.
        distribution = total.distribution(context, draw, baseline, available)
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
        # The new leader's residual is 0, too: otherwise it would not be preferred.
        return Measured(0.0, 1, 1)
    leader.get_ready()  # now, so that a failing oracle leaves the total unchanged
    choice = (leader.settle if add else leader.foresee)(opened, estimate, draw)
    return Measured(max(0.0, at_first - loss_of(residual, choice)), 2, 1, add)


def weigh_and_measure(
    leader: PerturbedLeader, resampling: Resampling, step: StepSize, opened: Any, loss: float
) -> tuple[float, float] | None:
    """Return the weight of a loss and its instability cost by one compiled call, or None.

    Works for single actions without a baseline. If a hint or exploration may have chosen the
    action, the distribution must be known. Adds draws and calls to the round.
    """
    (_, _, scale), action, context = opened.draw, opened.action, opened.context
    if not scale or scale != step.scale or not step.measures or type(action) is not int:
        return None
    draw = Draw(leader.noise, leader.number + opened.draws, scale)
    mixes = opened.advice is not None or opened.explores > 0.0
    certain, kept = opened.weighing(action) if mixes else (0.0, 1.0)
    # If a hint or exploration may have chosen the action: only from a known distribution.
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
    """Compare the leader at a round's decision with the leader now, at scale `top`.

    The comparison uses the distributions at the decision and now. If these are unknown, it uses
    the round's hidden noise draw, which is independent of everything since the decision. The
    result is negative if losses learned since then have made the choice better. `guessed`: the
    leader at the decision knew the baseline, also under that draw.
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
        if baseline is not None:  # the baseline counts with the leader now
            before = _action_distribution(leader, leader.past(opened, baseline), context, top)
            found, calls = found + float(baseline @ (opened.distribution - before)), 2
        return Measured(found, calls)
    if opened.hidden_draw is None:  # another decision came later: count the largest cost
        unseen = np.abs(baseline).sum() if guessed and baseline is not None else 0.0
        return Measured(float(np.abs(residual).sum() + unseen))
    if guessed and baseline is not None:
        z = leader.hidden_draw(opened.hidden_draw, top)
        loss = loss_of(baseline + residual, opened.hidden_choice)
        loss -= loss_of(residual, after.action(context, z))
        now = leader.past(opened, baseline)  # the baseline counts with the leader now
        return Measured(loss - loss_of(baseline, now.action(context, z)), 2)
    at_first = loss_of(residual, opened.hidden_choice)
    if at_first == 0.0:  # subtracting the leader's loss now gives at most 0
        return Measured()
    choice = after.action(context, leader.hidden_draw(opened.hidden_draw, top))
    return Measured(at_first - loss_of(residual, choice), 1)


def _action_distribution(
    leader: PerturbedLeader, past: Past, context: Any, scale: float
) -> FloatArray:
    """Return the distribution of the leader's choice under noise of this scale, which may be 0."""
    distribution = past.distribution(context, Draw(leader.noise, 0, scale)) if scale else None
    return past.chosen(context, WITHOUT_NOISE, 1)[0] if distribution is None else distribution
