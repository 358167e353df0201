"""Predictions under bandit feedback: baselines in the estimates, and hints with a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hannan.bounds import hinted, kappa, laplace_complexity
from hannan.core import Environment, Feedback, Oracle, Round
from hannan.core.validation import FloatArray
from hannan.learners import ContextSemiBanditFTPL
from hannan.learners.resampling import second_moment
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._bandits import Prompted, Told, best_total, sizes, traces
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series

# Baselines -----------------------------------------------------------------------------------


def stream(effort: Effort, T: int) -> tuple[FinitePolicies, FloatArray, FloatArray]:
    """Twelve policies on three contexts, the contexts of T rounds, and Bernoulli means."""
    rng = effort.rng("predictors")
    oracle = FinitePolicies(rng.integers(3, size=(12, 3)), n_actions=3)
    return oracle, rng.integers(3, size=T), rng.random((3, 3))


def guesses(kind: str, losses: FloatArray, mean: FloatArray, rng: Any) -> FloatArray:
    """Guesses for every round: what is known of them, or nothing, or the opposite."""
    return {
        "the loss itself, a little low": 0.9 * losses,
        "half the mean": 0.5 * mean,
        "random": rng.random(losses.shape),
        "upside down": 1.0 - losses,
        "none": np.zeros_like(losses),
    }[kind]


def baseline(effort: Effort) -> Finding:
    r"""Estimates :math:`Q + J(\ell - Q)^+`: regret on max(ℓ, Q), for each fixed policy.

    With r and o what a guess was too low and too high by, :math:`\max(\ell, Q) = \ell + o`, so
    the inequality for every comparator at once is one on the pseudo-regret with those losses.
    """
    T, seeds = effort.pick(1500, 12_000), effort.pick(2, 6)
    rng = effort.rng("baseline")
    oracle, arrivals, means = stream(effort, T)
    mean = means[arrivals]
    losses = (rng.random((T, 3)) < mean).astype(np.float64)
    known = sizes(oracle, list(oracle.contexts))
    checks, rows = [], []
    for kind in ("none", "the loss itself, a little low", "half the mean", "random", "upside down"):
        Q = guesses(kind, losses, mean, rng)
        regret, limit = against(oracle, arrivals.tolist(), losses, Q, known["complexity"], seeds)
        checks.append(Check(f"guess: {kind}; hardest policy", regret, limit))
        rows.append((regret, limit))
    measured, limits = np.array(rows).T
    checks.append(Check("bound with the best guess, as a share of that without", limits[1],
                        limits[0] / 3.0))  # fmt: skip
    at = np.arange(len(rows)) + 1
    plot = Plot(
        "guess: none, low, half the mean, random, upside down",
        "regret net of over-prediction",
        [Series("measured", at, measured, "points"), Series("limit", at, limits, "dashed")],
    )
    return Finding(checks, plot, note=f"T = {T}, trust='baseline', ε best for the errors")


def against(
    oracle: Oracle,
    arrivals: Sequence[int],
    losses: FloatArray,
    Q: FloatArray,
    G: Any,
    seeds: int,
) -> tuple[float, float]:
    """Mean of Σ (ℓ+o)(a) less the smallest Σ (ℓ+o)(π), and what limits it."""
    T, K = losses.shape
    L = math.ceil(math.sqrt(K * T))
    r = np.maximum(losses - Q, 0.0)
    slope = second_moment(1, exact=False) * kappa() * float((r**2).sum())
    epsilon = math.sqrt(G.upper / slope)
    limit = slope * epsilon + G.upper / epsilon + K * float(r.max(axis=1).sum()) / (math.e * L)
    told = Told()
    world = Prompted(told, arrivals, losses, Q)

    def make(seed: int) -> ContextSemiBanditFTPL:
        return ContextSemiBanditFTPL(
            oracle,
            epsilon=epsilon,
            max_resamples=L,
            resampling="shared",
            predictor=told,
            trust="baseline",
            seed=seed,
        )

    played = traces(make, world, T, seeds)
    charged = np.maximum(losses, Q)
    suffered = np.mean([charged[np.arange(T), game.actions].sum() for game in played])
    return float(suffered) - best_total(oracle, [(arrivals, charged)]), limit


def too_high(effort: Effort) -> Finding:
    """Losses (0.9, 0), guesses (0, 1): the good action is never seen to be good."""
    T, seeds = effort.pick(3000, 20_000), effort.pick(3, 8)
    oracle = AllPolicies(1, 2)
    losses, Q = np.tile([0.9, 0.0], (T, 1)), np.tile([0.0, 1.0], (T, 1))
    G = laplace_complexity(oracle)
    settings = {"baseline": {"epsilon": 0.05}, "strict": {"epsilon": "adaptive"}}
    curves, regrets, certified = [], {}, {}
    for trust, more in settings.items():
        told = Told()
        world = Prompted(told, [0] * T, losses, Q)
        learners = [
            ContextSemiBanditFTPL(
                oracle, predictor=told, trust=trust, resampling="shared", seed=seed, **more
            )
            for seed in range(seeds)
        ]
        played = traces(learners.__getitem__, world, T, seeds)
        curve = np.mean([game.losses.cumsum() for game in played], axis=0)
        regrets[trust] = float(curve[-1])
        certified[trust] = float(np.mean([float(x.certificate()) for x in learners]))
        curves.append(Series(f"trust='{trust}'", np.arange(T)[::50] + 1, curve[::50]))
    net, limit = against(oracle, [0] * T, losses, Q, G, seeds)
    # o is 1 for the best action and 0 for the other one: that is what the comparator adds.
    over = T - (T - regrets["baseline"] / 0.9)
    bound = hinted(T, d=1, n_actions=2, complexity=G, start=1.0)
    checks = [
        Check("trust='baseline': regret a round", regrets["baseline"] / T, 0.8, at_most=False),
        Check("trust='baseline': regret, with the over-prediction", regrets["baseline"],
              limit + over),
        Check("trust='baseline': regret on max(ℓ, Q)", net, limit),
        Check("trust='baseline': numbers its certificate offers",
              float(not math.isnan(certified["baseline"])), 0.0),
        Check("trust='strict': regret", regrets["strict"], bound.value),
        Check("trust='strict': regret, against its certificate", regrets["strict"],
              certified["strict"]),
    ]  # fmt: skip
    curves.append(Series("bound, strict", [1, T], [bound.value, bound.value], "dashed"))
    return Finding(checks, Plot("t", "regret", curves), note=f"T = {T}")


# Hints ---------------------------------------------------------------------------------------


class Advised(Environment):
    """A random world, and a voice that knows it: what it says goes into `told` before each round.

    Parameters
    ----------
    told
        The predictor.
    oracle
        The policy class.
    voice
        "good" knows the mean losses, "useless" nothing; "malicious" leads to the action that will
        cost 1; "sleeper" is good for half of the game and malicious then; "turncoat" is malicious
        as long as it is followed, and good while it is not.
    """

    oblivious = False
    VOICES = ("good", "useless", "malicious", "sleeper", "turncoat")

    def __init__(self, told: Told, oracle: FinitePolicies, voice: str) -> None:
        self.told = told
        self.oracle = oracle
        self.voice = voice
        self.n_actions = oracle.n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Means that favour one policy; the voice may move the loss to where it leads."""
        K, d = self.n_actions, len(self.oracle.contexts)
        best = self.oracle.table[0]
        mean = np.full((d, K), 0.6)
        mean[np.arange(d), best] = 0.3
        followed = True
        for t in range(horizon):
            x = int(rng.integers(d))
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


