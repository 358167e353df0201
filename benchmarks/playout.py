"""Noise on contexts still to come: regret beside its bound, and the time of a round."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line, Rounds, rate, ratio, take_turns
from benchmarks.measure import seconds_per_round as timed

N, D, K, HORIZON, SEEDS = 60, 20, 3, 5000, 20
LONG, WINDOW = 40_000, 1000
WORLDS = (hn.environments.PlantedPolicy, hn.environments.LeaderPunisher)


def run() -> list[Line]:
    """Both kinds of feedback."""
    lines = []
    for feedback in ("full information", "bandit"):
        for world in WORLDS:
            found = Parallel(n_jobs=2)(
                delayed(one_seed)(world, feedback, seed) for seed in range(SEEDS)
            )
            regret, bound, usual = np.array(found).T
            lines.append(
                Line(
                    f"{world.__name__}, {feedback}: regret, allowed the bound (in brackets with "
                    "Laplace noise, self-tuned)",
                    float(regret.mean()),
                    f"{regret.mean():,.1f} ± {regret.std(ddof=1) / np.sqrt(SEEDS):.1f} "
                    f"({usual.mean():,.1f})",
                    float(bound[0]),
                    at_least=False,
                )
            )
    for name, oracle in (
        ("FinitePolicies, N=1000", hn.oracles.FinitePolicies(_table(1000), n_actions=K)),
        ("AllPolicies", hn.oracles.AllPolicies(D, K)),
    ):
        for kind in (hn.PlayoutFTPL, hn.PlayoutBandit):
            lines.append(growth(name, oracle, kind))
    return lines


def one_seed(world: type[hn.Environment], feedback: str, seed: int) -> tuple[float, float, float]:
    """Regret, bound, and the regret of the usual learner."""
    oracle = hn.oracles.FinitePolicies(_table(N, seed), n_actions=K)
    environment = world(oracle)
    full = feedback == "full information"
    kind = hn.PlayoutFTPL if full else hn.PlayoutBandit
    plain = hn.ContextFTPL if full else hn.ContextSemiBanditFTPL
    sequence = [r.context for r in environment.rounds(HORIZON, np.random.default_rng(seed))]
    learner = kind(oracle, sequence, seed=seed)
    trace = hn.play(learner, environment, HORIZON, seed=seed)
    assert trace.oracle_calls == HORIZON
    usual = hn.play(plain(oracle, seed=seed), environment, HORIZON, seed=seed)
    return trace.regret(), float(learner.certificate().a_priori), usual.regret()


def growth(name: str, oracle: hn.Oracle, kind: type[hn.Learner]) -> Line:
    """The time of a round late in a long game over that early."""
    rng = np.random.default_rng(0)
    sequence = rng.integers(D, size=LONG).tolist()
    full = kind is hn.PlayoutFTPL
    losses = rng.random((LONG, K)) if full else rng.random(LONG)
    rounds: Rounds = list(zip(sequence, losses, strict=True))

    def started(at: int) -> hn.Learner:
        learner = kind(oracle, sequence, seed=0)
        timed(learner, rounds[:at])
        return learner

    early, late = started(1000), started(LONG - 8 * WINDOW - 1000)
    times = {"early": 1000, "late": LONG - 8 * WINDOW - 1000}

    def one(which: str, learner: hn.Learner) -> float:
        at = times[which]
        times[which] = at + WINDOW
        return timed(learner, rounds[at : at + WINDOW])

    now, then = take_turns([lambda: one("late", late), lambda: one("early", early)], 7)
    grown = ratio(now, then)
    return Line(
        f"{name}, {kind.__name__}: time of a round near t={LONG:,} over that near t=1,000",
        grown,
        f"{grown:.3f} ({rate(now)} : {rate(then)})",
        1.15,
        at_least=False,
    )


def _table(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(K, size=(n, D))
