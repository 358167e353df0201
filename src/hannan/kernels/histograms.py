"""Totals on both sides of every cut of binned features, and the best stump for them.

The cuts of a feature are in descending order: number 0 is its largest edge, and features with fewer
cuts than C are padded with edges of minus infinity, with nothing below them. A *statistic* is a row
of numbers: entry ((g C + c) K + k) 16 + i is the total loss of action k over the contexts below cut
c of feature 16 g + i, and K totals over all contexts follow (padded to a multiple of sixteen). Of a
context only one number for each feature matters, its *count*: how many edges lie above it.

A stump is coded (feature, cut, action below, action at or above the cut), a constant (-1, 0, a, a).
Shapes are passed as (G, C, K, F): groups of sixteen features, cuts, actions, features.
"""

import numpy as np
from numba import float32, float64, int32, int64, uint64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import transpose


@njit
def count_above(edges, row, out):
    """Set out[f] to the number of edges of feature f above row[f]; edges[f] descends."""
    for f in range(edges.shape[0]):
        low, high = 0, edges.shape[1]
        while low < high:
            middle = (low + high) // 2
            if edges[f, middle] > row[f]:
                low = middle + 1
            else:
                high = middle
        out[f] = low


@njit
def width(shape):
    """Return the size of a statistic."""
    G, C, K, _ = shape
    return (G * C * K + (K + WIDTH - 1) // WIDTH) * WIDTH


@njit
def include(stat, start, shape, counts, losses):
    """Add one context with these losses to the statistic that begins at `start`."""
    G, C, K, _ = shape
    zero = lanes.splat(0.0)
    at = start
    for g in range(G):
        count = lanes.load(counts, g * WIDTH)
        for c in range(C):
            here = lanes.splat(float64(c))
            for k in range(K):
                more = lanes.where_less(here, count, lanes.splat(losses[k]), zero)
                lanes.store(stat, at, lanes.add(lanes.load(stat, at), more))
                at += WIDTH
    for k in range(K):
        stat[at + k] += losses[k]


@njit
def add(stat, shape, counts, losses):
    """Add one context."""
    include(stat, int64(0), shape, counts, losses)


@njit
def combine(stat, z, start, size, scale, out):
    """Set out to stat + scale * z, for `size` entries from `start` on; z is not read at scale 0."""
    if scale == 0.0:
        for i in range(0, size, WIDTH):
            lanes.store(out, i, lanes.load(stat, start + i))
        return
    factor = lanes.splat(float64(scale))
    for i in range(0, size, WIDTH):
        noise = lanes.mul(factor, lanes.widen(lanes.load(z, start + i)))
        lanes.store(out, i, lanes.add(lanes.load(stat, start + i), noise))


@njit
def best_stump(values, shape, code):
    """Return the value of the best stump, and write the stump to `code`.

    First come constants, then stumps with the smallest feature and the largest cut.
    """
    G, C, K, _ = shape
    top = G * C * K * WIDTH
    code[0], code[1] = -1, 0
    code[2] = code[3] = values[top : top + K].argmin()
    best = values[top + code[2]]
    infinite = lanes.splat(np.inf)
    lowest = np.empty(WIDTH)
    cuts = np.empty(WIDTH, np.int32)
    at = 0
    for g in range(G):
        found = infinite
        which = lanes.splat(int32(0))
        for c in range(C):
            low, high = infinite, infinite
            for k in range(K):
                below = lanes.load(values, at)
                above = lanes.sub(lanes.splat(values[top + k]), below)
                low = lanes.where_less(below, low, below, low)
                high = lanes.where_less(above, high, above, high)
                at += WIDTH
            value = lanes.add(low, high)
            which = lanes.where_less(value, found, lanes.splat(int32(c)), which)
            found = lanes.where_less(value, found, value, found)
        lanes.store(lowest, 0, found)
        lanes.store(cuts, 0, which)
        for i in range(WIDTH):
            if lowest[i] < best:
                best = lowest[i]
                code[0], code[1] = g * WIDTH + i, cuts[i]
    if code[0] >= 0:
        _choose_actions(values, shape, code)
    return best


@njit
def _choose_actions(values, shape, code):
    """Choose the first best actions below a cut, and at or above it."""
    G, C, K, _ = shape
    top = G * C * K * WIDTH
    first = (code[0] // WIDTH * C + code[1]) * K * WIDTH + code[0] % WIDTH
    code[2] = code[3] = 0
    for k in range(1, K):
        below, best = values[first + k * WIDTH], values[first + code[2] * WIDTH]
        if below < best:
            code[2] = k
        above = values[top + k] - below
        if above < values[top + code[3]] - values[first + code[3] * WIDTH]:
            code[3] = k


@njit
def plays(code, counts):
    """Return the action of a coded stump on a context."""
    if code[0] >= 0 and code[1] >= counts[code[0]]:
        return code[3]
    return code[2]


@njit(nogil=True)
def act(stat, shape, block, row, scale, counts):
    """Return the action of the leader under one draw."""
    values, code = np.empty(width(shape)), np.empty(4, np.int64)
    combine(stat, block[row], int64(0), values.size, scale, values)
    best_stump(values, shape, code)
    return plays(code, counts)


@njit(nogil=True)
def leaders(stat, shape, block, start, stop, scale, codes, minima):
    """Find the leader under each of some rows of the block, with its value."""
    values = np.empty(width(shape))
    for row in range(start, stop):
        combine(stat, block[row], int64(0), values.size, scale, values)
        minima[row - start] = best_stump(values, shape, codes[row - start])


@njit(nogil=True)
def resample_one(stat, shape, block, start, stop, scale, counts, target, successes):
    """Go through rows until the leader's action was `target` often enough: successes, rows used."""
    hits = 0
    for row in range(start, stop):
        if act(stat, shape, block, row, scale, counts) == target:
            hits += 1
            if hits == successes:
                return hits, row + 1 - start
    return hits, stop - start


@njit
def gather(raw, bins, members, heavy, shape, hist):
    """Add the noise of some contexts, sixteen draws of it, to its bin in every feature.

    hist[((f (C+1) + b) K + k) 16 + draw]; bin b of feature f holds the contexts of count b. The
    bin heavy[f], which holds most contexts, is left out: `emit` finds it from the totals.
    """
    _, C, K, F = shape
    actions, step = uint64(K), uint64(WIDTH)
    for f in range(F):
        row = bins[f]
        base = uint64(f * (C + 1))
        for m in range(members.size):
            x = members[m]
            b = row[x]
            if b != heavy[f]:
                to = (base + uint64(b)) * actions * step
                source = uint64(x) * actions * step
                for _ in range(K):
                    new = lanes.add(lanes.load(hist, to), lanes.load(raw, source))
                    lanes.store(hist, to, new)
                    to += step
                    source += step


@njit
def _sum(raw, members, K, hist, to):
    """Set hist[to + k] to the noise of action k on all these contexts, in their order."""
    size = uint64(K * WIDTH)
    for k in range(K):
        total = lanes.splat(float32(0.0))
        offset = uint64(k * WIDTH)
        for m in range(members.size):
            total = lanes.add(total, lanes.load(raw, uint64(members[m]) * size + offset))
        lanes.store(hist, to + k * WIDTH, total)


@njit
def gather_all(raw, bins, order, heavy, shape, hist):
    """Call `gather` for all contexts; order[f] lists them bin by bin, so no bin is loaded twice."""
    _, C, K, F = shape
    n = order.shape[1]
    for f in range(F):
        members = order[f]
        end = 0
        while end < n:
            start = end
            bin_ = bins[f, members[start]]
            while end < n and bins[f, members[end]] == bin_:
                end += 1
            if bin_ == heavy[f]:
                continue
            to = (f * (C + 1) + bin_) * K * WIDTH
            _sum(raw, members[start:end], K, hist, to)


@njit
def gather_totals(raw, members, K, totals):
    """Add the noise of action k on each of some contexts to totals[k, draw]."""
    for m in range(members.size):
        source = members[m] * K * WIDTH
        for k in range(K):
            new = lanes.add(lanes.load(totals, k * WIDTH), lanes.load(raw, source + k * WIDTH))
            lanes.store(totals, k * WIDTH, new)


@njit
def _count_down(hist, totals, heavy, f, k, C, K, tile, i):
    """Add up the bins of a feature above each edge; the heavy bin holds the rest."""
    first = (f * (C + 1) * K + k) * WIDTH
    below = lanes.splat(float32(0.0))
    for c in range(C - 1, -1, -1):
        if c + 1 == heavy:
            rest = lanes.load(totals, k * WIDTH)
            for b in range(C + 1):
                if b != heavy:
                    rest = lanes.sub(rest, lanes.load(hist, first + b * K * WIDTH))
            below = lanes.add(below, rest)
        else:
            below = lanes.add(below, lanes.load(hist, first + (c + 1) * K * WIDTH))
        lanes.store(tile, ((c * K + k) * WIDTH + i) * WIDTH, below)


@njit
def emit(hist, totals, heavy, shape, tile, out, row_width, column):
    """Write histograms as statistics: one for each draw, from `column` on in its row of `out`."""
    G, C, K, F = shape
    zero = lanes.splat(float32(0.0))
    for g in range(G):
        for i in range(WIDTH):
            f = g * WIDTH + i
            for k in range(K):
                if f < F:
                    _count_down(hist, totals, heavy[f], f, k, C, K, tile, i)
                else:
                    for c in range(C):
                        lanes.store(tile, ((c * K + k) * WIDTH + i) * WIDTH, zero)
        transpose(tile, C * K * WIDTH, out, row_width, column + g * C * K * WIDTH, False)
    rest_rows = totals.size // WIDTH
    transpose(totals, rest_rows, out, row_width, column + G * C * K * WIDTH, False)
