"""Checks of environments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.checks._require import require
from hannan.checks.parameters import PARAMETER_CHECKS
from hannan.core import Environment, LossFunction, OrderError, Round

EnvironmentCheck = Callable[[Environment, int, tuple[float, float]], None]


def check_environment(
    environment: Environment,
    horizon: int | None = None,
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> None:
    """Run all checks of an environment.

    Parameters
    ----------
    environment
        Environment to check. The checks play several runs in it.
    horizon
        Number of rounds of each run. Default: the environment's horizon, or 200.
    loss_range
        Range (low, high) of the losses. Default (0, 1).

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.AllPolicies(3, 2)
    >>> hn.checks.check_environment(hn.environments.PlantedPolicy(oracle))
    """
    for check_parameters in PARAMETER_CHECKS:
        check_parameters(environment)
    rounds = horizon or environment.horizon or 200
    for check in ENVIRONMENT_CHECKS:
        check(environment, rounds, loss_range)


def check_rounds_are_as_many_as_asked(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that a run of T rounds has T rounds, for the given T and for T = 1."""
    for asked in (1, horizon):
        got = len(_game(environment, asked))
        require(got == asked, f"{environment!r} was asked for {asked} rounds and gave {got}.")


def check_seed_fixes_the_rounds(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that the same seed gives the same rounds, also in a clone."""
    first = _game(environment, horizon)
    for again in (_game(environment, horizon), _game(environment.clone(), horizon)):
        require(_same(first, again), f"{environment!r} gives other rounds for the same seed.")


def check_losses_are_in_range(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that losses are K finite numbers in the declared range."""
    low, high = loss_range
    for t, (context, losses) in enumerate(_game(environment, horizon)):
        K = environment.n_actions or len(context)
        if losses.shape != (K,) or losses.dtype != np.float64:
            raise AssertionError(
                f"Round {t} of {environment!r} has losses of shape {losses.shape} and type "
                f"{losses.dtype}; expected {K} float64."
            )
        if not (np.isfinite(losses).all() and losses.min() >= low and losses.max() <= high):
            raise AssertionError(
                f"Round {t} of {environment!r} has losses {losses}, outside {loss_range}."
            )


def check_contexts_are_as_declared(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that every context is declared and known to the environment's oracle."""
    declared, oracle = environment.contexts, environment.oracle
    for t, (context, _) in enumerate(_game(environment, horizon)):
        known = declared is None or any(np.array_equal(context, one) for one in declared)
        if not known:
            raise AssertionError(
                f"Context {context!r} of round {t} of {environment!r} was not declared."
            )
        if oracle is not None:
            oracle.check_context(context)


def check_losses_are_hidden_until_the_action(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that a round hides its losses until an action is revealed to it."""
    environment.meet(AlwaysFirst())
    this_round = next(iter(environment.rounds(horizon, np.random.default_rng(0))))
    for name in ("losses", "loss"):
        try:
            getattr(this_round, name)
        except OrderError:
            continue
        raise AssertionError(f"A round of {environment!r} shows its {name} before any action.")


def check_oblivious_ones_ignore_actions(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that the rounds of an oblivious environment do not depend on the actions."""
    if not environment.oblivious:
        return
    always_first = _game(environment, horizon)
    rng = np.random.default_rng(1)
    K = environment.n_actions or min(len(context) for context, _ in always_first)
    played = _game(environment, horizon, lambda: int(rng.integers(K)))
    require(
        _same(always_first, played),
        f"{environment!r} claims to be oblivious, but its rounds depend on the actions played.",
    )


def check_past_rounds_are_not_changed(
    environment: Environment, horizon: int, loss_range: tuple[float, float]
) -> None:
    """Check that revealed losses do not change later."""
    kept = []
    for this_round in played(environment, horizon):
        kept.append((this_round, _shown(this_round)))
    for t, (this_round, losses) in enumerate(kept):
        if not np.array_equal(_shown(this_round), losses):
            raise AssertionError(
                f"The losses of round {t} of {environment!r} were changed after it was over."
            )


ENVIRONMENT_CHECKS: tuple[EnvironmentCheck, ...] = (
    check_rounds_are_as_many_as_asked,
    check_seed_fixes_the_rounds,
    check_losses_are_in_range,
    check_contexts_are_as_declared,
    check_losses_are_hidden_until_the_action,
    check_oblivious_ones_ignore_actions,
    check_past_rounds_are_not_changed,
)


class AlwaysFirst:
    """Learner for adversaries that know the algorithm: it always plays the first action."""

    def would_play(self, context: Any = None, copies: int = 1, seed: int = 0) -> list[int]:
        """Return the first element for every copy."""
        return [0] * copies


def played(
    environment: Environment, horizon: int, choose: Callable[[], int] = lambda: 0
) -> Iterator[Round]:
    """Yield the rounds of an environment if actions do not depend on the past."""
    environment.meet(AlwaysFirst())
    for this_round in environment.rounds(horizon, np.random.default_rng(0)):
        action = choose()
        if this_round.available is not None and action not in this_round.available:
            action = int(this_round.available[0])
        this_round.reveal(action)
        yield this_round


def _game(
    environment: Environment, horizon: int, choose: Callable[[], int] = lambda: 0
) -> list[tuple[Any, NDArray[np.float64]]]:
    return [(r.context, _shown(r)) for r in played(environment, horizon, choose)]


def _shown(this_round: Round) -> NDArray[np.float64]:
    """Return a copy of the losses; for a loss function, the loss of each single element."""
    losses: Any = this_round.losses
    if isinstance(losses, LossFunction):
        return np.array([losses(np.array([j])) for j in range(losses.n_actions)], np.float64)
    return np.array(losses)


def _same(a: list[tuple[Any, Any]], b: list[tuple[Any, Any]]) -> bool:
    return len(a) == len(b) and all(
        np.array_equal(x, y) and np.array_equal(u, v) for (x, u), (y, v) in zip(a, b, strict=True)
    )
