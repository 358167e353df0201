"""Environments with an adviser that knows them, and games of learners that are advised."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from hannan.core import Environment, Feedback, Oracle, Predictor, Round
from hannan.core.validation import FloatArray
from hannan.experiments import Trace


class Told(Predictor):
    """A predictor that says what the world makes it say, and so may not be copied."""

    now: Any = None

    def clone(self, **changes: Any) -> Self:
        """Itself."""
        return self

    def predict(self, context: Any) -> Any:
        """The guess of this round."""
        return self.now

    def learn(self, context: Any, action: Any, loss: Any) -> None:
        """Nothing."""


class Advised(Environment):
    """A random world, and a voice that knows it: what it says goes into `told` before each round.

    A "good" voice knows the mean losses, a "useless" one nothing; a "malicious" one leads to the
    action that will cost 1; a "sleeper" is good for half of the game and malicious then; a
    "turncoat" is malicious as long as it is followed, and good while it is not. On context x
    action `best[x]` is the best one.
    """

    oblivious = False
    oracle: Oracle
    VOICES = ("good", "useless", "malicious", "sleeper", "turncoat")

    def __init__(self, told: Told, oracle: Oracle, best: list[int], voice: str) -> None:
        self.told = told
        self.oracle = oracle
        self.best = best
        self.voice = voice
        self.n_actions = int(oracle.n_actions or 0)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Means that favour one policy; the voice may move the loss to where it leads."""
        K, best = self.n_actions, self.best
        mean = np.full((len(best), K), 0.6)
        mean[np.arange(len(best)), best] = 0.3
        followed = True
        for t in range(horizon):
            x = int(rng.integers(len(best)))
            losses = (rng.random(K) < mean[x]).astype(np.float64)
            bait = int(rng.integers(K - 1))
            bait += bait >= best[x]
            voice = self.voice
            if voice == "sleeper":
                voice = "good" if t < horizon // 2 else "malicious"
            elif voice == "turncoat":
                voice = "malicious" if followed else "good"
            if voice == "malicious":
                losses[bait] = 1.0
                self.told.now = (np.arange(K) != bait).astype(np.float64)
            else:
                self.told.now = mean[x] if voice == "good" else rng.random(K)
            this = Round(x, losses)
            yield this
            followed = this.action == int(np.argmin(self.told.now))


class AdvisedGame(NamedTuple):
    """What came of a game with hints."""

    learner: Any
    trace: Trace
    spent: FloatArray
    """S after each round."""


def advised_game(
    make: Callable[[Told, int], Any],
    world: Callable[[Told], Advised],
    horizon: int,
    seed: int,
    world_seed: int,
    late: int = 0,
) -> AdvisedGame:
    """One game; losses come so many rounds late."""
    told = Told()
    learner, where = make(told, seed), world(told)
    trace, spent, waiting = Trace(where.oracle), [], deque[tuple[Any, Any]]()
    for this in where.rounds(horizon, np.random.default_rng(world_seed)):
        if late:
            decision = learner.decide(this.context)
            waiting.append((this.reveal(decision.action, Feedback.BANDIT), decision))
            if len(waiting) > late:
                loss, decision = waiting.popleft()
                learner.update(loss, decision=decision)
        else:
            learner.update(this.reveal(learner.act(this.context), Feedback.BANDIT))
        trace.record(this)
        spent.append(learner.hint.S)
    return AdvisedGame(learner, trace, np.array(spent))
