"""What elements are charged in rounds in which they are closed.

`plays` is -1 for closed elements; sums and counts are of losses seen while elements were open.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def close(costs, available, out):
    """out = costs, infinite for all elements but these."""
    out[:] = np.inf
    for k in available:
        out[k] = costs[k]


@njit
def places(available, n):
    """Each available element at its own place of n, and -1 at all others."""
    out = np.full(n, -1, np.intp)
    for k in available:
        out[k] = k
    return out


@njit
def complete(plays, losses, least, out):
    """Write the losses, and for closed elements the least of open ones (`least` if none is open).

    Returns the first open element whose loss is not a finite number, or -1.
    """
    found = np.inf
    for k in range(plays.size):
        if plays[k] >= 0:
            if not np.isfinite(losses[k]):
                return k
            found = min(found, losses[k])
            out[k] = losses[k]
    value = found if found < np.inf else least
    for k in range(plays.size):
        if plays[k] < 0:
            out[k] = value
    return -1


@njit
def charge(plays, sums, counts, low, high, losses):
    """Charge closed elements, where they have been seen, their mean loss, within bounds.

    One virtual observation at the best mean, lest a bad first loss exclude an element.
    """
    best = np.inf
    for k in range(plays.size):
        if sums[k] < best * counts[k]:  # never where nothing was seen; spares most divisions
            best = sums[k] / counts[k]
    for k in range(plays.size):
        if plays[k] < 0 and counts[k] > 0.0:
            losses[k] = min(max((sums[k] + best) / (counts[k] + 1.0), low), high)


@njit
def note(plays, losses, sums, counts):
    """Count the losses of open elements."""
    for k in range(plays.size):
        if plays[k] >= 0:
            sums[k] += losses[k]
            counts[k] += 1.0
