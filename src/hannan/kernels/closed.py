"""What elements are charged in rounds in which they are closed.

`plays` is -1 for closed elements; `known` has sums and counts, [2, K], of losses seen while they
were open, and no columns where nothing was.
"""

import math

import numpy as np
from numba import float64

from hannan.kernels.compiling import njit


@njit
def close(costs, available, out):
    """out = costs, infinite for all elements but these."""
    out[:] = np.inf
    for k in available:
        out[k] = costs[k]


@njit
def perturb(costs, losses, available, z, scale, out):
    """The same under noise, with one more round of losses, if there are any."""
    out[:] = np.inf
    for k in available:
        cost = costs[k]
        if losses.size > 0:
            cost += losses[k]
        if scale != 0.0:
            cost += scale * float64(z[k])
        out[k] = cost


@njit
def places(available, out):
    """Each available element at its own place, and -1 at all others."""
    out[:] = -1
    for k in available:
        out[k] = k


@njit
def charge(plays, known, low, high, losses):
    """Charge closed elements, where they have been seen, their mean loss, within bounds.

    One virtual observation at the best mean, lest a bad first loss exclude an element.
    """
    if known.shape[1] == 0:
        return
    sums, counts = known[0], known[1]
    best = np.inf
    for k in range(plays.size):
        if counts[k] > 0.0 and sums[k] < best * counts[k]:  # spares most divisions
            best = sums[k] / counts[k]
    for k in range(plays.size):
        if plays[k] < 0 and counts[k] > 0.0:
            losses[k] = min(max((sums[k] + best) / (counts[k] + 1.0), low), high)


@njit
def complete(plays, losses, known, low, high, out):
    """Write the losses, and for closed elements what they are charged.

    That is the least loss of open ones (zero, within the range, if none is open), and where `known`
    has been seen of the closed ones, their mean. Returns the first open element whose loss is not
    a finite number, or -1, and the smallest and the largest of all.
    """
    found = np.inf
    for k in range(plays.size):
        if plays[k] >= 0:
            if not math.isfinite(losses[k]):
                return k, np.nan, np.nan
            found = min(found, losses[k])
            out[k] = losses[k]
    value = found if found < np.inf else min(max(low, 0.0), high)
    for k in range(plays.size):
        if plays[k] < 0:
            out[k] = value
    charge(plays, known, low, high, out)
    least, most = np.inf, -np.inf
    for k in range(plays.size):
        least, most = min(least, out[k]), max(most, out[k])
    return -1, least, most


@njit
def observe(elements, losses, known):
    """Count the losses of some elements."""
    for i in range(elements.size):
        known[0, elements[i]] += losses[i]
        known[1, elements[i]] += 1.0


@njit
def note(plays, losses, known):
    """Count the losses of open elements."""
    for k in range(plays.size):
        if plays[k] >= 0:
            known[0, k] += losses[k]
            known[1, k] += 1.0
