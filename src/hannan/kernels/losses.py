"""Checks of losses and rows of features at the boundary, in one pass."""

import numpy as np

from hannan.kernels.compiling import njit

LARGEST = 1e120
"""The most that a number may be in absolute value, so that sums of squares stay finite."""


@njit
def extremes(values):
    """Smallest and largest entry; (nan, nan) if one is not a number up to `LARGEST`."""
    low = np.inf
    high = -np.inf
    for j in range(values.size):
        value = values[j]
        if not abs(value) <= LARGEST:
            return np.nan, np.nan
        if value < low:
            low = value
        if value > high:
            high = value
    return low, high


@njit
def copy_usable(values, out):
    """Copy without negative zeros; False where there is nothing, or no number up to `LARGEST`."""
    for j in range(values.size):
        if not abs(values[j]) <= LARGEST:
            return False
        out[j] = values[j] + 0.0
    return values.size > 0


@njit
def gap(values, others):
    """Smallest and largest difference."""
    low = np.inf
    high = -np.inf
    for j in range(values.size):
        value = values[j] - others[j]
        if value < low:
            low = value
        if value > high:
            high = value
    return low, high
