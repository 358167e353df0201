"""Weights that estimate one over the probability of having been chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import Action, Noise, Objective, ParameterError

MODES = ("auto", "shared", "separate", "rao-blackwell", "exact")

# c with q E[W^2] <= c E[W] for every q and L, W from r successes; exact weights have 1.
# It bounds q^2 E[W^2] too (there 2, 1.5, 1.36, 1.32, 1.31, then 1.3 would do).
_SECOND_MOMENT = {1: 2.0, 2: 1.51, 3: 1.38}


def second_moment(successes: int, exact: bool) -> float:
    """An upper bound on q E[W²]/E[W]."""
    return 1.0 if exact else _SECOND_MOMENT.get(successes, 1.34)


def mean_weight(q: float, limit: int) -> float:
    """(1 - (1-q)^L)/q"""
    if q <= 0.0:
        return float(limit)
    return 1.0 if q >= 1.0 else -math.expm1(limit * math.log1p(-q)) / q


def exact_weights(
    played: Objective, context: Any, action: Action, noise: Noise | None, scale: float, limit: int
) -> Any:
    """The mean weights themselves, or None where the law of the action is not known."""
    q = played.law(context, noise, scale)
    if q is None:
        return None
    if isinstance(action, int):
        return mean_weight(float(q[action]), limit)
    return np.array([mean_weight(float(p), limit) for p in q[action]])


def drawn_weights(
    played: Objective,
    context: Any,
    action: Action,
    noise: Noise | None,
    first: int,
    scale: float,
    limit: int,
    successes: int,
    *,
    separate: bool = False,
    needed: Any = None,
) -> tuple[Any, int]:
    """Weights by geometric resampling, from draw `first` on, and the number of draws used.

    One for each chosen element, a number for a single action; 0 where `needed` is 0.
    """
    if isinstance(action, int):
        return played.resample_one(context, action, noise, first, limit, successes, scale)
    some = np.arange(len(action)) if needed is None else np.flatnonzero(needed)
    weights = np.zeros(len(action))
    if not separate:
        weights[some], used = played.resample(
            context, action[some], noise, first, limit, successes, scale
        )
        return weights, used
    total = 0
    for i in some:
        weights[i], used = played.resample_one(
            context, int(action[i]), noise, first + total, limit, successes, scale
        )
        total += used
    return weights, total


def no_law(oracle: object) -> ParameterError:
    """What to say where exact weights were asked for."""
    return ParameterError(
        f"resampling='exact' needs the law of the action, which {type(oracle).__name__} cannot "
        "compute here. Use 'auto'."
    )
