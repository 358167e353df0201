"""One game, round after round, in constant memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from hannan.core import Environment, Feedback, Learner, ParameterError, Round


class Game:
    """The rounds of a learner in an environment, each handed on once it has been played.

    `seconds` is the time spent in the learner so far. Feedback that has not come by the end never
    does.
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
        """The number of rounds whose feedback is on its way."""
        return len(self._late)

    def __iter__(self) -> Iterator[Round]:
        self.environment.meet(self.learner)
        learner, late = self.learner, self._late
        for t, this_round in enumerate(self.environment.rounds(self.horizon, self.rng)):
            started = perf_counter()
            if this_round.delay:
                self._decide(t, this_round)
            else:
                # A second `act` drops the round before: what is never shown is never learned.
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
            delay = f"The feedback of round {t + 1} comes {this_round.delay} rounds later."
            raise ParameterError(f"{delay} {learner.late}")
        decision = learner.decide(this_round.context, **_restriction(this_round))
        shown = this_round.reveal(decision.action, self.feedback)
        if shown is None:
            learner.forget(decision)
        else:
            heapq.heappush(self._late, (t + this_round.delay, t, shown, decision))


def _restriction(this_round: Round) -> dict[str, Any]:
    """What a learner is given besides the context, where not all actions are available."""
    return {} if this_round.available is None else {"available": this_round.available}


def nested(learner: Any) -> Iterator[Learner]:
    """A learner, and those it plays through."""
    yield learner
    inner = getattr(learner, "learner", None)
    if isinstance(inner, Learner):
        yield from nested(inner)


def at_work(learner: Any) -> Any:
    """The learner that plays now, where one plays through another."""
    while isinstance(inner := getattr(learner, "current_learner", None), Learner):
        learner = inner
    return learner


def _check_actions(learner: Learner, environment: Environment) -> None:
    """Refuse a learner made for another number of actions: it might play on without a word."""
    there = getattr(environment, "n_actions", None)
    names = [type(part).__name__ for part in nested(learner)]
    for part in nested(learner):
        for source in (part, getattr(part, "oracle", None)):
            known = getattr(source, "n_actions", None)
            if known is not None and there is not None and known != there:
                raise ParameterError(
                    f"{'('.join(names)}{')' * (len(names) - 1)} chooses among {known} actions, and "
                    f"{type(environment).__name__} has {there}. Give "
                    f"{type(source).__name__} n_actions={there}."
                )


def world_rng(seed: int | None) -> np.random.Generator:
    """The environment's randomness; no learner draws from this generator, whatever its seed."""
    return np.random.default_rng(seed)
