"""Checks of learners."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hannan.checks._require import in_turn, require
from hannan.checks.availability import check_only_what_is_there_is_played
from hannan.checks.environments import played
from hannan.checks.oracles import require_feasible
from hannan.checks.parameters import PARAMETER_CHECKS, check_docstring
from hannan.core import (
    DecisionError,
    Environment,
    Feedback,
    HannanError,
    InputTypeError,
    Learner,
    OrderError,
    Round,
)
from hannan.core.policy import same_action
from hannan.core.storage import reread, storable
from hannan.core.validation import FloatArray
from hannan.environments import LeaderPunisher
from hannan.experiments import play

LearnerCheck = Callable[[Learner, Environment, int], None]


def check_learner(
    learner: Learner,
    environment: Environment | None = None,
    horizon: int = 120,
    *,
    no_regret: bool = True,
) -> None:
    """Run all checks of a learner.

    Parameters
    ----------
    learner
        Learner to check, with a seed if it uses random numbers. The checks play clones only.
    environment
        Environment to play in. Default: an adversary against the learner's policies, if they list
        their contexts.
    horizon
        Number of rounds of each run. Default 120.
    no_regret
        Whether the learner should have no regret in the environment. If True (the default), its
        average regret must fall.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.AllPolicies(3, 2)
    >>> world = hn.environments.LeaderPunisher(oracle)
    >>> hn.checks.check_learner(hn.ContextFTPL(oracle, seed=0), world)
    """
    if environment is None:
        environment = _usual_world(learner)
    for check_parameters in PARAMETER_CHECKS:
        check_parameters(learner)
    check_docstring(type(learner))
    for check in LEARNER_CHECKS:
        check(learner, environment, horizon)
    if no_regret:
        check_average_regret_falls(learner, environment, 2 * horizon)


def _usual_world(learner: Learner) -> Environment:
    """Return the default environment for a learner."""
    oracle = learner.oracle
    if oracle is None or oracle.contexts is None or oracle.takes_functions:
        raise InputTypeError(
            f"check_learner needs an environment for {type(learner).__name__}, which has no "
            "policies that list their contexts. Pass check_learner(learner, environment), for "
            "example with hannan.environments.FromArrays(contexts, losses)."
        )
    return LeaderPunisher(oracle)


def check_acts_before_any_update(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that a fresh learner acts on the first context."""
    fresh = learner.clone()
    context, _ = _rounds(environment, 1)[0]
    fresh.act(context)
    require(fresh.rounds == 0, f"{learner!r} counts a round before it has feedback.")


