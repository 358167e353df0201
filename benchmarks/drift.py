"""Restarts on the digits: labels are permuted three times, and only right or wrong is seen.

`hn.bandit` restarts by itself; here with other detectors, and without.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from river.drift import ADWIN

import hannan as hn
from benchmarks.measure import Line
from benchmarks.streams import Stream, digits

ROUNDS = 20_000
SEEDS = 5


def run() -> list[Line]:
    """Mean loss with and without restarts, and restarts where nothing changes."""
    restless(digits(0, 200), 0)  # compile first
    moving = [restless(permuted(seed), seed) for seed in range(SEEDS)]
    losses = [loss for loss, _, _ in moving]
    counts = [len(restarts) for _, restarts, _ in moving]
    steady = [restless(digits(seed, ROUNDS), seed) for seed in range(SEEDS)]
    false = sum(len(restarts) for _, restarts, _ in steady)
    without = [
        play(hn.bandit(10, seed=seed, max_restarts=0), permuted(seed)) for seed in range(SEEDS)
    ]
    windows = hn.adapters.RiverDetector(ADWIN())
    adwin = [restless(permuted(seed), seed, windows.clone()) for seed in range(SEEDS)]
    rate = float(np.median([rate for *_, rate in moving]))
    return [
        _mean("Permuted digits, restarts by the Bernstein test: mean loss", losses, 0.09),
        Line(
            "Permuted digits: restarts in a run, three changes",
            float(np.mean(counts)),
            ", ".join(map(str, counts)),
        ),
        Line(
            "Permuted digits: rounds from a change to its restart",
            _delay(moving),
            f"{_delay(moving):.0f} (median)",
        ),
        _mean("Permuted digits, restarts by ADWIN: mean loss", [loss for loss, *_ in adwin]),
        _mean("Permuted digits, no restarts: mean loss", without),
        _mean("Digits without any change: mean loss", [loss for loss, *_ in steady]),
        Line(
            f"Digits without any change: restarts in {SEEDS} runs of {ROUNDS:,} rounds",
            float(false),
            str(false),
            0,
            at_least=False,
        ),
        Line("Permuted digits: rounds a second", rate, f"{rate:,.0f}"),
    ]


def permuted(seed: int) -> Stream:
    """The digits, their labels renamed at random after each quarter but the last."""
    rows, labels = digits(seed, ROUNDS)
    rng = np.random.default_rng([seed, 1])
    names = np.array([np.arange(10), *(rng.permutation(10) for _ in range(3))])
    quarter = np.arange(ROUNDS) // (ROUNDS // 4)
    return rows, names[quarter, labels]


def restless(stream: Stream, seed: int, detector: object = None) -> tuple[float, list[int], float]:
    """One pass: mean loss, restarts, rounds a second."""
    learner: Any = hn.bandit(10, seed=seed)
    if detector is not None:
        learner = hn.Restarting(learner.learner, detector, max_restarts=learner.max_restarts)
    started = time.perf_counter()
    loss = play(learner, stream)
    return loss, learner.restarts, len(stream[1]) / (time.perf_counter() - started)


def play(learner: hn.Learner, stream: Stream) -> float:
    """One pass: mean loss."""
    wrong = 0
    rows, labels = stream
    for row, label in zip(rows, labels.tolist(), strict=True):
        loss = float(learner.act(row) != label)
        learner.update(loss)
        wrong += int(loss)
    return wrong / len(rows)


def _delay(runs: list[tuple[float, list[int], float]]) -> float:
    """Median number of rounds after which a change was answered."""
    quarter = ROUNDS // 4
    delays = []
    for _, restarts, _ in runs:
        for change in (quarter, 2 * quarter, 3 * quarter):
            later = [found - change for found in restarts if found > change]
            delays.append(min(later, default=ROUNDS))
    return float(np.median(delays))


def _mean(what: str, losses: list[float], most: float | None = None) -> Line:
    """Mean and standard error."""
    error = np.std(losses, ddof=1) / np.sqrt(len(losses))
    shown = f"{np.mean(losses):.4f} ± {error:.4f}"
    return Line(what, float(np.mean(losses)), shown, most, at_least=False)
