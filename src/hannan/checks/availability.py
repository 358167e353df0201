"""Checks of learners whose available actions change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.checks._require import in_turn, require
from hannan.checks.environments import played
from hannan.core import Environment, HannanError, Learner, Menu, ParameterError, Round

Rounds = list[tuple[Any, NDArray[np.float64], NDArray[np.intp]]]


def check_only_what_is_there_is_played(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that a learner plays available actions only, and rejects an invalid `available`.

    The check covers copies and decisions, too. Rejected calls must change nothing, and a list of
    all actions must have the same effect as no restriction. Learners that choose sets are skipped,
    because only their oracle knows which elements leave a feasible set.
    """
    rounds = restricted_rounds(environment, horizon)
    if learner.takes_items or environment.n_actions == 1:
        return
    if not takes_available(learner, rounds[0][0]):
        return
    quiet, asked = learner.clone(), learner.clone()
    expected = [_step(quiet, *this) for this in rounds]
    for t, (context, losses, there) in enumerate(rounds):
        _require_refusals(asked, context, environment.n_actions, t)
        copies = asked.would_play(context, 2, available=there)
        if not set(copies) <= set(there):
            raise AssertionError(f"Copies of {learner!r} play {copies}; available: {there}.")
        again = _step(asked, context, losses, there)
        if again != expected[t]:
            raise AssertionError(f"{learner!r}: rejected calls or questions changed its actions.")
    _require_no_restriction(learner, rounds)
    _require_late_play(learner, rounds)


def restricted_rounds(environment: Environment, horizon: int) -> Rounds:
    coins = np.random.default_rng(0)
    listed: Rounds = []
    for this_round in played(environment, horizon):
        K = environment.n_actions or len(this_round.context)
        there = np.sort(coins.permutation(K)[: max(1, int(coins.integers(K)))])
        if this_round.available is not None:
            there = this_round.available
        listed.append((this_round.context, np.array(this_round.losses), there))
    return listed


def takes_available(learner: Learner, context: Any) -> bool:
    oracle = learner.oracle
    if isinstance(context, Menu) or (oracle is not None and oracle.chooses_sets):
        return False
    try:
        learner.clone().act(context, available=[0])
    except ParameterError:
        chooses_one = oracle is None or (oracle.max_chosen == 1 and oracle.n_actions is not None)
        require(not chooses_one, f"{learner!r} rejects available=[0].")
        return False
    return True


def _step(learner: Learner, context: Any, losses: Any, there: Any) -> Any:
    action = learner.act(context, available=there)
    if action not in there:
        raise AssertionError(f"{learner!r} plays {action}, but only {there} are available.")
    told = Round(None, losses, available=there).reveal(action, learner.feedback)
    try:
        learner.update(told)
    except HannanError as error:
        raise AssertionError(
            f"{learner!r} rejects {told}, which hides only losses of unavailable actions: {error}"
        ) from None
    return action


def _require_refusals(learner: Learner, context: Any, K: int, t: int) -> None:
    wrong = [[], [K], [-1], [0, 0], [0.5], "all", [True] * (K + 1), [False] * K, 0]
    for bad in in_turn(wrong, t):
        try:
            learner.act(context, available=bad)
        except HannanError:
            continue
        raise AssertionError(f"{learner!r} accepts available={bad!r}.")


def _require_no_restriction(learner: Learner, rounds: Rounds) -> None:
    plain, whole = learner.clone(), learner.clone()
    for context, losses, _ in rounds:
        action = plain.act(context)
        same = whole.act(context, available=np.ones(len(losses), dtype=bool))
        if action != same:
            raise AssertionError(f"{learner!r} plays differently if all actions are available.")
        for one in (plain, whole):
            one.update(Round(None, losses).reveal(action, one.feedback))


def _require_late_play(learner: Learner, rounds: Rounds) -> None:
    """Decide in pairs, and report the loss of the second decision of each pair first."""
    if learner.late is not None:
        return
    late: Any = learner.clone()
    late.forget(late.decide(rounds[0][0]))
    for one, two in zip(rounds[1::2], rounds[2::2], strict=False):
        made = late.decide_many([one[0], two[0]], available=[one[2], two[2]])
        for decision, (_, losses, there) in ((made[1], two), (made[0], one)):
            require(
                decision.action in there and np.array_equal(np.asarray(decision.available), there),
                f"{learner!r} chooses {decision.action}, but only {there} are available.",
            )
            seen = Round(None, losses, available=there).reveal(decision.action, late.feedback)
            late.update(seen, decision=decision)
