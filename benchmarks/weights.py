"""Means of drawn weights, beside (1 - (1-q)^L)/q, where q is known."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line
from hannan.core.oracle import Draw
from hannan.learners.perturbed_leader import Past
from hannan.perturbation import seed_key

CHANCES = (0.001, 0.01, 0.1, 0.5, 0.9)
LIMITS = (2, 10, 100, 1000, 10_000)
DRAWS = 1_000_000
MODES = {
    "one success": hn.Resampling(1, exact=False),
    "two successes": hn.Resampling(2, exact=False),
    "four successes": hn.Resampling(4, exact=False),
    "pairs": hn.Resampling(2, exact=False, pairs=True),
    "pairs, r = 1": hn.Resampling(1, exact=False, pairs=True),
}
KEY = seed_key(0)


def run() -> list[Line]:
    """For every class and mode the pair of q and L whose mean is farthest off."""
    oracles: dict[str, tuple[Any, Any]] = {
        "listed policies": (hn.oracles.FinitePolicies([[0], [1]]), 0),
        "all policies": (hn.oracles.AllPolicies(1, 2), 0),
        "thresholds": (hn.oracles.Thresholds(2), 0.5),
    }
    lines = []
    pairs = [(q, L) for q in CHANCES for L in LIMITS]
    for name, (oracle, context) in oracles.items():
        # A search for the best threshold takes much longer than one among two numbers.
        draws = DRAWS // 10 if name == "thresholds" else DRAWS
        for mode, resampling in MODES.items():
            given = oracle, context, resampling, draws
            found = Parallel(n_jobs=2)(delayed(deviation)(*given, q, L) for q, L in pairs)
            off, (q, L) = max(zip(found, pairs, strict=True), key=lambda each: abs(each[0]))
            lines.append(
                Line(
                    f"{name}, {mode}, {draws:,} draws: standard errors from (1-(1-q)^L)/q, the "
                    f"worst of {len(pairs)} pairs of q and L",
                    abs(off),
                    f"{off:+.2f} (q = {q:g}, L = {L:,})",
                    4.0,
                    at_least=False,
                )
            )
    return lines


def deviation(
    oracle: Any, context: Any, resampling: hn.Resampling, draws: int, q: float, limit: int
) -> float:
    """Of the mean of weights that use up so many draws, in standard errors.

    The second of two actions has probability q where it has cost `behind(q)` more than the first,
    in units of the noise.
    """
    total = oracle.objective()
    noise = oracle.noise([context], KEY, 0, 2**24)
    total.prepare([context])
    total.add(context, np.array([0.0, behind(q)]))
    keyed: Any = SimpleNamespace(stop_key=KEY)  # all that is asked of a perturbed leader
    weights: list[float] = []
    first = 0
    while first < draws:
        draw, trials = Draw(noise, first, 1.0), resampling.trials(keyed, limit)
        lesson = resampling.lesson(Past(total), context, 1, 0.0, draw, trials)
        if lesson is None:
            weight, used = resampling.weights(Past(total), context, 1, draw, limit, None)
        else:
            weight, used = lesson.weight, lesson.used
        weights.append(weight)
        first += max(used, 1)
    found = np.array(weights)
    expected = -math.expm1(limit * math.log1p(-q)) / q
    error = found.std(ddof=1) / math.sqrt(len(found))
    return float((found.mean() - expected) / error) if error > 0.0 else 0.0


def behind(q: float) -> float:
    """g with P(g + ζ < ζ') = q for independent Laplace ζ and ζ'.

    For g ≥ 0 that is (1/2 + g/4) exp(-g), of which Newton's method finds the inverse.
    """
    if q > 0.5:
        return -behind(1.0 - q)
    g = 0.0
    for _ in range(200):
        value, slope = (0.5 + 0.25 * g) * math.exp(-g), -(0.25 + 0.25 * g) * math.exp(-g)
        g += (q - value) / slope
    return g
