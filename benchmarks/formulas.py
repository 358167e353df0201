"""Boolean formulas: 2^20 listed by a rival, and 2^40 that nobody can list."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import hannan as hn
from benchmarks.measure import Line, ratio, take_turns

LISTED_CONTEXTS = 10
SEEN = 300
DENSITY = 0.15


def run() -> list[Line]:
    """Bandit rounds a second in the separator setting, losses planted with 10 % noise."""
    twenty = game(20, SEEN)
    twenty(200)
    rival = listed_rival()
    rival(3)
    slow, fast = take_turns((lambda: rival(20), lambda: twenty(2000)), 5)
    forty = game(40, SEEN)
    forty(4000)  # all contexts have been seen by then
    rate = 1.0 / forty(1000)
    return [
        Line(
            "Disjunctions(20), separator: bandit rounds over Exp4 with 2^20 policies listed",
            ratio(slow, fast),
            f"{ratio(slow, fast):,.0f} x ({1 / np.median(fast):,.0f}/s : "
            f"{1 / np.median(slow):,.0f}/s)",
            1.0,
        ),
        Line(
            f"Disjunctions(40), separator, {SEEN} contexts seen: bandit rounds a second",
            rate,
            f"{rate:,.0f}/s",
            2.0,
        ),
    ]


def game(n: int, contexts: int) -> Callable[[int], float]:
    """A game that goes on when called; returns seconds a round."""
    rng = np.random.default_rng(n)
    masks = [
        sum(1 << int(i) for i in np.flatnonzero(rng.random(n) < DENSITY)) for _ in range(contexts)
    ]
    planted = sum(1 << int(i) for i in rng.choice(n, size=3, replace=False))
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Disjunctions(n), separator=hn.separators.disjunctions(n), seed=0
    )

    def go_on(rounds: int) -> float:
        started = time.perf_counter()
        for i in rng.integers(contexts, size=rounds):
            right = int(masks[i] & planted != 0)
            wrong = (learner.act(masks[i]) != right) != (rng.random() < 0.1)
            learner.update(float(wrong))
        return (time.perf_counter() - started) / rounds

    return go_on


def listed_rival() -> Callable[[int], float]:
    """Exp4 on a table of 2^20 policies."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, size=(2**20, LISTED_CONTEXTS), dtype=np.uint8)
    learner = hn.baselines.Exp4(hn.oracles.FinitePolicies(table, n_actions=2), seed=0)

    def go_on(rounds: int) -> float:
        started = time.perf_counter()
        for x in rng.integers(LISTED_CONTEXTS, size=rounds).tolist():
            learner.act(x)
            learner.update(float(rng.random() < 0.5))
        return (time.perf_counter() - started) / rounds

    return go_on
