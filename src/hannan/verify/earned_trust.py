"""Hints that earn their share of the rounds: their budget, and what is measured of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hannan.bounds import hinted, laplace_complexity
from hannan.core import Oracle
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextSemiBanditFTPL, Trust
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._advised import Advised, Told, advised_game
from hannan.verify._bandits import learner_seeds, pseudo_regret, totals_of
from hannan.verify._games import games, scatter, seeded, sizes, standard_error
from hannan.verify._guesses import Script
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_GULLIBLE = Trust(
    budget=1.0, prior=10.0, share=0.5
)  # so that only the budget keeps it from a bad hint
_SIGMAS = 3.0


def _classes(effort: Effort) -> dict[str, tuple[Oracle, list[int]]]:
    """A class whose law is drawn and one whose law is known, each with a policy to favour."""
    rows = effort.rng("hints").integers(3, size=(10, 3))
    finite = FinitePolicies(rows, n_actions=3)
    return {"listed": (finite, rows[0].tolist()), "table": (AllPolicies(2, 3), [2, 0])}


def _make(oracle: Oracle, trust: Trust, told: Told, seed: int) -> ContextSemiBanditFTPL:
    return ContextSemiBanditFTPL(oracle, predictor=told, trust=trust, seed=seed)


@claim(
    "hint-budget",
    "Hints with a budget",
    "the budget on every path, regrets as means over games with fixed seeds",
)
def budget(effort: Effort) -> Finding:
    """What hints have measurably cost, S, is at most c√(Gt) on every path, late feedback included,
    and regret is within its bound however bad the hints are.
    """
    T, seeds = effort.pick(900, 10_000), learner_seeds(effort, effort.pick(2, 6))
    n = np.arange(1, T + 1)
    drawn = np.arange(T)[:: T // 300]
    checks, curves, refused = [], [], 0.0
    for what, (oracle, best) in _classes(effort).items():
        known = sizes(oracle, pairs=2000)
        allowed = np.sqrt(laplace_complexity(oracle, pairs=2000).value * n)
        for voice, late in itertools.product(Advised.VOICES, (0, 20)):
            make = partial(_make, oracle, _GULLIBLE)
            world = partial(Advised, oracle=oracle, best=best, voice=voice)
            played = [advised_game(make, world, T, seed, seeds[0], late) for seed in seeds]
            where = f"{what}, {voice} hints" + (", late" if late else "")
            over = max(_overdrawn(game.learner, game.spent) for game in played)
            checks.append(Check(f"{where}: largest excess over the budget", over, 1e-9))
            if late:
                continue
            law = what == "table"
            how: dict[str, Any] = {"start": 1.0, "budget": 1.0, "share": 0.5, "known_law": law}
            bound = hinted(T, **how, **known).value
            regret = pseudo_regret([game.trace for game in played], oracle)
            checks.append(Check(f"{where}: pseudo-regret", regret, bound))
            if law:
                curves.append(Series(f"{voice} hints", n[drawn], played[0].spent[drawn]))
                if voice == "good":
                    saved = float(np.mean([game.spent[-1] for game in played]))
                    checks.append(Check(f"{where}: S, below zero", saved, 0.0))
                elif voice == "malicious":
                    refused = min(game.learner.hint.refused for game in played)
    curves.append(Series("budget", n[drawn], allowed[drawn], "dashed"))
    checks.append(Check("table, malicious hints: rounds refused, at least", refused, 10.0, False))
    plot = Plot("t", "what hints have cost: S", curves)
    return Finding(checks, plot, f"T = {T}; {_GULLIBLE}; late: by 20 rounds")


def _overdrawn(learner: Any, spent: FloatArray) -> float:
    """The most by which S was beyond its budget."""
    allowed = np.sqrt(learner.complexity.value * np.arange(1, len(spent) + 1))
    return float((spent - allowed).max())


# What is measured ---------------------------------------------------------------------------


@claim(
    "earned-trust-bandit",
    "Earned trust under bandit feedback",
    "small games exactly, all paths; certificates as paired means with 3 standard errors",
)
def measured(effort: Effort) -> Finding:
    """Expected regret is at most E[S + D_T + D_{T-1}] - D₀, whatever the hints, and the
    certificate says so: S and the loss estimates are unbiased.

    Small games against adaptive losses and perverse hints are played along every path; larger
    ones, in which a hint turns bad or a baseline hides a good action, with many seeds.
    """
    rng = effort.rng("earned trust")
    trees = [_Tree.grown(rng) for _ in range(effort.pick(40, 500))]
    gaps = np.array([tree.gap for tree in trees])
    checks = [
        Check("small games: largest expected regret less its bound", float(gaps.max()), 0.0),
        Check("a round: bias of S", max(tree.bias_of_cost for tree in trees), 1e-7),
        Check(
            "a round: how far estimates are too high", max(tree.too_high for tree in trees), 1e-7
        ),
        Check("small games: certificates off that bound", max(t.misstated for t in trees), 1e-9),
        Check(
            "rounds with a baseline and a hint, at least", sum(t.covered for t in trees), 10, False
        ),
    ]
    drawn = []
    for what, (regret, stated) in _certified(effort).items():
        chance = _SIGMAS * standard_error(stated - regret)
        mean, limit = float(regret.mean()), float(stated.mean())
        drawn.append(Check(f"{what}: regret", mean, limit, allowance=chance))
    plot = scatter(drawn, "mean certificate", "mean regret")
    note = f"{len(trees)} small games, closest {-gaps.max():.2f} below"
    return Finding([*checks, *drawn], plot, note)


class Whisper(Told):
    """One whose hint and estimates have nothing to do with each other."""

    hint = 0

    def advise(self, context: Any, available: Any = None) -> tuple[int, Any]:
        """Both of this round."""
        return self.hint, self.now


class _Step(NamedTuple):
    """A round of a path."""

    q: float
    """Probability of its action, given the past."""
    cost: float
    """By how much S grew."""
    true_cost: float
    """By how much it should, on average."""
    estimate: FloatArray
    losses: FloatArray
    covered: bool


class _Tree:
    """A game of few rounds, along all paths.

    Hints, estimates and losses are functions of the past actions. Weights are not truncated.
    """

    def __init__(self, K: int, T: int, trust: Trust, more: float, style: str, seed: int) -> None:
        self.K, self.T = K, T
        self.trust, self.more, self.style, self.seed = trust, more, style, seed
        self.oracle = AllPolicies(1, K)
        nodes: dict[tuple[int, ...], list[_Step]] = defaultdict(list)
        regrets, bound, self.covered = np.zeros(K), 0.0, 0
        self.misstated = 0.0
        for path in itertools.product(range(K), repeat=T):
            steps, stated = self._play(path)
            chance = math.prod(step.q for step in steps)
            bound += chance * stated
            for t, step in enumerate(steps):
                regrets += chance * (step.losses[path[t]] - step.losses)
                if not any(path[t + 1 :]):  # each node once
                    nodes[path[:t]].append(step)
                    self.covered += step.covered
        self.gap = float(regrets.max()) - bound
        self.bias_of_cost = self.too_high = 0.0
        for siblings in nodes.values():
            cost = sum(step.q * (step.cost - step.true_cost) for step in siblings)
            self.bias_of_cost = max(self.bias_of_cost, abs(cost))
            over = sum(step.q * (step.estimate - step.losses) for step in siblings)
            self.too_high = max(self.too_high, float(np.max(over)))

    @classmethod
    def grown(cls, rng: np.random.Generator) -> _Tree:
        """A random one."""
        K, T = [(2, 5), (2, 4), (3, 3)][rng.integers(3)]
        trust = Trust(
            budget=float(rng.choice([3.0, 50.0])),
            prior=float(rng.choice([0.0, 2.0, 6.0])),
            floor=float(rng.choice([0.5, 0.1, 0.01])),
            share=float(rng.choice([0.5, 0.95, 0.999])),
            baseline="covered" if rng.random() < 0.7 else None,
        )
        more = float(rng.choice([0.0, 0.0, 9.0]))  # with much noise baselines are covered
        style = str(rng.choice(["malicious", "punished", "random", "overrated"]))
        return cls(K, T, trust, more, style, int(rng.integers(2**31)))

    def _play(self, path: tuple[int, ...]) -> tuple[list[_Step], float]:
        """The rounds of a path, and S + D_T + D_{T-1} - D₀ at its end."""
        told = Whisper()
        learner = ContextSemiBanditFTPL(
            self.oracle, predictor=told, trust=self.trust, max_resamples=10**9, seed=0
        )
        hint: Any = learner.hint
        step: Any = learner.step
        if self.more:
            step.after(learner.leader, self.more)
        start = last = step.D
        found = []
        for t, action in enumerate(path):
            losses = self._losses(path[:t], told, learner)
            opened: Any = learner.begin(learner.check_context(None))
            opened.action = action
            learner.commit(opened, recorded=False)
            before, cost, last = totals_of(learner), hint.S, step.D
            learner.close(opened, float(losses[action]), recorded=False)
            q = opened.mixed(opened.law)
            true_cost = float((q - opened.law) @ losses)
            covered = opened.share > 0.0 and opened.baseline is not None
            estimate = totals_of(learner) - before
            found.append(
                _Step(float(q[action]), hint.S - cost, true_cost, estimate, losses, covered)
            )
        bound, said = hint.S + step.D + last - start, learner.certificate()
        assert said.stability_estimate is not None
        off = said.stability_estimate - said.truncation - self.more - bound
        self.misstated = max(self.misstated, abs(off))
        return found, bound

    def _losses(self, past: tuple[int, ...], told: Whisper, learner: Any) -> FloatArray:
        """What the round after these actions costs; the hint and the estimates know it."""
        rng, K = np.random.default_rng([self.seed, len(past), *past]), self.K
        losses = rng.random(K) if rng.random() < 0.5 else rng.integers(2, size=K).astype(float)
        told.hint, told.now = int(rng.integers(K)), rng.random(K)
        if self.style == "punished":
            losses = np.zeros(K)
            losses[int(np.argmax(learner.propensities().probabilities))] = 1.0
        if self.style in ("malicious", "punished"):
            told.hint, told.now = int(np.argmax(losses)), 1.0 - losses
        elif self.style == "overrated":
            told.now = np.ones(K)
        return losses


def _certified(effort: Effort) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Regrets of games, and what their certificates say."""
    T, count = effort.pick(150, 300), effort.pick(16, 200)
    seeds = learner_seeds(effort, count)
    found = {}
    for what, (oracle, best) in _classes(effort).items():
        for voice in ("good", "malicious", "sleeper", "turncoat"):
            make = partial(_make, oracle, Trust(prior=2.0))
            world = partial(Advised, oracle=oracle, best=best, voice=voice)
            played = [advised_game(make, world, T, seed, seed) for seed in seeds]
            pairs = [(g.trace.regret(), float(g.learner.certificate())) for g in played]
            regret, stated = np.array(pairs).T
            found[f"{what}, {voice} hints"] = regret, stated
    T, turn = effort.pick(700, 1200), 12
    losses = np.array([[0.0, 1.0]] * turn + [[0.5, 0.0]] * (T - turn))
    guesses = np.array([[0.0, 0.0]] * turn + [[0.0, 1.0]] * (T - turn))
    make_one = seeded(ContextSemiBanditFTPL, AllPolicies(1, 2), predictor=Script(guesses))
    played_on = games(make_one, FromArrays([0] * T, losses), T, seeds, seeds[0])
    found["a baseline above what a good action costs"] = (
        np.array([trace.regret() for _, trace in played_on]),
        np.array([float(learner.certificate()) for learner, _ in played_on]),
    )
    return found
