"""Submodular losses: leaders of cut functions by flow and by values, and regret over 20 seeds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from examples.worlds.image_cut import grid_edges

import hannan as hn
from benchmarks.measure import Line, rate, ratio, take_turns
from hannan.core.oracle import Draw
from hannan.oracles.submodular import SubmodularObjective, minimise_by_values
from hannan.perturbation import seed_key

NODES, SCALE = 200, 3.0
K, HORIZON, SEEDS = 12, 500, 20


def run() -> list[Line]:
    """Speed first, then regret at T and at 4T."""
    return [*_speed(), *_regret()]


def _speed() -> list[Line]:
    lines = []
    for name, total in (("a grid", _grid()), ("20,000 random arcs", _dense())):
        noise = total.oracle.noise([None], seed_key(0), 0, 2**22)
        _seconds_by_flow(total, noise, 2)
        flow, values = take_turns(
            [
                lambda total=total, noise=noise: _seconds_by_flow(total, noise, 100),
                lambda total=total, noise=noise: _seconds_by_values(total, noise, 3),
            ],
            repetitions=7,
        )
        lines.append(
            Line(
                f"cut functions on {NODES} nodes, {name}: leaders per second",
                1.0 / float(np.median(flow)),
                f"{rate(flow)}, {ratio(values, flow):,.0f} x those by values ({rate(values)})",
                200.0,
            )
        )
    return lines


def _grid() -> SubmodularObjective:
    rng = np.random.default_rng(0)
    ends = grid_edges(10, NODES // 10)
    total = hn.oracles.Submodular(NODES).objective()
    for _ in range(20):
        weights = 3.0 * rng.normal(size=NODES)
        capacities = rng.random(len(ends[0]))
        total.add(None, hn.losses.Cut(*ends, capacities, NODES, weights, directed=False))
    return total


def _dense() -> SubmodularObjective:
    rng = np.random.default_rng(1)
    total = hn.oracles.Submodular(NODES).objective()
    for _ in range(20):
        ends = rng.integers(NODES, size=(2, 1000))
        total.add(None, hn.losses.Cut(*ends, 0.1, NODES, 2.0 * rng.normal(size=NODES)))
    return total


def _seconds_by_flow(total: SubmodularObjective, noise: hn.core.Noise, count: int) -> float:
    started = time.perf_counter()
    total.chosen(None, Draw(noise, 0, SCALE), count)
    return (time.perf_counter() - started) / count


def _seconds_by_values(total: SubmodularObjective, noise: hn.core.Noise, count: int) -> float:
    started = time.perf_counter()
    for draw in range(count):
        minimise_by_values(total.total, SCALE * noise.unit(draw)[0])
    return (time.perf_counter() - started) / count


class Balanced(hn.Environment):
    """Cut functions that favour no set on average.

    Full information only: semi-bandit feedback needs linear losses that are not negative, and then
    choosing nothing has no regret from the first round on.
    """

    def __init__(self, n: int) -> None:
        self.n = self.n_actions = n

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        """Independent rounds."""
        unit = 1.0 / 64
        for _ in range(horizon):
            weights = rng.choice([-2.0, 2.0], self.n) * unit
            ends = rng.integers(self.n, size=(2, self.n))
            yield hn.Round(None, hn.losses.Cut(*ends, unit, self.n, weights, offset=0.375))


def _regret() -> list[Line]:
    oracle, world = hn.oracles.Submodular(K), Balanced(K)
    lines, mean = [], []
    for horizon in (HORIZON, 4 * HORIZON):
        learners = [hn.ContextFTPL(oracle, seed=seed) for seed in range(SEEDS)]
        found = [
            hn.play(learner, world, horizon, seed=seed).regret()
            for seed, learner in enumerate(learners)
        ]
        bound = hn.bounds.complete_information(
            horizon,
            d=1,
            n_actions=K,
            log_size=oracle.log_size([None]),
            m=K,
            loss_bound=1.0 / K,
            nonnegative=False,
        ).value
        certificate = float(np.mean([learner.certificate().measured for learner in learners]))
        mean.append(float(np.mean(found)))
        what = f"K={K}, T={horizon:,}, {SEEDS} seeds"
        lines += [
            Line(f"{what}: largest regret", max(found), f"{max(found):.2f}", bound, False),
            Line(
                f"{what}: mean regret, allowed the mean certificate",
                mean[-1],
                f"{mean[-1]:.2f}",
                certificate,
                False,
            ),
        ]
    falls = mean[1] / 4 / mean[0]
    what = f"K={K}: average regret at T={4 * HORIZON:,} over that at T={HORIZON}"
    return [*lines, Line(what, falls, f"{falls:.2f}", 0.8, False)]
