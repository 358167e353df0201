"""Tables over all subsets of n variables, in blocks of 64 with a tree of minima above them.

A context is a mask y and a set S of variables *misses* it if S & y == 0. The score of S is the sum
of the weights of the contexts it misses. Block h holds the sets whose upper bits are h; node 1 of
the tree is the root, the children of node k are 2k and 2k + 1, and block h is node B + h, where B
is the number of blocks. Tables of fewer than 64 sets are padded with +inf.
"""

import numpy as np
from numba import float64, int32, int64, uint64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace

LEAF_BITS = 6
LEAF = 1 << LEAF_BITS
_SLACK = 1e-12  # relative: bounds are summed in another order than values
_STRIP = 1024  # table entries whose upper bits are summed while they are in the cache


@njit
def _smallest(values, start):
    """Return the minimum of 64 numbers."""
    a = lanes.load(values, start)
    for k in range(WIDTH, LEAF, WIDTH):
        b = lanes.load(values, start + k)
        a = lanes.where_less(b, a, b, a)
    return lanes.smallest(a)


@njit
def build(scores, tree):
    """Fill the tree of minima."""
    blocks = tree.size // 2
    for h in range(blocks):
        tree[blocks + h] = _smallest(scores, h * LEAF)
    for k in range(blocks - 1, 0, -1):
        tree[k] = min(tree[2 * k], tree[2 * k + 1])


@njit
def _tilt(y, weight, out):
    """Set out[lo] to the weight where lo misses the lower bits of y, else 0."""
    for lo in range(LEAF):
        out[lo] = weight if lo & y & (LEAF - 1) == 0 else 0.0


@njit(nogil=True)
def add(scores, tree, y, weight):
    """Add a context's weight to every set that misses it, and update the tree."""
    blocks = tree.size // 2
    extra = np.empty(LEAF, np.float64)
    _tilt(y, weight, extra)
    room = ~(y >> LEAF_BITS) & (blocks - 1)
    h = room
    while True:
        base = h * LEAF
        for lo in range(0, LEAF, WIDTH):
            lanes.store(
                scores, base + lo, lanes.add(lanes.load(scores, base + lo), lanes.load(extra, lo))
            )
        tree[blocks + h] = _smallest(scores, base)
        if h == 0:
            break
        h = (h - 1) & room
    level = blocks
    while level > 1:
        level >>= 1
        room >>= 1
        h = room
        while True:
            k = level + h
            tree[k] = min(tree[2 * k], tree[2 * k + 1])
            if h == 0:
                break
            h = (h - 1) & room


@njit
def _look(scores, base, linear, shift, work):
    """Return the smallest value of a block and its place; `work` is overwritten."""
    offset = lanes.splat(float64(shift))
    for lo in range(0, LEAF, WIDTH):
        extra = lanes.add(offset, lanes.load(linear, lo))
        lanes.store(work, lo, lanes.add(lanes.load(scores, base + lo), extra))
    low = _smallest(work, int64(0))
    for lo in range(LEAF):
        if work[lo] == low:
            return low, lo
    return low, 0


@njit
def _block_sums(w, y, weight):
    """Return sum_{i in S} w[i] for each set S of low bits, without and with weight [S misses y]."""
    plain = np.zeros(LEAF, np.float64)
    for i in range(LEAF_BITS):
        for lo in range(1 << i):
            plain[lo + (1 << i)] = plain[lo] + w[i]
    tilted = np.empty(LEAF, np.float64)
    _tilt(y, weight, tilted)
    for lo in range(LEAF):
        tilted[lo] += plain[lo]
    return plain, tilted


@njit
def _gift(upper, y, gift):
    """Return the gift if sets with these upper bits may still miss y, else nothing."""
    return gift if upper & y == 0 else 0.0


