"""One run of a learner in an environment, in constant memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from hannan.core import Environment, Feedback, Learner, ParameterError, Round


class Game:
    """Run of a learner in an environment: an iterator over the rounds, each after it was played.

    `seconds` is the time spent in the learner so far. Feedback that is still open after the last
    round is lost.
    """

    def __init__(
        self,
        learner: Learner,
        environment: Environment,
        horizon: int,
        rng: np.random.Generator,
        feedback: Feedback | None = None,
    ) -> None:
        _check_actions(learner, environment)
        self.learner = learner
        self.environment = environment
        self.horizon = horizon
        self.rng = rng
        self.feedback = learner.feedback if feedback is None else feedback
        self.seconds = 0.0
        self._late: list[tuple[int, int, Any, Any]] = []

    @property
    def waiting(self) -> int:
        """Number of rounds whose feedback has not arrived yet."""
        return len(self._late)

    def __iter__(self) -> Iterator[Round]:
        self.environment.meet(self.learner)
        learner, late = self.learner, self._late
        for t, this_round in enumerate(self.environment.rounds(self.horizon, self.rng)):
            started = perf_counter()
            if this_round.delay:
                self._decide(t, this_round)
            else:
                # Without feedback no `update` follows, and the next `act` drops this round.
                action = learner.act(this_round.context, **_restriction(this_round))
                shown = this_round.reveal(action, self.feedback)
                if shown is not None:
                    learner.update(shown)
            while late and late[0][0] <= t:
                _, _, shown, decision = heapq.heappop(late)
                learner.update(shown, decision=decision)
            self.seconds += perf_counter() - started
            yield this_round

    def _decide(self, t: int, this_round: Round) -> None:
        learner = self.learner
        if learner.late is not None:
            delay = f"The feedback of round {t + 1} arrives {this_round.delay} rounds later."
            raise ParameterError(f"{delay} {learner.late}")
        decision = learner.decide(this_round.context, **_restriction(this_round))
        shown = this_round.reveal(decision.action, self.feedback)
        if shown is None:
            learner.forget(decision)
        else:
            heapq.heappush(self._late, (t + this_round.delay, t, shown, decision))


def _restriction(this_round: Round) -> dict[str, Any]:
    """Return the argument `available` for a round in which not all actions are available."""
    return {} if this_round.available is None else {"available": this_round.available}


def nested(learner: Any) -> Iterator[Learner]:
    """Yield a learner, then the learners inside it."""
    yield learner
    inner = getattr(learner, "learner", None)
    if isinstance(inner, Learner):
        yield from nested(inner)


def at_work(learner: Any) -> Any:
    """Return the innermost learner that currently chooses the actions."""
    while isinstance(inner := getattr(learner, "current_learner", None), Learner):
        learner = inner
    return learner


def _check_actions(learner: Learner, environment: Environment) -> None:
    """Raise `ParameterError` if learner and environment have different numbers of actions."""
    there = getattr(environment, "n_actions", None)
    names = [type(part).__name__ for part in nested(learner)]
    for part in nested(learner):
        for source in (part, getattr(part, "oracle", None)):
            known = getattr(source, "n_actions", None)
            if known is not None and there is not None and known != there:
                raise ParameterError(
                    f"{'('.join(names)}{')' * (len(names) - 1)} chooses among {known} actions, and "
                    f"{type(environment).__name__} has {there}. Pass "
                    f"{type(source).__name__} n_actions={there}."
                )


def world_rng(seed: int | None) -> np.random.Generator:
    """Return the environment's random generator; it is independent of all learners' seeds."""
    return np.random.default_rng(seed)
