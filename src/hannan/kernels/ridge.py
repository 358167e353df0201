"""Ridge regression by rank-one updates.

K regressions on the same features. Their design inverses are [K, p, p], or [1, p, p] where all
have seen the same contexts and share one.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def means(inverse, moment, x, out):
    """Set out[k] to x' R_k b_k."""
    K, p = moment.shape
    projected = np.empty(p)
    for k in range(K):
        if k < inverse.shape[0]:
            projected[:] = 0.0
            for j in range(p):
                # R is symmetric; row by row the sums run along contiguous memory.
                row = inverse[k, j]
                factor = x[j]
                for i in range(p):
                    projected[i] += factor * row[i]
        mean = 0.0
        for i in range(p):
            mean += projected[i] * moment[k, i]
        out[k] = mean


@njit
def learn(inverse, moment, x, elements, losses):
    """Add the observation (x, losses[i]) to regression elements[i] (Sherman-Morrison).

    A shared inverse must have all elements listed.
    """
    p = x.size
    rx = np.empty(p)
    for e in range(elements.size):
        k = elements[e]
        for i in range(p):
            moment[k, i] += losses[e] * x[i]
        if k >= inverse.shape[0]:
            continue
        for i in range(p):
            r = 0.0
            for j in range(p):
                r += inverse[k, i, j] * x[j]
            rx[i] = r
        bottom = 1.0
        for i in range(p):
            bottom += x[i] * rx[i]
        for i in range(p):
            factor = rx[i] / bottom
            for j in range(p):
                inverse[k, i, j] -= factor * rx[j]
