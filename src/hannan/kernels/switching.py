r"""Best sequences of policies with few switches, by dynamic programming over time.

Time is divided into cells, and a sequence may switch only between two cells. A *state* holds, for
every level q and policy n, the smallest cost of the cells passed so far, by a sequence that
switches at most q times and plays n on the last of them; `least[q]` is its smallest entry on a
level. One more cell with costs c takes it to

    state[q, n] = c[n] + min(state[q, n], least[q - 1] + price),

where `price` is an extra charge for each switch.

A step can go forwards from the first cell and backwards from the last one, and two states that
meet at a cell give the best cost of every policy in it: no traceback is needed. States are flat, a
multiple of sixteen policies for each level; policies beyond the last cost +inf.

*Fakes* are fake losses on contexts, as policies incur them: those of cell g are numbers first[g] ..
first[g+1] - 1, and number i costs policy n z[bases[i] + columns[which[i], n]].
"""

import numpy as np
from numba import float64, int64, uint64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH


@njit(nogil=True)
def project(z, n_actions, contexts, columns, starts, members, out):
    """Set out[i, n] to the loss of policy n, whose actions are sets, on context i of a list.

    Set c has the elements members[starts[c]:starts[c+1]].
    """
    for i in range(out.shape[0]):
        for n in range(out.shape[1]):
            code = columns[contexts[i], n]
            total = 0.0
            for k in range(starts[code], starts[code + 1]):
                total += float64(z[i * n_actions + members[k]])
            out[i, n] = total


@njit
def _step(state, least, row, price):
    """Add one more cell."""
    width = row.size
    ceiling = np.inf
    for q in range(least.size):
        bound = lanes.splat(float64(ceiling))
        low = lanes.splat(np.inf)
        for n in range(q * width, (q + 1) * width, WIDTH):
            value = lanes.load(state, n)
            value = lanes.where_less(bound, value, bound, value)
            value = lanes.add(value, lanes.load(row, n - q * width))
            lanes.store(state, n, value)
            low = lanes.where_less(value, low, value, low)
        ceiling = least[q] + price
        least[q] = lanes.smallest(low)


@njit(nogil=True)
def sweep(totals, start, stop, step, fakes, scale, price, state, least):
    """Take a state through the cells start, start + step, … before stop."""
    z, first, bases, which, columns = fakes
    flat, columns = totals.reshape(-1), columns.reshape(-1)
    row = np.empty(totals.shape[1])
    width = uint64(row.size)
    for g in range(start, stop, step):
        place = uint64(g) * width
        for n in range(0, row.size, WIDTH):
            lanes.store(row, n, lanes.load(flat, place + uint64(n)))
        # As a function, inlined or not, this takes 50 % longer.
        if scale != 0.0 and g + 1 < first.size:
            for i in range(first[g], first[g + 1]):
                base, column = uint64(bases[i]), uint64(which[i]) * width
                for n in range(uint64(row.size)):
                    row[n] += scale * float64(z[base + uint64(columns[column + n])])
        _step(state, least, row, price)


@njit
def costs(totals, g, fakes, scale, row):
    """Set row[n] to the cost of policy n in cell g, fakes included."""
    row[:] = 0.0
    sweep(totals, g, g + 1, int64(1), fakes, scale, 0.0, row, np.full(1, np.inf))


@njit(nogil=True)
def snapshots(totals, stop, start, stride, fakes, scale, price, state, least, states, leasts):
    """Take a state backwards from `stop` to `start`, and keep it on the way.

    states[i] is the state after cell start + i stride, that cell excluded.
    """
    for g in range(stop - 1, start - 1, -1):
        i = (g - start) // stride
        if g == start + i * stride:
            states[i] = state
            leasts[i] = least
        sweep(totals, g, g - 1, int64(-1), fakes, scale, price, state, least)


@njit
def meet(front, front_least, behind, behind_least, price, best):
    """Set best[n] to the smallest cost of the other cells by sequences with n in between."""
    width = best.size
    top = front_least.size - 1
    for n in range(0, width, WIDTH):
        lanes.store(best, n, lanes.splat(np.inf))
    for q in range(top + 1):
        before = np.inf if q == 0 else front_least[q - 1] + price
        after = np.inf if q == top else behind_least[top - q - 1] + price
        a, b = lanes.splat(float64(before)), lanes.splat(float64(after))
        for n in range(0, width, WIDTH):
            x = lanes.load(front, q * width + n)
            y = lanes.load(behind, (top - q) * width + n)
            x = lanes.where_less(a, x, a, x)
            y = lanes.where_less(b, y, b, y)
            value = lanes.add(x, y)
            known = lanes.load(best, n)
            lanes.store(best, n, lanes.where_less(value, known, value, known))


