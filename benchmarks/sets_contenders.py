"""Who plays in the study of sets: the recommended learner, today's, and peers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hannan as hn
from benchmarks.sets_worlds import Region, Shortest
from hannan.core.oracle import WITHOUT_NOISE

OURS, PLAIN = "hn.bandit", "ContextSemiBanditFTPL"
THOMPSON, UCB, MEANS = "CombThompson", "CombUCB1", "running means + optimiser"
RESTARTED = "CombThompson, restarts"
LINEAR, LINEAR_THOMPSON = "C2UCB", "linear Thompson"
DIJKSTRA = "running means + Dijkstra"

Makers = dict[str, Callable[[], Any]]


def recommended(oracle: Any, **options: Any) -> Any:
    """`hn.bandit` as its documentation says."""
    return hn.bandit(policies=oracle, **options)


class Means:
    """The best set for the running means; an element counts as `untried` until it is observed."""

    def __init__(self, oracle: Any, shared: bool = False, untried: float = 0.0) -> None:
        self.empty, self.shared, self.untried = oracle.objective(), shared, untried
        self.tables: dict[Any, np.ndarray] = {}

    def act(self, context: Any = None, there: Any = None) -> Any:
        """Return the best set."""
        key = None if self.shared else context
        self.table = self.tables.setdefault(key, np.zeros((2, self.empty.n_actions)))
        total, count = self.table
        means = np.where(count > 0.0, total / np.maximum(count, 1.0), self.untried)
        plays = None if there is None else np.where(there, np.arange(len(means)), -1)
        self.action = self.empty.action(context, WITHOUT_NOISE, means, plays)
        return self.action

    def update(self, losses: np.ndarray) -> None:
        """Learn from the losses of the set."""
        self.table[:, self.action] += losses, np.ones(len(losses))


def restarted(learner: hn.Learner) -> hn.Restarting:
    """Restart by the errors of running means, as `hn.bandit` does."""
    means = hn.predictors.Mean(alpha=0.0)
    return hn.Restarting(learner, predictor=means, max_restarts=10)


def of_coins(world: Any, seed: int) -> Makers:
    """For losses of 0 or 1, and adversaries."""
    oracle = world.oracle
    return {
        OURS: lambda: recommended(oracle, seed=seed),
        PLAIN: lambda: hn.ContextSemiBanditFTPL(oracle, seed=seed),
        THOMPSON: lambda: hn.baselines.CombThompson(oracle, seed=seed),
        UCB: lambda: hn.baselines.CombUCB1(oracle),
        MEANS: lambda: Means(oracle),
    }


def of_changes(world: Any, seed: int) -> Makers:
    """For means that change."""
    makers = of_coins(world, seed)
    return makers | {RESTARTED: lambda: restarted(makers[THOMPSON]())}


def against_adversaries(world: Any, seed: int) -> Makers:
    """Those that copies can be asked of."""
    makers = of_changes(world, seed)
    del makers[MEANS]
    return makers


def in_the_long_run(world: Any, seed: int) -> Makers:
    """For regret as it grows."""
    makers = of_changes(world, seed)
    return {name: makers[name] for name in (OURS, PLAIN, THOMPSON)}


def of_features(world: Any, seed: int) -> Makers:
    """For elements with features."""
    oracle, rows = world.oracle, world.features
    linear = hn.baselines.C2UCB
    return {
        **of_coins(world, seed),
        OURS: lambda: recommended(oracle, seed=seed, features=rows),
        LINEAR: lambda: linear(oracle, rows),
        LINEAR_THOMPSON: lambda: linear(oracle, rows, sampled=True, seed=seed),
    }


def of_rewards(world: Any, seed: int) -> Makers:
    """For losses from `low` to 0: clicks, or minutes saved."""
    oracle, span, low = world.oracle, {"loss_range": world.span}, world.span[0]
    posterior = "beta" if low == -1.0 else "gauss"
    return {
        OURS: lambda: recommended(oracle, seed=seed, **span),
        PLAIN: lambda: hn.ContextSemiBanditFTPL(oracle, seed=seed, **span),
        THOMPSON: lambda: hn.baselines.CombThompson(oracle, posterior=posterior, seed=seed, **span),
        UCB: lambda: hn.baselines.CombUCB1(oracle, **span),
        MEANS: lambda: Means(oracle, untried=low),
    }


def of_times(world: Any, seed: int) -> Makers:
    """For travel times, which do not depend on who travels."""
    oracle, span = world.oracle, {"loss_range": world.span}
    return {
        OURS: lambda: recommended(oracle, seed=seed, shared=True, **span),
        PLAIN: lambda: hn.ContextSemiBanditFTPL(oracle, seed=seed, **span),
        THOMPSON: lambda: hn.baselines.CombThompson(
            oracle, posterior="gauss", shared=True, seed=seed, **span
        ),
        UCB: lambda: hn.baselines.CombUCB1(oracle, shared=True, **span),
        MEANS: lambda: Means(oracle, shared=True),
    }


def of_guessed_times(world: Region, seed: int) -> Makers:
    """For travel times with first guesses."""
    oracle, usual, span = world.oracle, world.usual, {"loss_range": world.span}
    known = {"predictor": hn.predictors.FirstGuess(usual), "trust": "baseline"}
    return {
        OURS: lambda: recommended(oracle, shared=True, guess=usual, seed=seed, **span),
        PLAIN: lambda: hn.ContextSemiBanditFTPL(oracle, seed=seed, **known, **span),
        DIJKSTRA: lambda: Shortest(world, by_time=False),
        DIJKSTRA + " by time of day": lambda: Shortest(world, by_time=True),
    }
