"""Nothing grows with t: the time of a round and the memory held."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import numpy as np

import hannan as hn
from benchmarks.measure import Line, Rounds, random_rounds, rate, ratio, take_turns
from benchmarks.measure import seconds_per_round as timed

N, D, K, EARLY, LATE = 1000, 50, 5, 2000, 200_000
WINDOW = 1000


def run() -> list[Line]:
    """Time around two values of t, and what memory was taken between them."""
    table = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    rounds = random_rounds(WINDOW, D, K)
    late = hn.ContextFTPL(oracle, seed=0)
    _advance(late, EARLY, rounds)
    before = _resident()
    _advance(late, LATE - EARLY - 6 * WINDOW, rounds)
    resident = (_resident() - before) / 1024

    def early() -> float:
        learner = hn.ContextFTPL(oracle, seed=0)
        _advance(learner, EARLY - WINDOW, rounds)
        return timed(learner, rounds)

    now, then = take_turns([lambda: timed(late, rounds), early], repetitions=13)
    growth = ratio(now, then)
    held = _memory_taken(oracle, rounds)
    return [
        Line(
            f"time of a round around t={LATE:,} over that around t={EARLY:,}",
            growth,
            f"{growth:.3f} ({rate(now)} : {rate(then)})",
            1.15,
            at_least=False,
        ),
        Line(
            f"memory grown between t={EARLY:,} and t={LATE:,}, KiB",
            held,
            f"{held:.1f} KiB",
            16.0,
            at_least=False,
        ),
        Line(
            "the same for the whole process as the system sees it, compiled code included, KiB",
            resident,
            f"{resident:,.0f} KiB",
            1024.0,
            at_least=False,
        ),
    ]


def _advance(learner: hn.Learner, count: int, rounds: Rounds) -> None:
    for _ in range(count // len(rounds)):
        timed(learner, rounds)


def _memory_taken(oracle: hn.Oracle, rounds: Rounds) -> float:
    """KiB by which all Python and NumPy allocations have grown, at rest or at their peak.

    The rounds are made beforehand and played again and again, so only the learner can grow.
    """
    learner = hn.ContextFTPL(oracle, seed=0)
    tracemalloc.start()
    try:
        _advance(learner, EARLY, rounds)
        early = _level_and_peak(learner, rounds)
        _advance(learner, LATE - EARLY - len(rounds), rounds)
        late = _level_and_peak(learner, rounds)
    finally:
        tracemalloc.stop()
    return max(0, *(after - before for before, after in zip(early, late, strict=True))) / 1024


def _resident() -> int:
    """Bytes of memory the process occupies; tracemalloc does not see what kernels allocate."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return 0
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _level_and_peak(learner: hn.Learner, rounds: Rounds) -> tuple[int, int]:
    tracemalloc.reset_peak()
    timed(learner, rounds)
    return tracemalloc.get_traced_memory()
