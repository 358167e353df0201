"""Problems with guesses of the losses, and how wrong the guesses are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hannan.bounds import Bound, Sizes, predictable, self_tuned
from hannan.core import Oracle, Predictor
from hannan.core.policy import Action
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL
from hannan.oracles import FinitePolicies, Subsets
from hannan.predictors import Last, Mean
from hannan.verify._games import regrets, sizes, turns

TWO = FinitePolicies([[0], [1]])


class Script(Predictor):
    """Guesses that were written down beforehand, one for each round."""

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        self._round = 0

    def predict(self, context: Any) -> FloatArray:
        """The row of this round."""
        return np.array(self.rows[self._round])

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """On to the next row."""
        self._round += 1


@dataclass(frozen=True, slots=True)
class Errors:
    """How wrong the guesses of a game were: sums over its rounds."""

    norms: float
    """Squared norms of f - Q, for the guesses used."""
    used: float
    """Squared ranges of f - Q, for the guesses used."""
    offered: float
    """The same for all guesses."""
    none: float
    """Squared ranges of f."""
    step: float
    """The largest squared range of a round, with or without its guess."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Oblivious losses, a policy class, and a predictor."""

    name: str
    oracle: Oracle
    world: FromArrays
    predictor: Predictor
    separator: Sequence[int] | None = None

    def learner(self, epsilon: float | str, trust: str, seed: int) -> ContextFTPL:
        """One that asks the predictor."""
        how: Any = {"separator": self.separator, "predictor": self.predictor, "trust": trust}
        return ContextFTPL(self.oracle, epsilon=epsilon, seed=seed, **how)

    def errors(self, trust: str) -> Errors:
        """What a learner makes of the guesses; with full information noise does not matter."""
        learner = self.learner(1.0, trust, seed=0)
        norms = used = offered = none = step = 0.0
        for this in self.world.rounds(self.world.horizon, np.random.default_rng(0)):
            opened: Any = learner.begin(learner.check_context(this.context))
            learner.commit(opened, recorded=False)
            losses = np.asarray(this.reveal(opened.action))
            Q = np.zeros(len(losses)) if opened.guess is None else opened.guess
            gap = self._of_actions(losses - Q)
            norms += float(np.abs(gap).max()) ** 2
            used += float(np.ptp(gap)) ** 2
            ranges = [np.ptp(self._of_actions(losses - each)) for each in (opened.offered, 0.0)]
            offered += float(ranges[0]) ** 2
            none += float(ranges[1]) ** 2
            step = max(step, float(max(ranges)) ** 2)
            learner.close(opened, losses, recorded=False)
        return Errors(norms, used, offered, none, step)

    def _of_actions(self, losses: FloatArray) -> FloatArray:
        """The loss of each action, from those of its elements."""
        m = self.oracle.max_chosen
        return np.array([sum(some) for some in combinations(losses, m)])

    @property
    def sizes(self) -> Sizes:
        """What the bounds need to know."""
        return sizes(self.oracle, separator=self.separator)

    def bound(self, errors: Errors, form: str, epsilon: float | None = None) -> Bound:
        """Theorem 5."""
        return predictable(
            errors.norms, squared_ranges=errors.used, form=form, epsilon=epsilon, **self.sizes
        )

    def self_tuned(self, squares: float) -> float:
        """Theorem 5 for a learner that tunes itself."""
        signed: dict[str, Any] = {"nonnegative": False, "loss_range": (-1.0, 1.0)}
        return self_tuned(self.world.horizon, squares=squares, **signed, **self.sizes).value

    def regrets(self, epsilon: float | str, trust: str, numbers: list[int]) -> FloatArray:
        """One for each seed."""

        def make(seed: int) -> ContextFTPL:
            return self.learner(epsilon, trust, seed)

        return regrets(make, self.world, self.world.horizon, numbers)


def problems(T: int, rng: np.random.Generator) -> list[Problem]:
    """Losses that come as they did last time, are like their mean, or unlike any guess."""
    t = np.arange(T)
    x = t % 3
    # Constant policies, each of them hit on one context: without a guess the leader is hit.
    three = FinitePolicies(np.repeat(np.arange(3)[:, None], 3, axis=1))
    drift = 0.5 + 0.5 * np.cos(2 * np.pi * (2.0 * t[:, None] / T + rng.random((3, 3))[x]))
    slow = 0.8 * np.eye(3)[x] + 0.2 * drift
    four = Subsets(4, 2)
    path = 0.5 + 0.5 * np.cos(2 * np.pi * (4.0 * t[:, None] / T + rng.random(4)))
    means = rng.random((3, 3))
    independent = np.clip(means[x] + 0.5 * (rng.random((T, 3)) - 0.5), 0.0, 1.0)
    both = FinitePolicies([[0, 0, 1, 1, 0], [1, 1, 0, 1, 0], [0, 1, 1, 0, 0]])
    y = rng.integers(5, size=T)
    taken = turns(T, T // 8, K=2)
    hurting = np.asarray(taken.losses)
    return [
        Problem("slowly varying losses", three, FromArrays(x.tolist(), slow), Last()),
        Problem("slowly varying losses, sets", four, FromArrays(None, path), Last()),
        Problem("independent losses", three, FromArrays(x.tolist(), independent), Mean()),
        Problem(
            "independent losses, separator",
            both,
            FromArrays(y.tolist(), rng.random((5, 2))[y] * rng.random((T, 2))),
            Mean(),
            separator=[0, 1, 2],
        ),
        Problem("wrong guesses", TWO, taken, Script(1.0 - hurting)),
    ]