def budget(effort: Effort) -> Finding:
    r"""Hints of five kinds: the budget on every path, and regret against its bound."""
    T, seeds = effort.pick(1200, 12_000), effort.pick(2, 6)
    oracle = FinitePolicies(effort.rng("hints").integers(3, size=(10, 3)), n_actions=3)
    known = sizes(oracle, list(oracle.contexts))
    known = {name: known[name] for name in ("d", "n_actions", "complexity", "log_size")}
    checks, curves, spent = [], [], []
    overdrawn = -math.inf
    for voice in Advised.VOICES:
        games = [_hinted_game(oracle, voice, T, seed) for seed in range(seeds)]
        overdrawn = max(overdrawn, *(game[2] for game in games))
        unhinted = float(np.mean([game[3] for game in games]))
        bound = hinted(T, start=1.0, unhinted=unhinted, **known)
        suffered = float(np.mean([game[0] for game in games]))
        best = best_total(oracle, [game[1] for game in games]) / seeds
        checks.append(Check(f"{voice} hints: pseudo-regret", suffered - best, bound.value))
        spent.append((unhinted / T, suffered - best, bound.value))
    checks.append(Check("largest excess over the budget, in steps of 2L", overdrawn, 1.0))
    stopped, measured, limits = np.array(spent).T
    checks.append(
        Check("malicious hints: share of rounds without them", stopped[2], 0.1, at_most=False)
    )
    at = np.arange(len(spent)) + 1
    curves = [Series("measured", at, measured, "points"), Series("bound", at, limits, "dashed")]
    return Finding(
        checks,
        Plot(f"hints: {', '.join(Advised.VOICES)}", "pseudo-regret", curves),
        note=f"T = {T}, trust='strict'; bounds use the number of rounds without a hint",
    )


