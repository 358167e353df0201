"""Searches in graphs with cycles.

Links are sorted by head: those that lead to node v are start[v] .. start[v+1] - 1, and link k
comes from tail[k]. Costs are not negative; a link of infinite cost is closed.
"""

import heapq

import numpy as np

from hannan.kernels.compiling import njit


@njit(nogil=True)
def distances(start, tail, costs, target, source):
    """Compute each node's cost to the target, the number of links on the way, and the first link.

    Ties go to fewer links. The search stops at the source; pass -1 to search everywhere.
    """
    n = start.size - 1
    cost, links = np.full(n, np.inf), np.zeros(n, np.int64)
    first, done = np.full(n, -1), np.zeros(n, np.bool_)
    cost[target] = 0.0
    waiting = [(0.0, 0, target)]
    while len(waiting) > 0:
        here, count, v = heapq.heappop(waiting)
        if done[v]:
            continue
        done[v] = True
        if v == source:
            break
        for k in range(start[v], start[v + 1]):
            u, there = tail[k], here + costs[k]
            if there < cost[u] or (there == cost[u] and count + 1 < links[u]):
                cost[u], links[u], first[u] = there, count + 1, k
                heapq.heappush(waiting, (there, count + 1, u))
    return cost, links, first


@njit(nogil=True)
def topological_order(start, head):
    """Sort nodes topologically; nodes on cycles, and behind cycles, are missing.

    Here links are sorted by tail. Also return the number of unsorted predecessors of each node.
    """
    n = start.size - 1
    waits, order, count = np.zeros(n, np.int64), np.empty(n, np.int64), 0
    for v in head:
        waits[v] += 1
    for v in range(n):
        if waits[v] == 0:
            order[count] = v
            count += 1
    i = 0
    while i < count:
        for k in range(start[order[i]], start[order[i] + 1]):
            waits[head[k]] -= 1
            if waits[head[k]] == 0:
                order[count] = head[k]
                count += 1
        i += 1
    return order[:count], waits


@njit(nogil=True)
def spread(tail, head, nodes):
    """Mark the heads of all links with marked tails; the links of a tail come after its own."""
    for k in range(tail.size):
        if nodes[tail[k]]:
            nodes[head[k]] = True
