"""Cheapest spanning trees without a branch, sixteen draws at a time.

The bottleneck of two nodes is the smallest c such that edges that cost up to c connect them. An
edge is in the cheapest tree if it costs no more than the bottleneck of its ends. Bottlenecks come
from steps b[i] = min(b[i], max(b[j], b[k])) on pairs of nodes, and which steps there are depends on
the graph alone: nodes are taken out one after another, each leaving its neighbours connected as
they were through it, and are then put back in the opposite order. Where edges cost the same, or
the available ones do not connect all nodes, Kruskal's algorithm decides.

`pair[e]` is the pair that edge e connects, -1 for a loop. The steps of targets[n] = i are the pairs
(j, k) in ways[starts[n] : starts[n + 1]].
"""

import numpy as np
from numba import float64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.matroids import kruskal_rows
from hannan.kernels.weights import count_hit, count_short


@njit
def _one(costs, pair, targets, starts, ways, value):
    """Compute the bottlenecks of all pairs under one draw."""
    value[:] = np.inf
    for e in range(costs.size):
        if pair[e] >= 0:
            value[pair[e]] = min(value[pair[e]], costs[e])
    for n in range(targets.size):
        best = value[targets[n]]
        for s in range(starts[n], starts[n + 1]):
            best = min(best, max(value[ways[s, 0]], value[ways[s, 1]]))
        value[targets[n]] = best


@njit
def _sixteen(costs, pair, targets, starts, ways, value):
    """Compute the bottlenecks of all pairs under sixteen draws, stored side by side."""
    infinite = lanes.splat(np.inf)
    for i in range(value.size // WIDTH):
        lanes.store(value, i * WIDTH, infinite)
    for e in range(pair.size):
        if pair[e] >= 0:
            here = lanes.load(costs, e * WIDTH)
            best = lanes.load(value, pair[e] * WIDTH)
            lanes.store(value, pair[e] * WIDTH, lanes.where_less(here, best, here, best))
    for n in range(targets.size):
        best = lanes.load(value, targets[n] * WIDTH)
        for s in range(starts[n], starts[n + 1]):
            a = lanes.load(value, ways[s, 0] * WIDTH)
            b = lanes.load(value, ways[s, 1] * WIDTH)
            way = lanes.where_less(a, b, b, a)
            best = lanes.where_less(way, best, way, best)
        lanes.store(value, targets[n] * WIDTH, best)


@njit
def _inside(costs, pair, value, inside):
    """Mark the edges that cost as much as their bottleneck; how many there are.

    If edges cost the same, these are more than a tree has. If too few are available: -1.
    """
    count = 0
    connected = True
    for e in range(costs.size):
        bottleneck = value[max(pair[e], 0)]
        inside[e] = pair[e] >= 0 and costs[e] == bottleneck
        connected &= pair[e] < 0 or bottleneck < np.inf
        count += inside[e]
    return count if connected else -1


@njit(nogil=True)
def tree_rows(costs, pair, targets, starts, ways, n_pairs, tail, head, n_nodes, out):
    """Set out[i, e] to whether edge e is in the cheapest tree under costs i."""
    value = np.empty(n_pairs)
    for i in range(costs.shape[0]):
        _one(costs[i], pair, targets, starts, ways, value)
        if _inside(costs[i], pair, value, out[i]) != n_nodes - 1:
            kruskal_rows(costs[i : i + 1], tail, head, n_nodes, out[i : i + 1])


@njit(nogil=True)
def tree(costs, pair, targets, starts, ways, n_pairs, tail, head, n_nodes):
    """Return the sorted edges of the cheapest tree; fewer if too few are available."""
    inside = np.empty((1, costs.size), np.bool_)
    row = costs.reshape((1, costs.size))
    tree_rows(row, pair, targets, starts, ways, n_pairs, tail, head, n_nodes, inside)
    return np.flatnonzero(inside[0])


@njit
def _tile(totals, block, row, count, scale, costs):
    """Write the costs under `count` draws, the costs of an edge side by side; ignore the rest."""
    for i in range(count):
        z = block[row + i]
        for e in range(totals.size):
            costs[e * WIDTH + i] = totals[e] + scale * float64(z[e])


@njit
def _count_edges(costs, value, pair, counts):
    """Set counts[i] to the number of edges up to their bottleneck's cost, in each lane."""
    zero, one = lanes.splat(0.0), lanes.splat(1.0)
    chosen = zero
    for e in range(pair.size):
        if pair[e] >= 0:
            bottleneck = lanes.load(value, pair[e] * WIDTH)
            here = lanes.where_less(bottleneck, lanes.load(costs, e * WIDTH), zero, one)
            chosen = lanes.add(chosen, here)
    lanes.store(counts, 0, chosen)


@njit(nogil=True)
def tree_resample(
    totals, block, start, stop, scale, pair, targets, starts, ways, n_pairs, tail, head, n_nodes,
    elements, successes, hits, reached, used,
):  # fmt: skip
    """Go through rows of noise until every edge was in the cheapest tree `successes` times.

    Returns and updates as `matroids.partition_resample` does.
    """
    costs = np.zeros(totals.size * WIDTH)
    value = np.empty(n_pairs * WIDTH)
    counts = np.empty(WIDTH)
    whole, inside = np.empty((1, totals.size)), np.empty((1, totals.size), np.bool_)
    short = count_short(hits, successes)
    row = start
    while row < stop and short > 0:
        count = min(WIDTH, stop - row)
        _tile(totals, block, row, count, scale, costs)
        _sixteen(costs, pair, targets, starts, ways, value)
        _count_edges(costs, value, pair, counts)
        for i in range(count):
            tied = counts[i] != n_nodes - 1
            if tied:
                whole[0] = costs[i::WIDTH]
                kruskal_rows(whole, tail, head, n_nodes, inside)
            row += 1
            for e in range(elements.size):
                if hits[e] >= successes:
                    continue
                k = elements[e]
                bottleneck = value[pair[k] * WIDTH + i]
                if inside[0, k] if tied else costs[k * WIDTH + i] == bottleneck:
                    short -= count_hit(e, used + row - start, successes, hits, reached)
            if short == 0:
                break
    return row - start, short
