"""Submodular losses: leaders of cut functions by flow and by values, and regret over 20 seeds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import hannan as hn
from benchmarks.measure import Line, rate, ratio, take_turns
from hannan.environments.image_cut import grid_edges
from hannan.oracles.submodular import SubmodularObjective, minimise_by_values
from hannan.perturbation import seed_key

NODES, SCALE = 200, 3.0
K, HORIZON, SEEDS = 12, 500, 20


def run() -> list[Line]:
    """Speed first, then regret at T and at 4T."""
    return [*_speed(), *_regret("full information"), *_regret("semi-bandit, linear losses")]


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
                f"{rate(flow)}, {ratio(values, flow):,.0f} x the general algorithm ({rate(values)})",
                200.0,
            )
        )
    return lines


def _grid() -> SubmodularObjective:
    rng = np.random.default_rng(0)
    ends = grid_edges(10, NODES // 10)
    total = hn.oracles.Submodular(NODES).objective()
    for _ in range(20):
        weights = 0.3 * rng.normal(size=NODES)
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
    total.chosen(None, noise, 0, count, SCALE)
    return (time.perf_counter() - started) / count


def _seconds_by_values(total: SubmodularObjective, noise: hn.core.Noise, count: int) -> float:
    started = time.perf_counter()
    for draw in range(count):
        minimise_by_values(total.total, SCALE * noise.unit(draw)[0])
    return (time.perf_counter() - started) / count


class Balanced(hn.Environment):
    """Losses that favour no set on average: cut functions, or vectors if they are to be linear."""

    def __init__(self, n: int, linear: bool) -> None:
        self.n = self.n_actions = n
        self.linear = linear

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        """Independent rounds."""
        unit = 1.0 / 64
        for _ in range(horizon):
            weights = rng.choice([-2.0, 2.0], self.n) * unit
            ends = rng.integers(self.n, size=(2, self.n))
            cut = hn.losses.Cut(*ends, unit, self.n, weights, offset=0.375)
            yield hn.Round(None, weights if self.linear else cut)


def _regret(feedback: str) -> list[Line]:
    full = feedback == "full information"
    oracle = hn.oracles.Submodular(K)
    world = Balanced(K, linear=not full)
    mean, worst, bounds = {}, {}, {}
    for horizon in (HORIZON, 4 * HORIZON):
        found = []
        for seed in range(SEEDS):
            learner = (
                hn.ContextFTPL(oracle, seed=seed)
                if full
                else hn.ContextSemiBanditFTPL(oracle, seed=seed, loss_range=(-1 / 32, 1 / 32))
            )
            found.append(hn.play(learner, world, horizon, seed=seed).regret())
        mean[horizon], worst[horizon] = float(np.mean(found)), max(found)
        size = {"d": 1, "n_actions": K, "log_size": oracle.log_size([None]), "m": K}
        bounds[horizon] = (
            hn.bounds.complete_information(
                horizon, **size, loss_bound=1.0 / K, nonnegative=False
            ).value
            if full
            else hn.bounds.semi_bandit(horizon, **size, loss_bound=1 / 32).value
        )
    falls = mean[4 * HORIZON] / 4 / mean[HORIZON]
    shown = f"{falls:.2f} ({mean[HORIZON]:.2f} : {mean[4 * HORIZON]:.2f} in all)"
    what = f"K={K}, {feedback}: average regret at T={4 * HORIZON:,} over that at T={HORIZON}"
    lines = [Line(what, falls, shown, 0.8, at_least=False)]
    for horizon in worst:
        what = f"K={K}, {feedback}: largest regret of {SEEDS} runs, T={horizon:,}"
        lines.append(
            Line(what, worst[horizon], f"{worst[horizon]:.2f}", bounds[horizon], at_least=False)
        )
    return lines
