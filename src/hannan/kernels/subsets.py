"""The m smallest of K numbers, ties to the smallest index.

A binary heap holds the m smallest so far, the largest of them on top. Elements are visited in
order, so one that equals the top has the larger index and is not taken.
"""

import numpy as np
from numba import float64, int64

from hannan.kernels.compiling import njit
from hannan.kernels.weights import count_hit, count_short


@njit
def _after(value, index, other, other_index):
    return value > other or (value == other and index > other_index)


@njit
def _sink(values, where, size, value, index):
    """Put an element on top of the heap and let it sink to its place."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _after(
            values[child + 1], where[child + 1], values[child], where[child]
        ):
            child += 1
        if not _after(values[child], where[child], value, index):
            break
        values[at] = values[child]
        where[at] = where[child]
        at = child
    values[at] = value
    where[at] = index


@njit
def _rise(values, where, at, value, index):
    """Put an element at the end of the heap and let it rise to its place."""
    while at > 0:
        parent = (at - 1) // 2
        if not _after(value, index, values[parent], where[parent]):
            break
        values[at] = values[parent]
        where[at] = where[parent]
        at = parent
    values[at] = value
    where[at] = index


@njit
def smallest(totals, z, scale, m, below, values, where):
    """Set where[:n] to the m smallest of totals + scale * z below `below`, in any order.

    Returns n <= m.
    """
    size = int64(0)
    k = int64(0)
    while k < totals.size and size < m:
        value = totals[k] + scale * float64(z[k])
        if value < below:
            _rise(values, where, size, value, k)
            size += 1
        k += 1
    if size < m:
        return size
    top = values[0]
    for i in range(k, totals.size):
        value = totals[i] + scale * float64(z[i])
        if value < top:
            _sink(values, where, m, value, i)
            top = values[0]
    return m


@njit(nogil=True)
def select(totals, z, scale, m, below):
    """Return the m smallest, sorted by index."""
    values = np.empty(m)
    where = np.empty(m, np.intp)
    size = smallest(totals, z, scale, m, below, values, where)
    found = np.empty(size, np.intp)
    if size == 0:
        return found
    top, last = values[0], where[0]
    n = 0
    for k in range(totals.size):
        value = totals[k] + scale * float64(z[k])
        if value < top or (value == top and k <= last):
            found[n] = k
            n += 1
            if n == size:
                break
    return found


@njit(nogil=True)
def select_rows(totals, block, scale, m, below, out):
    """Set out[i, k] to whether k is among the m smallest under row i of the block."""
    values = np.empty(m)
    where = np.empty(m, np.intp)
    for i in range(out.shape[0]):
        size = smallest(totals, block[i], scale, m, below, values, where)
        out[i, :] = False
        for j in range(size):
            out[i, where[j]] = True


@njit(nogil=True)
def interval_minima(prefix, m, below, out):
    """Set out[i, j] to the sum of the m smallest of prefix[j] - prefix[i] below `below`."""
    costs = np.empty(prefix.shape[1])
    nothing = np.zeros(prefix.shape[1], np.float32)
    values = np.empty(m)
    where = np.empty(m, np.intp)
    for i in range(prefix.shape[0]):
        for j in range(i + 1, prefix.shape[0]):
            for k in range(costs.size):
                costs[k] = prefix[j, k] - prefix[i, k]
            size = smallest(costs, nothing, 0.0, m, below, values, where)
            out[i, j] = values[:size].sum()


@njit
def _count_less(totals, z, scale, bound):
    count = 0
    for k in range(totals.size):
        count += totals[k] + scale * float64(z[k]) < bound
    return count


@njit
def _holds(numbers, size, number):
    """Return whether a number is among the first `size` numbers."""
    j = 0
    while j < size and numbers[j] != number:
        j += 1
    return j < size


@njit(nogil=True)
def resample(totals, block, start, stop, scale, m, below, elements, successes, hits, reached, used):
    """Go through rows until every element was among the m smallest `successes` times.

    Updates `hits`, and `reached` (the draw at which an element had enough, counted from `used`);
    returns the number of rows used and of elements still short.
    """
    values = np.empty(m)
    where = np.empty(m, np.intp)
    short = count_short(hits, successes)
    row = start
    while row < stop and short > 0:
        z = block[row]
        row += 1
        least = np.inf
        for e in range(elements.size):
            if hits[e] < successes:
                k = elements[e]
                least = min(least, totals[k] + scale * float64(z[k]))
        if least >= below or _count_less(totals, z, scale, least) >= m:
            continue
        size = smallest(totals, z, scale, m, below, values, where)
        for e in range(elements.size):
            if hits[e] < successes and _holds(where, size, elements[e]):
                short -= count_hit(e, used + row - start, successes, hits, reached)
    return row - start, short
