"""Means of a table: what to recommend.

A row has the sums and the numbers of observations of a context, [2, K]. `errors` are the sum of
squared errors on all contexts and the number of rounds, both faded.
"""

import math

import numpy as np

from hannan.kernels import hints
from hannan.kernels.compiling import njit

FORGETTING = 0.999  # of the sums of squared errors, with every round


@njit
def deviation(errors):
    """The size of past errors; 1/2 before any was seen."""
    return math.sqrt((0.25 + errors[0]) / (1.0 + errors[1]))


@njit
def advise(row, errors, alpha, estimate):
    """The element of the least shrunk mean less its width; `estimate` gets the plain means."""
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


@njit
def hint(
    row, errors, alpha, top, estimate, measured, budget, prior, floor, largest,
    G, n, W, reserve, waiting, answered, alone, kept,
):  # fmt: skip
    """`advise` and `hints.share` in one call; the estimates are at most `top`."""
    best = advise(row, errors, alpha, estimate)
    for k in range(estimate.size):
        if estimate[k] > top:
            estimate[k] = top
    terms = (budget, prior, floor, largest)
    return best, hints.share(
        estimate, 0.0, measured, terms, top, G, n, W, reserve, waiting, answered, alone, kept
    )  # fmt: skip


@njit
def settle(
    row, errors, k, loss, measured, law, values, advice, share, weight, top, known, explored, kept
):
    """`learn`, and unless the round explored `hints.charge`, in one call."""
    learn(row, errors, k, loss)
    if not explored:
        hints.charge(measured, law, values, advice, k, share, loss, weight, top, known, kept)
