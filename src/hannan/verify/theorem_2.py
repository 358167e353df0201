"""Theorem 2: regret with full information, on oblivious worlds and against adaptive adversaries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hannan.bounds import Bound, complete_information
from hannan.core import Environment, Oracle
from hannan.core.validation import FloatArray
from hannan.environments import LeaderPunisher
from hannan.learners import ContextFTPL
from hannan.losses import Cut
from hannan.oracles import Disjunctions, FinitePolicies, Submodular, Subsets
from hannan.separators import disjunctions
from hannan.verify._games import (
    Listed,
    Repeats,
    games,
    mean_check,
    mean_curve,
    regrets,
    room,
    room_note,
    seeded,
    seeds,
    sizes,
    turns,
)
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series

_FACTORS = 4.0 ** np.arange(-2, 3)  # on the paper's ε


class _Problem:
    """A policy class and what Theorem 2 says of it."""

    def __init__(
        self,
        oracle: Oracle,
        horizon: int,
        loss_range: tuple[float, float] = (0.0, 1.0),
        separator: Any = None,
    ) -> None:
        self.oracle = oracle
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

    def checks(
        self, world: Environment, numbers: list[int], where: str
    ) -> tuple[list[Check], float]:
        """The paper's ε and the sharp one, each below its bounds; and how far, at the least."""
        printed, best = self.bound("printed"), self.bound("sharp")
        sharp = self.bound("sharp", printed.epsilon)
        paper = regrets(self.learner("theorem"), world, self.horizon, numbers)
        tuned = regrets(self.learner(best.epsilon), world, self.horizon, numbers)
        found = [
            mean_check(f"{where}: regret at the paper's ε, printed bound", paper, printed.value),
            mean_check(f"{where}: the same, sharp bound at that ε", paper, sharp.value),
            mean_check(f"{where}: regret at the sharp ε, sharp bound", tuned, best.value),
            Check(f"{where}: sharp bound at the paper's ε, printed", sharp.value, printed.value),
        ]
        return found, min(room(paper, sharp.value), room(tuned, best.value))

    def sweep(self, world: Environment, numbers: list[int]) -> tuple[Check, Plot, float]:
        """Regret against ε, from too much noise to too little."""
        epsilons = self.bound("printed").epsilon * _FACTORS
        limits = np.array([self.bound("sharp", e).value for e in epsilons])
        printed = np.array([self.bound("printed", e).value for e in epsilons])
        played: list[FloatArray] = [
            regrets(self.learner(float(e)), world, self.horizon, numbers) for e in epsilons
        ]
        means = np.array([values.mean() for values in played])
        share = float((means / limits).max())
        what = "largest regret over sharp bound, ε from 1/16 to 16 times the paper's"
        left = min(map(room, played, limits))
        plot = Plot(
            "ε",
            "mean regret",
            [
                Series("measured", epsilons, means),
                Series("sharp bound", epsilons, limits, "dashed"),
                Series("as printed", epsilons, printed, "dashed"),
            ],
            log_x=True,
            log_y=True,
        )
        return Check(what, share, 1.0), plot, left


