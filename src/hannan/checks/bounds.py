"""Checks of regret bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

from hannan.bounds import Bound
from hannan.checks._require import require


def check_bound(bound: Callable[..., float | Bound], horizon: int = 1000, **sizes: float) -> None:
    """Check that a bound is positive, nondecreasing in the horizon and all sizes, and sublinear.

    For a `Bound`, also check that it is the sum of its terms, that no term is negative, and that ε
    is positive.

    Parameters
    ----------
    bound
        Function called as `bound(horizon, **sizes)`.
    horizon
        First horizon T, default 1000. The check also uses 2 T, 4 T and 16 T.
    sizes
        Sizes such as d, K or log N. The check doubles each size in turn.

    Examples
    --------
    >>> import math
    >>> check_bound(lambda T, size: math.sqrt(T * size), size=10)
    """
    value = _value(bound(horizon, **sizes))
    require(value > 0, f"The bound is {value} at horizon={horizon}, {sizes}.")
    for factor in (2, 4, 16):
        longer = _value(bound(factor * horizon, **sizes))
        require(longer >= value, f"The bound falls from {value} to {longer} with {factor} T.")
        require(
            longer < factor * value,
            f"The bound is not sublinear: {value} at T={horizon}, {longer} at {factor} T.",
        )
    for name, size in sizes.items():
        larger = _value(bound(horizon, **{**sizes, name: 2 * size}))
        require(larger >= value, f"The bound falls from {value} to {larger} with {name} doubled.")


def _value(bound: float | Bound) -> float:
    """Return the value of a bound, and check the parts of a `Bound`."""
    if isinstance(bound, Bound):
        total = sum(bound.terms.values())
        require(
            math.isclose(total, bound.value, rel_tol=1e-9),
            f"The terms {bound.terms} add up to {total}, not to {bound.value}.",
        )
        require(min(bound.terms.values()) >= 0, f"A term is negative: {bound.terms}.")
        require(bound.epsilon > 0, f"The bound holds at epsilon={bound.epsilon}.")
    return float(bound)
