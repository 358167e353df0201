"""What holds for every regret bound."""

from __future__ import annotations

from collections.abc import Callable

from hannan.checks._require import require


def check_bound(bound: Callable[..., float], horizon: int = 1000, **sizes: float) -> None:
    """A bound is positive, grows with the horizon and every size, and slower than the horizon.

    Parameters
    ----------
    bound
        Called as `bound(horizon, **sizes)`.
    horizon
        T to begin with.
    sizes
        Numbers such as d, K or log N, each of which is doubled in turn.

    Examples
    --------
    >>> import math
    >>> check_bound(lambda T, size: math.sqrt(T * size), size=10)
    """
    value = bound(horizon, **sizes)
    require(value > 0, f"The bound is {value} at horizon={horizon}, {sizes}.")
    for factor in (2, 4, 16):
        longer = bound(factor * horizon, **sizes)
        require(longer >= value, f"The bound falls from {value} to {longer} with {factor} T.")
        require(
            longer < factor * value,
            f"The bound is not sublinear: {value} at T={horizon}, {longer} at {factor} T.",
        )
    for name, size in sizes.items():
        larger = bound(horizon, **{**sizes, name: 2 * size})
        require(larger >= value, f"The bound falls from {value} to {larger} with {name} doubled.")
