"""What a predictor's advice costs a round: `advise`, then `learn`, on rows of features."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

import hannan as hn
from benchmarks.measure import Line, take_turns

K, P, WARM, ROUNDS = 10, 64, 1200, 300
CONTENDERS: dict[str, tuple[Callable[[], hn.Predictor], float | None]] = {
    "Blend": (hn.predictors.Blend, 130.0),
    "FourierRidge": (hn.predictors.FourierRidge, None),
    "Blend, no room for cosines": (lambda: hn.predictors.Blend(memory=2**18), 25.0),
    "Ridge": (hn.predictors.Ridge, None),
}


def run() -> list[Line]:
    """Labels by the largest of K random scores; the seconds of this thread, not of the clock."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(WARM + ROUNDS, P))
    labels = (rows @ rng.normal(size=(P, K))).argmax(axis=1)
    players = []
    for make, _ in CONTENDERS.values():
        predictor = make()
        predictor.prepare(K)
        _play(predictor, rows[:WARM] / 8.0, labels[:WARM])
        players.append(predictor)
    seconds = take_turns(
        [lambda each=each: _play(each, rows[WARM:] / 8.0, labels[WARM:]) for each in players],
        repetitions=15,
    )
    lines = []
    for (name, (_, target)), found in zip(CONTENDERS.items(), seconds, strict=True):
        cost = 1e6 * statistics.median(found)
        what = f"{name}, K={K}, {P} features: advise + learn, µs"
        lines.append(Line(what, cost, f"{cost:.0f} µs", target, at_least=False))
    return lines


def _play(predictor: hn.Predictor, rows: np.ndarray, labels: np.ndarray) -> float:
    """Seconds of a round in which the advice is taken."""
    started = time.thread_time()
    for row, label in zip(rows, labels, strict=True):
        action, _ = predictor.advise(row)
        predictor.learn(row, action, float(action != label))
    return (time.thread_time() - started) / len(rows)
