import numpy as np

from hannan.kernels.matroids import kruskal, kruskal_rows
from tests import naive_combinatorial
from tests.for_each import for_each


@for_each("seed", range(30))
def test_ties_go_to_the_smallest_edges(seed):
    """Many edges, so that runs are merged; few different costs, so that order matters."""
    rng = np.random.default_rng(seed)
    n, K = 9, int(rng.integers(10, 60))
    tail, head = rng.integers(n, size=(2, K))
    tail, head = np.concatenate([tail, np.arange(n - 1)]), np.concatenate([head, np.arange(1, n)])
    costs = rng.integers(-2, 3, size=len(tail)).astype(float)
    part = list(range(n))
    expected = []
    for k in sorted(range(len(tail)), key=lambda k: (costs[k], k)):
        a, b = part[tail[k]], part[head[k]]
        if a != b:
            expected.append(k)
            part = [a if p == b else p for p in part]
    assert kruskal(costs, tail, head, n).tolist() == sorted(expected)
    rows = np.empty((2, len(costs)), bool)
    kruskal_rows(np.stack([costs, costs]), tail, head, n, rows)
    assert np.flatnonzero(rows[1]).tolist() == sorted(expected)


def test_the_cheapest_tree_is_found():
    rng = np.random.default_rng(0)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    trees = naive_combinatorial.spanning_trees(4, edges)
    tail, head = np.array(edges).T.copy()
    for costs in rng.normal(size=(20, 5)):
        found = kruskal(costs, tail, head, 4)
        assert np.isclose(costs[found].sum(), naive_combinatorial.best_value(trees, costs))
