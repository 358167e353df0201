"""Tsallis-INF: action distributions that minimise loss less Tsallis entropy."""

import math

import numpy as np

from hannan.kernels.compiling import njit


@njit
def distribution(totals, eta, out):
    """Set out[k] to 4 / (eta (totals[k] - y))^2 with y such that these add up to 1; inf has 0.

    The sum rises with y and is convex, and it is at least 1 at the start, so Newton's method
    comes down to the root without overshooting.
    """
    K = totals.size
    least = np.inf
    for k in range(K):
        least = min(least, totals[k])
    y = least - 2.0 / eta
    for _ in range(100):
        value, slope = -1.0, 0.0
        for k in range(K):
            root = 2.0 / (eta * (totals[k] - y))
            value += root * root
            slope += eta * root * root * root
        step = value / slope
        y -= step
        if not step > 1e-14 * abs(y):
            break
    total = 0.0
    for k in range(K):
        root = 2.0 / (eta * (totals[k] - y))
        out[k] = root * root
        total += out[k]
    for k in range(K):
        out[k] /= total


@njit
def capped_distribution(totals, values, advice, share, kept, eta, top, baseline, out):
    """Write the distribution with `values` as a baseline, as large as the guarantee allows.

    Writes the baseline, too. Losses are at most `top`; exploration leaves the probability `kept`.

    A baseline that was too high then moves the distribution at most as much as a loss: with the
    weight
    1/q of an action the step is at most half of the largest step that the entropy allows.
    """
    K = totals.size
    tilted = np.empty(K)
    for k in range(K):
        tilted[k] = totals[k] + values[k]
    distribution(tilted, eta, out)
    base = 1.0 - share
    for k in range(K):
        cap = 0.0
        if out[k] > 0.0:
            cap = base / (2.0 * eta * (1.0 / math.sqrt(out[k]) + 0.5 * eta * top))
        if k == advice:
            cap = max(cap, math.sqrt(share * base) / eta)
        baseline[k] = min(values[k], kept * cap)
        tilted[k] = totals[k] + baseline[k]
    distribution(tilted, eta, out)
