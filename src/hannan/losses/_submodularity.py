"""Tests of submodularity on random sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from hannan.core import LossError, LossFunction
from hannan.losses._terms import Mask


def require_submodular(function: LossFunction, checks: int) -> None:
    """Test a function on random pairs of sets; an error names a pair that fails.

    The pairs are A = S + i and B = S + j: a function that passes on all of these is submodular.
    They depend only on the number of elements.
    """
    values: dict[bytes, float] = {}

    def f(inside: Mask) -> float:
        key = inside.tobytes()
        if key not in values:
            value = float(function(np.flatnonzero(inside)))
            if not math.isfinite(value):
                where = np.flatnonzero(inside).tolist()
                raise LossError(f"A loss must be finite; that of {where} is {value}.")
            values[key] = value
        return values[key]

    for inside, i, j in _squares(function.n_actions, checks):
        first, other, both = inside.copy(), inside.copy(), inside.copy()
        first[i] = other[j] = both[i] = both[j] = True
        apart, together = f(first) + f(other), f(both) + f(inside)
        if apart < together - 1e-9 * (1.0 + abs(apart) + abs(together)):
            A, B = np.flatnonzero(first).tolist(), np.flatnonzero(other).tolist()
            raise LossError(
                f"{function!r} is not submodular: for A = {A} and B = {B}, f(A) + f(B) = "
                f"{apart:g} is less than f(A ∪ B) + f(A ∩ B) = {together:g}."
            )


def _squares(n: int, most: int) -> Iterator[tuple[Mask, int, int]]:
    """Sets and two elements outside of each: all of them if they are few, else random ones."""
    if n < 2:
        return
    if n <= 12 and n * (n - 1) * 2 ** (n - 3) <= most:
        for i, j in itertools.combinations(range(n), 2):
            rest = [k for k in range(n) if k not in (i, j)]
            for bits in itertools.product((False, True), repeat=n - 2):
                inside = np.zeros(n, dtype=bool)
                inside[rest] = bits
                yield inside, i, j
        return
    rng = np.random.default_rng(0)
    for _ in range(most):
        inside = rng.random(n) < rng.random()
        i, j = (int(k) for k in rng.choice(n, 2, replace=False))
        inside[[i, j]] = False
        yield inside, i, j
