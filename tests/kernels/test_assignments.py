import numpy as np
from scipy.optimize import linear_sum_assignment

from hannan.kernels.assignments import assign
from tests.for_each import for_each


def solve(costs, handicap=None):
    n, m = costs.shape
    column = np.empty(n, np.intp)
    owner, before = np.empty(m, np.intp), np.empty(m, np.intp)
    price, distance, done = np.empty(m), np.empty(m), np.empty(m, bool)
    handicap = np.zeros(n) if handicap is None else handicap
    found = assign(costs, handicap, price, owner, column, distance, before, done)
    return column if found else None


@for_each("seed", range(200))
def test_assignments_are_as_cheap_as_those_of_scipy(seed):
    """Signed costs with ties, wide tables, pairs that are impossible, any handicaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    m = n + int(rng.integers(0, 3)) * (seed % 2)
    costs = rng.integers(-4, 5, size=(n, m)).astype(float)
    if seed % 3 == 0:
        costs += rng.normal(size=(n, m))
    costs[rng.random((n, m)) < 0.4 * (seed % 5 == 0)] = np.inf
    column = solve(costs, rng.normal(size=n) * (seed % 4))
    try:
        rows, columns = linear_sum_assignment(costs)
    except ValueError:
        assert column is None
        return
    assert len(set(column.tolist())) == n
    assert np.isclose(costs[np.arange(n), column].sum(), costs[rows, columns].sum(), atol=1e-9)
