"""Greedy on matroids: cheapest element first, ties to the smallest index."""

import numpy as np
from numba import float64

from hannan.kernels.compiling import njit
from hannan.kernels.subsets import smallest
from hannan.kernels.weights import count_hit, count_short


@njit(nogil=True)
def partition_rows(costs, order, starts, capacities, below, out):
    """Set out[i, k] to whether k is among the cheapest of its group under costs i.

    Group g holds the elements order[starts[g] : starts[g + 1]], in ascending order.
    """
    longest = 0
    for g in range(capacities.size):
        longest = max(longest, starts[g + 1] - starts[g])
    group = np.empty(longest)
    silence = np.zeros(longest, np.float32)
    values = np.empty(longest)
    where = np.empty(longest, np.intp)
    out[:, :] = False
    for i in range(costs.shape[0]):
        for g in range(capacities.size):
            start, size = starts[g], starts[g + 1] - starts[g]
            for n in range(size):
                group[n] = costs[i, order[start + n]]
            found = 0
            if capacities[g] > 0:
                found = smallest(group[:size], silence, 0.0, capacities[g], below, values, where)
            for n in range(found):
                out[i, order[start + where[n]]] = True


@njit
def _root(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@njit(nogil=True)
def kruskal_rows(costs, tail, head, n_nodes, out):
    """Set out[i, k] to whether edge k is in the cheapest spanning tree under costs i."""
    parent = np.empty(n_nodes, np.intp)
    out[:, :] = False
    for i in range(costs.shape[0]):
        for v in range(n_nodes):
            parent[v] = v
        missing = n_nodes - 1
        for k in np.argsort(costs[i], kind="mergesort"):
            if costs[i, k] == np.inf:  # unavailable, as are all later edges
                break
            a = _root(parent, tail[k])
            b = _root(parent, head[k])
            if a != b:
                parent[b] = a
                out[i, k] = True
                missing -= 1
                if missing == 0:
                    break


@njit(nogil=True)
def kruskal(costs, tail, head, n_nodes):
    """Return the edges of the cheapest spanning tree, sorted."""
    inside = np.empty((1, costs.size), np.bool_)
    kruskal_rows(costs.reshape((1, costs.size)), tail, head, n_nodes, inside)
    return np.flatnonzero(inside[0])


@njit(nogil=True)
def partition(costs, order, starts, capacities, below):
    """Return the cheapest elements of all groups, sorted."""
    inside = np.empty((1, costs.size), np.bool_)
    partition_rows(costs.reshape((1, costs.size)), order, starts, capacities, below, inside)
    return np.flatnonzero(inside[0])


@njit
def _is_chosen(totals, z, scale, k, rivals, capacity, below):
    """Return whether fewer rivals than the capacity come before element k under this noise."""
    cost = totals[k] + scale * float64(z[k])
    if not cost < below:
        return False
    ahead = 0
    for i in rivals:
        other = totals[i] + scale * float64(z[i])
        ahead += other < cost or (other == cost and i < k)
        if ahead >= capacity:
            return False
    return ahead < capacity


@njit(nogil=True)
def partition_resample(
    totals, block, start, stop, scale, order, starts, group, capacities, below,
    elements, successes, hits, reached, used,
):  # fmt: skip
    """Go through rows of noise until every element was chosen `successes` times.

    An element is chosen if fewer of its group than the capacity come before it. Updates `hits`, and
    `reached` (the draw at which an element had enough, counted from `used`); returns the number of
    rows used and of elements still short.
    """
    short = count_short(hits, successes)
    row = start
    while row < stop and short > 0:
        z = block[row]
        row += 1
        for e in range(elements.size):
            if hits[e] >= successes:
                continue
            k = elements[e]
            g = group[k]
            rivals = order[starts[g] : starts[g + 1]]
            if _is_chosen(totals, z, scale, k, rivals, capacities[g], below):
                short -= count_hit(e, used + row - start, successes, hits, reached)
    return row - start, short


@njit
def _is_bridge(costs, edge, tail, head, start, near, far, side, stacks, mark):
    """Return whether edges that come before this one do not connect its ends.

    A search goes along these edges from both ends in turn, until the searches meet or one of
    them is over; that is soon, as either few edges are cheaper or most are. The edges at node v are
    near[start[v] : start[v + 1]], and lead to `far`. `side` holds marks below `mark`.
    """
    cost = costs[edge]
    if tail[edge] == head[edge]:
        return False
    side[tail[edge]], side[head[edge]] = mark, mark + 1
    stacks[0, 0], stacks[1, 0] = tail[edge], head[edge]
    sizes = (np.int64(1), np.int64(1))
    here = 0
    while True:
        size = sizes[here]
        if size == 0:
            return True
        size -= 1
        v = stacks[here, size]
        for i in range(start[v], start[v + 1]):
            k = near[i]
            if costs[k] < cost or (costs[k] == cost and k < edge):
                w = far[i]
                if side[w] == mark + 1 - here:
                    return False
                if side[w] != mark + here:
                    side[w] = mark + here
                    stacks[here, size] = w
                    size += 1
        sizes = (size, sizes[1]) if here == 0 else (sizes[0], size)
        here = 1 - here


@njit(nogil=True)
def tree_resample(
    totals, block, start, stop, scale, tail, head, n_nodes, first, near, far,
    elements, successes, hits, reached, used,
):  # fmt: skip
    """Go through rows of noise until every edge was in the cheapest tree `successes` times.

    No tree is built: each edge that is still needed is tested for membership. Returns and
    updates as `partition_resample` does; `first`, `near` and `far` are the edges at each node, as
    in `_is_bridge`.
    """
    costs = np.empty(totals.size)
    side = np.full(n_nodes, -1, np.int64)
    stacks = np.empty((2, n_nodes), np.int64)
    mark = 0
    short = count_short(hits, successes)
    row = start
    while row < stop and short > 0:
        z = block[row]
        row += 1
        for k in range(totals.size):
            costs[k] = totals[k] + scale * float64(z[k])
        for e in range(elements.size):
            if hits[e] < successes:
                mark += 2
                k = elements[e]
                if _is_bridge(costs, k, tail, head, first, near, far, side, stacks, mark):
                    short -= count_hit(e, used + row - start, successes, hits, reached)
    return row - start, short
