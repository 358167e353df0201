"""Sets, trees, matchings and programs: speed of leaders and rounds, and regret as it grows."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line, rate, ratio, take_turns
from benchmarks.paths_regret import ListedSemiBandit
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key

ITEMS, SHOWN, WINDOW = 1000, 10, 500
NODES, EDGES, DRAWS = 150, 500, 64
SEEDS = 20
RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
K5 = list(itertools.combinations(range(5), 2))
NEIGHBOURS = np.eye(6, dtype=int)[:5] + np.eye(6, k=1, dtype=int)[:5]


def at_most_three(elements: list[int]) -> bool:
    """The uniform matroid of rank three."""
    return len(elements) <= 3


CLASSES: dict[str, tuple[Callable[[], Any], int]] = {
    "Subsets(8, 3)": (lambda: hn.oracles.Subsets(8, 3), 500),
    "PartitionMatroid, 2 of 5 twice": (
        lambda: hn.oracles.PartitionMatroid([0, 1] * 5, [2, 2]),
        500,
    ),
    "SpanningTrees of K5": (lambda: hn.oracles.SpanningTrees(K5), 500),
    "Matroid, rank 3 of 7": (lambda: hn.oracles.Matroid(7, at_most_three), 250),
    "Matchings(4, 4)": (lambda: hn.oracles.Matchings(4, 4), 500),
    "LinearProgram, covers of a path": (
        lambda: hn.oracles.LinearProgram(-NEIGHBOURS, -np.ones(5)),
        60,
    ),
}
GRID = hn.networks.RoadNetwork.grid(8, 8)
MASKED: dict[str, Callable[[], Any]] = {
    "Subsets(200, 10)": lambda: hn.oracles.Subsets(200, 10),
    "PartitionMatroid, 200 elements in 20 groups": lambda: hn.oracles.PartitionMatroid(
        np.arange(200) % 20, 2
    ),
    "SpanningTrees, 93 edges and 40 nodes": lambda: hn.oracles.SpanningTrees(
        nx.gnm_random_graph(40, 93, seed=1)
    ),
    "Matroid, rank 3 of 20": lambda: hn.oracles.Matroid(20, at_most_three),
    "Matchings(20, 20)": lambda: hn.oracles.Matchings(20, 20),
    "LinearProgram, a knapsack of 30 items": lambda: hn.oracles.LinearProgram(
        np.random.default_rng(0).integers(1, 10, size=(1, 30)), [40]
    ),
    "Paths, 112 links": lambda: hn.oracles.Paths.towards(GRID, 1, 64),
    "PerContext of two Paths": lambda: hn.oracles.PerContext(
        {(1, n): hn.oracles.Paths.towards(GRID, 1, n) for n in (63, 64)}
    ),
}
CLOSED = 0.05
WORLDS = {
    "full information, leader punished": (hn.ContextFTPL, hn.environments.LeaderPunisher),
    "semi-bandit, planted": (hn.ContextSemiBanditFTPL, hn.environments.PlantedPolicy),
}
LISTED_WORLDS = {
    "planted": hn.environments.PlantedPolicy,
    "leader punished": hn.environments.LeaderPunisher,
}


def run() -> list[Line]:
    """Speeds first, on a machine that is not busy with the regrets yet."""
    return [*_slates(), *_trees(), *_leaders(), *_masks(), *_regrets(), *_listed()]


def _slates() -> list[Line]:
    rng = np.random.default_rng(0)
    chance = np.full(ITEMS, 0.5)
    chance[rng.choice(ITEMS, SHOWN, replace=False)] = 0.1
    worlds = {
        "planted slate": lambda: (rng.random((WINDOW, ITEMS)) < chance).astype(float),
        "nothing to learn": lambda: rng.random((WINDOW, ITEMS)),
    }
    lines = []
    for name, make in worlds.items():
        learner = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(ITEMS, SHOWN), seed=0)
        seconds = []
        for _ in range(12):
            losses = make()
            started = time.perf_counter()
            for row in losses:
                learner.update(row[learner.act()])
            seconds.append((time.perf_counter() - started) / WINDOW)
        speed = 1.0 / float(np.median(seconds[2:]))
        what = f"Subsets({ITEMS}, {SHOWN}), {name}: semi-bandit rounds a second"
        lines.append(Line(what, speed, rate(seconds[2:]), 5000.0))
    return lines


def _trees() -> list[Line]:
    """Kruskal on a random graph, beside the same in networkx on the same perturbed costs."""
    graph = nx.gnm_random_graph(NODES, EDGES, seed=0)
    assert nx.is_connected(graph)
    oracle = hn.oracles.SpanningTrees(graph)
    total = oracle.objective()
    total.add(None, np.random.default_rng(0).random(EDGES))
    noise = oracle.noise([None], seed_key(0), 0, 2**26)
    costs = total.totals + np.array([noise.unit(n)[0] for n in range(4)])
    minima = total.minima(Draw(noise, 0, 1.0), 4)

    def ours() -> float:
        started = time.perf_counter()
        total.leaders(Draw(noise, 0, 1.0), DRAWS)
        return (time.perf_counter() - started) / DRAWS

    def networkx() -> float:
        taken = 0.0
        for row, least in zip(costs, minima, strict=True):
            for (u, v), cost in zip(oracle.edges, row, strict=True):
                graph.edges[u, v]["weight"] = cost
            started = time.perf_counter()
            found = list(nx.minimum_spanning_edges(graph, data=True))
            taken += time.perf_counter() - started
            assert abs(sum(data["weight"] for *_, data in found) - least) < 1e-4
        return taken / len(costs)

    ours()
    fast, slow = take_turns([ours, networkx], repetitions=9)
    speed = 1.0 / float(np.median(fast))
    what = f"SpanningTrees, {EDGES} edges and {NODES} nodes: "
    return [
        Line(what + "leaders a second", speed, rate(fast), 2000.0),
        Line(
            what + "leaders, speed over networkx",
            ratio(slow, fast),
            f"{ratio(slow, fast):.0f} x ({rate(fast)} : {rate(slow)})",
        ),
    ]


def _leaders() -> list[Line]:
    rng = np.random.default_rng(0)
    knapsack = rng.integers(1, 10, size=(2, 50))
    others = {
        "PartitionMatroid, 1,000 elements in 50 groups": hn.oracles.PartitionMatroid(
            np.arange(1000) % 50, 2
        ),
        "Matchings(30, 30)": hn.oracles.Matchings(30, 30),
        "LinearProgram, flow on K5": hn.oracles.LinearProgram(A_eq=_flow(), b_eq=[-1, 0, 0, 0]),
        "LinearProgram, two knapsacks of 50 items": hn.oracles.LinearProgram(knapsack, [60, 60]),
    }
    lines = []
    for name, oracle in others.items():
        total = oracle.objective()
        total.add(None, -rng.random(oracle.n_actions))
        noise = oracle.noise([None], seed_key(0), 0, 2**26)
        count = 20 if name.startswith("LinearProgram") else 200
        total.leaders(Draw(noise, 0, 1.0), count)
        started = time.perf_counter()
        total.leaders(Draw(noise, 0, 1.0), count)
        seconds = (time.perf_counter() - started) / count
        lines.append(Line(f"{name}: leaders a second", 1.0 / seconds, rate([seconds])))
    return lines


def _masks() -> list[Line]:
    """Rounds in which 5 % of the elements are closed, and rounds in which none is, by turns.

    CPU time: both contenders do the same work but for the masks. Programs with closed elements are
    other programs, which have to be solved anew.
    """
    lines = []
    for name, kind in itertools.product(MASKED, (hn.ContextFTPL, hn.ContextSemiBanditFTPL)):
        masked, plain = mask_cost(MASKED[name], kind)
        feedback = "full information" if kind is hn.ContextFTPL else "semi-bandit"
        worse = ratio(masked, plain)
        lines.append(
            Line(
                f"{name}, {feedback}: a round with 5 % of the elements closed over one without",
                worse,
                f"{worse:.2f} ({1e6 * min(masked):.0f} : {1e6 * min(plain):.0f} µs)",
                2.0,
                at_least=False,
            )
        )
    return lines


def mask_cost(
    make: Callable[[], Any], kind: Any, rounds: int = 200, repetitions: int = 15
) -> tuple[list[float], list[float]]:
    """Seconds a round of a learner that is told what is open, and of one that is not."""
    oracle, rng = make(), np.random.default_rng(1)
    K, rewards = oracle.n_actions, not oracle.fixed_size and not isinstance(oracle, _ROUTES)
    losses = rng.random((rounds, K)) - float(rewards)
    xs = [oracle.contexts[t % len(oracle.contexts)] for t in range(rounds)]
    masks = [open_elements(oracle, x, rng) for x in xs]
    players = [
        kind(make(), seed=0, loss_range=(-1.0, 0.0) if rewards else (0.0, 1.0)) for _ in range(2)
    ]

    def played(learner: Any, told: bool) -> Callable[[], float]:
        def play() -> float:
            started = time.process_time()
            for x, mask, row in zip(xs, masks, losses, strict=True):
                action = learner.act(x, mask if told else None)
                learner.update(row if kind is hn.ContextFTPL else row[action])
            return (time.process_time() - started) / rounds

        return play

    contenders = [played(players[0], told=True), played(players[1], told=False)]
    take_turns(contenders, repetitions=2)
    masked, plain = take_turns(contenders, repetitions)
    return masked, plain


_ROUTES = hn.oracles.Paths, hn.oracles.PerContext


def open_elements(oracle: Any, context: Any, rng: np.random.Generator) -> np.ndarray:
    """All elements but 5 % of them, drawn again until something is feasible."""
    total = oracle.objective()
    while True:
        mask = rng.random(oracle.n_actions) >= CLOSED
        try:
            total.action(context, WITHOUT_NOISE, None, np.where(mask, np.arange(len(mask)), -1))
        except hn.core.InfeasibleError:
            continue
        return mask


def _flow() -> np.ndarray:
    """Conservation at the nodes of K5 but the last: one unit goes from node 0 to it."""
    table = np.zeros((5, len(K5)))
    for j, (u, v) in enumerate(K5):
        table[u, j], table[v, j] = -1, 1
    return table[:4]


def _regrets() -> list[Line]:
    cells = [(name, world, seed) for name in CLASSES for world in WORLDS for seed in range(SEEDS)]
    found = Parallel(n_jobs=2)(delayed(one_seed)(*cell) for cell in cells)
    by_cell = dict(zip(cells, found, strict=True))
    lines = []
    for name, (_, T) in CLASSES.items():
        for world in WORLDS:
            short, long, bound = np.array([by_cell[name, world, seed] for seed in range(SEEDS)]).T
            allowed = "bound" if world.startswith("full") else "mean certificate"
            fall = float(long.mean() / (4.0 * short.mean()))
            lines += [
                Line(
                    f"{name}, {world}: average regret at 4T = {4 * T:,} over that at T",
                    fall,
                    f"{fall:.2f} ({_shown(long / (4 * T))} : {_shown(short / T)})",
                    1.0,
                    at_least=False,
                ),
                Line(
                    f"{name}, {world}: regret at 4T, allowed the {allowed}",
                    float(long.mean()),
                    _shown(long),
                    float(bound.mean()),
                    at_least=False,
                ),
            ]
    return lines


def one_seed(name: str, world: str, seed: int) -> tuple[float, float, float]:
    """Regret after T and after 4T rounds of two games, and the bound of the longer one.

    With full information the bound is 2 sqrt(2 G V) + 2 R; with semi-bandit feedback the
    learner's own estimate of one.
    """
    make, T = CLASSES[name]
    kind, environment = WORLDS[world]
    oracle = make()
    regrets = []
    bound = math.inf
    for horizon in (T, 4 * T):
        learner = kind(oracle, seed=seed)
        trace = hn.play(learner, environment(oracle), horizon, seed=seed)
        regrets.append(trace.regret())
        if kind is hn.ContextFTPL:
            V = float((trace.losses**2).sum())
            bound = 2.0 * math.sqrt(2.0 * learner.complexity.upper * V) + 2.0 * oracle.max_chosen
        else:
            bound = float(learner.certificate())
    return regrets[0], regrets[1], bound


def _listed() -> list[Line]:
    """Subsets beside exponential weights on all the sets listed, at the best of several rates."""
    found = Parallel(n_jobs=2)(delayed(one_listed)(seed) for seed in range(SEEDS))
    lines = []
    for world, feedback in itertools.product(LISTED_WORLDS, ("full", "semi-bandit")):
        values = {
            name: np.array([r[world, feedback, name] for r in found])
            for w, f, name in found[0]
            if (w, f) == (world, feedback)
        }
        mean = {name: float(v.mean()) for name, v in values.items()}
        best = min((n for n in mean if n != "Subsets"), key=mean.__getitem__)
        worse = mean["Subsets"] / mean[best]
        edge = ", the largest tried" if best == f"rate {RATES[-1]:g}" else ""
        lines.append(
            Line(
                f"Subsets(8, 3), {world}, {feedback}: regret over that of exponential weights on "
                f"56 sets, {best}{edge}",
                worse,
                f"{worse:.2f} ({_shown(values['Subsets'])} : {_shown(values[best])})",
            )
        )
    return lines


def one_listed(seed: int) -> dict[tuple[str, str, str], float]:
    """The regret of each learner, all of a world meeting the same losses."""
    sets = np.array(list(itertools.combinations(range(8), 3)))
    oracle = hn.oracles.Subsets(8, 3)
    listed = hn.oracles.FinitePolicies(sets[:, None, :], n_actions=8)
    inclusion = np.zeros((len(sets), 8), dtype=bool)
    np.put_along_axis(inclusion, sets, True, axis=1)
    found = {}
    for name, make in LISTED_WORLDS.items():
        players: dict[tuple[str, str], Any] = {
            ("full", "Subsets"): hn.ContextFTPL(oracle, seed=seed),
            ("semi-bandit", "Subsets"): hn.ContextSemiBanditFTPL(oracle, seed=seed),
        }
        for r in RATES:
            hedge = hn.baselines.Hedge(listed, learning_rate=r, seed=seed)
            players["full", f"rate {r:g}"] = hedge
            players["semi-bandit", f"rate {r:g}"] = ListedSemiBandit(inclusion, r, seed)
        for (feedback, player), learner in players.items():
            trace = hn.play(learner, make(oracle), 2000, seed=seed, oracle=oracle)
            found[name, feedback, player] = trace.regret()
    return found


def _shown(values: np.ndarray) -> str:
    """Mean and standard error."""
    error = values.std(ddof=1) / math.sqrt(len(values))
    return f"{values.mean():,.3g} ± {error:.2g}"
