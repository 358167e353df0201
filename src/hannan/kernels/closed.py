"""Losses that are charged to elements in rounds in which they are unavailable.

`plays` is -1 for unavailable elements; `known` has sums and counts, [2, K], of losses observed
while elements were available, and no columns if there were none.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def charge(plays, known, low, high, losses):
    """Charge unavailable elements their mean loss, within bounds, if losses were observed.

    One virtual observation at the best mean prevents a bad first loss from excluding an element.
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
    """Write the losses, with charges for unavailable elements; return whether all are finite.

    The charge of an unavailable element is its mean observed loss, if it has one. Otherwise it is
    the least loss of the available elements (zero, within the range, if there are none).
    """
    least = np.inf
    for k in range(plays.size):
        if plays[k] >= 0:
            if not abs(losses[k]) < np.inf:
                return False
            least = min(least, losses[k])
    unseen = least if least < np.inf else min(max(low, 0.0), high)
    for k in range(plays.size):
        out[k] = losses[k] if plays[k] >= 0 else unseen
    charge(plays, known, low, high, out)
    return True


@njit
def observe(elements, losses, known):
    """Count the losses of some elements."""
    for i in range(elements.size):
        known[0, elements[i]] += losses[i]
        known[1, elements[i]] += 1.0
