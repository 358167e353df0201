"""Classifiers by their axis intercepts: coordinate descent where there are too many to list."""

import numpy as np
from numba import int64

from hannan.kernels.compiling import njit

_EDGE = 1.0 - 1e-9  # points on the hyperplane count as far, despite rounding


@njit
def _rest(rows, slopes, digits, axis, out):
    """Set out[c] to the sum over all axes except one of row c times the slope of its digit."""
    for c in range(rows.shape[0]):
        total = 0.0
        for j in range(digits.size):
            if j != axis:
                total += rows[c, j] * slopes[digits[j]]
        out[c] = total


@njit
def value(rows, weights, slopes, digits):
    """Return the total weight of the rows on the far side."""
    sums = np.empty(rows.shape[0], np.float64)
    _rest(rows, slopes, digits, int64(-1), sums)
    total = 0.0
    for c in range(rows.shape[0]):
        if sums[c] >= _EDGE:
            total += weights[c]
    return total


@njit(nogil=True)
def descend(rows, weights, slopes, digits):
    """Change one axis at a time to its best digit, the smallest of equals, until none helps."""
    n = digits.size
    rest = np.empty(rows.shape[0], np.float64)
    best = value(rows, weights, slopes, digits)
    still = 0
    axis = 0
    while still < n:
        _rest(rows, slopes, digits, axis, rest)
        found, found_value = digits[axis], best
        for k in range(slopes.size):
            total = 0.0
            for c in range(rows.shape[0]):
                if rest[c] + rows[c, axis] * slopes[k] >= _EDGE:
                    total += weights[c]
            if total < found_value:
                found, found_value = k, total
        if found_value < best:
            digits[axis], best = found, found_value
            still = 0
        else:
            still += 1
        axis = (axis + 1) % n
    return value(rows, weights, slopes, digits)
