"""Predictions under bandit feedback: baselines in the estimates, and hints with a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from hannan.bounds import Complexity, hinted, kappa, laplace_complexity
from hannan.core import Environment, Feedback, Oracle, Predictor, Round
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import Trace
from hannan.learners import ContextSemiBanditFTPL, Resampling
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._bandits import FIXED_SEEDS, best_total, learner_seeds, pseudo_regret, traces
from hannan.verify._games import games, seeded, sizes
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
    measured, limits = np.array(list(found.values())).T
    checks = [Check(f"guess: {what}; hardest policy", *values) for what, values in found.items()]
    what = "limit with the best guess, below a third of that without"
    checks.append(Check(what, float(limits[1]), float(limits[0]) / 3.0))
    at = np.arange(len(found)) + 1
    series = [Series("measured", at, measured, "points"), Series("limit", at, limits, "dashed")]
    plot = Plot(f"guess: {', '.join(found)}", "regret net of over-prediction", series)
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
    """A baseline that is too high can cost linear regret that nobody sees; the same guess used as a
    hint costs no more than its budget.

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
        Check("the same guess as a hint, trust='strict': regret", cheap[-1], bound),
        Check("regret, against what its certificate says", cheap[-1], certified),
    ]
    t = np.arange(T)[::50]
    curves = [
        Series("trust='baseline'", t + 1, costly[t]),
        Series("trust='strict'", t + 1, cheap[t]),
        Series("bound, strict", [1, T], [bound, bound], "dashed"),
    ]
    return Finding(checks, Plot("t", "regret", curves))


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
    "turncoat" is malicious as long as it is followed, and good while it is not.
    """

    oblivious = False
    oracle: FinitePolicies
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


class HintedGame(NamedTuple):
    """What came of a game with hints."""

    trace: Trace
    unhinted: int
    spent: FloatArray
    """max(S, 0) + 2 Dover after each round."""
    allowed: FloatArray
    """The budget of each round."""


@claim(
    "hint-budget",
    "Hints with a budget",
    "the budget on every path, regrets as means over games with fixed seeds",
)
def budget(effort: Effort) -> Finding:
    """Hints followed while max(S,0) + 2 Dover ≤ √(2KGt) never cost more than that and one step of
    2L, and regret is within its bound however bad the hints are.
    """
    K, T, seeds = 3, effort.pick(3000, 12_000), learner_seeds(effort, effort.pick(2, 6))
    oracle = FinitePolicies(effort.rng("hints").integers(K, size=(10, 3)), n_actions=K)
    known = sizes(oracle, pairs=2000)
    n = np.arange(1, T + 1)
    step = 2.0 * np.maximum(2.0, np.ceil(np.sqrt(K * n)))  # 2L, what a round may add
    drawn = np.arange(T)[:: T // 300]
    checks, curves = [], []
    overdrawn, refused = -math.inf, {}
    for voice in Advised.VOICES:
        games = [_hinted_game(oracle, voice, T, seed, seeds[0]) for seed in seeds]
        for game in games:
            overdrawn = max(overdrawn, float(((game.spent - game.allowed) / step).max()))
        refused[voice] = float(np.mean([game.unhinted for game in games]))
        bound = hinted(T, start=1.0, unhinted=refused[voice], **known)
        regret = pseudo_regret([game.trace for game in games], oracle)
        checks.append(Check(f"{voice} hints: pseudo-regret", regret, bound.value))
        curves.append(Series(f"{voice} hints", n[drawn], games[0].spent[drawn]))
    allowed = games[0].allowed
    curves += [
        Series("budget", n[drawn], allowed[drawn], "dashed"),
        Series("budget and a step", n[drawn], (allowed + step)[drawn], "dashed"),
    ]
    checks += [
        Check("largest excess over the budget, in steps of 2L", overdrawn, 1.0),
        Check("malicious hints: share refused, at least", refused["malicious"] / T, 0.1, False),
    ]
    note = f"T = {T}, trust='strict'; the bound counts the rounds without a hint"
    return Finding(checks, Plot("t", "what hints have cost: max(S, 0) + 2 Dover", curves), note)


def _hinted_game(
    oracle: FinitePolicies, voice: str, T: int, seed: int, world_seed: int
) -> HintedGame:
    told = Told()
    options: Any = {"predictor": told, "trust": "strict", "resampling": "shared"}
    learner = ContextSemiBanditFTPL(oracle, seed=seed, **options)
    hint: Any = learner.hint
    trace, spent, unhinted = Trace(oracle), [], 0
    for this in Advised(told, oracle, voice).rounds(T, np.random.default_rng(world_seed)):
        opened: Any = learner.begin_round(learner.check_context(this.context))
        learner.keep_round(opened)
        unhinted += opened.hint is None
        learner.end_round(opened, this.reveal(opened.action, Feedback.SEMI))
        trace.record(this)
        spent.append(max(hint.S, 0.0) + 2.0 * hint.instability)
    allowed = np.sqrt(2.0 * oracle.n_actions * learner.complexity.value * np.arange(1, T + 1))
    return HintedGame(trace, unhinted, np.array(spent), allowed)
