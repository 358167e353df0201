"""Noise on the elements of a problem without contexts: one row of K numbers for each draw."""

import numpy as np
from numba import njit

from hannan.kernels.finite import _transpose
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace


@njit(cache=True, nogil=True)
def fill_rows(key, stream, first, block):
    """block[i, k] = unit Laplace noise of cell k in draw first + i.

    The width must be a multiple of sixteen; cells beyond the last element hold noise nobody reads.
    """
    draws, width = block.shape
    raw = np.empty((width, WIDTH), np.float32)
    tile = raw.reshape(raw.size)
    spare = np.empty((WIDTH, width if draws % WIDTH else 0), np.float32)
    for i in range(0, draws, WIDTH):
        fill_laplace(key, stream, first + i, raw)
        whole = i + WIDTH <= draws
        rows = block[i : i + WIDTH] if whole else spare
        _transpose(tile, width, rows.reshape(rows.size), width, 0)
        if not whole:
            block[i:] = spare[: draws - i]
