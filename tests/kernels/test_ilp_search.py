"""The search among points near a relaxation, against all points."""

import itertools

import numpy as np
import pytest

from hannan.kernels import ilp_search as kernel


@pytest.mark.parametrize("seed", range(60))
def test_all_points_within_the_window_are_gone_through(seed):
    """Elements that are better than others rule out only points that cost more than that."""
    rng = np.random.default_rng(seed)
    n, m = 8, int(rng.integers(1, 3))
    columns = rng.integers(1, 4, size=(n, m)).astype(float)
    costs = -rng.integers(1, 5, size=n) + rng.choice([0.0, 0.05]) * rng.normal(size=n)
    high, equal = columns.sum(axis=0) // 2, np.zeros(m, dtype=bool)
    equal[-1] = seed % 2 == 0
    low = np.where(equal, high, -np.inf)
    window = rng.choice([1e-9, 0.1, 1.0])
    above, below = np.empty((2, n), np.uint64)
    kernel.dominance(columns, costs, equal, window, above, below)
    values = sorted(
        costs[list(chosen)].sum()
        for size in range(n + 1)
        for chosen in itertools.combinations(range(n), size)
        if fits(columns[list(chosen)].sum(axis=0), low, high)
    )
    nothing = np.zeros(n)  # no prices, so that only costs and room rule out points
    _, best, second, steps = kernel.search(
        columns, costs, nothing, np.zeros(n, dtype=bool), np.zeros(m), 0.0, low, high,
        np.full(m, 1e-9), np.zeros(m), -np.inf, np.inf, 1e-12, window, 10**6, above, below,
    )  # fmt: skip
    if not values:
        assert best == np.inf
        return
    assert best == pytest.approx(values[0], abs=1e-9)
    if len(values) > 1 and values[1] <= values[0] + window:
        assert second == pytest.approx(values[1], abs=1e-9) or steps > 10**6
    free = np.zeros((2, n), np.uint64)
    every = kernel.search(
        columns, costs, nothing, np.zeros(n, dtype=bool), np.zeros(m), 0.0, low, high,
        np.full(m, 1e-9), np.zeros(m), -np.inf, np.inf, 1e-12, window, 10**6, *free,
    )  # fmt: skip
    assert steps <= every[-1]


def fits(activity, low, high):
    """Whether all rows are met."""
    return (activity <= high + 1e-9).all() and (activity >= low - 1e-9).all()
