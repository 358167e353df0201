"""Theorem 2: regret with full information, on oblivious worlds and against adaptive adversaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hannan.bounds import Bound, complete_information
from hannan.core import Environment, Oracle
from hannan.environments import LeaderPunisher
from hannan.learners import ContextFTPL
from hannan.losses import Cut
from hannan.oracles import Disjunctions, FinitePolicies, Submodular, Subsets
from hannan.separators import disjunctions
from hannan.verify._games import (
    Listed,
    Means,
    Repeats,
    games,
    mean_curve,
    regrets,
    seeded,
    seeds,
    sizes,
    turns,
)
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_CONFIDENCE = "mean regrets; false alarms below 1e-4"
_FACTORS = 4.0 ** np.arange(-2, 3)  # on the paper's ε


class _Case:
    """A policy class in a world, and what Theorem 2 says of it."""

    def __init__(
        self,
        where: str,
        oracle: Oracle,
        world: Environment,
        horizon: int,
        loss_range: tuple[float, float] = (0.0, 1.0),
        separator: Any = None,
    ) -> None:
        self.where = where
        self.oracle = oracle
        self.world = world
        self.horizon = horizon
        self.options: dict[str, Any] = {"separator": separator, "loss_range": loss_range}
        # A function's range is that of whole sets, the bounds need that of an element.
        share = oracle.max_chosen if oracle.takes_functions else 1
        self.sizes: dict[str, Any] = {
            **sizes(oracle, separator=separator),
            "loss_range": (loss_range[0] / share, loss_range[1] / share),
            "nonnegative": loss_range[0] >= 0.0,
        }

    def bound(self, form: str, epsilon: float | None = None) -> Bound:
        return complete_information(self.horizon, form=form, epsilon=epsilon, **self.sizes)

    def learner(self, epsilon: float | str, noise: str = "fresh") -> Callable[[int], ContextFTPL]:
        options = {"epsilon": epsilon, "horizon": self.horizon, "noise": noise, **self.options}
        return seeded(ContextFTPL, self.oracle, **options)

    def regrets(self, numbers: list[int], *learner: Any) -> Any:
        return regrets(self.learner(*learner), self.world, self.horizon, numbers)

    def check(self, means: Means, numbers: list[int]) -> None:
        """The paper's ε and the sharp one, each below its bounds."""
        where, printed, best = self.where, self.bound("printed"), self.bound("sharp")
        sharp = self.bound("sharp", printed.epsilon)
        paper = self.regrets(numbers, "theorem")
        tuned = self.regrets(numbers, best.epsilon)
        means.below(f"{where}: regret at the paper's ε, printed bound", paper, printed.value)
        means.below(f"{where}: the same, sharp bound at that ε", paper, sharp.value)
        means.below(f"{where}: regret at the sharp ε, sharp bound", tuned, best.value)
        what = f"{where}: sharp bound at the paper's ε, printed"
        means.append(Check(what, sharp.value, printed.value))

    def sweep(self, means: Means, numbers: list[int]) -> Plot:
        """Regret against ε, from too much noise to too little."""
        epsilons = self.bound("printed").epsilon * _FACTORS
        sharp, printed = (
            np.array([self.bound(form, e).value for e in epsilons]) for form in ("sharp", "printed")
        )
        each = Means()
        for epsilon, limit in zip(epsilons.tolist(), sharp, strict=True):
            each.below("", self.regrets(numbers, epsilon), limit)
        measured = np.array([check.measured for check in each])
        what = "largest regret over sharp bound, ε from 1/16 to 16 times the paper's"
        means.append(Check(what, float((measured / sharp).max()), 1.0))
        means.room = min(means.room, each.room)
        series = [
            Series("measured", epsilons, measured),
            Series("sharp bound", epsilons, sharp, "dashed"),
            Series("as printed", epsilons, printed, "dashed"),
        ]
        return Plot("ε", "mean regret", series, log_x=True, log_y=True)


def _tried(first: _Case, numbers: list[int], second: _Case | None = None, part: int = 1) -> Finding:
    """One case at many ε, and another with a part of the seeds."""
    means = Means()
    first.check(means, numbers)
    plot = first.sweep(means, numbers)
    if second is not None:
        second.check(means, numbers[::part])
    return Finding(means, plot, means.note())


