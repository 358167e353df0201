"""Shortest paths under noise: Paths beside the Bellman-Ford of networkx and of SciPy."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
from examples.worlds.road_files import read_edges
from scipy.sparse import csr_array
from scipy.sparse.csgraph import bellman_ford

import hannan as hn
from benchmarks.measure import Line, rate, ratio, take_turns
from hannan.core.oracle import Draw
from hannan.perturbation import seed_key

DATA = Path(__file__).parents[2] / "shared" / "data" / "networks" / "anaheim_edges.csv.gz"
ZONES = range(1, 39)  # Anaheim's first through node is 39
SOURCE, TARGET = 21, 2  # of all pairs of zones the one with the most links between them
DRAWS, ROUNDS, EDGES = 256, 2000, 10**5


def run() -> list[Line]:
    """The Anaheim network where its file is at hand, and a large random graph."""
    if not DATA.exists():
        print(f"paths: no {DATA.name} beside the repository, so only random graphs are measured")
        return _large()
    roads = read_edges(DATA, rename={"ue_flow": "flow"}, zones=ZONES)
    oracle = hn.oracles.Paths.towards(roads, SOURCE, TARGET)
    return [*_leaders(roads, oracle), *_rounds(roads, oracle), *_large()]


def _leaders(roads: hn.networks.RoadNetwork, oracle: hn.oracles.Paths) -> list[Line]:
    """Every contender finds the leaders of draws of the same noise on the same links.

    The others are given perturbed costs ready made, and only the time of their search is counted;
    ours includes the making of the noise.
    """
    total = oracle.objective()
    total.add(None, roads.free_flow_time)
    noise = oracle.noise([None], seed_key(0), 0, 2**26)
    costs = roads.free_flow_time + np.array([noise.unit(n)[0] for n in range(DRAWS)])
    usable = np.flatnonzero(oracle.usable)
    links = [oracle.edges[i] for i in usable]
    number = {node: i for i, node in enumerate(roads.nodes)}
    rows, columns = np.array([[number[u], number[v]] for u, v in links]).T
    shape = (len(number), len(number))
    graph = nx.DiGraph(links)
    lengths = total.minima(Draw(noise, 0, 1.0), DRAWS)
    first = [0]

    def ours() -> float:
        started = time.perf_counter()
        total.leaders(Draw(noise, first[0], 1.0), DRAWS)
        first[0] += DRAWS
        return (time.perf_counter() - started) / DRAWS

    def networkx(n: int) -> tuple[float, float]:
        for link, cost in zip(links, costs[n, usable], strict=True):
            graph.edges[link]["weight"] = cost
        started = time.perf_counter()
        path = nx.bellman_ford_path(graph, SOURCE, TARGET)
        return time.perf_counter() - started, nx.path_weight(graph, path, "weight")

    def scipy(n: int) -> tuple[float, float]:
        table = csr_array((costs[n, usable], (rows, columns)), shape=shape)
        started = time.perf_counter()
        found, _ = bellman_ford(table, indices=number[SOURCE], return_predecessors=True)
        return time.perf_counter() - started, float(found[number[TARGET]])

    def other(search: Callable[[int], tuple[float, float]], count: int) -> float:
        taken = 0.0
        for n in range(count):
            seconds, length = search(n)
            assert abs(length - lengths[n]) < 1e-9, "the paths found differ in length"
            taken += seconds
        return taken / count

    for _ in range(8):  # until blocks of noise have their full size
        ours()
    fast, slow, compiled = take_turns(
        [ours, lambda: other(networkx, 8), lambda: other(scipy, 8)], repetitions=15
    )
    size = f"Anaheim, {oracle.n_actions} links, {len(links)} towards the target"
    speeds = ratio(slow, fast), ratio(compiled, fast)
    return [
        Line(
            f"{size}: leaders of {DRAWS} draws, speed over networkx",
            speeds[0],
            f"{speeds[0]:,.0f} x ({rate(fast)} : {rate(slow)})",
            300.0,
        ),
        Line(
            f"{size}: leaders of {DRAWS} draws, speed over SciPy",
            speeds[1],
            f"{speeds[1]:,.0f} x ({rate(fast)} : {rate(compiled)})",
            20.0,
        ),
    ]


def _rounds(roads: hn.networks.RoadNetwork, oracle: hn.oracles.Paths) -> list[Line]:
    world = hn.environments.Congestion(roads, oracle)
    lines = []
    for kind in (hn.ContextSemiBanditFTPL, hn.ContextFTPL):
        learner = kind(oracle, seed=0)
        semi = learner.feedback is hn.Feedback.BANDIT
        losses = [r._losses for r in world.rounds(ROUNDS, np.random.default_rng(0))]
        seconds = []
        for _ in range(6):
            started = time.perf_counter()
            for row in losses:
                action = learner.act()
                learner.update(row[action] if semi else row)
            seconds.append((time.perf_counter() - started) / ROUNDS)
        speed = 1.0 / float(np.median(seconds[1:]))
        lines.append(
            Line(
                f"Anaheim, drifting demand: rounds of {kind.__name__}, act and update",
                speed,
                f"{speed:,.0f}/s",
                1000.0 if semi else None,
            )
        )
    return lines


def _large() -> list[Line]:
    """In a process of its own: a peak reached before would hide this one."""
    code = "from benchmarks.paths import large; print(*large())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    more, taken = map(float, done.stdout.split())
    return [
        Line(
            f"{EDGES:,} random edges: megabytes of a semi-bandit game, above those before it",
            more,
            f"{more:,.0f} ({rate([taken])} leaders)",
            500.0,
            at_least=False,
        )
    ]


def large() -> tuple[float, float]:
    """Megabytes that a large graph and a short game on it take, and seconds for a leader."""
    rng = np.random.default_rng(0)
    n = EDGES // 4
    tail = np.concatenate([np.arange(n - 1), rng.integers(0, n - 50, size=EDGES - n + 1)])
    step = np.concatenate([np.ones(n - 1, np.int64), rng.integers(1, 50, size=EDGES - n + 1)])
    before = _peak()
    oracle = hn.oracles.Paths((tail, tail + step), 0, n - 1)
    total = oracle.objective()
    total.add(None, rng.random(EDGES))
    noise = oracle.noise([None], seed_key(0), 0, 2**26)
    total.minima(Draw(noise, 0, 1.0), 32)
    started = time.perf_counter()
    for first in range(32, 192, 32):
        total.minima(Draw(noise, first, 1.0), 32)
    taken = (time.perf_counter() - started) / 160
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0, max_resamples=50)
    for _ in range(5):
        learner.update(np.full(len(learner.act()), 0.5))
    return (_peak() - before) / 2**20, taken


def _peak() -> float:
    """Bytes held at most so far."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would begin with what the parent process held
        words = status.read_text(encoding="utf-8").split()
        return 1024.0 * float(words[words.index("VmHWM:") + 1])
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else held * 1024.0
