"""The best tree of depth two, from one statistic for each half-space of a root.

Statistics are those of `kernels.histograms`. A *table* holds them one after another: number 0 is
that of all contexts, and number 1 + f C + c that of the contexts below cut c of feature f.

A tree is coded in ten numbers: root feature (-1 for none), root cut, the stump below the root's cut
(the whole tree if there is no root), the stump at or above it.
"""

import numpy as np
from numba import int64

from hannan.kernels import histograms, lanes
from hannan.kernels.compiling import njit
from hannan.kernels.histograms import best_stump, combine, include, width
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace


@njit
def add(table, shape, counts, losses):
    """Add one context to the statistics of all half-spaces it lies in."""
    _, C, _, F = shape
    size = width(shape)
    include(table, int64(0), shape, counts, losses)
    for f in range(F):
        for c in range(int(counts[f])):
            include(table, (1 + f * C + c) * size, shape, counts, losses)


@njit
def split_value(below, whole, shape):
    """Return the value of the best stump below a cut plus that of the best one for the rest."""
    G, C, K, _ = shape
    top = G * C * K * WIDTH
    infinite = lanes.splat(np.inf)
    left, right = infinite, infinite
    at = 0
    for _g in range(G):
        for _c in range(C):
            left_low, left_high, right_low, right_high = infinite, infinite, infinite, infinite
            for k in range(K):
                a = lanes.load(below, at)
                b = lanes.sub(lanes.splat(below[top + k]), a)
                c = lanes.sub(lanes.load(whole, at), a)
                d = lanes.sub(lanes.splat(whole[top + k] - below[top + k]), c)
                left_low = lanes.where_less(a, left_low, a, left_low)
                left_high = lanes.where_less(b, left_high, b, left_high)
                right_low = lanes.where_less(c, right_low, c, right_low)
                right_high = lanes.where_less(d, right_high, d, right_high)
                at += WIDTH
            value = lanes.add(left_low, left_high)
            left = lanes.where_less(value, left, value, left)
            value = lanes.add(right_low, right_high)
            right = lanes.where_less(value, right, value, right)
    best_left, best_right = lanes.smallest(left), lanes.smallest(right)
    for k in range(K):
        best_left = min(best_left, below[top + k])
        best_right = min(best_right, whole[top + k] - below[top + k])
    return best_left + best_right


@njit
def _branches(below, whole, shape, code):
    """Write the best stumps of both sides of a root; overwrites `below`."""
    best_stump(below, shape, code[2:6])
    for i in range(below.size):
        below[i] = whole[i] - below[i]
    best_stump(below, shape, code[6:10])


@njit
def best_tree(table, z, scale, shape, whole, below, code):
    """Return the value of the best tree, and write the tree to `code`.

    First come stumps in their own order, then the smallest root feature, its largest cut, the
    first stump below and the first stump from the cut on.
    """
    _, C, _, F = shape
    size = whole.size
    combine(table, z, int64(0), size, scale, whole)
    code[:] = 0
    code[0] = -1
    best = best_stump(whole, shape, code[2:6])
    for f in range(F):
        for c in range(C):
            combine(table, z, (1 + f * C + c) * size, size, scale, below)
            value = split_value(below, whole, shape)
            if value < best:
                best = value
                code[0], code[1] = f, c
    if code[0] >= 0:
        combine(table, z, (1 + code[0] * C + code[1]) * size, size, scale, below)
        _branches(below, whole, shape, code)
    return best


@njit
def plays(code, counts):
    """Return the action of a coded tree on a context."""
    if code[0] >= 0 and code[1] >= counts[code[0]]:
        return histograms.plays(code[6:10], counts)
    return histograms.plays(code[2:6], counts)


@njit(nogil=True)
def act(table, shape, block, row, scale, counts):
    """Return the action of the leader under one draw."""
    whole, below = np.empty(width(shape)), np.empty(width(shape))
    code = np.empty(10, np.int64)
    best_tree(table, block[row], scale, shape, whole, below, code)
    return plays(code, counts)


