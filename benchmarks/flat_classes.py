"""Nothing grows with t in any class that keeps tables, histograms or regressions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import hannan as hn
from benchmarks.measure import Line, ratio

WINDOW = 400
EARLY, LATE = 1000, 20_000


def run() -> list[Line]:
    """Time of a round around t = 20,000 over that around t = 1,000, at a fixed ε."""
    rng = np.random.default_rng(0)
    rows = rng.random((100, 5)).round(2)
    masks = [int(mask) for mask in rng.integers(1, 2**10, size=100)]
    classes: list[tuple[hn.Oracle, Sequence[Any]]] = [
        (hn.oracles.Thresholds(2), rng.random(100).tolist()),
        (hn.oracles.Stumps(3), rows),
        (hn.oracles.Trees(2), rows),
        (hn.oracles.Disjunctions(10), masks),
        (hn.oracles.Conjunctions(10), masks),
        (hn.oracles.InterceptClassifiers(3, 0.25), rows[:, :3]),
        (hn.oracles.LinearPolicies(3), rows),
        (hn.oracles.MultiLabel(hn.oracles.AllPolicies(100, 2), 4), range(100)),
        (hn.oracles.PerContext(hn.oracles.Subsets(10, 3), 100), range(100)),
    ]
    return [line(oracle, contexts) for oracle, contexts in classes]


def line(oracle: hn.Oracle, contexts: Sequence[Any]) -> Line:
    """Two learners of one class take turns: one young, one old."""
    young, old = (hn.ContextFTPL(oracle, contexts, epsilon=0.3, seed=0) for _ in range(2))
    play(young, contexts, EARLY)
    play(old, contexts, LATE)
    early, late = [], []
    for _ in range(15):
        early.append(play(young, contexts, WINDOW))
        late.append(play(old, contexts, WINDOW))
    value = ratio(late, early)
    shown = f"{value:.2f} ({1 / np.median(late):,.0f}/s : {1 / np.median(early):,.0f}/s)"
    name = type(oracle).__name__
    what = f"{name}: time of a round around t={LATE:,} over that around t={EARLY:,}"
    return Line(what, value, shown, 1.1, at_least=False)


def play(learner: hn.ContextFTPL, contexts: Sequence[Any], rounds: int) -> float:
    """Seconds a round, of all cores: noise is filled by a second thread, which may have to wait."""
    rng = np.random.default_rng(1)
    places = rng.integers(len(contexts), size=rounds).tolist()
    losses = rng.random((rounds, learner.oracle.n_actions or 1))
    started = time.process_time()
    for i, row in zip(places, losses, strict=True):
        learner.act(contexts[i])
        learner.update(row)
    return (time.process_time() - started) / rounds
