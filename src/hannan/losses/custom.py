"""User-defined functions of sets, and tests of submodularity."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hannan.core import Action, InputTypeError, LossError, LossFunction
from hannan.core.validation import check_integer, refuse
from hannan.losses._terms import Mask
from hannan.losses.set_losses import SetLoss, as_mask


class Custom(SetLoss):
    """A submodular function given by its values.

    The general algorithm finds its minimiser. The time for a sum is proportional to the number of
    distinct functions: each function is evaluated on about n sets several times per round.

    Parameters
    ----------
    f
        Function f(chosen) that returns the loss of a sorted array of elements.
    n
        Number of elements, K.
    bounds
        Bounds (low, high) on f, if you know them. Default: bounds that hold for every submodular
        function with the same values at the empty set, the whole set, single elements and all sets
        without one element.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Custom(lambda chosen: len(set(chosen // 2)) / 2, n=4)
    >>> f([0, 1]), f([1, 2]), f.extremes()
    (0.5, 1.0, (0.0, 1.0))
    """

    def __init__(
        self,
        f: Callable[[Any], float],
        n: int,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        if not callable(f):
            raise InputTypeError(f"Custom needs a function of a set of elements; got {f!r}.")
        self.f = f
        self.n = self.n_actions = check_integer(self, "n", n, 1)
        self.bounds = bounds
        self._bounds = self._found = None if bounds is None else self._check_bounds(bounds)

    def __call__(self, action: Action) -> float:
        chosen = np.flatnonzero(as_mask(action, self.n))
        value = float(self.f(chosen))
        if not math.isfinite(value):
            raise LossError(f"A loss must be finite; f({chosen.tolist()}) is {value}.")
        if self._bounds is not None and not self._bounds[0] <= value <= self._bounds[1]:
            raise LossError(
                f"f({chosen.tolist()}) is {value:g}, outside the declared bounds {self._bounds}. "
                "Correct f, or the bounds."
            )
        return value

    def extremes(self) -> tuple[float, float]:
        """Return the given bounds, or those that follow from submodularity.

        The gain of an element is least if all others are chosen, and largest if none is.
        """
        if self._found is None:
            everything = np.arange(self.n)
            none, whole = self(everything[:0]), self(everything)
            most = np.array([self(everything[j : j + 1]) - none for j in range(self.n)])
            least = np.array([whole - self(np.delete(everything, j)) for j in range(self.n)])
            low = max(none + np.minimum(least, 0.0).sum(), whole - np.maximum(most, 0.0).sum())
            high = min(none + np.maximum(most, 0.0).sum(), whole - np.minimum(least, 0.0).sum())
            self._found = (float(low), float(high))
        return self._found

    def _check_bounds(self, bounds: Any) -> tuple[float, float]:
        try:
            low, high = map(float, bounds)
        except (TypeError, ValueError):
            raise refuse(self, "bounds", "a pair (low, high) or None", bounds) from None
        if not -math.inf < low <= high < math.inf:
            raise refuse(self, "bounds", "finite numbers with low <= high", bounds)
        return low, high


def require_submodular(function: LossFunction, checks: int) -> None:
    """Test a function on random pairs of sets; raise an error that names a pair that fails.

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
                raise LossError(f"A loss must be finite; the loss of {where} is {value}.")
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
    """Yield sets with two elements outside of each: all if there are few, else random ones."""
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
