"""What experiments with partial feedback share: worlds, and pseudo-regret."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from hannan.core import Action, Draw, Environment, Learner, Objective, Oracle, Round
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import Trace
from hannan.learners import Resampling
from hannan.verify._games import games
from hannan.verify.claim import Effort

SIGMAS = 5.5
"""Standard errors allowed to chance: a normal variate strays further with probability 4e-8."""


FIXED_SEEDS = "means over games with fixed seeds, without allowance"


def learner_seeds(effort: Effort, count: int) -> range:
    """Seeds of learners; those of other efforts are different ones."""
    return range(1000 * effort.seed, 1000 * effort.seed + count)


def traces(
    make: Callable[[int], Learner], world: Environment, horizon: int, seeds: Sequence[int]
) -> list[Trace]:
    """The same world against learners that differ in their seeds only."""
    return [trace for _, trace in games(make, world, horizon, seeds, seeds[0])]


def totals_of(learner: Any) -> FloatArray:
    """What a learner of all maps from one context has added up for each action."""
    return np.array(learner.leader.total.totals[0])


class Separate(Resampling):
    """Weights as printed in Algorithm 3: one success, and draws of its own for each element."""

    def __init__(self) -> None:
        super().__init__(successes=1, exact=False)

    def weights(
        self,
        total: Objective,
        context: Any,
        action: Action,
        draw: Draw,
        limit: int,
        needed: Any,
        stop_key: Any,
    ) -> tuple[Any, int]:
        """One element after the other."""
        if isinstance(action, int):
            return super().weights(total, context, action, draw, limit, needed, stop_key)
        noise, first, scale = draw
        weights, used = np.zeros(len(action)), 0
        for i in range(len(action)) if needed is None else np.flatnonzero(needed):
            weights[i], more = total.resample_one(
                context, int(action[i]), Draw(noise, first + used, scale), limit, 1
            )
            used += more
        return weights, used


def pseudo_regret(played: Sequence[Trace], oracle: Oracle) -> float:
    """Mean loss less the mean loss of the policy that is best on average over all games."""
    suffered = sum(float(trace.losses.sum()) for trace in played)
    return (suffered - best_total(oracle, [(g.contexts, g.outcomes) for g in played])) / len(played)


def best_total(oracle: Oracle, games: Sequence[tuple[Sequence[Any], FloatArray]]) -> float:
    """The smallest total a single policy has over several games."""
    sums: dict[Hashable, tuple[Any, FloatArray]] = {}
    for contexts, outcomes in games:
        for given, losses in zip(contexts, outcomes, strict=True):
            context = oracle.check_context(given)
            known = sums.setdefault(oracle.key(context), (context, np.zeros(len(losses))))
            known[1][:] += losses
    total = oracle.objective()
    for context, losses in sums.values():
        total.add(context, losses)
    return float(total.minima()[0])


def steady(oracle: Oracle, contexts: Sequence[Any], horizon: int, good: float) -> FromArrays:
    """One policy's elements always cost `good`, all others 1.

    An estimate that does not make up for how rarely an element is seen shares play among all of
    them, in proportion to one over their losses.
    """
    best = oracle.objective().leader()
    losses = np.ones((horizon, int(oracle.n_actions or 0)))
    order = [contexts[t % len(contexts)] for t in range(horizon)]
    for t, context in enumerate(order):
        losses[t, best(context)] = good
    return FromArrays(order, losses)


class Habits(Environment):
    """An adversary that charges 1 for what has been played most, of late, on the same context.

    The `arrivals` are the contexts, drawn evenly. Another element costs 1 too with probability
    `others`, and in the next round on its context a round still counts `memory`.
    """

    oblivious = False
    oracle: Oracle

    def __init__(
        self, oracle: Oracle, arrivals: Sequence[Any], others: float = 0.3, memory: float = 0.9
    ) -> None:
        self.oracle = oracle
        self.arrivals = arrivals
        self.others = others
        self.memory = memory
        self.n_actions = int(oracle.n_actions or 0)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Habits cost."""
        K, m = self.n_actions, self.oracle.max_chosen
        played = np.zeros((len(self.arrivals), K))
        for _ in range(horizon):
            i = int(rng.integers(len(self.arrivals)))
            losses = (rng.random(K) < self.others).astype(np.float64)
            losses[np.argsort(-played[i], kind="stable")[:m]] = 1.0
            this = Round(self.arrivals[i], losses)
            yield this
            played[i] *= self.memory
            played[i, this.action] += 1.0