@njit(nogil=True)
def linear_leader(scores, tree, w, y, weight):
    """Find the smallest best set for scores + sum_{i in S} w[i] + weight [S misses y].

    w has an entry for each bit of the table. Depth first, the better half first; a node's bound
    is its smallest score plus the negative part of w below it.
    """
    blocks = tree.size // 2
    n = w.size
    below = np.zeros(n + 1, np.float64)  # below[j] = negative part of w[0..j-1]
    size = abs(tree[1]) + abs(weight)
    for i in range(n):
        below[i + 1] = below[i] + min(w[i], 0.0)
        size += abs(w[i])
    slack = _SLACK * size
    plain, tilted = _block_sums(w, y, weight)
    gift = min(weight, 0.0)
    work = np.empty(LEAF, np.float64)

    nodes = np.empty(2 * n + 2, np.int64)
    shifts = np.empty(2 * n + 2, np.float64)
    bounds = np.empty(2 * n + 2, np.float64)
    bits = np.empty(2 * n + 2, np.int64)  # free bits below the node
    nodes[0], shifts[0], bounds[0], bits[0] = 1, 0.0, -np.inf, n
    top = 1
    best, best_set = np.inf, int64(0)
    while top > 0:
        top -= 1
        if bounds[top] > best + slack:
            continue
        node, shift, free = nodes[top], shifts[top], bits[top]
        if node >= blocks:
            h = node - blocks
            missed = h & (y >> LEAF_BITS) == 0
            low, lo = _look(scores, h * LEAF, tilted if missed else plain, shift, work)
            found = h * LEAF + lo
            if low < best or (low == best and found < best_set):
                best, best_set = low, found
            continue
        free -= 1
        out, inn = 2 * node, 2 * node + 1
        level = 1 << (n - free)
        shift_in = shift + w[free]
        bound_out = tree[out] + (shift + below[free]) + _gift(out - level, y >> free, gift)
        bound_in = tree[inn] + (shift_in + below[free]) + _gift(inn - level, y >> free, gift)
        first = 0 if bound_out <= bound_in else 1  # visited first, so pushed last
        for k in range(2):
            child = first if k == 1 else 1 - first
            bound = bound_in if child == 1 else bound_out
            if bound <= best + slack:
                nodes[top] = inn if child == 1 else out
                shifts[top] = shift_in if child == 1 else shift
                bounds[top] = bound
                bits[top] = free
                top += 1
    return best_set, best


@njit
def _fold(into, other):
    """Add other to into, two arguments that the compiler knows do not overlap."""
    for k in range(into.size):
        into[k] += other[k]


@njit
def _sum_supersets(table, n):
    """Set table[S] to the sum over T containing S, for the bits from LEAF_BITS up, in place.

    Lower bits first, in pieces that stay in the cache; then the upper bits, strip by strip.
    """
    low = min(n, 15)
    piece = 1 << low
    for start in range(0, table.size, piece):
        for b in range(LEAF_BITS, low):
            step = 1 << b
            for k in range(start, start + piece, 2 * step):
                _fold(table[k : k + step], table[k + step : k + 2 * step])
    for strip in range(0, piece if n > low else 0, _STRIP):
        for b in range(low, n):
            step = 1 << b
            for block in range(0, table.size, 2 * step):
                for k in range(block + strip, block + step, piece):
                    _fold(table[k : k + _STRIP], table[k + step : k + step + _STRIP])


@njit
def _ends(values):
    """Return the minimum and the maximum of whole numbers."""
    low = high = values[0]
    for k in range(values.size):
        low = values[k] if values[k] < low else low
    for k in range(values.size):
        high = values[k] if values[k] > high else high
    return low, high


