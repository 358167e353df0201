"""A user's own function of sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hannan.core import Action, InputTypeError, LossError
from hannan.core.validation import check_integer, refuse
from hannan.losses._set_loss import SetLoss, as_mask
from hannan.losses._terms import Terms


class Custom(SetLoss):
    """A submodular function given by its values.

    Its minimiser is found by the general algorithm, and the time for a sum is proportional to the
    number of distinct functions: each is evaluated on about n sets several times a round.

    Parameters
    ----------
    f
        f(chosen) is the loss of a sorted array of elements.
    n
        K, the number of elements.
    bounds
        (low, high), if they are known. By default bounds that hold for every submodular function
        with the same values at the empty set, the whole set, single elements and all but one
        element.

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
        self._bounds = None if bounds is None else check_bounds(self, bounds)
        self._found = self._bounds

    @property
    def terms(self) -> Terms:  # type: ignore[override]
        """The function as the only term."""
        own = Terms(self.n)
        own.others[id(self)] = (self, 1.0)
        return own

    def __call__(self, action: Action) -> float:
        chosen = np.flatnonzero(as_mask(action, self.n))
        value = float(self.f(chosen))
        if not math.isfinite(value):
            raise LossError(f"A loss must be finite; f({chosen.tolist()}) is {value}.")
        if self._bounds is not None and not self._bounds[0] <= value <= self._bounds[1]:
            raise LossError(
                f"f({chosen.tolist()}) is {value:g}, outside the bounds {self._bounds} it was "
                "declared with. Correct f, or the bounds."
            )
        return value

    def extremes(self) -> tuple[float, float]:
        """The bounds given, or those that follow from submodularity: what an element adds is
        least where all others are chosen and most where none is."""
        if self._found is None:
            everything = np.arange(self.n)
            none, whole = self(everything[:0]), self(everything)
            most = np.array([self(everything[j : j + 1]) - none for j in range(self.n)])
            least = np.array([whole - self(np.delete(everything, j)) for j in range(self.n)])
            low = max(none + np.minimum(least, 0.0).sum(), whole - np.maximum(most, 0.0).sum())
            high = min(none + np.maximum(most, 0.0).sum(), whole - np.minimum(least, 0.0).sum())
            self._found = (float(low), float(high))
        return self._found


def check_bounds(owner: object, bounds: Any) -> tuple[float, float]:
    """A pair low <= high of finite numbers."""
    try:
        low, high = (float(v) for v in bounds)
    except (TypeError, ValueError):
        raise refuse(owner, "bounds", "a pair (low, high) or None", bounds) from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise refuse(owner, "bounds", "finite numbers with low <= high", bounds)
    return low, high
