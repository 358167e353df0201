"""A test whether the mean of a stream has risen recently."""

import numpy as np
from numba import njit


@njit(cache=True)
def has_risen(sums, spread, n, value, minimum, delta):
    """Add the n-th value, n = 1, 2, …; whether a window of recent values has too high a mean.

    `sums[i % size]` is the sum of the first i values for the last `size` of them; `spread` is
    the mean of all values, and the sum of their squared distances from it.
    """
    size = sums.size
    total = sums[(n - 1) % size] + value
    sums[n % size] = total
    step = value - spread[0]
    spread[0] += step / n
    spread[1] += step * (value - spread[0])
    if n < minimum:
        return False
    variance = spread[1] / n
    confidence = np.log(2.0 * np.log(n + 2.0) / delta)
    width = 8
    while 2 * width <= n and width < size:
        recent = total - sums[(n - width) % size]
        older = n - width
        per_value = 1.0 / width + 1.0 / older
        gap = recent / width - (total - recent) / older
        if gap > np.sqrt(2.0 * variance * confidence * per_value) + confidence * per_value / 1.5:
            return True
        width *= 2
    return False
