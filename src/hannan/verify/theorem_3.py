"""Theorem 3: semi-bandit feedback, with contexts known in advance or a small separator."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from hannan.bounds import Sizes, self_tuned, semi_bandit
from hannan.core import Environment, Oracle
from hannan.environments import PlantedPolicy
from hannan.learners import ContextSemiBanditFTPL, SelfTuned
from hannan.oracles import Disjunctions, FinitePolicies
from hannan.separators import disjunctions
from hannan.verify._bandits import FIXED_SEEDS, Habits, learner_seeds, pseudo_regret, steady, traces
from hannan.verify._games import games, seeded, sizes
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim


def worlds(oracle: Oracle, contexts: Sequence[Any], T: int) -> dict[str, Environment]:
    """One that reacts to what is played, one whose losses never change, and a random one."""
    return {
        "punishes habits": Habits(oracle, contexts),
        "steady": steady(oracle, contexts, T, good=0.4),
        "random": PlantedPolicy(oracle, contexts, good=0.2, bad=0.6),
    }


class Setting(NamedTuple):
    """A policy class, the contexts that may arrive, and a separator where they are not known."""

    what: str
    oracle: Oracle
    contexts: Sequence[Any]
    separator: Any = None

    @property
    def sizes(self) -> Sizes:
        """What the bounds need to know."""
        return sizes(self.oracle, self.contexts, self.separator, pairs=2000)

    def learner(self, **options: Any) -> Callable[[int], ContextSemiBanditFTPL]:
        """With one success the second moment has the constant 2 of the theorem."""
        options |= {"separator": self.separator, "resampling": "shared"}
        return seeded(ContextSemiBanditFTPL, self.oracle, **options)

    def regrets(self, T: int, seeds: Sequence[int], **options: Any) -> dict[str, float]:
        """Pseudo-regret in each world of learners that differ in their seeds."""
        return {
            name: pseudo_regret(traces(self.learner(**options), world, T, seeds), self.oracle)
            for name, world in worlds(self.oracle, self.contexts, T).items()
        }

    def theorem(
        self, horizons: Sequence[int], seeds: Sequence[int]
    ) -> tuple[list[Check], list[Series]]:
        """Printed and sharp bound, each against a learner tuned for it."""
        what, known = self.what, self.sizes
        found: dict[str, list[float]] = defaultdict(list)
        for T in horizons:
            printed, sharp = semi_bandit(T, **known), semi_bandit(T, form="sharp", **known)
            own: dict[str, Any] = {"max_resamples": printed.max_resamples}
            as_printed = self.regrets(T, seeds, epsilon="theorem", horizon=T, **own)
            best = {"epsilon": sharp.epsilon, "max_resamples": sharp.max_resamples}
            tuned = self.regrets(T, seeds, **best)
            for name in tuned:
                found[f"printed ε, {name}"].append(as_printed[name])
                found[f"sharp ε, {name}"].append(tuned[name])
            found["printed bound"].append(printed.value)
            found["sharp bound"].append(sharp.value)
        # The checks are those of the last, longest horizon.
        same = semi_bandit(T, form="sharp", epsilon=printed.epsilon, **own, **known)
        worst, first = max(as_printed.values()), f"{what}, T = {T}, epsilon='theorem'"
        second = f"{what}, tuned to the sharp bound, hardest world: sharp bound"
        checks = [
            Check(f"{first}, hardest world: printed bound", worst, printed.value),
            Check(f"{what}, same learner: sharp bound at that ε", worst, same.value),
            Check(second, max(tuned.values()), sharp.value),
            Check(f"{what}: sharp bound, not above the printed one", sharp.value, printed.value),
        ]
        styles = {"printed bound": "dashed", "sharp bound": "dashed"}
        series = [Series(n, horizons, y, styles.get(n, "line")) for n, y in found.items()]
        return checks, series


def experts(effort: Effort) -> Setting:
    """Twelve policies on three contexts, three actions."""
    rows = list(product(range(3), repeat=3))
    chosen = effort.rng("theorem-3").permutation(len(rows))[:12]
    oracle = FinitePolicies([rows[i] for i in chosen], n_actions=3)
    return Setting("one action", oracle, list(oracle.contexts))


SLATES = Setting(
    "sets of two", FinitePolicies([[pair] for pair in combinations(range(4), 2)], n_actions=4), [0]
)
FORMULAS = Setting("disjunctions", Disjunctions(3), range(8), disjunctions(3))


@claim("theorem-3-transductive", "Theorem 3, contexts known in advance", FIXED_SEEDS)
def transductive(effort: Effort) -> Finding:
    """With semi-bandit feedback pseudo-regret is at most 2εmKT + (10/ε)√(dm) log N + KT/(eL);
    sharp, G/ε takes the place of the second term.

    Single actions and sets of two, at the printed tuning and at the sharp one.
    """
    horizons = (1000, 4000, 16_000) if effort.full else (500, 2000)
    seeds = learner_seeds(effort, effort.pick(2, 6))
    checks, series = experts(effort).theorem(horizons, seeds)
    more, _ = SLATES.theorem(horizons[-1:], seeds)
    plot = Plot("T", "pseudo-regret", series, log_x=True, log_y=True)
    return Finding([*checks, *more], plot, "three worlds, one of which reacts to play")


@claim("theorem-3-separator", "Theorem 3, small separator", FIXED_SEEDS)
def small_separator(effort: Effort) -> Finding:
    """With noise on a separator only, pseudo-regret is of order √T, at most 2εκmKT + G/ε + KT/(eL),
    κ = dm: the printed T^(2/3) has a factor L too much.

    Disjunctions over three bits, noise on the three unit vectors, any context may arrive.
    """
    horizons = (1000, 4000, 16_000) if effort.full else (500, 2000)
    checks, series = FORMULAS.theorem(horizons, learner_seeds(effort, effort.pick(2, 6)))
    known = FORMULAS.sizes
    far = 10**6

    def exponent(form: str) -> float:
        few, many = (semi_bandit(T, form=form, **known).value for T in (far, 4 * far))
        return math.log(many / few) / math.log(4.0)

    T, what = horizons[-1], "printed bound with its best L, not above that with T^(1/3)"
    printed, best = (semi_bandit(T, max_resamples=L, **known).value for L in (None, "best"))
    sharp, power = exponent("sharp"), exponent("printed")
    checks += [
        Check("growth exponent of the sharp bound", sharp, 0.5, allowance=1e-3),
        Check("growth exponent of the printed one", power, 2 / 3, False, allowance=1e-3),
        Check(what, best, printed),
    ]
    plot = Plot("T", "pseudo-regret", series, log_x=True, log_y=True)
    return Finding(checks, plot, "as printed the bound is above T until T is 1.6 million")


@claim("theorem-3-self-tuned", "Theorem 3, without tuning", FIXED_SEEDS)
def untuned(effort: Effort) -> Finding:
    """With ε = G/D, D measured with independent draws, pseudo-regret is at most 2 E[D] + Σ K/(eL) ≤
    2√((2κG+1)2mKT) + Σ K/(eL), whatever the horizon.
    """
    T, seeds = effort.pick(2000, 16_000), learner_seeds(effort, effort.pick(2, 6))
    checks: list[Check] = []
    rows: list[tuple[float, float, float]] = []
    for setting in (experts(effort), SLATES, FORMULAS._replace(what="separator")):
        what, oracle = setting.what, setting.oracle
        bound = self_tuned(T, feedback="semi-bandit", **setting.sizes).value
        for name, world in worlds(oracle, setting.contexts, T).items():
            make = setting.learner(epsilon=SelfTuned(1.0))
            played = games(make, world, T, seeds, seeds[0])
            regret = pseudo_regret([trace for _, trace in played], oracle)
            stated = float(np.mean([float(learner.certificate()) for learner, _ in played]))
            rows.append((regret, stated, bound))
            checks.append(Check(f"{what}, world {name}: 2 D + Σ K/(eL)", regret, stated))
        largest = max(stated for _, stated, _ in rows[-3:])
        checks.append(Check(f"{what}: 2 D + Σ K/(eL), below the bound", largest, bound))
    at = np.arange(len(rows)) + 1
    names = {"measured": "points", "2 D + Σ K/(eL)": "line", "bound": "dashed"}
    columns = zip(names.items(), np.array(rows).T, strict=True)
    series = [Series(name, at, values, style) for (name, style), values in columns]
    plot = Plot("game: three settings, three worlds each", "pseudo-regret", series, log_y=True)
    return Finding(checks, plot, f"T = {T}")
