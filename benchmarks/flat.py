"""Nothing grows with t: the time of a round and the memory held."""

from __future__ import annotations

import os
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import hannan as hn
from benchmarks.measure import Line, Rounds, random_rounds, rate, ratio, take_turns
from benchmarks.measure import seconds_per_round as timed

N, D, K, EARLY, LATE = 1000, 50, 5, 2000, 200_000
WINDOW = 1000


def run() -> list[Line]:
    """Time around two values of t, and what memory was taken between them."""
    late, rounds = _game()
    _advance(late, LATE - 6 * WINDOW, rounds)

    def early() -> float:
        learner, _ = _game()
        _advance(learner, EARLY - WINDOW, rounds)
        return timed(learner, rounds)

    now, then = take_turns([lambda: timed(late, rounds), early], repetitions=13)
    growth = ratio(now, then)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        held, resident = fresh.submit(_memory_grown).result()
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
            "the same for the whole process as the system sees it, KiB",
            resident,
            f"{resident:,.0f} KiB",
            1024.0,
            at_least=False,
        ),
    ]


def _game() -> tuple[hn.Learner, Rounds]:
    table = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    return hn.ContextFTPL(oracle, seed=0), random_rounds(WINDOW, D, K)


def _advance(learner: hn.Learner, count: int, rounds: Rounds) -> None:
    for _ in range(count // len(rounds)):
        timed(learner, rounds)


def _memory_grown() -> tuple[float, float]:
    """KiB grown from EARLY to LATE: all that tracemalloc sees, and the process as a whole.

    The rounds are made beforehand and played again and again, so only the learner can grow. Noise
    is filled by a second thread, whose work in progress may be caught at any moment: so the level
    is the lowest of several windows and the peak their highest. Must run in a process of its
    own that never stops tracing: in older versions of CPython tracemalloc.stop() can crash while
    another thread allocates (CPython issue 128679).
    """
    learner, rounds = _game()
    tracemalloc.start()
    _advance(learner, EARLY, rounds)
    early, resident = _level_and_peak(learner, rounds), _resident()
    _advance(learner, LATE - EARLY, rounds)
    late, resident_late = _level_and_peak(learner, rounds), _resident()
    traced = max(after - before for before, after in zip(early, late, strict=True))
    return max(0, traced) / 1024, (resident_late - resident) / 1024


def _level_and_peak(learner: hn.Learner, rounds: Rounds) -> tuple[int, int]:
    levels, peaks = [], []
    for _ in range(10):
        tracemalloc.reset_peak()
        timed(learner, rounds)
        level, peak = tracemalloc.get_traced_memory()
        levels.append(level)
        peaks.append(peak)
    return min(levels), max(peaks)


def _resident() -> int:
    """Bytes of memory the process occupies, where the system tells."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return 0
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