def check_actions_are_feasible(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that every action is an int below K, or sorted distinct indices below K."""
    m = 1 if learner.oracle is None else learner.oracle.max_chosen
    rounds = _rounds(environment, horizon)
    for (context, _), action in zip(rounds, _plays(learner.clone(), rounds), strict=True):
        require_feasible(learner, action, environment.n_actions or len(context), m, context)


def check_seed_fixes_the_run(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that two clones with the same seed choose the same actions."""
    rounds = _rounds(environment, horizon)
    again = _plays(learner.clone(), rounds)
    _require_usual_run(learner, rounds, again, "two clones with the same seed differ")


def check_reset_forgets_everything(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that a learner plays like a fresh clone after `reset`."""
    rounds = _rounds(environment, horizon)
    used = learner.clone()
    _plays(used, rounds)
    used.reset()
    require(used.rounds == 0, f"{learner!r} counts {used.rounds} rounds after reset().")
    _require_usual_run(learner, rounds, _plays(used, rounds), "reset() leaves learned state")


def check_rounds_are_counted(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that `rounds` counts the rounds with feedback, and oracle calls never decrease."""
    twin = learner.clone()
    calls = twin.oracle_calls
    for t, (context, losses) in enumerate(_rounds(environment, horizon), start=1):
        _step(twin, context, losses)
        if twin.rounds != t:
            raise AssertionError(f"{learner!r} counts {twin.rounds} rounds after {t}.")
        if twin.oracle_calls < calls:
            raise AssertionError(f"The oracle calls of {learner!r} decrease.")
        calls = twin.oracle_calls


def check_hidden_losses_are_not_used(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that actions depend neither on the losses of their round nor on hidden losses."""
    rounds = _rounds(environment, horizon)
    expected = _plays(learner.clone(), rounds)
    half, compared = horizon // 2, horizon
    context, losses = rounds[half]
    if learner.feedback is Feedback.FULL:
        changed, compared = losses[::-1].copy(), half + 1
    else:
        changed = losses.max() - losses + losses.min()
        changed[expected[half]] = losses[expected[half]]
    rounds[half] = context, changed
    found = _plays(learner.clone(), rounds)[:compared]
    message = f"losses that were hidden in round {half} changed the actions"
    _require_same_run(learner, expected[:compared], found, message)


def check_calls_out_of_turn_are_refused(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that `update` before `act`, or twice, raises an error and changes nothing."""
    rounds = _rounds(environment, horizon)
    twin, found = learner.clone(), []
    for context, losses in rounds:
        _require_refusal(learner, twin, _feedback(learner, 0, losses), OrderError, "out of order")
        found.append(_step(twin, context, losses))
    _require_usual_run(learner, rounds, found, "a rejected update() changed the actions")


def check_bad_losses_are_refused(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that losses of a wrong type or shape, or not finite, raise and change nothing."""
    rounds = _rounds(environment, horizon)
    twin, found = learner.clone(), []
    for t, (context, losses) in enumerate(rounds):
        action = twin.act(context)
        good = _feedback(learner, action, losses)
        # Losses of chosen elements may be missing.
        bad_losses = _bad_feedback(good)[
            int(learner.feedback is Feedback.BANDIT and np.ndim(good) > 0) :
        ]
        for bad in in_turn(bad_losses, t):
            _require_refusal(learner, twin, bad, HannanError, "bad")
        twin.update(good)
        found.append(action)
    _require_usual_run(learner, rounds, found, "rejected losses changed the actions")


def check_inputs_are_not_changed(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that a learner does not modify the contexts and losses it receives."""
    twin = learner.clone()
    for context, losses in _rounds(environment, horizon):
        given_context = np.array(context) if isinstance(context, np.ndarray) else context
        action = twin.act(given_context)
        given = _feedback(learner, action, losses)
        kept = np.array(given)
        twin.update(given)
        if not (np.array_equal(kept, given) and np.array_equal(given_context, context)):
            raise AssertionError(
                f"{learner!r} modified the context or the losses that it received."
            )


def check_asking_copies_changes_nothing(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that `would_play` depends on its seed alone, and changes no action and no count."""
    rounds = _rounds(environment, horizon)
    silent, asked = learner.clone(), learner.clone()
    expected, found = _plays(silent, rounds), []
    for t, (context, losses) in enumerate(rounds):
        answers, again = (asked.would_play(context, 3, seed=t) for _ in range(2))
        action = asked.act(context)
        asked.would_play(context, seed=t)  # while a round is open
        asked.update(_feedback(learner, action, losses))
        found.append(action)
        if not (len(answers) == 3 and all(map(same_action, answers, again))):
            raise AssertionError(
                f"Two equal calls of would_play() for 3 copies of {learner!r} returned {answers} "
                f"and {again}."
            )
    _require_same_run(learner, expected, found, "would_play() changed the actions")
    same = asked.oracle_calls == silent.oracle_calls
    require(same, f"{learner!r} counts oracle calls of would_play().")


def check_late_losses_are_learned_once(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that delayed feedback counts once, in any order, and invalid calls change nothing."""
    rounds = _rounds(environment, horizon)
    if learner.late is not None:
        return
    tried: Any = learner.clone()
    expected = [action for action, _ in _late_plays(learner.clone(), rounds)]
    found = []
    for action, decision in _late_plays(tried, rounds):
        found.append(action)
        if decision is not None:
            good = _feedback(learner, decision.action, rounds[0][1])
            for bad in (decision, 10**9):  # has feedback already, was never made
                _require_refusal(learner, tried, good, DecisionError, "late", decision=bad)
        for number in tried.open_decisions:
            _require_refusal(learner, tried, "much", HannanError, "bad", decision=number)
    _require_same_run(
        learner, expected, found, "rejected feedback on decisions changed the actions"
    )
    require(
        tried.rounds == horizon and not tried.open_decisions,
        f"{learner!r} counts {tried.rounds} rounds after feedback on {horizon} decisions.",
    )


def check_saving_changes_nothing(learner: Learner, environment: Environment, horizon: int) -> None:
    """Check that a learner saved during a run, with open rounds, continues identically.

    A learner that no file can hold, for example with a predictor of another library, is skipped.
    """
    rounds = _rounds(environment, horizon)
    half = len(rounds) // 2
    player: Any = learner.clone()
    _plays(player, rounds[:half])
    waiting = []
    if learner.late is None:
        waiting = [player.decide(context) for context, _ in rounds[half : half + 2]]
    player.act(rounds[half][0])
    if not storable(player):
        return
    twin = reread(player)
    for decision, (_, losses) in zip(waiting, rounds[half:], strict=False):
        for one in (player, twin):
            one.update(_feedback(one, decision.action, losses), decision=decision.id)
    later = rounds[half + len(waiting) :]
    plays = _plays(player, later), _plays(twin, later)
    _require_same_run(learner, *plays, "the saved and loaded learner differs")
    same = player.rounds == twin.rounds and player.oracle_calls == twin.oracle_calls
    require(same, f"{learner!r} has other counts after it was saved and loaded.")


LEARNER_CHECKS: tuple[LearnerCheck, ...] = (
    check_acts_before_any_update,
    check_actions_are_feasible,
    check_seed_fixes_the_run,
    check_reset_forgets_everything,
    check_rounds_are_counted,
    check_hidden_losses_are_not_used,
    check_calls_out_of_turn_are_refused,
    check_bad_losses_are_refused,
    check_inputs_are_not_changed,
    check_asking_copies_changes_nothing,
    check_late_losses_are_learned_once,
    check_only_what_is_there_is_played,
    check_saving_changes_nothing,
)


def check_average_regret_falls(
    learner: Learner, environment: Environment, horizon: int, seeds: int = 12
) -> None:
    """Check that the average regret falls from T to 4T rounds.

    The average regret at 4T must be below three quarters of that at T, up to three standard errors.
    Regret of order √T would halve it. The runs use seeds 0, 1, … for learner and environment.

    Parameters
    ----------
    learner, environment
        Learner and environment. Regret is measured against the environment's own policies.
    horizon
        Horizon T.
    seeds
        Number of runs. Default 12.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.LeaderPunisher(hn.oracles.AllPolicies(2, 2))
    >>> hn.checks.check_average_regret_falls(hn.ContextFTPL(world.oracle), world, 100, seeds=4)
    """
    gaps = []
    for seed in range(seeds):
        twin = learner.clone(seed=seed) if "seed" in learner.params else learner.clone()
        trace = play(twin, environment, 4 * horizon, seed=seed, oracle=environment.oracle)
        _, regrets = trace.regret_curve(horizon)
        early, late = regrets[0] / horizon, regrets[3] / (4 * horizon)
        gaps.append(late - 0.75 * max(early, 0.0))
    mean, error = float(np.mean(gaps)), float(np.std(gaps, ddof=1)) / math.sqrt(seeds)
    require(
        mean <= 3.0 * error,
        f"The average regret of {learner!r} in {environment!r} does not fall: at T={4 * horizon} "
        f"it exceeds three quarters of that at T={horizon} by {mean:.3g} ± {error:.2g}.",
    )


def _rounds(environment: Environment, horizon: int) -> list[tuple[Any, FloatArray]]:
    """Return the rounds of an environment if the action is constant."""
    return [(this.context, this.losses.copy()) for this in played(environment, horizon)]


def _feedback(learner: Learner, action: Any, losses: FloatArray) -> Any:
    return Round(None, losses.copy()).reveal(action, learner.feedback)


def _step(learner: Learner, context: Any, losses: FloatArray) -> Any:
    action = learner.act(context)
    learner.update(_feedback(learner, action, losses))
    return action


def _plays(learner: Learner, rounds: list[tuple[Any, FloatArray]]) -> list[Any]:
    return [_step(learner, context, losses) for context, losses in rounds]


def _late_plays(learner: Any, rounds: list[tuple[Any, FloatArray]]) -> Iterator[tuple[Any, Any]]:
    """Yield each action, with a decision that got feedback since; of three, the last one first."""
    waiting: list[Any] = []
    for t, (context, losses) in enumerate(rounds, start=1):
        decision = learner.decide(context)
        waiting.append((decision, losses))
        answered = None
        while waiting and (t % 3 == 0 or t == len(rounds)):
            answered, cost = waiting.pop()
            learner.update(_feedback(learner, answered.action, cost), decision=answered)
        yield decision.action, answered


def _bad_feedback(good: Any) -> list[Any]:
    if isinstance(good, float):
        return [math.nan, math.inf, "much", [good, good, good], None]
    hole = good.copy()
    hole[-1] = math.nan
    return [hole, np.full(good.shape, -math.inf), np.append(good, 0.0), ["much"] * len(good), None]


def _require_refusal(
    learner: Learner, twin: Learner, loss: Any, error: type[Exception], what: str, **answer: Any
) -> None:
    try:
        twin.update(loss, **answer)
    except error:
        return
    raise AssertionError(f"{learner!r} accepts update({loss!r}), which is {what}.")


def _require_usual_run(
    learner: Learner, rounds: list[tuple[Any, FloatArray]], found: list[Any], message: str
) -> None:
    """Require the actions that an undisturbed clone plays in these rounds."""
    _require_same_run(learner, _plays(learner.clone(), rounds), found, message)


def _require_same_run(learner: Learner, a: list[Any], b: list[Any], message: str) -> None:
    for t, (x, y) in enumerate(zip(a, b, strict=True)):
        if not same_action(x, y):
            raise AssertionError(f"{learner!r}: {message}; round {t} played {x!r} and {y!r}.")
