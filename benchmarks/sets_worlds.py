"""Environments of the study of sets: each plays a learner and returns one number, best small."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

import hannan as hn
from benchmarks.town import TOWNS, Town
from hannan.core.oracle import WITHOUT_NOISE

ARTICLES, SHOWN, KINDS = 40, 5, 8
DRIVERS, JOBS, MINUTES = 8, 6, 80.0


@dataclass
class Losses:
    """Losses whose means are known: `means` has a row of K numbers for each of a few tables.

    The figure is (total - `least`)/`per`, with the expected losses of the chosen elements; `least`
    is by default that of the best set in each round.
    """

    oracle: Any
    contexts: list[Any]
    means: np.ndarray
    table: np.ndarray
    losses: np.ndarray
    open: np.ndarray | None = None
    least: float | None = None
    per: float = 1.0
    span: tuple[float, float] = (0.0, 1.0)
    features: Any = None

    def play(self, learner: Any) -> float:
        """Return the figure of a learner."""
        total = 0.0
        for t, context in enumerate(self.contexts):
            action = learner.act(context, None if self.open is None else self.open[t])
            total += self.means[self.table[t], action].sum()
            learner.update(self.losses[t, action])
        return (total - self.lowest) / self.per

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.contexts)

    @property
    def lowest(self) -> float:
        """Return the number that is subtracted."""
        if self.least is not None:
            return self.least
        empty, pairs = self.oracle.objective(), list(zip(self.contexts, self.table, strict=True))
        best = {
            (x, k): self.means[k, empty.action(x, WITHOUT_NOISE, self.means[k])].sum()
            for x, k in set(pairs)
        }
        return float(sum(best[pair] for pair in pairs))


def coins(means: np.ndarray, table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Losses of 0 or 1, [T, K]."""
    return (rng.random((len(table), means.shape[1])) < means[table]).astype(float)


PROBLEMS: dict[str, Callable[[], Any]] = {
    "grid": lambda: hn.oracles.Paths(hn.networks.RoadNetwork.grid(6, 6), 1, 36),
    "slates": lambda: hn.oracles.Subsets(ARTICLES, SHOWN),
    "matchings": lambda: hn.oracles.Matchings(6, 6),
    "trees": lambda: hn.oracles.SpanningTrees(nx.complete_graph(8)),
}


def stationary(problem: str, seed: int, rounds: int = 4000, switches: int = 0) -> Losses:
    """Losses of 0 or 1; all means change at each switch."""
    oracle, rng = PROBLEMS[problem](), np.random.default_rng([seed, 31])
    shape = switches + 1, oracle.n_actions
    means = rng.uniform(0.2, 0.8, shape)
    if problem == "slates":
        means = np.clip(rng.beta(2.0, 2.0, shape), 0.05, 0.95)
    table = np.arange(rounds) * len(means) // rounds
    return Losses(oracle, [None] * rounds, means, table, coins(means, table, rng))


def articles(seed: int, rounds: int = 2000) -> Losses:
    """Slates for kinds of users; a mean is linear in the product of user and article."""
    rng = np.random.default_rng([seed, 32])
    about = rng.normal(size=(ARTICLES, 5)) / np.sqrt(5)
    users = rng.normal(size=(KINDS, 5))
    means = np.clip(0.5 + 0.25 * users @ about.T, 0.05, 0.95)
    products = (users[:, None, :, None] * about[:, None, :]).reshape(KINDS, ARTICLES, -1) / 2.0
    ones = np.ones((ARTICLES, 1))
    rows = [np.hstack([ones, about, each]) for each in products]
    oracle = hn.oracles.PerContext(hn.oracles.Subsets(ARTICLES, SHOWN), KINDS)
    who = rng.integers(KINDS, size=rounds)
    losses = coins(means, who, rng)
    return Losses(oracle, who.tolist(), means, who, losses, features=rows.__getitem__)


def clicks(seed: int, rounds: int = 12_000, segments: int = 4) -> Losses:
    """Slates for segments of visitors; a click is a loss of -1."""
    rng = np.random.default_rng([seed, 33])
    means = -rng.beta(1.0, 9.0, (segments, ARTICLES))
    who = rng.integers(segments, size=rounds)
    oracle = hn.oracles.PerContext(hn.oracles.Subsets(ARTICLES, SHOWN), segments)
    losses = -coins(-means, who, rng)
    return Losses(oracle, who.tolist(), means, who, losses, least=0.0, per=rounds, span=(-1.0, 0.0))


