"""Checks of a loss vector at the boundary, in one pass."""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def extremes(losses):
    """Smallest and largest entry; (nan, nan) if any entry is not finite."""
    low = np.inf
    high = -np.inf
    for j in range(losses.size):
        value = losses[j]
        if not np.isfinite(value):
            return np.nan, np.nan
        if value < low:
            low = value
        if value > high:
            high = value
    return low, high
