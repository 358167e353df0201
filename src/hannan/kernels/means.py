"""Means of a table: what to recommend."""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def advise(row, width, estimate):
    """The element of the least shrunk mean less its width; `estimate` gets the plain means.

    `row` has the sums and the numbers of observations, [2, K].
    """
    best, least = 0, np.inf
    for k in range(row.shape[1]):
        total, n = row[0, k], row[1, k]
        estimate[k] = total / max(n, 1.0)
        low = total / (n + 1.0) - width / np.sqrt(n + 1.0)
        if low < least:
            best, least = k, low
    return best
