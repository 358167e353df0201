"""Instability costs of a few leaders, and a perturbed leader among a few numbers."""

from numba import int64

from hannan.kernels.compiling import njit
from hannan.kernels.tabular import act

# The rows of a state, [3, n].
D, PEAK, TOP = 0, 1, 2


@njit
def measure(state, discounts, top, before, after):
    """Add before - after to D, note its peak and the largest scale, and let all of it fade."""
    for i in range(discounts.size):
        state[D, i] += before[i] - after[i]
        state[PEAK, i] = max(state[PEAK, i], state[D, i])
        state[TOP, i] = top[i]
        for row in range(3):
            state[row, i] *= discounts[i]


@njit
def choose(totals, key, stream, number, scale):
    """Return the index of the smallest total under one draw of noise; ties to the first."""
    return act(totals.reshape((1, -1)), int64(0), key, stream, number, int64(0), scale)


@njit
def learn(totals, state, costs, chosen, key, stream, number, scale, late):
    """Add a round of a leader among totals; returns the range of its losses.

    `chosen` is what led under this draw when the round was decided, at this scale. A round that is
    `late` counts as if instability had cost all it can.
    """
    low, high = costs[0], costs[0]
    for i in range(totals.size):
        totals[i] += costs[i]
        low, high = min(low, costs[i]), max(high, costs[i])
    state[TOP, 0] = max(state[TOP, 0], scale)
    if late:
        state[D, 0] += high - low
    else:
        state[D, 0] += costs[chosen] - costs[choose(totals, key, stream, number, state[TOP, 0])]
    state[PEAK, 0] = max(state[PEAK, 0], state[D, 0])
    return high - low
