"""Means of a table, and the element that they recommend.

A row has the sums and the numbers of observations of a context, [2, K]. `errors` are the sum of
squared errors on all contexts and the number of rounds, both faded.
"""

import math

import numpy as np

from hannan.kernels.blend import deviation
from hannan.kernels.compiling import njit

FORGETTING = 0.999  # discount per round of the sums of squared errors


@njit
def advise(row, errors, alpha, estimate):
    """Return the element of least shrunk mean less its width; write means to `estimate`."""
    width = alpha * deviation(errors)
    best, least = 0, np.inf
    for k in range(row.shape[1]):
        total, n = row[0, k], row[1, k]
        estimate[k] = total / max(n, 1.0)
        low = total / (n + 1.0) - width / math.sqrt(n + 1.0)
        if low < least:
            best, least = k, low
    return best


@njit
def learn(row, errors, k, loss):
    """Count a loss of element k, and how far its shrunk mean was off."""
    total, n = row[0, k], row[1, k]
    error = loss - total / (n + 1.0)
    row[0, k] = total + loss
    row[1, k] = n + 1.0
    errors[0] = FORGETTING * errors[0] + error * error
    errors[1] = FORGETTING * errors[1] + 1.0