@njit(nogil=True)
def solve(totals, g, end, fakes, scale, price, levels, best):
    """Compute `meet` at cell g of `end` cells, computed from scratch."""
    size = levels * totals.shape[1]
    front, behind = np.zeros(size), np.zeros(size)
    front_least, behind_least = np.full(levels, np.inf), np.full(levels, np.inf)
    sweep(totals, int64(0), g, int64(1), fakes, scale, price, front, front_least)
    sweep(totals, end - 1, g, int64(-1), fakes, scale, price, behind, behind_least)
    meet(front, front_least, behind, behind_least, price, best)


@njit
def choose(row, best):
    """Return the first policy with the smallest total cost in one cell and in all others."""
    found = 0
    value = row[0] + best[0]
    for n in range(1, best.size):
        here = row[n] + best[n]
        if here < value:
            value = here
            found = n
    return found


# Below, every entry of a state also stores its sequence: `count[q, n]` pieces, of which piece j
# begins at cell since[q, n, j] and plays who[q, n, j]. Among sequences of equal cost the first is
# stored: the smaller first policy; then, where two first differ, the sequence that does not
# switch, or the smaller policy if both do.


@njit
def _before(pieces, q, n, p, m):
    """Return whether the sequence of (q, n) comes before that of (p, m)."""
    count, since, who = pieces
    a, b = count[q, n], count[p, m]
    for j in range(min(a, b)):
        if since[q, n, j] != since[p, m, j]:
            return since[q, n, j] > since[p, m, j]
        if who[q, n, j] != who[p, m, j]:
            return who[q, n, j] < who[p, m, j]
    return a < b


@njit
def _extend(value, pieces, row, price, now):
    """Pass a cell with these costs; policies may change in cell `now`, the next one."""
    count, since, who = pieces
    levels, policies = value.shape
    leader = np.zeros(levels, np.int64)
    for q in range(levels):
        for n in range(policies):
            value[q, n] += row[n]
        best = int64(0)
        for n in range(1, policies):
            if value[q, n] < value[q, best] or (
                value[q, n] == value[q, best] and _before(pieces, q, n, q, best)
            ):
                best = n
        leader[q] = best
    for q in range(levels - 1, 0, -1):  # downwards, for level q - 1 is read before it changes
        best = leader[q - 1]
        switched = value[q - 1, best] + price
        used = count[q - 1, best]
        for n in range(policies):
            if switched > value[q, n] or (
                switched == value[q, n] and not _before(pieces, q - 1, best, q, n)
            ):
                continue
            value[q, n] = switched
            for j in range(used):
                since[q, n, j] = since[q - 1, best, j]
                who[q, n, j] = who[q - 1, best, j]
            since[q, n, used] = now
            who[q, n, used] = n
            count[q, n] = used + 1


@njit(nogil=True)
def extend(totals, start, stop, fakes, scale, price, value, pieces):
    """Pass the cells start .. stop - 1."""
    row = np.empty(totals.shape[1])
    for g in range(start, stop):
        costs(totals, g, fakes, scale, row)
        _extend(value, pieces, row, price, g + 1)


@njit(nogil=True)
def pick(totals, g, fakes, scale, price, value, pieces, behind, behind_least):
    """Find the first of the best sequences: its entry and cost; `behind` is the state after g."""
    row = np.empty(totals.shape[1])
    costs(totals, g, fakes, scale, row)
    levels, policies = value.shape
    best_q, best_n, least = int64(0), int64(0), np.inf
    for q in range(levels):
        rest = levels - 1 - q
        bound = np.inf if rest == 0 else behind_least[rest - 1] + price
        for n in range(policies):
            here = value[q, n] + row[n] + min(behind[rest * row.size + n], bound)
            if here < least or (here == least and _before(pieces, q, n, best_q, best_n)):
                best_q, best_n, least = q, n, here
    return best_q, best_n, least


@njit
def partition(values, price, levels):
    """Find the ends of the intervals of a best partition into at most `levels` intervals.

    values[i, j] is the cost of the cells i .. j - 1 as one interval. Among best partitions the
    one with the longest first interval is found, of those the one with the longest second, ….
    """
    cells = values.shape[0] - 1
    rest = np.zeros((levels, cells + 1))  # of cells i, i + 1, … in at most q + 1 intervals
    end = np.full((levels, cells + 1), cells, np.int64)
    for i in range(cells):
        rest[0, i] = values[i, cells]
    for q in range(1, levels):
        for i in range(cells - 1, -1, -1):
            least = values[i, cells]
            for j in range(cells - 1, i, -1):
                here = values[i, j] + price + rest[q - 1, j]
                if here < least:
                    least = here
                    end[q, i] = j
            rest[q, i] = least
    found = np.empty(levels, np.int64)
    size, at = 0, 0
    while at < cells:
        at = end[levels - 1 - size, at]
        found[size] = at
        size += 1
    return found[:size], rest[levels - 1, 0]