def linear_losses(effort: Effort) -> Finding:
    """Claim 2.2: turns of two actions, and sets of elements where the leader is punished."""
    T = effort.pick(600, 4000)
    numbers = seeds(effort, "theorem-2-linear", 24, 60)
    pair = _Problem(FinitePolicies([[0], [1]]), T)
    world = turns(T, T // 2)
    checks, left = pair.checks(world, numbers, "two actions")
    swept, plot, least = pair.sweep(world, numbers)
    sets = _Problem(Subsets(4, 2), T)
    more, also = sets.checks(LeaderPunisher(sets.oracle), numbers[::3], "two of four elements")
    return Finding([*checks, swept, *more], plot, room_note(left, least, also))


def any_losses(effort: Effort) -> Finding:
    """Claim 2.1: signed losses of three actions, and functions of sets."""
    T = effort.pick(600, 4000)
    numbers = seeds(effort, "theorem-2-any", 20, 48)
    three = _Problem(FinitePolicies([[0], [1], [2]]), T, (-1.0, 1.0))
    world = Listed(list(2.0 * np.asarray(turns(T, T // 2, K=3).losses) - 1.0), 3)
    checks, left = three.checks(world, numbers, "three actions, losses ±1")
    swept, plot, least = three.sweep(world, numbers)
    # Both elements or none, in turns; one alone is never good.
    fors, against = (Cut([0], [1], 0.2, 2, [w, w], directed=False) for w in (-0.4, 0.4))
    functions = [(fors, against)[t % 2] for t in range(3 * T // 4)] + [fors] * (T // 4)
    sets = _Problem(Submodular(2), T, (-1.0, 1.0))
    more, also = sets.checks(Listed(functions, 2), numbers[::2], "functions of sets")
    return Finding([*checks, swept, *more], plot, room_note(left, least, also))


def small_separator(effort: Effort) -> Finding:
    """Claim 2.3: a context arrives that carries no noise."""
    T = effort.pick(1000, 4000)
    numbers = seeds(effort, "theorem-2-separator", 6, 32)
    formulas = _Problem(Disjunctions(3), T, separator=disjunctions(3))
    world = turns(T, T // 2, [(1, 1, 1)], first=1)  # most formulas play 1 there
    checks, left = formulas.checks(world, numbers, "disjunctions")
    swept, plot, least = formulas.sweep(world, numbers)
    return Finding([*checks, swept], plot, room_note(left, least))


def adaptive_adversaries(effort: Effort) -> Finding:
    """All three claims against an adversary that notes what was played and expects it again.

    Noise drawn once is the contrast: the same adversary then wins.
    """
    T = effort.pick(1000, 6000)
    numbers = seeds(effort, "theorem-2-adaptive", 8, 32)
    pair = FinitePolicies([[0], [1]])
    formulas = FinitePolicies([[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    cases = {
        "linear losses": (_Problem(pair, T), Repeats(pair)),
        "losses ±1": (_Problem(pair, T, (-1.0, 1.0)), Repeats(pair, low=-1.0)),
        "separator": (_Problem(formulas, T, separator=[0, 1]), Repeats(formulas, (2, 0, 1))),
    }
    checks: list[Check] = []
    left = math.inf
    for where, (problem, world) in cases.items():
        more, also = problem.checks(world, numbers, where)
        checks += more
        left = min(left, also)
        stale = regrets(problem.learner("theorem", "once"), world, T, numbers[:4])
        limit = problem.bound("sharp", problem.bound("printed").epsilon).value
        what = f"{where}: regret with noise drawn once, beyond the sharp bound"
        checks.append(Check(what, float(stale.mean()), limit, at_most=False))
    return Finding(checks, _over_time(*cases["linear losses"], numbers), room_note(left))


def _over_time(problem: _Problem, world: Environment, numbers: list[int]) -> Plot:
    """Regret as it grows, fresh noise and stale."""
    series = []
    every = problem.horizon // 50
    for label, noise in (("fresh noise", "fresh"), ("noise drawn once", "once")):
        played = games(problem.learner("theorem", noise), world, problem.horizon, numbers[:4])
        series.append(mean_curve(label, played, every))
    x = np.asarray(series[-1].x)
    limit = problem.bound("printed").value
    series.append(Series("Theorem 2 for the whole game", x, np.full(len(x), limit), "dashed"))
    return Plot("round", "mean regret", series)


_CONFIDENCE = "mean regrets; false alarms below 1e-4"

CLAIMS = (
    Claim(
        "theorem-2-any-losses",
        "Theorem 2, claim 1",
        "With the contexts known in advance regret is at most 4εK Σ‖f‖² + (10/ε)√(dm) log N for "
        "any losses, functions of sets included; the shift lemma needs κ Σ v² + G/ε only.",
        _CONFIDENCE,
        any_losses,
    ),
    Claim(
        "theorem-2-linear-losses",
        "Theorem 2, claim 2",
        "With the contexts known in advance and linear losses that are never negative, regret is "
        "at most ε Σ E⟨π(x),ℓ⟩² + (10/ε)√(dm) log N; G/ε takes the place of the second term.",
        _CONFIDENCE,
        linear_losses,
    ),
    Claim(
        "theorem-2-separator",
        "Theorem 2, claim 3",
        "With noise on a small separator any contexts may arrive: regret is at most "
        "4εKd Σ‖f‖² + (10/ε)√(dm) log N; sharp: εdκ Σ v² + G/ε.",
        _CONFIDENCE,
        small_separator,
    ),
    Claim(
        "theorem-2-adaptive",
        "Theorem 2, adaptive adversaries",
        "The three claims hold against an adversary that reacts to what was played, because noise "
        "is fresh in every round; drawn once for the whole game it would be learned.",
        _CONFIDENCE,
        adaptive_adversaries,
    ),
)
