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

    Attributes
    ----------
    seconds
        Time spent in the learner so far.
    waiting
        Rounds whose feedback is still on its way; what has not come by the end never does.
    """

    def __init__(
        self,
        learner: Learner,
        environment: Environment,
        horizon: int,
        rng: np.random.Generator,
        feedback: Feedback | None = None,
    ) -> None:
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
                # A second `act` drops the round before: what is never told is never learned.
                told = this_round.reveal(learner.act(this_round.context), self.feedback)
                if told is not None:
                    learner.update(told)
            while late and late[0][0] <= t:
                _, _, told, decision = heapq.heappop(late)
                learner.update(told, decision=decision)  # type: ignore[call-arg]
            self.seconds += perf_counter() - started
            yield this_round

    def _decide(self, t: int, this_round: Round) -> None:
        decide = getattr(self.learner, "decide", None)
        if decide is None:
            raise ParameterError(
                f"{type(self.learner).__name__} cannot learn late: it has no decide(context), and "
                f"the feedback of round {t + 1} comes {this_round.delay} rounds later."
            )
        decision = decide(this_round.context)
        told = this_round.reveal(decision.action, self.feedback)
        if told is not None:
            heapq.heappush(self._late, (t + this_round.delay, t, told, decision))


def world_rng(seed: int | None) -> np.random.Generator:
    """The environment's randomness; no learner draws from this generator, whatever its seed."""
    return np.random.default_rng(seed)