def drivers(seed: int, days: int = 2000) -> Losses:
    """Jobs and drivers of each day; a pair saves the minutes that its drive is shorter than 80.

    The figure is minutes a day; a driver or job left over for lack of a pair takes 80.
    """
    rng = np.random.default_rng([seed, 34])
    minutes = rng.uniform(10.0, 60.0, (JOBS, DRIVERS)).reshape(1, -1)
    noise = rng.gamma(25.0, 1.0 / 25.0, (days, JOBS * DRIVERS))
    at_work, wanted = rng.random((days, DRIVERS)) < 0.8, rng.random((days, JOBS)) < 0.7
    at_work[:, 0] = wanted[:, 0] = True
    there = (wanted[:, :, None] & at_work[:, None, :]).reshape(days, -1)
    pairs = np.minimum(at_work.sum(axis=1), wanted.sum(axis=1)).sum()
    losses = np.minimum(minutes * noise, MINUTES) - MINUTES
    table = np.zeros(days, dtype=int)
    oracle = hn.oracles.Matchings(JOBS, DRIVERS, everyone=False)
    numbers = minutes - MINUTES, table, losses, there
    span, least = (-MINUTES, 0.0), -MINUTES * pairs
    return Losses(oracle, [None] * days, *numbers, least=least, per=days, span=span)


@dataclass
class Adversary:
    """An adversary around a problem; the figure is the regret against the best fixed set."""

    problem: str
    make: Callable[[Any], hn.Environment]
    seed: int
    rounds: int = 3000

    @cached_property
    def oracle(self) -> Any:
        return PROBLEMS[self.problem]()

    def play(self, learner: Any) -> float:
        """Return the regret of a learner."""
        world = self.make(self.oracle)
        return float(hn.play(learner, world, self.rounds, self.seed, oracle=self.oracle).regret())


class Leader(hn.environments.LeaderPunisher):
    """The leader of all losses costs 1 an element, all else nothing; ties are broken at random."""

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        empty, totals = self.oracle.objective(), np.zeros(self.n_actions)
        for _ in range(horizon):
            losses, ties = np.zeros(self.n_actions), 1e-9 * rng.random(self.n_actions)
            losses[empty.action(None, WITHOUT_NOISE, totals + ties)] = 1.0
            totals += losses
            yield hn.Round(None, losses)