@njit(nogil=True)
def leaders(table, shape, block, start, stop, scale, codes, minima):
    """Find the leader under each of some rows of the block, with its value."""
    whole, below = np.empty(width(shape)), np.empty(width(shape))
    for row in range(start, stop):
        minima[row - start] = best_tree(
            table, block[row], scale, shape, whole, below, codes[row - start]
        )


@njit(nogil=True)
def resample_one(table, shape, block, start, stop, scale, counts, target, successes):
    """Go through rows until the leader's action was `target` often enough: successes, rows used."""
    hits = 0
    for row in range(start, stop):
        if act(table, shape, block, row, scale, counts) == target:
            hits += 1
            if hits == successes:
                return hits, row + 1 - start
    return hits, stop - start


@njit(nogil=True)
def fill(key, stream, first, bins, order, heavy, shape, pairs, block):
    """Set block[i] to the noise table of draw first + i; only its number 0 without `pairs`.

    bins[f, x] counts the edges of feature f above x, and order[f] lists the contexts by descending
    count, so that each half-space of a feature is filled from the one before.
    """
    _, C, K, F = shape
    draws, row_width = block.shape
    size = width(shape)
    n_contexts = bins.shape[1]
    raw = np.empty((n_contexts * K + 3) // 4 * 4 * WIDTH, np.float32)
    hist = np.empty(F * (C + 1) * K * WIDTH, np.float32)
    totals = np.zeros((K + WIDTH - 1) // WIDTH * WIDTH * WIDTH, np.float32)
    tile = np.empty(C * K * WIDTH * WIDTH, np.float32)
    members = np.arange(n_contexts)
    spare = np.empty((WIDTH, row_width if draws % WIDTH else 0), np.float32)
    for i in range(0, draws, WIDTH):
        fill_laplace(key, stream, first + i, raw)
        whole = i + WIDTH <= draws
        rows = block[i : i + WIDTH] if whole else spare
        out = rows.reshape(-1)
        hist[:] = 0.0
        totals[:] = 0.0
        histograms.gather_all(raw, bins, order, heavy, shape, hist)
        histograms.gather_totals(raw, members, K, totals)
        histograms.emit(hist, totals, heavy, shape, tile, out, row_width, int64(0))
        for f in range(F if pairs else 0):
            hist[:] = 0.0
            totals[:] = 0.0
            done = 0
            for c in range(C - 1, -1, -1):
                end = done
                while end < n_contexts and bins[f, order[f, end]] > c:
                    end += 1
                some = order[f, done:end]
                histograms.gather(raw, bins, some, heavy, shape, hist)
                histograms.gather_totals(raw, some, K, totals)
                column = (1 + f * C + c) * size
                histograms.emit(hist, totals, heavy, shape, tile, out, row_width, column)
                done = end
        if not whole:
            block[i:] = spare[: draws - i]


@njit
def grow(counts, losses, shape, code):
    """Return the value of the best tree of depth two for some contexts, without a table."""
    _, C, _, F = shape
    size = width(shape)
    whole, below, kept = np.zeros(size), np.empty(size), np.empty(size)
    n = losses.shape[0]
    for x in range(n):
        include(whole, int64(0), shape, counts[x], losses[x])
    code[:] = 0
    code[0] = -1
    best = best_stump(whole, shape, code[2:6])
    for f in range(F):
        order = np.argsort(-counts[:, f], kind="mergesort")
        below[:] = 0.0
        done = 0
        for c in range(C - 1, -1, -1):
            before = done
            while done < n and counts[order[done], f] > c:
                include(below, int64(0), shape, counts[order[done]], losses[order[done]])
                done += 1
            if done == before:  # the same half-space, and a larger cut
                if code[0] == f and code[1] == c + 1:
                    code[1] = c
                continue
            value = split_value(below, whole, shape)
            # Cuts are in ascending order here: among equal ones of a feature the last counts.
            if value < best or (value == best and code[0] == f):
                best = value
                code[0], code[1] = f, c
                kept[:] = below
    if code[0] >= 0:
        _branches(kept, whole, shape, code)
    return best
