"""A thousand policies: self-tuned ContextFTPL, Algorithm 2 written out, and Hedge."""

from __future__ import annotations

import time

import numpy as np

import hannan as hn
from benchmarks.measure import Line, random_rounds, rate, ratio, seconds_per_round, take_turns
from benchmarks.transcription import SummedTranscription, Transcription

N, D, K, START = 1000, 50, 5, 2000


def run() -> list[Line]:
    """Rounds around t = 2,000, in turns."""
    actions = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(actions, n_actions=K)
    learner = hn.ContextFTPL(oracle, seed=0)
    hedge = hn.baselines.Hedge(oracle, seed=0)
    warm_up = random_rounds(START, D, K)
    window = random_rounds(2000, D, K, seed=1)
    for player in (learner, hedge):
        seconds_per_round(player, warm_up)
    written_out = [kind(actions, K, 0.3, seed=0) for kind in (Transcription, SummedTranscription)]
    for twin in written_out:
        twin.contexts = [context for context, _ in warm_up]
        twin.losses = [losses for _, losses in warm_up]
    ours, exponential, direct, summed = take_turns(
        [
            lambda: seconds_per_round(learner, window),
            lambda: seconds_per_round(hedge, window),
            lambda: _act_only(written_out[0], 3),
            lambda: _act_only(written_out[1], 20),
        ],
        repetitions=9,
    )
    size = f"N={N:,}, d={D}, K={K}"
    speeds = ratio(direct, ours), ratio(exponential, ours), ratio(summed, ours)
    return [
        Line(
            f"{size}: speed over Algorithm 2 written out, t={START:,}",
            speeds[0],
            f"{speeds[0]:,.0f} x ({rate(ours)} : {rate(direct)})",
            300.0,
        ),
        Line(
            f"{size}: speed over Hedge",
            speeds[1],
            f"{speeds[1]:.2f} x ({rate(ours)} : {rate(exponential)})",
            1.7,
        ),
        Line(
            f"{size}: speed over Algorithm 2 with the history added up by context first",
            speeds[2],
            f"{speeds[2]:,.0f} x ({rate(ours)} : {rate(summed)})",
        ),
    ]


def _act_only(player: Transcription, count: int) -> float:
    """Rounds at one t: the history is not lengthened, which favours the transcription a little."""
    started = time.perf_counter()
    for context in range(count):
        player.act(context)
    return (time.perf_counter() - started) / count
