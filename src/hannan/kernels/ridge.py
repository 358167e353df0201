"""Ridge regression by rank-one updates."""

import numpy as np
from numba import njit


@njit(cache=True)
def predict(inverse, moment, x, mean, width):
    """mean[k] = x' R_k b_k and width[k] = sqrt(x' R_k x), for each of K regressions."""
    K, p = moment.shape
    for k in range(K):
        m = 0.0
        w = 0.0
        for i in range(p):
            row = inverse[k, i]
            r = 0.0
            for j in range(p):
                r += row[j] * x[j]
            m += r * moment[k, i]
            w += r * x[i]
        mean[k] = m
        width[k] = np.sqrt(max(w, 0.0))


@njit(cache=True)
def learn(inverse, moment, x, k, y):
    """Add the observation (x, y) to regression k (Sherman-Morrison)."""
    p = x.size
    rx = np.empty(p)
    for i in range(p):
        r = 0.0
        for j in range(p):
            r += inverse[k, i, j] * x[j]
        rx[i] = r
    bottom = 1.0
    for i in range(p):
        bottom += x[i] * rx[i]
        moment[k, i] += y * x[i]
    for i in range(p):
        factor = rx[i] / bottom
        for j in range(p):
            inverse[k, i, j] -= factor * rx[j]
