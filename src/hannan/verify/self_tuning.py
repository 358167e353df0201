"""Self-tuning: ε = G/D, with D what instability has cost so far; and the schedule ε ~ 1/√t."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hannan.bounds import anytime, complete_information, self_tuned
from hannan.core import Environment, Oracle
from hannan.environments import FromArrays, LeaderPunisher, PlantedPolicy
from hannan.learners import ContextFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._games import (
    Means,
    Recorded,
    Repeats,
    games,
    instability,
    mean_curve,
    regrets,
    seeded,
    seeds,
    sizes,
    turns,
)
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim


def _watched(oracle: Oracle, **options: Any) -> Callable[[int], ContextFTPL]:
    """Learners with a record of what instability cost in each round."""
    return seeded(ContextFTPL, oracle, **{"epsilon": Recorded(), **options})


def _table(effort: Effort) -> FinitePolicies:
    rows = effort.rng("self-tuning, table").integers(3, size=(30, 6))
    return FinitePolicies(rows, n_actions=3)


@claim(
    "self-tuning",
    "Self-tuning (beyond the paper)",
    "mean regrets, no increment of D ever negative; false alarms below 1e-4",
)
def measured_instability(effort: Effort) -> Finding:
    """With ε = G/D, D what instability has cost so far, expected regret is at most 2E[D], and that
    is at most 2√(2κGV) + 2R: no horizon, no range, no tuning.

    On two contexts with two actions each that take turns and then settle, nearly all that is
    measured is lost: what instability costs while they do, and as much for the noise at the end.
    """
    T = effort.pick(400, 2000)
    numbers = seeds(effort, "self-tuning", 80, 400)
    table, pair, pairs = _table(effort), FinitePolicies([[0], [1]]), AllPolicies(2, 2)
    cases: dict[str, tuple[Oracle, Environment, int]] = {
        "turns": (pairs, turns(T, T // 2, contexts=(0, 1)), 1),
        "a planted policy": (table, PlantedPolicy(table), 4),
        "the leader punished": (table, LeaderPunisher(table), 4),
        "an adaptive adversary": (pair, Repeats(pair), 4),
    }
    means = Means()
    smallest = math.inf
    for where, (oracle, world, part) in cases.items():
        played = games(_watched(oracle), world, T, numbers[: len(numbers) // part])
        regret = np.array([trace.regret() for _, trace in played])
        measured = np.array([learner.certificate().measured for learner, _ in played])
        costs = np.array([instability(learner) for learner, _ in played])
        means.below(f"{where}: regret, as measured", regret, measured)
        worst = self_tuned(T, **sizes(oracle)).value
        means.below(f"{where}: 2D, worst case", 2.0 * costs.sum(axis=1), worst)
        smallest = min(smallest, float(costs.min()))
    means.append(Check("what instability cost in a round, at the least", smallest, -1e-9, False))
    note = (
        f"means lie at least {means.room:.1f} standard errors below their limits; as measured: "
        "D + G/ε with three standard errors of G where it is an estimate"
    )
    return Finding(means, _compared(table, T, numbers[: len(numbers) // 8]), note)


def _compared(table: FinitePolicies, T: int, numbers: list[int]) -> Plot:
    """Self-tuning beside the paper's ε, on an easy world and on a hard one."""
    series = []
    for where, world in (("easy", PlantedPolicy(table)), ("hard", LeaderPunisher(table))):
        for label, options in (
            ("self-tuned", {}),
            ("the paper's ε", {"epsilon": "theorem", "horizon": T}),
        ):
            played = games(_watched(table, **options), world, T, numbers)
            series.append(mean_curve(f"{where}, {label}", played, T // 40))
            if not options:
                paths = np.cumsum([instability(learner) for learner, _ in played], axis=1)
                x = np.asarray(series[-1].x)
                y = 2.0 * paths.mean(axis=0)[x - 1]
                series.append(Series(f"{where}, 2D as measured", x, y, "dashed"))
    return Plot("round", "mean regret", series)


@claim(
    "self-tuning-scale",
    "Self-tuning (beyond the paper)",
    "the same play on every path; mean regrets far below their bounds",
)
def any_scale(effort: Effort) -> Finding:
    """The self-tuned learner plays the same whatever unit the losses are in."""
    T = effort.pick(400, 2000)
    numbers = seeds(effort, "any-scale", 40, 200)
    oracle = AllPolicies(2, 2)
    world = turns(T, T // 2, contexts=(0, 1))
    plain = games(_watched(oracle), world, T, numbers)
    checks, shares = Means(), []
    scales = np.array([1e-3, 2.0**-10, 1.0, 2.0**10, 1e3])
    for unit in scales:
        same = FromArrays(world.contexts, unit * np.asarray(world.losses))
        played = games(_watched(oracle, loss_range=None), same, T, numbers)
        regret = np.array([trace.regret() for _, trace in played])
        worst = self_tuned(T, loss_bound=unit, **sizes(oracle)).value
        shares.append(float(regret.mean()) / worst)
        if math.log2(unit) % 1.0:
            checks.below(f"losses times {unit:g}: regret", regret, worst)
        else:
            pairs = zip(played, plain, strict=True)
            other = sum(np.sum(np.asarray(a.actions) != b.actions) for (_, a), (_, b) in pairs)
            what = f"losses times {unit:g}: actions not the same as in the first unit"
            checks.append(Check(what, other, 0.0))
    series = [
        Series("self-tuned, range unknown", scales, shares, "points"),
        Series("the bound", scales, np.ones(len(scales)), "dashed"),
    ]
    plot = Plot("unit of the losses", "mean regret over its bound", series, log_x=True)
    return Finding(checks, plot, "powers of two leave every rounding as it was")


@claim(
    "anytime-schedule",
    "Anytime schedule (beyond the paper)",
    "mean regrets; false alarms below 1e-4",
)
def schedule(effort: Effort) -> Finding:
    """With ε proportional to 1/√t, which knows no horizon, regret is at most √2 times the bound for
    a known horizon.
    """
    T = effort.pick(800, 8000)
    numbers = seeds(effort, "anytime", 24, 96)
    oracle = AllPolicies(1, 2)
    horizons = T // 2 ** np.arange(4)[::-1]
    make = seeded(ContextFTPL, oracle, epsilon="anytime")
    means = Means()
    for horizon in horizons.tolist():
        found = regrets(make, turns(horizon, horizon // 4), horizon, numbers)
        limit = anytime(horizon, **sizes(oracle)).value
        means.below(f"regret after {horizon} rounds", found, limit)
    measured, limits = np.array([(check.measured, check.limit) for check in means]).T
    known = complete_information(T, form="sharp", **sizes(oracle)).value
    means.append(Check("the bound over that for a known horizon", limits[-1] / known, 1.4143))
    series = [
        Series("the schedule", horizons, measured),
        Series("its bound", horizons, limits, "dashed"),
    ]
    plot = Plot("number of rounds", "mean regret", series, log_x=True, log_y=True)
    return Finding(means, plot, means.note())
