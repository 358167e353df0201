"""A million policies: ContextFTPL and Hedge on the same class, and the size of the noise block."""

from __future__ import annotations

import numpy as np

import hannan as hn
from benchmarks.measure import Line, random_rounds, rate, ratio, seconds_per_round, take_turns

N, D, K = 10**6, 20, 4


def run() -> list[Line]:
    """Windows of 32 rounds, two blocks of noise each, in turns."""
    table = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    del table
    learner = hn.ContextFTPL(oracle, seed=0)
    hedge = hn.baselines.Hedge(oracle, seed=0)
    rounds = random_rounds(32, D, K)
    for player in (learner, hedge):
        seconds_per_round(player, rounds)
    ours, exponential = take_turns(
        [lambda: seconds_per_round(learner, rounds), lambda: seconds_per_round(hedge, rounds)],
        repetitions=11,
    )
    speed = ratio(exponential, ours)
    blocks = vars(learner.leader.noise.blocks).values()
    arrays = {id(block): block.nbytes for block in blocks if isinstance(block, np.ndarray)}
    held = sum(arrays.values()) / 2**20
    return [
        Line(
            f"N={N:,}, d={D}, K={K}: speed over Hedge",
            speed,
            f"{speed:.2f} x ({rate(ours)} : {rate(exponential)})",
            2.2,
        ),
        Line(f"N={N:,}: noise held, MiB", held, f"{held:.1f} MiB", 128.0, at_least=False),
    ]
