"""The best threshold on a line, by sums from the right.

Points are sorted; `totals[i]` holds the losses on point i. A row of noise holds K numbers for each
perturbed point in the same order, and `places` says which points those are. A leader is coded
(first point that plays high, action low, action high); for a constant the first is n.
"""

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace


@njit
def _extend(i, j, totals, z, places, scale, right):
    """Move point i to the right side; the noise of the first j perturbed points remains."""
    K = right.size
    for k in range(K):
        right[k] += totals[i, k]
    while j > 0 and places[j - 1] == i:
        j -= 1
        for k in range(K):
            right[k] += scale * z[j * K + k]
    return j


@njit
def leader(totals, z, places, scale, code):
    """Return the value of the best threshold: ties to constants, then the largest threshold."""
    n, K = totals.shape
    noisy = places.size if scale != 0.0 else 0
    whole, right = np.zeros(K), np.zeros(K)
    j = noisy
    for i in range(n - 1, -1, -1):
        j = _extend(i, j, totals, z, places, scale, whole)
    code[0] = n
    code[1] = code[2] = np.argmin(whole)
    best = whole[code[1]]
    j = noisy
    for i in range(n - 1, 0, -1):
        j = _extend(i, j, totals, z, places, scale, right)
        a = b = 0
        for k in range(1, K):
            if right[k] < right[b]:
                b = k
            if whole[k] - right[k] < whole[a] - right[a]:
                a = k
        value = (whole[a] - right[a]) + right[b]
        if value < best:
            best = value
            code[0], code[1], code[2] = i, a, b
    return best


@njit(nogil=True)
def act(totals, places, block, row, scale, place):
    """Return the leader's action under one draw on a context at or above `place` points."""
    code = np.empty(3, np.int64)
    leader(totals, block[row], places, scale, code)
    return code[2] if place > code[0] else code[1]


@njit(nogil=True)
def leaders(totals, places, block, start, stop, scale, codes, minima):
    """Find the leader under each of some rows of the block, with its value."""
    for row in range(start, stop):
        minima[row - start] = leader(totals, block[row], places, scale, codes[row - start])


@njit(nogil=True)
def resample_one(totals, places, block, start, stop, scale, place, target, successes):
    """Go through rows until the leader's action was `target` often enough: successes, rows used."""
    hits = 0
    for row in range(start, stop):
        if act(totals, places, block, row, scale, place) == target:
            hits += 1
            if hits == successes:
                return hits, row + 1 - start
    return hits, stop - start


@njit(nogil=True)
def fill(key, stream, first, order, K, block):
    """Set block[i, j K + k] to the noise of draw first + i on action k of context order[j]."""
    draws = block.shape[0]
    cells = np.empty((order.size * K + 3) // 4 * 4 * WIDTH, np.float32)
    for i in range(0, draws, WIDTH):
        fill_laplace(key, stream, first + i, cells)
        for b in range(min(WIDTH, draws - i)):
            for j in range(order.size):
                for k in range(K):
                    block[i + b, j * K + k] = cells[(order[j] * K + k) * WIDTH + b]
