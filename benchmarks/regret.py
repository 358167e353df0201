"""Regret of self-tuned ContextFTPL beside every fixed ε of a sweep, mean over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line

N, D, K, HORIZON, SEEDS = 1000, 50, 5, 20_000, 20
SWEEP = (0.03, 0.1, 0.3, 1.0, 3.0)
WORLDS = (hn.environments.PlantedPolicy, hn.environments.LeaderPunisher)


def run() -> list[Line]:
    """Both worlds; all learners of a seed meet the same policies and the same losses."""
    cells = [(world, seed) for world in WORLDS for seed in range(SEEDS)]
    found = Parallel(n_jobs=2)(delayed(one_seed)(world, seed) for world, seed in cells)
    lines: list[Line] = []
    for i, world in enumerate(WORLDS):
        results = found[i * SEEDS : (i + 1) * SEEDS]
        regrets = {name: np.array([r[0][name] for r in results]) for name in results[0][0]}
        certificates = np.array([r[1] for r in results])
        lines += _lines(world.__name__, regrets, certificates)
    return lines


def one_seed(world: Any, seed: int) -> tuple[dict[str, float], float]:
    """Regret of each learner on one random table of policies, and the self-tuned certificate."""
    table = np.random.default_rng(seed).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    learners: dict[str, hn.Learner] = {"self-tuned": hn.ContextFTPL(oracle, seed=seed)}
    for epsilon in SWEEP:
        learners[f"ε={epsilon:g}"] = hn.ContextFTPL(oracle, epsilon=epsilon, seed=seed)
    learners["ε=theorem"] = hn.ContextFTPL(oracle, epsilon="theorem", horizon=HORIZON, seed=seed)
    learners["FollowTheLeader"] = hn.baselines.FollowTheLeader(oracle)
    learners["Hedge"] = hn.baselines.Hedge(oracle, seed=seed)
    regrets = {
        name: hn.play(learner, world(oracle), HORIZON, seed=seed, oracle=oracle).regret()
        for name, learner in learners.items()
    }
    return regrets, float(learners["self-tuned"].certificate())


def _lines(world: str, regrets: dict[str, np.ndarray], certificates: np.ndarray) -> list[Line]:
    mean = {name: float(values.mean()) for name, values in regrets.items()}
    best = min((f"ε={epsilon:g}" for epsilon in SWEEP), key=mean.__getitem__)
    ours = mean["self-tuned"]
    certificate = float(certificates.mean())
    return [
        Line(
            f"{world}: self-tuned regret, allowed 1.25 x best fixed ({best}) + 30",
            ours,
            _with_error(regrets["self-tuned"]),
            1.25 * mean[best] + 30.0,
            at_least=False,
        ),
        Line(
            f"{world}: self-tuned regret, allowed the mean certificate",
            ours,
            _with_error(regrets["self-tuned"]),
            certificate,
            at_least=False,
        ),
        *(
            Line(f"{world}: regret of {name}", mean[name], _with_error(values))
            for name, values in regrets.items()
            if name != "self-tuned"
        ),
    ]


def _with_error(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
