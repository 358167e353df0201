"""Greedy on matroids: cheapest element first, ties to the smallest index."""

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.subsets import smallest


@njit(nogil=True)
def partition_rows(costs, order, starts, capacities, below, out):
    """out[i, k] = whether k is among the cheapest of its group under costs i.

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
    """out[i, k] = whether edge k is in the cheapest spanning tree under costs i."""
    parent = np.empty(n_nodes, np.intp)
    out[:, :] = False
    for i in range(costs.shape[0]):
        for v in range(n_nodes):
            parent[v] = v
        missing = n_nodes - 1
        for k in np.argsort(costs[i], kind="mergesort"):
            if costs[i, k] == np.inf:  # closed, and so is all that comes after it
                break
            a = _root(parent, tail[k])
            b = _root(parent, head[k])
            if a != b:
                parent[b] = a
                out[i, k] = True
                missing -= 1
                if missing == 0:
                    break