@claim("theorem-2-any-losses", "Theorem 2, claim 1", _CONFIDENCE)
def any_losses(effort: Effort) -> Finding:
    """With the contexts known in advance regret is at most 4εK Σ‖f‖² + (10/ε)√(dm) log N for any
    losses, functions of sets included; the shift lemma needs κ Σ v² + G/ε only.

    Claim 2.1: signed losses of three actions, and functions of sets.
    """
    T = effort.pick(600, 4000)
    signed = list(2.0 * np.asarray(turns(T, T // 2, K=3).losses) - 1.0)
    three = FinitePolicies([[0], [1], [2]])
    where = "three actions, losses ±1"
    actions = _Case(where, three, Listed(signed, 3), T, (-1.0, 1.0))
    # Both elements or none, in turns; one alone is never good.
    fors, against = (Cut([0], [1], 0.2, 2, [w, w], directed=False) for w in (-0.4, 0.4))
    functions = [(fors, against)[t % 2] for t in range(3 * T // 4)] + [fors] * (T // 4)
    sets = _Case("functions of sets", Submodular(2), Listed(functions, 2), T, (-1.0, 1.0))
    return _tried(actions, seeds(effort, "theorem-2-any", 20, 48), sets, part=2)


@claim("theorem-2-linear-losses", "Theorem 2, claim 2", _CONFIDENCE)
def linear_losses(effort: Effort) -> Finding:
    """With the contexts known in advance and linear losses that are never negative, regret is at
    most ε Σ E⟨π(x),ℓ⟩² + (10/ε)√(dm) log N; G/ε takes the place of the second term.

    Claim 2.2: turns of two actions, and sets of elements where the leader is punished.
    """
    T = effort.pick(600, 4000)
    pair = _Case("two actions", FinitePolicies([[0], [1]]), turns(T, T // 2), T)
    four = Subsets(4, 2)
    sets = _Case("two of four elements", four, LeaderPunisher(four), T)
    return _tried(pair, seeds(effort, "theorem-2-linear", 24, 60), sets, part=3)


@claim("theorem-2-separator", "Theorem 2, claim 3", _CONFIDENCE)
def small_separator(effort: Effort) -> Finding:
    """With noise on a small separator any contexts may arrive: regret is at most 4εKd Σ‖f‖² +
    (10/ε)√(dm) log N; sharp: εdκ Σ v² + G/ε.

    Claim 2.3: a context arrives that carries no noise.
    """
    T = effort.pick(1000, 4000)
    world = turns(T, T // 2, [(1, 1, 1)], first=1)  # most formulas play 1 there
    formulas = _Case("disjunctions", Disjunctions(3), world, T, separator=disjunctions(3))
    return _tried(formulas, seeds(effort, "theorem-2-separator", 6, 32))


@claim("theorem-2-adaptive", "Theorem 2, adaptive adversaries", _CONFIDENCE)
def adaptive_adversaries(effort: Effort) -> Finding:
    """The three claims hold against an adversary that reacts to what was played, because noise is
    fresh in every round; drawn once for the whole game it would be learned.

    Noise drawn once is the contrast: the same adversary then wins.
    """
    T = effort.pick(1000, 6000)
    numbers = seeds(effort, "theorem-2-adaptive", 8, 32)
    pair = FinitePolicies([[0], [1]])
    formulas = FinitePolicies([[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    cases = [
        _Case("linear losses", pair, Repeats(pair), T),
        _Case("losses ±1", pair, Repeats(pair, low=-1.0), T, (-1.0, 1.0)),
        _Case("separator", formulas, Repeats(formulas, (2, 0, 1)), T, separator=[0, 1]),
    ]
    means = Means()
    for case in cases:
        case.check(means, numbers)
        stale = case.regrets(numbers[:4], "theorem", "once")
        limit = case.bound("sharp", case.bound("printed").epsilon).value
        what = f"{case.where}: regret with noise drawn once, beyond the sharp bound"
        means.append(Check(what, float(stale.mean()), limit, at_most=False))
    return Finding(means, _over_time(cases[0], numbers[:4]), means.note())


def _over_time(case: _Case, numbers: list[int]) -> Plot:
    """Regret as it grows, fresh noise and stale."""
    series = []
    for label, noise in (("fresh noise", "fresh"), ("noise drawn once", "once")):
        played = games(case.learner("theorem", noise), case.world, case.horizon, numbers)
        series.append(mean_curve(label, played, case.horizon // 50))
    x = np.asarray(series[-1].x)
    limit = np.full(len(x), case.bound("printed").value)
    series.append(Series("Theorem 2 for the whole game", x, limit, "dashed"))
    return Plot("round", "mean regret", series)
