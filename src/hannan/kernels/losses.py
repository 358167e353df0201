"""Checks of losses, predictions and rows of users in one pass, and the cost of a hint."""

import math

import numpy as np

from hannan.kernels.compiling import njit

LARGEST = 1e120
"""The most that a number may be in absolute value, so that sums of squares stay finite."""


@njit
def extremes(values):
    """Return the smallest and largest entry; (nan, nan) if one is not a number up to `LARGEST`."""
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
def are_seen(elements, losses, n, missing):
    """Return whether elements are below n and losses finite, or NaN if they may be missing."""
    for i in range(elements.size):
        loss = losses[i]
        if not (0 <= elements[i] < n and (math.isfinite(loss) or (missing and math.isnan(loss)))):
            return False
    return n > 0


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
    """Return the smallest and the largest difference."""
    low = np.inf
    high = -np.inf
    for j in range(values.size):
        value = values[j] - others[j]
        if value < low:
            low = value
        if value > high:
            high = value
    return low, high


@njit
def price(distribution, values, advice, action, share):
    """Return the hint's price by the estimates, a ratio of probabilities, and the action's value.

    The price is the estimate of the hint minus the base's mean estimate. The ratio is the base's
    probability of the action over the real one.

    `distribution` is that of the base, which is followed except in a `share` of the rounds.
    """
    expected = values[advice]
    for k in range(distribution.size):
        expected -= distribution[k] * values[k]
    ratio = 1.0 / (1.0 - share)
    if action == advice:
        likely = share + (1.0 - share) * distribution[advice]
        ratio = distribution[advice] / likely if likely > 0.0 else 1.0
    return expected, ratio, values[action]
