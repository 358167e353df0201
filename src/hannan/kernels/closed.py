"""What elements are charged in rounds in which they are closed.

`plays` is -1 for closed elements; `known` has sums and counts, [2, K], of losses seen while they
were open, and no columns where nothing was.
"""

import numpy as np

from hannan.kernels.compiling import njit


@njit
def charge(plays, known, low, high, losses):
    """Charge closed elements their mean loss, within bounds, where they have been seen.

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
    """Write the losses, and for closed elements what they are charged; whether all are finite.

    Closed elements are charged the least loss of open ones (zero, within the range, if none is
    open), and where something is known of them, their mean.
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