def _hinted_game(
    oracle: FinitePolicies, voice: str, T: int, seed: int
) -> tuple[float, tuple[list[Any], FloatArray], float, int]:
    """Loss, contexts and losses, the largest excess over the budget, and rounds without a hint."""
    told = Told()
    learner = ContextSemiBanditFTPL(
        oracle, predictor=told, trust="strict", resampling="shared", seed=seed
    )
    K, G = oracle.n_actions, learner.complexity.value
    advice = learner._advice
    assert advice is not None
    contexts, outcomes, suffered, unhinted, worst = [], [], 0.0, 0, -math.inf
    world = Advised(told, oracle, voice)
    for t, this in enumerate(world.rounds(T, np.random.default_rng(1)), start=1):
        action = learner.act(this.context)
        assert learner._current is not None
        unhinted += learner._current.hint is None
        learner.update(this.reveal(action, Feedback.SEMI))
        contexts.append(this.context)
        outcomes.append(this.losses)
        suffered += this.loss
        over = max(advice.S, 0.0) + 2.0 * advice.over - math.sqrt(2.0 * K * G * t)
        worst = max(worst, over / (2.0 * max(2, math.ceil(math.sqrt(K * t)))))
    return suffered, (contexts, np.array(outcomes)), worst, unhinted


CLAIMS = (
    Claim(
        "predictor-baseline",
        "Predictors under bandit feedback (beyond Theorem 5)",
        "With estimates Q + J(ℓ-Q)⁺ regret is at most 2εκ Σ‖r‖² + G/ε + Σ K max r/(eL) and the "
        "net over-prediction Σ o(π*) - o(a), r and o being what Q was too low and too high by.",
        "means over games with fixed seeds, without allowance",
        baseline,
    ),
    Claim(
        "over-prediction",
        "Predictors under bandit feedback (beyond Theorem 5)",
        "A baseline that is too high can cost linear regret that nobody sees; the same guess "
        "used as a hint costs no more than its budget.",
        "means over games with fixed seeds, without allowance",
        too_high,
    ),
    Claim(
        "hint-budget",
        "Hints with a budget",
        "Hints followed while max(S,0) + 2 Dover ≤ √(2KGt) never cost more than that and one "
        "step of 2L, and regret is within its bound however bad the hints are.",
        "the budget on every path, regrets as means over games with fixed seeds",
        budget,
    ),
)
