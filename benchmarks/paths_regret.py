"""Regret of routes through a small town, beside exponential weights on all routes listed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line

BLOCKS, HORIZON, SEEDS = 4, 2000, 20
RATES = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1)
WORLDS = (hn.environments.PlantedPolicy, hn.environments.LeaderPunisher)

Found = dict[str, float]


class ListedSemiBandit:
    """Exponential weights on listed sets, each chosen element's loss divided by its probability."""

    feedback = hn.Feedback.BANDIT
    oracle = None
    oracle_calls = 0

    def __init__(self, sets: np.ndarray, rate: float, seed: int) -> None:
        self.sets = sets.astype(np.float64)
        self.rate = rate
        self.totals = np.zeros(len(sets))
        self.rng = np.random.default_rng(seed)
        self.action = np.empty(0, np.intp)
        self.q = np.empty(0)

    def act(self, context: Any = None) -> np.ndarray:
        """A set drawn by its weight."""
        weights = np.exp(-self.rate * (self.totals - self.totals.min()))
        ends = weights.cumsum()
        self.q = weights @ self.sets / ends[-1]
        found = min(int(ends.searchsorted(self.rng.random() * ends[-1])), len(ends) - 1)
        self.action = np.flatnonzero(self.sets[found])
        return self.action

    def update(self, losses: np.ndarray) -> None:
        """Charge every set for the elements it shares with the one played."""
        self.totals += self.sets[:, self.action] @ (losses / self.q[self.action])


def run() -> list[Line]:
    """Both worlds and kinds of feedback; all learners of a seed meet the same losses."""
    cells = [(world, seed) for world in WORLDS for seed in range(SEEDS)]
    found = Parallel(n_jobs=2)(delayed(one_seed)(world, seed) for world, seed in cells)
    lines: list[Line] = []
    for i, world in enumerate(WORLDS):
        results = found[i * SEEDS : (i + 1) * SEEDS]
        values = {name: np.array([r[name] for r in results]) for name in results[0]}
        lines += _lines(world.__name__, "full information", values, "Hedge")
        # The best rate in hindsight: one that the listed learner could not have known.
        best = min((f"listed, rate {r:g}" for r in RATES), key=lambda n: values[n].mean())
        lines += _lines(world.__name__, "semi-bandit", values, best)
    return lines


def one_seed(world: Any, seed: int) -> Found:
    """Regrets and bounds for T and 4 T rounds."""
    oracle = town(BLOCKS)
    sets = listed(oracle)
    found: Found = {}
    for horizon, mark in ((HORIZON, ", T"), (4 * HORIZON, "")):
        full = hn.ContextFTPL(oracle, seed=seed)
        trace = hn.play(full, world(oracle), horizon, seed=seed)
        found["full information" + mark] = trace.regret()
        V, G, m = float((trace.losses**2).sum()), full.complexity.upper, oracle.max_chosen
        found["full information, bound" + mark] = 2 * math.sqrt(2 * G * V) + 2 * m
        semi = hn.ContextSemiBanditFTPL(oracle, seed=seed)
        found["semi-bandit" + mark] = hn.play(semi, world(oracle), horizon, seed=seed).regret()
        K = oracle.n_actions
        limits = np.ceil(np.sqrt(K * np.arange(1, horizon + 1)))
        stability = 2 * math.sqrt((2 * G + 1) * 2 * m * K * horizon)
        found["semi-bandit, bound" + mark] = stability + float((K / (math.e * limits)).sum())
    table = hn.oracles.FinitePolicies(sets[:, None, :])
    hedge = hn.baselines.Hedge(table, seed=seed)
    found["Hedge"] = hn.play(hedge, world(oracle), horizon, seed=seed, oracle=oracle).regret()
    for rate in RATES:
        player: Any = ListedSemiBandit(sets, rate, seed)
        trace = hn.play(player, world(oracle), horizon, seed=seed, oracle=oracle)
        found[f"listed, rate {rate:g}"] = trace.regret()
    return found


def town(n: int) -> hn.oracles.Paths:
    """Streets between n by n corners, leading east or north."""
    corners = [(x, y) for x in range(n) for y in range(n)]
    streets = [((x, y), (x + 1, y)) for x, y in corners if x + 1 < n]
    streets += [((x, y), (x, y + 1)) for x, y in corners if y + 1 < n]
    return hn.oracles.Paths(streets, (0, 0), (n - 1, n - 1))


def listed(oracle: hn.oracles.Paths) -> np.ndarray:
    """All paths, as rows of booleans."""
    found, waiting = [], [(oracle.source, ())]
    while waiting:
        node, path = waiting.pop()
        if node == oracle.target:
            found.append(np.isin(np.arange(oracle.n_actions), path))
        waiting += [(e[1], (*path, i)) for i, e in enumerate(oracle.edges) if e[0] == node]
    return np.array(found)


def _lines(world: str, kind: str, values: dict[str, np.ndarray], rival: str) -> list[Line]:
    ours, early = values[kind], values[kind + ", T"]
    falls = float(ours.mean() / early.mean() / 4.0)
    bound, other = float(values[kind + ", bound"].mean()), values[rival]
    return [
        Line(
            f"{world}, {kind}: average regret after {4 * HORIZON:,} rounds over that after "
            f"{HORIZON:,}",
            falls,
            f"{falls:.2f} (regrets {_with_error(early)}, {_with_error(ours)})",
            1.0,
            at_least=False,
        ),
        Line(
            f"{world}, {kind}: regret, allowed the bound",
            float(ours.mean()),
            _with_error(ours),
            bound,
            at_least=False,
        ),
        Line(
            f"{world}, {kind}: regret beside that of all routes listed ({rival}), seed by seed",
            float(ours.mean()),
            f"{_with_error(ours)} : {_with_error(other)}, more by {_with_error(ours - other)}",
        ),
    ]


def _with_error(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
