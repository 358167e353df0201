"""A test whether the mean of a stream has risen recently."""

import math

import numpy as np

from hannan.kernels.compiling import njit

# Places of the numbers of an `Agreement`: the settings of both tests with the range of the values,
# the sums of squared errors and of variances, the rounds read, the rounds that each test has read
# since its last alarm, the round until which that alarm counts, the spreads of both, and their
# sums.
MINIMUM, DELTA, RANGE, TOTALS, COUNTS, SPREADS, SUMS = 0, 1, 2, 3, 5, 10, 14


@njit
def has_risen(sums, start, size, spread, at, n, value, minimum, delta, span):
    """Add the n-th value, n = 1, 2, …; whether a window of recent values has too high a mean.

    `sums[start + i % size]` is the sum of the first i values for the last `size` of them. `spread`,
    from `at` on, is the mean of all values, and the sum of their squared distances from it. `span`
    is the range of the values in Bernstein's inequality.
    """
    here = n % size
    total = sums[start + (here - 1 if here else size - 1)] + value
    sums[start + here] = total
    step = value - spread[at]
    spread[at] += step / n
    spread[at + 1] += step * (value - spread[at])
    if n < minimum:
        return False
    variance = spread[at + 1] / n
    confidence = 0.0
    width = 8
    while 2 * width <= n and width < size:
        past = here - width  # below 0 where the ring has closed since; a division takes longer
        recent = total - sums[start + (past if past >= 0 else past + size)]
        older = n - width
        per_value = 1.0 / width + 1.0 / older
        gap = recent / width - (total - recent) / older
        if gap > 0.0:  # otherwise no rise; logarithms and roots take longest
            if confidence == 0.0:
                confidence = math.log(2.0 * math.log(n + 2.0) / delta)
            noise = math.sqrt(2.0 * variance * confidence * per_value)
            if gap > noise + span * confidence * per_value / 1.5:
                return True
        width *= 2
    return False


@njit
def both_have_risen(state, first, second):
    """Run two tests `has_risen`, which restart after an alarm; return whether they agree.

    An alarm of one counts for as many rounds as were read until then. `state` has all numbers of an
    `Agreement` in one array, as each array takes time to be handed over: see `MINIMUM`.
    """
    size = (state.size - SUMS) // 2
    read = state[COUNTS] + 1.0
    state[COUNTS] = read
    for i in range(2):
        n, start, at = state[COUNTS + 1 + i] + 1.0, SUMS + i * size, SPREADS + 2 * i
        value, minimum, delta = second if i else first, state[MINIMUM], state[DELTA]
        if has_risen(state, start, size, state, at, int(n), value, minimum, delta, state[RANGE]):
            for j in range(start, start + size):
                state[j] = 0.0
            state[at] = state[at + 1] = n = 0.0
            state[COUNTS + 3 + i] = 2.0 * read
        state[COUNTS + 1 + i] = n
    return state[COUNTS + 3] >= read and state[COUNTS + 4] >= read


@njit
def surprise(squares, variances, square, variance):
    """Return a squared error less its explained variance, in [0, 1]; sums of both come first."""
    share = min(1.0, squares / variances)
    return (square - share * variance + 0.25) / 1.25  # from [-1/4, 1]


@njit
def weigh(state, square, variance):
    """Pass an error to `both_have_risen`: 1 if they have, else 0; -1 for a NaN."""
    value = surprise(state[TOTALS], state[TOTALS + 1], square, variance)
    if not math.isfinite(value + square):
        return -1
    found = both_have_risen(state, value, square)
    state[TOTALS] += square
    state[TOTALS + 1] += variance
    return int(found)


@njit
def mean_errors(losses, expected, low, width):
    """Return the mean squared error and variance of 0/1 losses, and the number of losses.

    Losses of NaN are missing.
    """
    square = 0.0
    variance = 0.0
    count = 0
    for i in range(losses.size):
        error = (losses[i] - expected[i]) / width
        if math.isnan(error):
            continue
        mean = (expected[i] - low) / width if low > -np.inf else 0.0
        square += error * error
        variance += mean * (1.0 - mean)
        count += 1
    count_or_one = max(count, 1)
    return square / count_or_one, variance / count_or_one, count


@njit
def watch(state, loss, expected, low, width):
    """Pass a prediction's error to `weigh`; losses lie in a range of `width` from `low`."""
    error = (loss - expected) / width
    mean = (expected - low) / width if low > -np.inf else 0.0
    return weigh(state, error * error, mean * (1.0 - mean))
