"""Saving and loading: seconds, and the size of the file over that of what was learned."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import hannan as hn
from benchmarks.measure import Line, random_rounds, seconds_per_round

N = 10**6


def run() -> list[Line]:
    """Five saves and loads each."""
    lines = []
    for d, K in ((10, 2), (20, 4)):
        table = np.random.default_rng(0).integers(K, size=(N, d))
        learner = hn.ContextFTPL(hn.oracles.FinitePolicies(table, n_actions=K), seed=0)
        del table
        seconds_per_round(learner, random_rounds(32, d, K))
        took, size = _there_and_back(learner)
        lines.append(_time(f"N={N:,}, d={d}, K={K}", took))
        totals = 8 * N
        policies = N * d  # a byte for each action
        both = size / (totals + policies)
        alone = size / totals
        what = f"N={N:,}, d={d}, K={K}: file over totals"
        lines.append(Line(what, alone, f"{alone:.3f} x", None, at_least=False))
        lines.append(Line(f"{what} and table", both, f"{both:.3f} x", 1.1, at_least=False))
    every = hn.ContextFTPL(hn.oracles.AllPolicies(N // 10, 10), seed=0)
    seconds_per_round(every, random_rounds(32, N // 10, 10))
    took, size = _there_and_back(every)
    lines.append(_time(f"AllPolicies, {N:,} totals", took))
    ratio = size / (8 * N)
    lines.append(
        Line(f"AllPolicies, {N:,} totals: file over totals", ratio, f"{ratio:.3f} x", 1.2, False)
    )
    return lines


def _time(what: str, took: float) -> Line:
    return Line(f"{what}: save and load, s", took, f"{took:.2f} s", 1.0, at_least=False)


def _there_and_back(learner: hn.Learner) -> tuple[float, int]:
    """The median time of saving and loading, and the size of the file."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "learner.hannan")
        for _ in range(5):
            started = time.perf_counter()
            learner.save(path)
            hn.load(path)
            times.append(time.perf_counter() - started)
        return statistics.median(times), os.path.getsize(path)
