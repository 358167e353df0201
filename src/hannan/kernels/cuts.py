r"""Smallest minimiser of a cut function plus a modular one, by push-relabel.

The arcs of a graph are sorted by tail and then by head, and each is stored with its reverse arc
(perhaps of capacity 0). The function of a set S is the capacity of the arcs that leave S plus the
weights inside S. Flow runs *against* the arcs from sources (positive weight) to sinks (negative
weight): when no more can be pushed, the elements that can still reach a sink are the smallest
minimiser, and excess flow need not be returned.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit(nogil=True)
def _measure(start, head, mate, residual, demand, label, queue):
    """Set label[u] to 1 + the number of residual arcs from u to a sink; n + 1 without a path."""
    n = label.size
    found = 0
    for u in range(n):
        label[u] = n + 1
        if demand[u] > 0.0:
            label[u] = 1
            queue[found] = u
            found += 1
    at = 0
    while at < found:
        v = queue[at]
        at += 1
        for a in range(start[v], start[v + 1]):
            u = head[a]
            if label[u] > n and residual[mate[a]] > 0.0:
                label[u] = label[v] + 1
                queue[found] = u
                found += 1
    return found


@njit(nogil=True)
def smallest_minimiser(start, head, mate, capacity, weight, inside):
    """Set inside[j] to whether j is in the smallest set of minimal weight plus cut."""
    n = weight.size
    residual = np.empty(head.size, np.float64)
    for a in range(head.size):
        residual[a] = capacity[mate[a]]
    excess = np.empty(n, np.float64)
    demand = np.empty(n, np.float64)
    for u in range(n):
        excess[u] = max(weight[u], 0.0)
        demand[u] = max(-weight[u], 0.0)
    label = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    current = np.empty(n, np.int64)
    waiting = np.zeros(n, np.bool_)
    line = np.empty(n, np.int64)  # queue of elements with excess flow
    first, length, lifts = 0, 0, n  # lifts = n: labels are computed before the first push
    for u in range(n):
        if excess[u] > 0.0:
            line[length] = u
            length += 1
            waiting[u] = True
    while length > 0:
        if lifts >= n:
            _measure(start, head, mate, residual, demand, label, queue)
            for u in range(n):
                current[u] = start[u]
            lifts = 0
        u = line[first]
        first = first + 1 if first + 1 < n else 0
        length -= 1
        waiting[u] = False
        while excess[u] > 0.0 and label[u] <= n:
            if demand[u] > 0.0:
                amount = min(excess[u], demand[u])
                excess[u] -= amount
                demand[u] -= amount
                continue
            a = current[u]
            if a < start[u + 1]:
                v = head[a]
                if residual[a] > 0.0 and label[u] == label[v] + 1:
                    amount = min(excess[u], residual[a])
                    excess[u] -= amount
                    residual[a] -= amount
                    residual[mate[a]] += amount
                    excess[v] += amount
                    if not waiting[v]:
                        waiting[v] = True
                        end = first + length
                        line[end if end < n else end - n] = v
                        length += 1
                else:
                    current[u] = a + 1
                continue
            lowest = n
            for a in range(start[u], start[u + 1]):
                if residual[a] > 0.0:
                    lowest = min(lowest, label[head[a]])
            label[u] = lowest + 1
            current[u] = start[u]
            lifts += 1
    _measure(start, head, mate, residual, demand, label, queue)
    for u in range(inside.size):
        inside[u] = label[u] <= n
