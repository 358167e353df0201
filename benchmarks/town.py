"""Twenty trips through real towns whose roads close at random: travel times and speed.

A round is one trip. Link times follow from flows that are 30 % off the usual ones, rise and fall by
half within 200 rounds, each link at its own time, and vary by 20 % from round to round; they end
at their 99.9 % quantile. In every round some links are closed. What is known at first: the times at
the usual flows, an attribute of the edges.

The comparator knows the mean time of every link in the rounds of each trip, in hindsight: it takes
the best fixed route, and where a link of that is closed the best open route by the same means.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import hannan as hn
from benchmarks.measure import Line

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"
ROUNDS, TRIPS, SEEDS = 5000, 20, range(10, 15)
TOWNS = {"Sioux Falls": ("sioux_falls", 0, 0.02), "Anaheim": ("anaheim", 38, 0.005)}
DETOURS = 4


def run() -> list[Line]:
    """Nothing where the networks are not beside the repository."""
    if not NETWORKS.exists():
        return []
    return [line for name in TOWNS for line in _lines(name)]


def _lines(name: str) -> list[Line]:
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in SEEDS:
        world = Town(*TOWNS[name], seed)
        for player, (learner, full) in contenders(world).items():
            found.setdefault(player, []).append(world.play(learner, full))
    lines = []
    for player, values in found.items():
        excess, speed = np.array(values).T
        shown = f"{100 * excess.mean():+.1f} % ({', '.join(f'{100 * e:+.1f}' for e in excess)})"
        what = f"{name}, {TRIPS} trips, {100 * TOWNS[name][2]:g} % of the roads closed, {player}: "
        lines += [
            Line(
                what + "travel time beyond the best fixed routes and detours, %",
                100.0 * float(excess.mean()),
                shown,
                AIMED.get(player),
                at_least=False,
            ),
            Line(what + "rounds a second", float(speed.min()), f"{speed.min():,.0f}/s", 500.0),
        ]
    return lines


AIMED = {
    "full information, shared times": 5.0,
    "semi-bandit, first guess as baseline": 5.0,
    "hn.bandit, shared times": 10.0,
    "hn.bandit, shared times and first guess": 10.0,
}


def contenders(world: Town) -> dict[str, tuple[Any, bool]]:
    """Learners by name, and whether they see all links."""
    given: dict[str, Any] = {"loss_range": (0.0, world.most), "seed": 0}
    apart, shared = (hn.oracles.PerContext(world.routes, shared=s) for s in (False, True))
    guess = hn.predictors.FirstGuess(world.usual)
    semi = hn.ContextSemiBanditFTPL
    full, baseline, bandit, guessing = AIMED
    return {
        "full information": (hn.ContextFTPL(apart, **given), True),
        full: (hn.ContextFTPL(shared, **given), True),
        "semi-bandit": (semi(apart, **given), False),
        baseline: (
            semi(
                apart,
                predictor=guess,
                trust="baseline",
                epsilon=hn.learners.SelfTuned(eagerness=4),
                **given,
            ),
            False,
        ),
        bandit: (hn.bandit(policies=apart, shared=True, **given), False),
        guessing: (hn.bandit(policies=apart, shared=True, guess=world.usual, **given), False),
        "CombThompson, shared times": (
            hn.baselines.CombThompson(apart, posterior="gauss", shared=True, **given),
            False,
        ),
    }


@dataclass
class Town:
    """Trips, link times and closed links of all rounds."""

    file: str
    zones: int
    closing: float
    seed: int
    rounds: int = ROUNDS
    detours: int = DETOURS

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        links = pd.read_csv(NETWORKS / f"{self.file}_edges.csv.gz")
        graph = nx.from_pandas_edgelist(links.reset_index(), "tail", "head", True, nx.DiGraph)
        links = links.loc[[row for *_, row in graph.edges(data="index")]]  # in the order of edges
        columns = ("free_flow_time", "capacity", "ue_flow", "b", "power")
        free, capacity, flow, b, power = (links[name].to_numpy(float) for name in columns)
        self.usual = free * (1.0 + b * (flow / capacity) ** power)
        self.graph = graph
        self.number = {edge: k for k, edge in enumerate(graph.edges)}
        demand = pd.read_csv(NETWORKS / f"{self.file}_trips.csv.gz")
        demand = demand[demand["origin"] != demand["destination"]]
        largest = demand.sort_values("demand", ascending=False, kind="stable")[: 4 * TRIPS : 4]
        self.trips = list(zip(largest["origin"], largest["destination"], strict=True))
        K = len(free)
        usual = flow * np.exp(0.3 * rng.normal(size=K))
        cycle = 2.0 * np.pi * (np.arange(self.rounds)[:, None] / 200 + rng.random(K))
        load = usual * (1.0 + 0.5 * np.sin(cycle)) * np.exp(0.2 * rng.normal(size=cycle.shape))
        minutes = free * (1.0 + b * (load / capacity) ** power)
        self.most = float(np.quantile(minutes, 0.999))
        self.minutes = np.minimum(minutes, self.most)
        self.who = rng.integers(TRIPS, size=self.rounds)
        self.open = np.array([self._open(self.trips[i], rng) for i in self.who])

    @cached_property
    def routes(self) -> dict[Any, hn.oracles.Paths]:
        """Routes of each trip; zones are not passed through."""
        zones = range(1, self.zones + 1)
        given: dict[str, Any] = {"weight": self.usual, "detours": self.detours, "zones": zones}
        return {trip: hn.oracles.Paths.towards(self.graph, *trip, **given) for trip in self.trips}

    def play(self, learner: Any, full: bool) -> tuple[float, float]:
        """Travel time beyond the comparator, as a share of its own; and rounds a second."""
        taken = 0.0
        started = time.process_time()
        for i, minutes, mask in zip(self.who, self.minutes, self.open, strict=True):
            links = learner.act(self.trips[i], mask)
            taken += minutes[links].sum()
            learner.update(minutes if full else minutes[links])
        return taken / self.best - 1.0, self.rounds / (time.process_time() - started)

    @cached_property
    def best(self) -> float:
        """What the best fixed routes take, with the best detours where a link is closed."""
        taken = 0.0
        for i, trip in enumerate(self.trips):
            own = np.flatnonzero(self.who == i)
            means = self.minutes[own].mean(axis=0)
            fixed = self._shortest(trip, means)
            for t in own:
                open_there = self.open[t]
                way = fixed
                if not open_there[fixed].all():
                    way = self._shortest(trip, np.where(open_there, means, np.inf))
                taken += self.minutes[t, way].sum()
        return taken

    def _shortest(self, trip: Any, costs: np.ndarray) -> list[int]:
        """The links of the shortest of all routes in the town."""

        def cost(u: Any, v: Any, _: Any) -> float | None:
            passed = (u in trip or u > self.zones) and (v in trip or v > self.zones)
            value = float(costs[self.number[u, v]])
            return value if passed and value < np.inf else None

        nodes = nx.dijkstra_path(self.graph, *trip, weight=cost)
        return [self.number[link] for link in itertools.pairwise(nodes)]

    def _open(self, trip: Any, rng: np.random.Generator) -> np.ndarray:
        """Links that are open in a round, drawn again until some route is."""
        while True:
            mask = rng.random(len(self.usual)) >= self.closing
            if mask.all():
                return mask
            try:
                self._shortest(trip, np.where(mask, self.usual, np.inf))
            except nx.NetworkXNoPath:
                continue
            return mask
