"""Cheapest spanning trees by bottlenecks, beside Kruskal's rule."""

import numpy as np
import pytest

import hannan as hn
from hannan.kernels import bottlenecks, matroids
from hannan.oracles.spanning_trees import elimination


def graph(rng):
    """A connected one, with loops and parallel edges."""
    n = int(rng.integers(1, 9))
    tail = [int(rng.integers(v)) for v in range(1, n)]
    ends = [(u, v) for v, u in enumerate(tail, 1)]
    ends += [tuple(rng.integers(n, size=2)) for _ in range(int(rng.integers(1, 14)))]
    tail, head = np.array(ends, np.intp)[rng.permutation(len(ends))].T
    return np.ascontiguousarray(tail), np.ascontiguousarray(head), n


def costs_of(rng, rows, K):
    """Some rows with ties, some with closed edges, some with both."""
    found = rng.normal(size=(rows, K))
    found[1::3] = rng.integers(-1, 2, size=found[1::3].shape)
    found[::2][rng.random(found[::2].shape) < 0.2] = np.inf
    return found


@pytest.mark.parametrize("seed", range(30))
def test_trees_are_those_of_kruskals_rule(seed):
    rng = np.random.default_rng(seed)
    tail, head, n = graph(rng)
    steps = *elimination(tail, head, n), tail, head, n
    costs = costs_of(rng, 20, len(tail))
    found, expected = np.empty((2, *costs.shape), dtype=bool)
    matroids.kruskal_rows(costs, tail, head, n, expected)
    bottlenecks.tree_rows(costs, *steps, found)
    assert np.array_equal(found, expected)
    for row, inside in zip(costs, expected, strict=True):
        assert np.array_equal(bottlenecks.tree(row, *steps), np.flatnonzero(inside))


@pytest.mark.parametrize("seed", range(30))
def test_edges_are_drawn_as_often_as_by_asking_for_bridges(seed):
    rng = np.random.default_rng(seed)
    tail, head, n = graph(rng)
    K = len(tail)
    totals = costs_of(rng, 2, K)[0]
    block = rng.laplace(size=(60, K)).astype(np.float32)
    if seed % 2:
        block, totals = np.round(block), np.where(np.isinf(totals), np.inf, np.round(totals))
    inside = np.empty((1, K), dtype=bool)
    matroids.kruskal_rows(totals[None], tail, head, n, inside)
    if inside.sum() < n - 1:
        pytest.skip("too much is closed")
    wanted = np.flatnonzero(inside[0])
    near = incident(tail, head, n)
    answers = []
    for kernel, given in (
        (bottlenecks.tree_resample, (*elimination(tail, head, n), tail, head, n)),
        (matroids.tree_resample, (tail, head, n, *near)),
    ):
        hits, reached = np.zeros((2, len(wanted)), np.intp)
        end = kernel(totals, block, 3, 60, 1.5, *given, wanted, 2, hits, reached, 7)
        answers.append((end, hits.tolist(), reached.tolist()))
    assert answers[0] == answers[1]


def incident(tail, head, n):
    """The edges at each node, as `matroids.tree_resample` takes them."""
    ends = np.concatenate([tail, head])
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(n + 1)).astype(np.intp)
    return starts, order % len(tail), np.concatenate([head, tail])[order]


def test_graphs_that_would_take_too_many_steps_go_by_kruskals_rule():
    dense = hn.oracles.SpanningTrees([(u, v) for v in range(90) for u in range(v)])
    assert dense._steps is None
    sparse = hn.oracles.SpanningTrees([(u, u + 1) for u in range(90)])
    assert sparse._steps is not None
    costs = np.random.default_rng(0).normal(size=(2, dense.n_actions))
    expected = np.empty(costs.shape, dtype=bool)
    matroids.kruskal_rows(costs, dense._tail, dense._head, 90, expected)
    assert np.array_equal(dense._solve_many(costs), expected)
    assert np.array_equal(dense._solve(costs[0]), np.flatnonzero(expected[0]))
