"""Shortest paths of a directed acyclic graph, by dynamic programming, sixteen draws at a time.

Nodes are numbered so that every edge leads to a smaller number: the target is node 0 and the
source is the last. The edges that leave node v are start[v] .. start[v+1] - 1, in the order in
which ties are broken, and edge i leads to head[i]. Its costs and noise are those of the user's
edge ids[cell[i]]: several edges here may stand for one of the user's, if the graph has layers.
A `graph` is the tuple (start, head, cell, ends, ids).

Where it has, a path may pass a node twice. Then `ends[c]` is the node that cell c leads to, and
what lies between two visits is cut out; else `ends` is empty.

Noise comes in tiles: sixteen consecutive draws, those of one cell side by side, so that cell c in
lane b of tile t stands at (t W + c) 16 + b of the flat block, W the number of cells, rounded up
to a multiple of four.
"""

import math

import numpy as np
from numba import float64, int32, int64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace
from hannan.kernels.weights import count_hit, count_short


@njit(nogil=True)
def fill(key, stream, first, block):
    """Write draws first, first + 1, … in tiles; the number of rows is a multiple of sixteen."""
    flat = block.reshape(-1)
    size = block.shape[1] * WIDTH
    for t in range(block.shape[0] // WIDTH):
        fill_laplace(key, stream, first + t * WIDTH, flat[t * size : (t + 1) * size])


@njit
def _solve(costs, flat, base, scale, graph, value, choice):
    """Compute each node's smallest cost to the target, and the edge to take, in one draw.

    `base` is where edge 0 of the draw stands. Without noise (scale 0) `flat` is not read.
    """
    start, head, cell, _, _ = graph
    value[0] = 0.0
    for v in range(1, start.size - 1):
        best = np.inf
        edge = start[v]
        for i in range(start[v], start[v + 1]):
            here = costs[cell[i]]
            if scale != 0.0:
                here += scale * float64(flat[base + cell[i] * WIDTH])
            here += value[head[i]]
            if here < best:
                best = here
                edge = i
        value[v] = best
        choice[v] = edge


@njit
def _solve_tile(costs, flat, base, scale, graph, value, choice):
    """Run `_solve` for the sixteen draws of a tile, in the same order of operations."""
    start, head, cell, _, _ = graph
    factor = lanes.splat(float64(scale))
    infinite = lanes.splat(np.inf)
    lanes.store(value, 0, lanes.splat(0.0))
    for v in range(1, start.size - 1):
        best = infinite
        edge = lanes.splat(int32(start[v]))
        for i in range(start[v], start[v + 1]):
            c = cell[i]
            noise = lanes.mul(factor, lanes.widen(lanes.load(flat, base + c * WIDTH)))
            here = lanes.add(lanes.splat(float64(costs[c])), noise)
            here = lanes.add(here, lanes.load(value, head[i] * WIDTH))
            edge = lanes.where_less(here, best, lanes.splat(int32(i)), edge)
            best = lanes.where_less(here, best, here, best)
        lanes.store(value, v * WIDTH, best)
        lanes.store(choice, v * WIDTH, edge)


@njit
def _trace(choice, lane, width, graph, out, first):
    """Append the cells of one path to out[:first]; the new count."""
    start, head, cell, ends, _ = graph
    count = first
    v = start.size - 2
    while v != 0:
        i = choice[v * width + lane]
        v = head[i]
        c = cell[i]
        out[count] = c
        count += 1
        if ends.size > 0:
            for k in range(first, count - 1):
                if ends[out[k]] == ends[c]:
                    count = k + 1
                    break
    return count


@njit(nogil=True)
def act(costs, block, row, scale, graph, longest):
    """Find the edges of the best path under one draw, and its value.

    If every path has an unavailable edge, there are no edges, and the value is infinite.
    """
    ids, nodes = graph[4], graph[0].size - 1
    value, choice = np.empty(nodes, np.float64), np.empty(nodes, np.int32)
    base = row // WIDTH * WIDTH * block.shape[1] + row % WIDTH
    _solve(costs, block.reshape(-1), base, scale, graph, value, choice)
    if value[-1] == np.inf:
        return ids[:0].copy(), np.inf
    path = np.empty(longest, np.int64)
    size = _trace(choice, int64(0), int64(1), graph, path, int64(0))
    path = ids[path[:size]]
    path.sort()
    return path, value[-1]


@njit(nogil=True)
def settle(costs, losses, block, row, scale, graph, longest):
    """Add the losses, then find the best path under the same draw."""
    ids = graph[4]
    for i in range(ids.size):
        costs[i] += losses[ids[i]]
    return act(costs, block, row, scale, graph, longest)[0]


@njit(nogil=True)
def leaders(costs, block, row, scale, graph, out, stops, values):
    """Find the best paths under the draws in rows row, row + 1, … of the block.

    Path k is out[stops[k-1]:stops[k]], from the source on; values[k] is its value.
    """
    ids, size = graph[4], (graph[0].size - 1) * WIDTH
    flat = block.reshape(-1)
    value, choice = np.empty(size, np.float64), np.empty(size, np.int32)
    count = int64(0)
    for k in range(stops.size):
        lane = (row + k) % WIDTH
        if k == 0 or lane == 0:
            base = (row + k - lane) * block.shape[1]
            _solve_tile(costs, flat, base, scale, graph, value, choice)
        count = _trace(choice, lane, int64(WIDTH), graph, out, count)
        stops[k] = count
        values[k] = value[size - WIDTH + lane]
    for k in range(count):
        out[k] = ids[out[k]]


@njit(nogil=True)
def interval_minima(prefix, start, head, cell):
    """Compute the lengths of best paths at costs prefix[:, j] - prefix[:, i], for all i < j.

    Sixteen j at a time, so the last sixteen columns are padding.
    """
    columns = prefix.shape[1]
    cuts = columns - WIDTH
    out = np.zeros((cuts, cuts))
    source = start.size - 2
    flat = prefix.reshape(-1)
    value = np.empty((source + 1) * WIDTH, np.float64)
    lanes.store(value, 0, lanes.splat(0.0))
    for i in range(cuts - 1):
        for j in range(i + 1, cuts, WIDTH):
            for v in range(1, source + 1):
                best = lanes.splat(np.inf)
                for e in range(start[v], start[v + 1]):
                    c = cell[e]
                    before = lanes.splat(flat[c * columns + i])
                    here = lanes.sub(lanes.load(flat, c * columns + j), before)
                    here = lanes.add(here, lanes.load(value, head[e] * WIDTH))
                    best = lanes.where_less(here, best, here, best)
                lanes.store(value, v * WIDTH, best)
            for b in range(min(WIDTH, cuts - j)):
                out[i, j + b] = value[source * WIDTH + b]
    return out


@njit(nogil=True)
def resample(
    costs, block, row, stop, scale, graph, longest, place, elements, successes, hits, reached, used
):
    """Go through rows until every wanted edge was chosen `successes` times.

    place[e] is the cell of edge e, -1 where it cannot be chosen. Updates `hits`, and `reached` (the
    draw at which an edge had enough, counted from `used`); returns the number of rows used and of
    edges still short.
    """
    size = (graph[0].size - 1) * WIDTH
    flat = block.reshape(-1)
    value, choice = np.empty(size, np.float64), np.empty(size, np.int32)
    path = np.empty(longest, np.int64)
    slots = np.full(costs.size, -1)  # where a cell stands among the wanted ones
    for e in range(hits.size):
        if place[elements[e]] >= 0:
            slots[place[elements[e]]] = e
    short = count_short(hits, successes)
    k = row
    while k < stop and short > 0:
        lane = k % WIDTH
        if k == row or lane == 0:
            base = (k - lane) * block.shape[1]
            _solve_tile(costs, flat, base, scale, graph, value, choice)
        k += 1
        for c in path[: _trace(choice, lane, int64(WIDTH), graph, path, int64(0))]:
            e = slots[c]
            if e >= 0 and hits[e] < successes:
                short -= count_hit(e, used + k - row, successes, hits, reached)
    return k - row, short


@njit
def mark_rows(edges, ends, part):
    """Set the edges of each path in its row; path i ends before position ends[i] of `edges`."""
    begin = 0
    for i in range(ends.size):
        for k in range(begin, ends[i]):
            part[i, edges[k]] = True
        begin = ends[i]


@njit
def log_count(start, head):
    """Return the log of the number of paths from the source to the target."""
    size = np.zeros(start.size - 1, np.float64)
    for v in range(1, start.size - 1):
        top = size[head[start[v]]]
        for i in range(start[v], start[v + 1]):
            top = max(top, size[head[i]])
        total = 0.0
        for i in range(start[v], start[v + 1]):
            total += math.exp(size[head[i]] - top)
        size[v] = top + math.log(total)
    return size[start.size - 2]


@njit
def longest(start, head):
    """Return the number of edges of the longest path from the source to the target."""
    length = np.zeros(start.size - 1, np.int64)
    for v in range(1, start.size - 1):
        for i in range(start[v], start[v + 1]):
            length[v] = max(length[v], length[head[i]] + 1)
    return length[start.size - 2]
