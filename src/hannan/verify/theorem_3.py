"""Theorem 3: semi-bandit feedback, with contexts known in advance or a small separator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from hannan.bounds import self_tuned, semi_bandit
from hannan.core import Environment, Oracle
from hannan.environments import PlantedPolicy
from hannan.learners import ContextSemiBanditFTPL, SelfTuned
from hannan.oracles import Disjunctions, FinitePolicies
from hannan.separators import disjunctions
from hannan.verify._bandits import Habits, coins, pseudo_regret, steady, traces
from hannan.verify._games import seeded, sizes
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim


def worlds(oracle: Oracle, contexts: Sequence[Any], T: int) -> dict[str, Environment]:
    """One that reacts to what is played, one whose losses never change, and a random one."""
    return {
        "punishes habits": Habits(oracle, contexts),
        "steady": steady(oracle, contexts, T, good=0.4),
        "random": PlantedPolicy(oracle, contexts, good=0.2, bad=0.6),
    }


def experts(effort: Effort) -> FinitePolicies:
    """Twelve policies on three contexts, three actions."""
    rows = list(product(range(3), repeat=3))
    chosen = effort.rng("theorem-3").permutation(len(rows))[:12]
    return FinitePolicies([rows[i] for i in chosen], n_actions=3)


def slates() -> FinitePolicies:
    """All sets of two out of four elements, without contexts."""
    return FinitePolicies([[pair] for pair in combinations(range(4), 2)], n_actions=4)


def formulas(n: int) -> tuple[Disjunctions, Any, list[int]]:
    """Disjunctions over n bits, the unit vectors that separate them, and all contexts."""
    return Disjunctions(n), disjunctions(n), list(range(2**n))


def regrets(
    oracle: Oracle, contexts: Sequence[Any], T: int, seeds: Sequence[int], **learner: Any
) -> dict[str, float]:
    """Pseudo-regret in each world of learners that differ in their seeds."""
    # One success: the second moment then has the constant 2 of the theorem.
    make = seeded(ContextSemiBanditFTPL, oracle, resampling="shared", **learner)
    return {
        name: pseudo_regret(traces(make, world, T, seeds), oracle)
        for name, world in worlds(oracle, contexts, T).items()
    }


def theorem(
    what: str,
    oracle: Oracle,
    contexts: Sequence[Any],
    horizons: Sequence[int],
    seeds: Sequence[int],
    separator: Any = None,
) -> tuple[list[Check], list[Series]]:
    """Printed and sharp bound, each against a learner tuned for it."""
    known = sizes(oracle, contexts, separator, pairs=2000)
    found: dict[str, list[float]] = {}
    limits: dict[str, list[float]] = {"printed": [], "sharp": []}
    checks: list[Check] = []
    for T in horizons:
        printed, sharp = semi_bandit(T, **known), semi_bandit(T, form="sharp", **known)
        same = semi_bandit(
            T, form="sharp", epsilon=printed.epsilon, max_resamples=printed.max_resamples, **known
        )
        limits["printed"].append(printed.value)
        limits["sharp"].append(sharp.value)
        as_printed = regrets(
            oracle, contexts, T, seeds, separator=separator,
            epsilon="theorem", horizon=T, max_resamples=printed.max_resamples,
        )  # fmt: skip
        tuned = regrets(
            oracle, contexts, T, seeds, separator=separator,
            epsilon=sharp.epsilon, max_resamples=sharp.max_resamples,
        )  # fmt: skip
        for name in tuned:
            found.setdefault(f"printed ε, {name}", []).append(as_printed[name])
            found.setdefault(f"sharp ε, {name}", []).append(tuned[name])
        worst = max(as_printed.values())
        checks = [  # of the last, longest horizon
            Check(f"{what}, T = {T}, epsilon='theorem', hardest world: printed bound",
                  worst, printed.value),
            Check(f"{what}, same learner: sharp bound at that ε", worst, same.value),
            Check(f"{what}, tuned to the sharp bound, hardest world: sharp bound",
                  max(tuned.values()), sharp.value),
            Check(f"{what}: sharp bound, not above the printed one", sharp.value, printed.value),
        ]  # fmt: skip
    series = [Series(name, horizons, values) for name, values in found.items()]
    series += [
        Series(f"{form} bound", horizons, values, "dashed") for form, values in limits.items()
    ]
    return checks, series


@claim(
    "theorem-3-transductive",
    "Theorem 3, contexts known in advance",
    "means over games with fixed seeds, without allowance",
)
def transductive(effort: Effort) -> Finding:
    """With semi-bandit feedback pseudo-regret is at most 2εmKT + (10/ε)√(dm) log N + KT/(eL);
    sharp, G/ε takes the place of the second term.

    Single actions and sets of two, at the printed tuning and at the sharp one.
    """
    horizons = (1000, 4000, 16_000) if effort.full else (500, 2000)
    seeds = coins(effort, effort.pick(2, 6))
    oracle = experts(effort)
    checks, series = theorem("one action", oracle, list(oracle.contexts), horizons, seeds)
    more, _ = theorem("sets of two", slates(), [0], horizons[-1:], seeds)
    plot = Plot("T", "pseudo-regret", series, log_x=True, log_y=True)
    return Finding([*checks, *more], plot, note="three worlds, one of which reacts to play")


@claim(
    "theorem-3-separator",
    "Theorem 3, small separator",
    "means over games with fixed seeds, without allowance",
)
def small_separator(effort: Effort) -> Finding:
    """With noise on a separator only, pseudo-regret is of order √T, at most 2εκmKT + G/ε + KT/(eL),
    κ = dm: the printed T^(2/3) has a factor L too much.

    Disjunctions over three bits, noise on the three unit vectors, any context may arrive.
    """
    horizons = (1000, 4000, 16_000) if effort.full else (500, 2000)
    oracle, separator, contexts = formulas(3)
    checks, series = theorem(
        "disjunctions", oracle, contexts, horizons, coins(effort, effort.pick(2, 6)), separator
    )
    known = sizes(oracle, separator=separator, pairs=2000)
    far = 10**6

    def exponent(**form: Any) -> float:
        ratio = (
            semi_bandit(4 * far, **form, **known).value / semi_bandit(far, **form, **known).value
        )
        return math.log(ratio) / math.log(4.0)

    printed = semi_bandit(horizons[-1], **known)
    best = semi_bandit(horizons[-1], max_resamples="best", **known)
    checks += [
        Check("growth exponent of the sharp bound", exponent(form="sharp"), 0.5, allowance=1e-3),
        Check("growth exponent of the printed one", exponent(), 2 / 3, False, allowance=1e-3),
        Check("printed bound with its best L, not above that with T^(1/3)", best.value,
              printed.value),
    ]  # fmt: skip
    plot = Plot("T", "pseudo-regret", series, log_x=True, log_y=True)
    return Finding(checks, plot, note="as printed the bound is above T until T is 1.6 million")


@claim(
    "theorem-3-self-tuned",
    "Theorem 3, without tuning",
    "means over games with fixed seeds, without allowance",
)
def untuned(effort: Effort) -> Finding:
    """With ε = G/D, D measured with independent draws, pseudo-regret is at most 2 E[D] + Σ K/(eL) ≤
    2√((2κG+1)2mKT) + Σ K/(eL), whatever the horizon.

    ε = G/D with D measured by an independent draw: no horizon, no L given.
    """
    T, seeds = effort.pick(2000, 16_000), coins(effort, effort.pick(2, 6))
    many = experts(effort)
    small, separator, contexts = formulas(3)
    checks: list[Check] = []
    rows: list[tuple[float, float, float]] = []
    for what, oracle, arriving, X in (
        ("one action", many, list(many.contexts), None),
        ("sets of two", slates(), [0], None),
        ("separator", small, contexts, separator),
    ):
        known = sizes(oracle, arriving, X, pairs=2000)
        bound = self_tuned(T, feedback="semi-bandit", **known).value
        for name, world in worlds(oracle, arriving, T).items():
            regret, estimate = _measured(oracle, X, world, T, seeds)
            rows.append((regret, estimate, bound))
            checks.append(Check(f"{what}, world {name}: 2 D + Σ K/(eL)", regret, estimate))
        _, largest, _ = np.array(rows[-3:]).max(axis=0)
        checks.append(Check(f"{what}: 2 D + Σ K/(eL), below the bound", largest, bound))
    measured, estimates, limits = np.array(rows).T
    at = np.arange(len(rows)) + 1
    plot = Plot(
        "game: three settings, three worlds each",
        "pseudo-regret",
        [
            Series("measured", at, measured, "points"),
            Series("2 D + Σ K/(eL)", at, estimates, "line"),
            Series("bound", at, limits, "dashed"),
        ],
        log_y=True,
    )
    return Finding(checks, plot, note=f"T = {T}")


def _measured(
    oracle: Oracle, separator: Any, world: Environment, T: int, seeds: Sequence[int]
) -> tuple[float, float]:
    """Pseudo-regret, and the mean of what the learners' certificates say of it."""
    learners = {
        seed: ContextSemiBanditFTPL(
            oracle,
            separator=separator,
            epsilon=SelfTuned(1.0),
            resampling="shared",
            seed=seed,
        )
        for seed in seeds
    }
    regret = pseudo_regret(traces(learners.__getitem__, world, T, seeds), oracle)
    return regret, float(np.mean([float(learner.certificate()) for learner in learners.values()]))