@njit(nogil=True)
def fill_tables(key, stream, first, ys, miss, unit, n, rows):
    """Set rows[i] to the noise of every set in draw first + i, minus the noise of hitting all.

    In whole multiples of 1/unit, so that sums do not depend on their order and sets that agree on
    all contexts tie. After the table come the minimum and the maximum of each block.
    """
    d = ys.size
    size = 1 << n
    blocks = size // LEAF
    raw = np.empty((2 * d + 3) // 4 * 4 * WIDTH, np.float32)
    table = np.empty(size, np.int32)  # a buffer that stays in the cache
    for i in range(0, rows.shape[0], WIDTH):
        fill_laplace(key, stream, first + i, raw)
        for b in range(min(WIDTH, rows.shape[0] - i)):
            row = rows[i + b]
            table[:] = 0
            for x in range(d):
                missed = raw[(2 * x + miss) * WIDTH + b]
                change = float64(missed) - float64(raw[(2 * x + 1 - miss) * WIDTH + b])
                value = int32(np.floor(change * unit + 0.5))
                base = (~(ys[x] >> LEAF_BITS) & (blocks - 1)) * LEAF
                for lo in range(LEAF):
                    if lo & ys[x] & (LEAF - 1) == 0:
                        table[base + lo] += value
            _sum_supersets(table, n)
            row[:size] = table[:size]
            for h in range(blocks):
                row[size + h], row[size + blocks + h] = _ends(table[h * LEAF : (h + 1) * LEAF])


@njit
def _look_noisy(scores, row, base, factor, extra, work):
    """Write the values of a block under noise to `work`; return the smallest."""
    for lo in range(0, LEAF, WIDTH):
        noise = lanes.mul(factor, lanes.widen(lanes.load(row, base + lo)))
        value = lanes.add(lanes.load(scores, base + lo), lanes.load(extra, lo))
        lanes.store(work, lo, lanes.add(value, noise))
    return _smallest(work, int64(0))


@njit(nogil=True)
def table_leader(scores, tree, row, scale, y, weight):
    """Find the smallest best set for scores + scale * row + weight [S misses y], and its value.

    `row` is a row of `fill_tables`, in its units.
    """
    blocks = tree.size // 2
    ends = blocks * LEAF if scale >= 0.0 else blocks * (LEAF + 1)
    gift = min(weight, 0.0)
    tilted = np.empty(LEAF, np.float64)
    _tilt(y, weight, tilted)
    zero = np.zeros(LEAF, np.float64)
    work = np.empty(LEAF, np.float64)
    factor = lanes.splat(float64(scale))
    start, low = 0, np.inf
    for h in range(blocks):
        bound = tree[uint64(blocks + h)] + scale * float64(row[uint64(ends + h)])
        if bound < low:
            start, low = h, bound
    slack = _SLACK * (abs(low) + abs(weight) + abs(tree[blocks + start]))
    best, best_set = np.inf, int64(0)
    for turn in range(-1, blocks):
        h = start if turn < 0 else turn  # the block of least bound first
        bound = tree[uint64(blocks + h)] + scale * float64(row[uint64(ends + h)]) + gift
        if bound > best + slack:
            continue
        extra = tilted if h & (y >> LEAF_BITS) == 0 else zero
        value = _look_noisy(scores, row, h * LEAF, factor, extra, work)
        if value > best:
            continue
        for lo in range(LEAF):
            if work[lo] == value:
                if value < best or h * LEAF + lo < best_set:
                    best, best_set = value, h * LEAF + lo
                break
    return best_set, best


@njit(nogil=True)
def linear_draw(scores, tree, cells, scale, miss, places, n, y, weight):
    """Find `linear_leader` under noise on contexts of one variable each.

    Context x is the variable places[x], or none if that is negative. Returns the best set and its
    value less what the noise would be if all contexts were hit.
    """
    w = np.zeros(n, np.float64)
    all_missed = 0.0
    for x in range(places.size):
        change = scale * (float64(cells[2 * x + miss]) - float64(cells[2 * x + 1 - miss]))
        all_missed += change
        if places[x] >= 0:
            w[places[x]] -= change
    best_set, best = linear_leader(scores, tree, w, y, weight)
    return best_set, best + all_missed