class Trap(hn.environments.CopyPunisher):
    """The elements of a random set cost 0.3 at first; then the likeliest set is punished."""

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        planted = hn.environments.PlantedPolicy(self.oracle)
        yield from planted.rounds(horizon // 2, rng)
        yield from super().rounds(horizon - horizon // 2, rng)


ADVERSARIES: dict[str, Callable[[Any], hn.Environment]] = {
    "likeliest set punished": lambda oracle: hn.environments.CopyPunisher(oracle, low=0.0),
    "leader punished": Leader,
    "trap": lambda oracle: Trap(oracle, low=0.0),
}


def town(name: str, seed: int, rounds: int) -> Losses:
    """Trips of the study `town`, with all roads open; the figure is in per cent."""
    file, zones, _ = TOWNS[name]
    place = Town(file, zones, 0.0, seed, rounds, detours=0)
    oracle, best = hn.oracles.PerContext(place.routes), 0.0
    for i, trip in enumerate(place.trips):
        own = place.minutes[place.who == i]
        if len(own):
            route = oracle.objective().action(trip, WITHOUT_NOISE, own.mean(axis=0))
            best += own[:, route].sum()
    trips = [place.trips[i] for i in place.who]
    table, span = np.arange(rounds), (0.0, place.most)
    numbers = place.minutes, table, place.minutes
    return Losses(oracle, trips, *numbers, least=best, per=best / 100.0, span=span)


@dataclass
class Region:
    """Roads both ways along most of a grid; minutes differ in the morning, by day and at night.

    There are 34,386 links, of which 0.2 % are closed in each round. The figure is the mean minutes
    of a trip. If a learner raises an error, the trip takes the shortest route at usual times, and
    `refused` counts the round if that route was open.
    """

    seed: int
    rounds: int = 2000
    side: int = 105
    streets: int = 17_193
    trips: int = 6
    detours: int = 2
    refused: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([self.seed, 35])
        n = self.side
        number = np.arange(n * n).reshape(n, n)
        across, down = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
        ends = np.hstack([[a.ravel(), b.ravel()] for a, b in (across, down)])
        weights = csr_array((rng.uniform(1.0, 2.0, ends.shape[1]), ends), shape=(n * n,) * 2)
        kept = minimum_spanning_tree(weights) > 0.0  # all places stay connected
        rest = weights - weights * kept
        rest.data[rng.permutation(rest.nnz)[self.streets - n * n + 1 :]] = 0.0
        ends = np.array((kept + rest).nonzero())
        self.tail, self.head = np.hstack([ends, ends[::-1]])
        self.usual = rng.uniform(0.5, 1.5, len(self.tail))
        factor = np.exp(0.6 * rng.normal(size=len(self.tail)))
        self.means = self.usual * factor * np.exp(0.15 * rng.normal(size=(3, len(self.tail))))
        places = rng.integers(n // 4, 3 * n // 4, size=(2 * self.trips, 2)) @ [n, 1]
        self.pairs = [(int(a), int(b)) for a, b in zip(places[::2], places[1::2], strict=True)]
        self.who = rng.integers(self.trips, size=self.rounds)
        self.when = rng.integers(3, size=self.rounds)
        self.most = 3.0 * float(self.means.max())

    @property
    def span(self) -> tuple[float, float]:
        """Range of the minutes of a link."""
        return 0.0, self.most

    @cached_property
    def oracle(self) -> Any:
        links = self.tail, self.head
        routes = {
            pair: hn.oracles.Paths.towards(links, *pair, weight=self.usual, detours=self.detours)
            for pair in self.pairs
        }
        both = itertools.product(self.pairs, range(3))
        return hn.oracles.PerContext({(pair, time): routes[pair] for pair, time in both})

    def play(self, learner: Any) -> float:
        """Return the mean minutes of a trip."""
        self.refused, total = 0, 0.0
        fallback = Shortest(self, by_time=False)
        for t in range(self.rounds):
            rng = np.random.default_rng([self.seed, 36, t])
            there = rng.random(len(self.tail)) >= 0.002
            context = self.pairs[self.who[t]], int(self.when[t])
            means = self.means[context[1]]
            try:
                links = learner.act(context, there)
            except hn.InfeasibleError:
                links = fallback.act(context, there)
                self.refused += bool(there[links].all())
                total += means[links].sum()
                continue
            total += means[links].sum()
            noise = np.exp(0.2 * rng.normal(size=len(self.tail)) - 0.02)
            learner.update(np.minimum(means * noise, self.most)[links])
        return total / self.rounds


class Shortest:
    """Running means, with the usual time as one observation, and Dijkstra's algorithm."""

    def __init__(self, region: Region, by_time: bool) -> None:
        self.region, self.by_time = region, by_time
        self.totals = np.tile(region.usual, (3, 1))
        self.counts = np.ones((3, len(region.usual)))
        nodes = region.side**2
        order = csr_array((np.arange(len(region.tail)), (region.tail, region.head)), (nodes,) * 2)
        self.order, self.graph = order.data, order.astype(float)
        self.number = {ends: k for k, ends in enumerate(zip(region.tail, region.head, strict=True))}

    def act(self, context: Any, there: np.ndarray) -> np.ndarray:
        """Return the links of the shortest open route."""
        (source, target), time = context
        self.row = time if self.by_time else 0
        means = np.where(there, self.totals[self.row] / self.counts[self.row], 1e9)
        self.graph.data = means[self.order]
        before = dijkstra(self.graph, indices=source, return_predecessors=True)[1]
        links, node = [], target
        while node != source:
            links.append(self.number[before[node], node])
            node = before[node]
        self.links = np.array(links)
        return self.links

    def update(self, minutes: np.ndarray) -> None:
        """Learn from the minutes of the links."""
        self.totals[self.row, self.links] += minutes
        self.counts[self.row, self.links] += 1.0
