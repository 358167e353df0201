"""Sequences of policies: listed policies under fresh noise and noise drawn once, and paths."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

import hannan as hn
from benchmarks.measure import Line, random_rounds, rate, seconds_per_round, take_turns

T, K, N, D, SWITCHES = 2000, 5, 50, 20, 3
DAYS, LAYERS, WIDTH = 300, 5, 4


def run() -> list[Line]:
    """Self-tuned learners, but for noise drawn once, which needs a fixed ε."""
    return [*_listed(), _paths()]


def _listed() -> list[Line]:
    table = np.random.default_rng(0).integers(K, size=(N, D))
    rounds = random_rounds(T, D, K)
    oracle = hn.oracles.Switching(
        hn.oracles.FinitePolicies(table, n_actions=K), SWITCHES, sequence=[x for x, _ in rounds]
    )
    learner = hn.ContextFTPL(oracle, seed=0)
    settings = {
        "fresh noise, self-tuned": (learner, 300.0),
        "noise drawn once, fixed ε": (learner.clone(noise="once", epsilon=0.1), 5000.0),
        "noise on the future": (hn.PlayoutFTPL(oracle, seed=0), None),
    }
    found = take_turns(
        [
            lambda learner=learner: seconds_per_round(learner.clone(), rounds)
            for learner, _ in settings.values()
        ],
        repetitions=5,
    )
    size = f"T={T:,}, k={SWITCHES}, N={N}"
    return [
        Line(f"{size}: rounds a second, {name}", 1.0 / float(np.median(taken)), rate(taken), target)
        for (name, (_, target)), taken in zip(settings.items(), found, strict=True)
    ]


def layered() -> hn.oracles.Paths:
    """A graph of 76 links: five layers of four nodes, and four links that skip a layer."""
    layers = [["s"], *([(i, j) for j in range(WIDTH)] for i in range(LAYERS)), ["t"]]
    links = [(a, b) for here, there in pairwise(layers) for a in here for b in there]
    links += [("s", (1, 0)), ("s", (1, 1)), ((LAYERS - 2, 0), "t"), ((LAYERS - 2, 1), "t")]
    return hn.oracles.Paths(links, "s", "t")


def _paths() -> Line:
    """The whole game, the estimate of G included."""
    roads = layered()
    rng = np.random.default_rng(0)
    means = rng.random((SWITCHES + 1, roads.n_actions))[np.arange(DAYS) * (SWITCHES + 1) // DAYS]
    losses = np.clip(means + 0.2 * rng.normal(size=means.shape), 0.0, 1.0)
    world = hn.environments.FromArrays(None, losses)
    oracle = hn.oracles.Switching(roads, SWITCHES, sequence=DAYS)
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        hn.play(hn.ContextFTPL(oracle, seed=0), world)
        seconds.append(time.perf_counter() - started)
    taken = float(np.median(seconds))
    what = f"paths of {roads.n_actions} links, T={DAYS}, k={SWITCHES}: seconds of a whole game"
    return Line(what, taken, f"{taken:.1f} s", 60.0, at_least=False)
