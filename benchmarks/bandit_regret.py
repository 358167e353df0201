"""Bandit regret of ContextSemiBanditFTPL beside Exp4 at its best learning rate, mean over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line

N, D, K, HORIZON = 1000, 50, 5, 20_000
SEEDS = range(200, 220)  # which no choice of a default has seen
RATES = (0.018, 0.025, 0.035, 0.05, 0.07)
WORLDS = {
    hn.environments.PlantedPolicy: 1.13,
    hn.environments.LeaderPunisher: 1.13,
    hn.environments.Switching: 1.5,
}
"""Worlds, with the regret that is allowed, over that of Exp4 tuned in hindsight."""
MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "one success": {"resampling": 1},
    "four successes": {"resampling": 4},
}

Found = dict[str, tuple[float, float]]


def run() -> list[Line]:
    """All worlds; all learners of a seed meet the same policies and the same losses."""
    cells = [(world, seed) for world in WORLDS for seed in SEEDS]
    found = Parallel(n_jobs=2)(delayed(one_seed)(world, seed) for world, seed in cells)
    lines: list[Line] = []
    for i, (world, allowed) in enumerate(WORLDS.items()):
        lines += _lines(world.__name__, found[i * len(SEEDS) : (i + 1) * len(SEEDS)], allowed)
    trapped = np.array(Parallel(n_jobs=2)(delayed(trap)(seed) for seed in SEEDS))
    ours, plain = trapped.mean(axis=0)
    error = np.diff(trapped).std(ddof=1) / np.sqrt(len(SEEDS))
    lines.append(
        Line(
            "Bait, K=2, a bad action turns good: loss a round over that with weights by successes",
            ours / plain,
            f"{ours / plain:.3f} ({ours:.4f} : {plain:.4f}, difference ± {error:.4f})",
            1.02,
            at_least=False,
        )
    )
    return lines


def trap(seed: int) -> tuple[float, float]:
    """Loss a round where rare actions must not be charged too much: by default, and as printed."""
    table = np.random.default_rng(seed).integers(2, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=2)
    world = hn.environments.Bait(oracle, part=0.3)
    learners = [
        hn.ContextSemiBanditFTPL(oracle, seed=seed, resampling=resampling)
        for resampling in ("auto", "rao-blackwell")
    ]
    ours, plain = (hn.play(each, world, HORIZON, seed=seed).losses.mean() for each in learners)
    return float(ours), float(plain)


def one_seed(world: Any, seed: int) -> Found:
    """For each learner its regret, and its loss less that of the planted sequence if there is one.

    Under "certificate" the default learner's own estimate of a bound.
    """
    table = np.random.default_rng(seed).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    learners: dict[str, hn.Learner] = {
        name: hn.ContextSemiBanditFTPL(oracle, seed=seed, **options)
        for name, options in MODES.items()
    }
    for rate in RATES:
        learners[f"Exp4, rate {rate:g}"] = hn.baselines.Exp4(oracle, learning_rate=rate, seed=seed)
    environment = world(oracle)
    found: Found = {}
    for name, learner in learners.items():
        trace = hn.play(learner, environment, HORIZON, seed=seed)
        regret = trace.regret()
        moving = regret
        if isinstance(environment, hn.environments.Switching):
            moving = trace.losses.sum() - planted_loss(environment, trace, seed)
        found[name] = (regret, float(moving))
    certificate = float(learners["default"].certificate())
    return {**found, "certificate": (certificate, certificate)}


def planted_loss(world: hn.environments.Switching, trace: Any, seed: int) -> float:
    """What the planted policies lost, each in its own stretch of rounds."""
    planted = world._plant(world.switches + 1, np.random.default_rng(seed))
    tables = [table.argmax(axis=1) for table in planted]
    T = len(trace)
    return float(
        sum(
            losses[tables[t * len(tables) // T][x]]
            for t, (x, losses) in enumerate(zip(trace.contexts, trace.outcomes, strict=True))
        )
    )


def _lines(world: str, results: list[Found], allowed: float) -> list[Line]:
    fixed = {name: np.array([r[name][0] for r in results]) for name in results[0]}
    moving = {name: np.array([r[name][1] for r in results]) for name in results[0]}
    mean = {name: float(values.mean()) for name, values in moving.items()}
    exp4 = min((name for name in mean if name.startswith("Exp4")), key=mean.__getitem__)
    kind = "regret to the planted sequence" if world == "Switching" else "regret"
    bound = hn.bounds.semi_bandit(HORIZON, d=D, n_actions=K, log_size=np.log(N)).value
    over = mean["default"] / mean[exp4]
    lines = [
        Line(
            f"{world}: {kind}, default, over that of {exp4}",
            over,
            f"{over:.2f} ({_shown(moving['default'])} : {_shown(moving[exp4])})",
            allowed,
            at_least=False,
        )
    ]
    worst = max(float(fixed[name].max()) for name in MODES)
    own = mean["certificate"]
    lines += [
        Line(f"{world}: largest regret of any run", worst, f"{worst:,.0f}", bound, at_least=False),
        Line(
            f"{world}: regret, default, allowed the mean certificate",
            float(fixed["default"].mean()),
            _shown(fixed["default"]),
            own,
            at_least=False,
        ),
    ]
    for name in [*MODES, *(name for name in mean if name.startswith("Exp4"))]:
        shown = _shown(fixed[name])
        if world == "Switching":
            shown += f"; to the planted sequence {_shown(moving[name])}"
        lines.append(Line(f"{world}: regret of {name}", float(fixed[name].mean()), shown))
    return lines


def _shown(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.0f} ± {values.std(ddof=1) / np.sqrt(len(values)):.0f}"
