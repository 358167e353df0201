"""What belongs to the state of a decision: weights of what was chosen, and shadows.

It is found when the loss comes, or just before another round is learned, whichever is first.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hannan.core import Action, Objective
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.rounds import Odds
from hannan.core.validation import FloatArray
from hannan.learners.instability import compared
from hannan.learners.perturbed_leader import PerturbedLeader, law_of
from hannan.learners.resampling import Resampling, mean_weights, no_law
from hannan.learners.restricted import restricted

_TRIALS = 8  # draws that estimate the law of the leader's choice, for the price of a hint


class Seen(NamedTuple):
    """What is found out for a round just before another one is learned."""

    weights: Any
    law: FloatArray | None
    exact: bool | None
    shadow: int | None
    choice: Action


def past_of(leader: PerturbedLeader, opened: Any) -> Objective:
    """ℓ̂_1..t-1, with the baseline as one more round, among what is available."""
    past = leader.total
    if opened.baseline is not None:
        past = past.tilted(opened.context, opened.baseline)
    return past if opened.plays is None else restricted(past, opened)


def weigh(leader: PerturbedLeader, J: Resampling, opened: Any, needed: Any = None) -> Any:
    """J_t(j): draw {y}^1, {y}^2, … until the leader chooses j on x_t again, L times at most.

    Where the law of the leader's choice is known: the mean of J_t(j). `needed` is 0 for elements
    whose weights are not needed.
    """
    context, action, draw = opened.context, opened.action, opened.draw
    scale = draw.scale
    mixes = opened.advice is not None or opened.explores > 0.0
    if scale == 0.0 and not mixes:
        return 1.0 if isinstance(action, int) else np.ones(len(action))
    past = leader.total
    if opened.baseline is not None or opened.plays is not None:
        past = past_of(leader, opened)
    if draw.noise is None:
        draw = leader.again(draw)
    if scale:
        law = None if J.exact is False else past.law(context, draw)
    else:
        law = _plain_law(past, context)
    opened.law = law
    opened.exact = law is not None
    if law is not None:
        return mean_weights(law, opened, opened.limit)
    if J.exact:
        raise no_law(leader.oracle)
    fresh = leader.draw(scale, opened.draws)
    if mixes:
        weights, used = J.mixed_weight(leader, past, opened, fresh, opened.limit)
        if opened.advice is not None:
            noise, first, _ = fresh
            opened.law = past.chosen(context, Draw(noise, first + used, scale), _TRIALS).mean(
                axis=0
            )
            used += _TRIALS
    else:
        given = fresh, opened.limit, needed, leader.stop_key
        weights, used = J.weights(past, context, action, *given)
    opened.draws += used
    opened.calls += 2 * used if isinstance(action, int) and J.in_pairs(past) else used
    return weights


def overtaken(
    leader: PerturbedLeader,
    J: Resampling,
    opened: Any,
    others: Iterable[Any],
    measures: bool,
    guessed: bool,
) -> list[tuple[Any, Seen]]:
    """Rounds that this one overtakes, with their weights and what they choose under a shadow.

    Both belong to the state of the decision, which ends when this round is learned. `measures`:
    whether somebody asks what instability cost; `guessed`: whether the leader knew of baselines.
    """
    found: list[tuple[Any, Seen]] = []
    for other in others:
        seen = other
        if other.weights is None:
            seen = copy.copy(other)  # until nothing can fail any more
            seen.draws, seen.calls = opened.draws, 0
            seen.weights = weigh(leader, J, seen)
            opened.draws = seen.draws
            opened.calls += seen.calls
        elif other.exact or not measures:
            continue
        shadow: int | None = None
        choice: Action = -1
        if measures and not seen.exact:
            past = compared(leader, seen, seen.baseline if guessed else None)
            shadow = leader.shadows + len(found)
            choice = leader.shadow_choice(seen, past, shadow)
            opened.calls += 1
        found.append((other, Seen(seen.weights, seen.law, seen.exact, shadow, choice)))
    return found


def odds_of(leader: PerturbedLeader, J: Resampling, opened: Any) -> Odds:
    """Weights and propensity of a decision."""
    action, law, exact = opened.action, opened.law, None
    if opened.exact and type(action) is int:
        q = opened.likely(action, law.item(action), len(law))
        return Odds(opened.weights, q, 0.0)
    if opened.exact:
        exact = law[action]  # nobody else chooses sets
    elif opened.exact is False and J.exact is False:
        law = law_of(past_of(leader, opened), opened)  # which was not asked for the weights
        exact = None if law is None else law[action]
    drawn = exact is None and opened.exact is False
    q = 1.0 / np.asarray(opened.weights, np.float64) if exact is None else exact
    if isinstance(action, int):
        q = float(q)
        error: Any = q * math.sqrt((1.0 - q) / J.successes) if drawn else 0.0
    else:  # of one over a mean of r geometric numbers
        error = q * np.sqrt((1.0 - q) / J.successes) if drawn else 0.0 * q
    return Odds(opened.inverse, q, error, not drawn, opened.exact is False)


def _plain_law(past: Objective, context: Any) -> FloatArray:
    """Of the leader without noise."""
    return np.asarray(past.chosen(context, WITHOUT_NOISE, 1)[0], dtype=np.float64)
