"""Random playout: noise on the contexts to come, none on the past, one oracle call a round."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from hannan import bounds
from hannan.core import Environment
from hannan.environments import FromArrays
from hannan.learners import PlayoutBandit, PlayoutFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._games import Means, Repeats, games, mean_curve, seeded, seeds, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_Z = 5.0  # standard errors; two-sided, 6e-7


def _games(effort: Effort, kind: Any, T: int, two: float, thirty: float, **more: Any) -> Finding:
    """Regret below the bound for two policies or thirty, with one oracle call a round."""
    table, pair = _table(effort), FinitePolicies([[0], [1]])
    worlds: dict[str, tuple[FinitePolicies, Environment, list[int], float]] = {
        "turns": (pair, turns(T, T // 2), [0] * T, two),
        "settled": (pair, turns(T, T), [0] * T, two),
        **{where: (pair, world(pair), [0] * T, two) for where, world in more.items()},
        "thirty policies": (table, _circle(T), [t % 8 for t in range(T)], thirty),
    }
    means, curves, dashes = Means(), [], {}
    for where, (oracle, world, order, limit) in worlds.items():
        numbers = seeds(effort, f"playout, {where}", 10, 60)
        played = games(seeded(kind, oracle, order), world, T, numbers)
        means.below(f"{where}: regret", np.array([trace.regret() for _, trace in played]), limit)
        calls = max(trace.oracle_calls for _, trace in played) / T
        means.append(Check(f"{where}: oracle calls in a round", calls, 1.0))
        curves.append(mean_curve(where, played, T // 25))
        label = f"the bound, {len(oracle.table)} policies"
        dashes[label] = Series(label, [1, T], [limit, limit], "dashed")
    plot = Plot("round", "mean regret", [*curves, *dashes.values()])
    return Finding(means, plot, means.note("the bound"))


def _table(effort: Effort) -> FinitePolicies:
    return FinitePolicies(effort.rng("playout, table").integers(3, size=(30, 8)), n_actions=3)


def _circle(T: int) -> FromArrays:
    return turns(T, T // 2, range(8), 3, together=True)


@claim(
    "playout",
    "Random playout (beyond the paper)",
    "mean regrets, exact on every path for the noise; false alarms below 1e-4",
)
def full_information(effort: Effort) -> Finding:
    """Where the contexts to come are known, noise on them alone gives regret at most √(2πT log N),
    whatever the number of contexts, with one oracle call a round.

    Turns, an adaptive adversary, and a class of thirty policies; noise only on the future.
    """
    T = effort.pick(400, 1600)
    two, thirty = (bounds.playout(T, log_size=math.log(N)).value for N in (2, 30))
    found = _games(effort, PlayoutFTPL, T, two, thirty, adaptive=Repeats)
    return replace(found, checks=[*found.checks, *_no_noise_on_the_past(effort)])


def _no_noise_on_the_past(effort: Effort) -> list[Check]:
    """Contexts of a table are games of their own: on its last visit each is without noise."""
    d, visits = 20, effort.pick(6, 12)
    order = [t // visits for t in range(d * visits)]
    late: list[bool] = []
    early: list[bool] = []
    for seed in seeds(effort, "last visits", 5, 40):
        learner = PlayoutFTPL(AllPolicies(d, 2), order, seed=seed)
        for t, x in enumerate(order):
            leader = learner.best_policy()(x)
            moved = learner.act(x) != leader
            (late if t % visits == visits - 1 else early).append(moved)
            learner.update([0.3, 0.0])
    return [
        Check("share of last visits on which noise changed the action", sum(late) / len(late), 0.0),
        Check(
            "share of earlier visits on which it did", sum(early) / len(early), 0.1, at_most=False
        ),
    ]


@claim(
    "playout-bandit",
    "Random playout (beyond the paper)",
    "mean regrets; frequencies with 5 standard errors; false alarms below 1e-4",
)
def bandit(effort: Effort) -> Finding:
    """With bandit feedback sparse noise on the contexts to come gives regret of order T^(2/3) (K
    log N)^(1/3) with one oracle call a round and weights exactly 1/q.
    """
    T = effort.pick(300, 1600)
    two, thirty = (
        bounds.playout_bandit(T, n_actions=K, log_size=math.log(N)).value
        for K, N in ((2, 2), (3, 30))
    )
    found = _games(effort, PlayoutBandit, T, two, thirty)
    return replace(found, checks=[*found.checks, *_propensities(effort)])


def _propensities(effort: Effort) -> list[Check]:
    """What was announced, what was played, and what was weighed."""
    T = effort.pick(1000, 12_000)
    order = [t % 8 for t in range(T)]
    (seed,) = seeds(effort, "propensities", 1, 1)
    learner = PlayoutBandit(_table(effort), order, seed=seed)
    losses = np.asarray(_circle(T).losses)
    surplus, spread, weighed, variance = (np.zeros(3) for _ in range(4))
    gap = 0.0
    for t, x in enumerate(order):
        q = learner.propensities(x).probabilities
        decision = learner.decide(x)
        a, weight = int(decision.action), float(decision.weights[0])
        learner.update(float(losses[t, a]), decision=decision)
        gap = max(gap, abs(weight * q[a] - 1.0))
        played = np.arange(3) == a
        surplus += played - q
        spread += q * (1.0 - q)
        weighed += weight * played
        variance += 1.0 / q - 1.0
    scores = float(np.abs(surplus / np.sqrt(spread)).max())
    weights = float(np.abs((weighed - T) / np.sqrt(variance)).max())
    return [
        Check("weight times announced probability, off 1 by", gap, 1e-9),
        Check("times played, off those announced, in standard errors", scores, _Z),
        Check("mean of weight times indicator, off 1, in standard errors", weights, _Z),
    ]
