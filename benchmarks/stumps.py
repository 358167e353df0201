"""Perturbed stumps on digits, beside the stump that scikit-learn fits to the same contexts."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from benchmarks.measure import Line, rate, ratio, take_turns
from hannan.core.oracle import Draw
from hannan.perturbation import seed_key


def run() -> list[Line]:
    """Fresh noise for every leader: what it costs to draw and project is included."""
    X, y = load_digits(return_X_y=True)
    oracle = hn.oracles.Stumps(n_actions=10)
    contexts = oracle.check_contexts(X)
    total = oracle.objective()
    losses = 1.0 - np.eye(10)[y]
    for row, loss in zip(X, losses, strict=True):
        total.add(row, loss)
    noise = oracle.noise(contexts, seed_key(0), 0, 2**26)
    stump = DecisionTreeClassifier(max_depth=1)
    draws = iter(range(10**9))

    def leaders(count: int = 64) -> None:
        first = next(draws) * count
        total.leaders(Draw(noise, first, 5.0), count)

    def actions(count: int = 64) -> None:
        first = next(draws) * count
        for i in range(count):
            total.action(X[i], Draw(noise, first + i, 5.0))

    leaders()
    ours, acting, fitted = take_turns(
        [
            lambda: _seconds(leaders) / 64,
            lambda: _seconds(actions) / 64,
            lambda: _seconds(lambda: stump.fit(X, y)),
        ],
        repetitions=9,
    )
    learner = hn.ContextFTPL(oracle, contexts=X, seed=0)
    early, late = (_rounds(learner, X, losses, start, start + 1500) for start in (200, 20_000))
    speeds = ratio(fitted, ours), ratio(fitted, acting)
    size = "digits (1,797 contexts, 64 features, K=10)"
    return [
        Line(
            f"{size}: perturbed Stumps leader over DecisionTreeClassifier(max_depth=1)",
            speeds[0],
            f"{speeds[0]:.0f} x ({rate(ours)} : {rate(fitted)})",
            10.0,
        ),
        Line(
            f"{size}: perturbed Stumps action over DecisionTreeClassifier(max_depth=1)",
            speeds[1],
            f"{speeds[1]:.0f} x ({rate(acting)} : {rate(fitted)})",
        ),
        Line(
            f"{size}: Stumps, time of a round at t=20,000 over t=200",
            late / early,
            f"{late / early:.2f} x ({rate([late])} : {rate([early])})",
            1.2,
            at_least=False,
        ),
    ]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _rounds(
    learner: hn.ContextFTPL, X: np.ndarray, losses: np.ndarray, start: int, stop: int
) -> float:
    """Seconds a round from round `start` to `stop`; the rounds before are played first."""
    while learner.rounds < start:
        _one(learner, X, losses)
    started = time.perf_counter()
    while learner.rounds < stop:
        _one(learner, X, losses)
    return (time.perf_counter() - started) / (stop - start)


def _one(learner: hn.ContextFTPL, X: np.ndarray, losses: np.ndarray) -> None:
    i = learner.rounds * 7 % len(X)
    learner.act(X[i])
    learner.update(losses[i])
