"""Predictions under bandit feedback as baselines in the estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hannan.bounds import Complexity, hinted, kappa, laplace_complexity
from hannan.core import Oracle
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import Trace
from hannan.learners import ContextSemiBanditFTPL, Resampling
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._bandits import FIXED_SEEDS, best_total, learner_seeds, traces
from hannan.verify._games import games, scatter, seeded
from hannan.verify._guesses import Script
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim


@claim("predictor-baseline", "Predictors under bandit feedback (beyond Theorem 5)", FIXED_SEEDS)
def baseline(effort: Effort) -> Finding:
    """With estimates Q + J(ℓ-Q)⁺ regret is at most 2εκ Σ‖r‖² + G/ε + Σ K max r/(eL) and the net
    over-prediction Σ o(π*) - o(a), r and o being what Q was too low and too high by.

    As max(ℓ, Q) = ℓ + o, the inequality for all policies at once is one on the pseudo-regret with
    those losses.
    """
    T, seeds = effort.pick(3000, 20_000), learner_seeds(effort, effort.pick(2, 8))
    rng = effort.rng("predictor-baseline")
    oracle = FinitePolicies(rng.integers(3, size=(12, 3)), n_actions=3)
    arrivals = rng.integers(3, size=T)
    mean = rng.random((3, 3))[arrivals]
    losses = (rng.random((T, 3)) < mean).astype(np.float64)
    world = FromArrays(arrivals.tolist(), losses)
    total = oracle.objective()
    for context, row in zip(arrivals.tolist(), mean, strict=True):
        total.add(context, row)
    best = np.array([total.leader()(context) for context in oracle.contexts])[arrivals]
    G = laplace_complexity(oracle, pairs=2000)
    guesses = {
        "none": np.zeros_like(losses),
        "nine tenths of the loss": 0.9 * losses,
        "half the mean": 0.5 * mean,
        "random": rng.random(losses.shape),
        "bad news of the best policy": np.eye(3)[best],
    }
    found = {}
    for what, Q in guesses.items():
        setting = Setting(oracle, world, Q, G)
        found[what] = setting.net_regret(setting.play(seeds)), setting.limit
    checks = [Check(f"guess: {what}; hardest policy", *values) for what, values in found.items()]
    plot = scatter(checks, "limit", "regret net of over-prediction")
    without, best_guess = (check.limit for check in checks[:2])
    what = "limit with the best guess, below a third of that without"
    checks.append(Check(what, best_guess, without / 3.0))
    return Finding(checks, plot, f"T = {T}, trust='baseline', ε best for the errors")


class Setting:
    """Rounds with their guesses, ε best for the errors made, and the limit that follows."""

    def __init__(self, oracle: Oracle, world: FromArrays, Q: FloatArray, G: Complexity) -> None:
        self.oracle = oracle
        self.world = world
        self.losses, self.Q = np.asarray(world.losses), Q
        T, K = Q.shape
        r = np.maximum(self.losses - Q, 0.0)
        self.L = math.ceil(math.sqrt(K * T))
        slope = Resampling(1, exact=False).second_moment * kappa() * float((r**2).sum())
        self.epsilon = math.sqrt(G.upper / slope)
        truncation = K * float(r.max(axis=1).sum()) / (math.e * self.L)
        self.limit = slope * self.epsilon + G.upper / self.epsilon + truncation

    def learner(self, **options: Any) -> Callable[[int], ContextSemiBanditFTPL]:
        """One that is told the guesses."""
        options |= {"predictor": Script(self.Q), "resampling": "shared"}
        return seeded(ContextSemiBanditFTPL, self.oracle, **options)

    def play(self, seeds: Sequence[int]) -> list[Trace]:
        """Games in which the guesses are baselines."""
        make = self.learner(epsilon=self.epsilon, max_resamples=self.L, trust="baseline")
        return traces(make, self.world, len(self.losses), seeds)

    def net_regret(self, played: Sequence[Trace]) -> float:
        """Mean of Σ (ℓ+o)(a), less the smallest Σ (ℓ+o)(π)."""
        charged = np.maximum(self.losses, self.Q)
        rows = np.arange(len(charged))
        suffered = [charged[rows, np.array(game.actions)].sum() for game in played]
        return float(np.mean(suffered)) - best_total(self.oracle, [(played[0].contexts, charged)])


@claim("over-prediction", "Predictors under bandit feedback (beyond Theorem 5)", FIXED_SEEDS)
def too_high(effort: Effort) -> Finding:
    """A baseline that is too high can cost linear regret that nobody sees; the same guess with
    earned trust costs no more than its bound.

    Losses (0.9, 0), guesses (0, 1): the good action is never seen to be good.
    """
    T, seeds = effort.pick(4000, 20_000), learner_seeds(effort, effort.pick(3, 8))
    oracle = AllPolicies(1, 2)
    world = FromArrays([0] * T, np.tile([0.9, 0.0], (T, 1)))
    G = laplace_complexity(oracle)
    setting = Setting(oracle, world, np.tile([0.0, 1.0], (T, 1)), G)
    believed = setting.play(seeds)
    # The best action's o is 1, the other one's is 0.
    over = float(np.mean([np.sum(np.array(game.actions) == 0) for game in believed]))
    careful = games(setting.learner(), world, T, seeds, seeds[0])
    hints = [trace for _, trace in careful]
    costly, cheap = (
        np.mean([game.losses.cumsum() for game in played], axis=0) for played in (believed, hints)
    )
    certified = float(np.mean([float(learner.certificate()) for learner, _ in careful]))
    bound = hinted(T, d=1, n_actions=2, complexity=G, start=1.0).value
    linear = f"trust='baseline', T = {T}: regret"
    checks = [
        Check(f"{linear} a round, at least", costly[-1] / T, 0.6, at_most=False),
        Check(f"{linear}, with Σ o(π*) - o(a)", costly[-1], setting.limit + over),
        Check(f"{linear} net of that", setting.net_regret(believed), setting.limit),
        Check("the same guess, trust='earned': regret", cheap[-1], bound),
        Check("regret, against what its certificate says", cheap[-1], certified),
    ]
    t = np.arange(T)[::50]
    curves = [
        Series("trust='baseline'", t + 1, costly[t]),
        Series("trust='earned'", t + 1, cheap[t]),
        Series("bound, earned", [1, T], [bound, bound], "dashed"),
    ]
    return Finding(checks, Plot("t", "regret", curves))
