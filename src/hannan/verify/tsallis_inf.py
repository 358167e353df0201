"""Tsallis-INF: one learner for adversaries and for losses of a law that stays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hannan.core import Environment
from hannan.core.validation import FloatArray
from hannan.environments import CopyPunisher, FromArrays
from hannan.learners import Trust, TsallisINF
from hannan.oracles import AllPolicies
from hannan.predictors import Mean
from hannan.verify._advised import Advised, Told, advised_game
from hannan.verify._bandits import FIXED_SEEDS, learner_seeds, pseudo_regret, traces
from hannan.verify._games import seeded, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_SAFE = Trust(budget=1.0, prior=10.0, share=0.5)  # half of the rounds, whatever hints may cost


@claim("tsallis-both-worlds", "Tsallis-INF with and without hints", FIXED_SEEDS)
def both_worlds(effort: Effort) -> Finding:
    """Regret is at most 4√(dKT) against any adversary, with hints at most S + 4.67√(dKW), and of
    order log T where losses are drawn from a law that stays.

    Actions that take turns, an adversary that charges for the last action, hints right and wrong;
    then fixed means, where growth like a root would be 2.8 over eight times the rounds.
    """
    seeds = learner_seeds(effort, effort.pick(4, 20))
    checks = _against_adversaries(effort, seeds)
    means = np.array([0.2, 0.6, 0.6])
    horizons = [effort.pick(1000, 5000) * n for n in (1, 2, 4, 8)]
    curves = []
    for what, predictor in (("no predictor", None), ("Mean", Mean())):
        make = seeded(TsallisINF, AllPolicies(1, len(means)), predictor=predictor)
        curve = np.mean([_steady_regret(make, means, horizons, seed) for seed in seeds], axis=0)
        growth = float(curve[-1] / curve[0])
        name = f"fixed means, {what}: growth of regret over eight times the rounds"
        checks.append(Check(name, growth, 2.2))
        checks.append(Check(f"fixed means, {what}: regret", float(curve[-1]), _mean_limit(means)))
        curves.append(Series(what, horizons, curve))
    root = curves[0].y[0] * np.sqrt(np.array(horizons) / horizons[0])  # type: ignore[index]
    curves.append(Series("like a root", horizons, root, "dashed"))
    return Finding(checks, Plot("T", "regret, fixed means", curves, log_x=True))


def _mean_limit(means: FloatArray) -> float:
    """Far below 4√(KT), of the order that gaps allow."""
    gaps = means[means > means.min()] - means.min()
    return 20.0 * float((1.0 / gaps).sum())


def _steady_regret(
    make: Callable[[int], Any], means: FloatArray, horizons: list[int], seed: int
) -> list[float]:
    """Pseudo-regret at some times of one game in which losses are drawn around fixed means."""
    rng, learner, total, found = np.random.default_rng([seed, 7]), make(seed), 0.0, []
    for t, row in enumerate(rng.random((horizons[-1], len(means))) < means):
        action = learner.act()
        learner.update(float(row[action]))
        total += float(means[action] - means.min())
        if t + 1 in horizons:
            found.append(total)
    return found


def _against_adversaries(effort: Effort, seeds: range) -> list[Check]:
    T, checks = effort.pick(1500, 10_000), []
    for d, K in ((1, 2), (1, 5), (3, 3)):
        oracle = AllPolicies(d, K)
        worlds: dict[str, Environment] = {
            "the last action costs 1": CopyPunisher(oracle, range(d)),
            "turns": turns(T, T // 2, range(d), K),
        }
        for where, world in worlds.items():
            made = seeded(TsallisINF, oracle)
            regret = pseudo_regret(traces(made, world, T, seeds), oracle)
            name = f"{where}, d = {d}, K = {K}: pseudo-regret"
            checks.append(Check(name, regret, 4.0 * math.sqrt(d * K * T)))
    oracle, best = AllPolicies(2, 3), [2, 0]
    for voice in Advised.VOICES:

        def make(told: Told, seed: int) -> TsallisINF:
            return TsallisINF(oracle, predictor=told, trust=_SAFE, seed=seed)

        told_world = partial(Advised, oracle=oracle, best=best, voice=voice)
        played = [advised_game(make, told_world, T, seed, seeds[0]) for seed in seeds]
        G = oracle.complexity(range(2))
        allowed = np.sqrt(G * np.arange(1, T + 1))
        over = max(float((game.spent - allowed).max()) for game in played)
        checks.append(Check(f"{voice} hints: largest excess over the budget", over, 1e-9))
        regret = pseudo_regret([game.trace for game in played], oracle)
        spent = float(np.mean([game.spent[-1] for game in played]))
        bound = spent + 4.67 * math.sqrt(6 * 2 * T)
        checks.append(
            Check(f"{voice} hints: pseudo-regret, S included in the bound", regret, bound)
        )
    flat = FromArrays([0] * T, np.tile([0.5, 0.0], (T, 1)))
    wrong = seeded(TsallisINF, AllPolicies(1, 2), predictor=_Overrated())
    regret = pseudo_regret(traces(wrong, flat, T, seeds), AllPolicies(1, 2))
    checks.append(Check("a baseline above what a good action costs: a round", regret / T, 0.1))
    return checks


class _Overrated(Told):
    """Expects the worst of the good action."""

    now = (0.0, 1.0)
