"""A test whether the mean of a stream has risen recently."""

import math

import numpy as np

from hannan.kernels.compiling import njit


@njit
def has_risen(sums, spread, n, value, minimum, delta):
    """Add the n-th value, n = 1, 2, …; whether a window of recent values has too high a mean.

    `sums[i % size]` is the sum of the first i values for the last `size` of them; `spread` is
    the mean of all values, and the sum of their squared distances from it.
    """
    size = sums.size
    here = n % size
    total = sums[here - 1 if here else size - 1] + value
    sums[here] = total
    step = value - spread[0]
    spread[0] += step / n
    spread[1] += step * (value - spread[0])
    if n < minimum:
        return False
    variance = spread[1] / n
    confidence = 0.0
    width = 8
    while 2 * width <= n and width < size:
        past = here - width  # below 0 where the ring has closed since; a division takes longer
        recent = total - sums[past if past >= 0 else past + size]
        older = n - width
        per_value = 1.0 / width + 1.0 / older
        gap = recent / width - (total - recent) / older
        if gap > 0.0:  # or it is no rise; logarithms and roots take longer than all else
            if confidence == 0.0:
                confidence = math.log(2.0 * math.log(n + 2.0) / delta)
            noise = math.sqrt(2.0 * variance * confidence * per_value)
            if gap > noise + confidence * per_value / 1.5:
                return True
        width *= 2
    return False


@njit
def both_have_risen(sums, spreads, counts, values, minimum, delta):
    """Two tests `has_risen` side by side, which start anew after an alarm; whether they agree.

    An alarm of one counts for as many rounds as were read until then. `counts` are the rounds read,
    what each test has read since its last alarm, and until which round its last alarm counts.
    """
    counts[0] += 1
    for i in range(2):
        counts[1 + i] += 1
        if has_risen(sums[i], spreads[i], counts[1 + i], values[i], minimum, delta):
            sums[i] = 0.0
            spreads[i] = 0.0
            counts[1 + i] = 0
            counts[3 + i] = 2 * counts[0]
    return counts[3] >= counts[0] and counts[4] >= counts[0]


@njit
def surprise(totals, square, variance):
    """A squared error less the variance that explains it, in [0, 1]; `totals`: of both so far."""
    share = min(1.0, totals[0] / totals[1])
    return (square - share * variance + 0.25) / 1.25  # from [-1/4, 1]


@njit
def watch(sums, spreads, counts, totals, loss, expected, low, width, minimum, delta):
    """Show `both_have_risen` a prediction: 1 if they have, else 0; -1 for what is not a number.

    Losses lie in a range of this `width` from `low` on, if that is finite.
    """
    error = (loss - expected) / width
    mean = (expected - low) / width if low > -np.inf else 0.0
    square, variance = error * error, mean * (1.0 - mean)
    value = surprise(totals, square, variance)
    if not math.isfinite(value + square):
        return -1
    found = both_have_risen(sums, spreads, counts, (value, square), minimum, delta)
    totals[0] += square
    totals[1] += variance
    return int(found)
