"""What elements are charged in rounds in which they are closed.

`plays` is -1 for closed elements; sums and counts are of losses seen while elements were open.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def missing(plays, losses):
    """The first open element whose loss is not a finite number, or -1."""
    for k in range(plays.size):
        if plays[k] >= 0 and not np.isfinite(losses[k]):
            return k
    return -1


@njit
def smallest(plays, losses, least):
    """The least loss of an open element, or `least` where none is open."""
    found = np.inf
    for k in range(plays.size):
        if plays[k] >= 0:
            found = min(found, losses[k])
    return found if found < np.inf else least


@njit
def fill(plays, losses, value):
    """A copy of the losses with this value for the closed elements."""
    out = losses.copy()
    for k in range(plays.size):
        if plays[k] < 0:
            out[k] = value
    return out


@njit
def charge(plays, sums, counts, low, high, losses):
    """Charge closed elements, where they have been seen, their mean loss, within bounds.

    One virtual observation at the best mean, lest a bad first loss exclude an element.
    """
    best = np.inf
    for k in range(plays.size):
        if counts[k] > 0.0:
            best = min(best, sums[k] / counts[k])
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
