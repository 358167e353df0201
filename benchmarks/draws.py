"""Draws a round: how often the oracle is asked, by resampling mode."""

from __future__ import annotations

from typing import Any

import numpy as np

import hannan as hn
from benchmarks.measure import Line

HORIZON = 4000


class Separate(hn.Resampling):
    """As printed in the paper: draws of its own for each element, until one success."""

    def __init__(self) -> None:
        super().__init__(successes=1, exact=False)

    def weights(
        self,
        past: Any,
        context: Any,
        action: Any,
        draw: Any,
        limit: int,
        needed: Any,
    ) -> tuple[Any, int]:
        """One element after the other."""
        if isinstance(action, int):
            return super().weights(past, context, action, draw, limit, needed)
        weights, used = np.zeros(len(action)), 0
        for i in range(len(action)) if needed is None else np.flatnonzero(needed):
            found, more = past.weights(context, action[i : i + 1], draw.later(used), limit, 1)
            weights[i] = found.item(0)
            used += more
        return weights, used


MODES: dict[str, hn.Resampling] = {
    "shared": hn.Resampling(1, exact=False),
    "separate": Separate(),
    "two successes": hn.Resampling(2, exact=False),
    "four successes": hn.Resampling(4, exact=False),
}


def run() -> list[Line]:
    """Single actions and sets, ε = 0.1, every loss 1: the most expensive case."""
    return [*_single(), *_sets()]


def _single() -> list[Line]:
    N, D, K = 1000, 50, 5
    table = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    lines = []
    for name, mode in MODES.items():
        r = mode.successes
        for L in (10, 100, 10_000):
            mean, error = draws_per_round(oracle, L, mode)
            what = f"m=1, K={K}, L={L:,}: draws a round, {name}, allowed {1 + r * K} and 3 errors"
            allowed = 1.0 + r * K + 3.0 * error
            lines.append(Line(what, mean, f"{mean:.2f} ± {error:.2f}", allowed, at_least=False))
    return lines


def _sets() -> list[Line]:
    N, D, K, m = 1000, 4, 30, 10
    rng = np.random.default_rng(0)
    table = np.argsort(rng.random((N, D, K)), axis=2)[:, :, :m]
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    found = {name: draws_per_round(oracle, 1000, mode) for name, mode in MODES.items()}
    mean = {name: value for name, (value, _) in found.items()}
    lines = [
        Line(f"m={m}, K={K}, L=1,000: draws a round, {name}", value, f"{value:.2f} ± {error:.2f}")
        for name, (value, error) in found.items()
    ]
    saved = mean["separate"] / mean["shared"]
    what = f"m={m}, K={K}: draws with separate streams over those with a shared one"
    return [*lines, Line(what, saved, f"{saved:.2f} x", 2.5)]


def draws_per_round(
    oracle: hn.oracles.FinitePolicies, limit: int, mode: hn.Resampling
) -> tuple[float, float]:
    """Calls of the oracle a round, that to act included, and the standard error of their mean."""
    learner = hn.ContextSemiBanditFTPL(
        oracle, epsilon=0.1, max_resamples=limit, resampling=mode, seed=0
    )
    contexts = np.random.default_rng(1).integers(len(oracle.contexts), size=HORIZON).tolist()
    calls = []
    for context in contexts:
        before = learner.oracle_calls
        action = learner.act(context)
        learner.update(1.0 if isinstance(action, int) else np.ones(len(action)))
        calls.append(learner.oracle_calls - before)
    return float(np.mean(calls)), float(np.std(calls, ddof=1) / np.sqrt(HORIZON))
