"""The best 0/1 point of a linear program, looked for near the solution of its relaxation.

With multipliers y of the rows A x <= b (y <= 0) or A x = b and reduced costs d = c - y A, every
feasible x costs L + sum of |d_j| over the elements where x differs from the sign of d + sum of
-y_i (b_i - A_i x), where L = y b + sum of min(0, d_j). All terms are at least 0: so a point that
costs L + D at most can differ only where |d_j| <= D, and these points are gone through.
"""

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.copying import copy


@njit
def _reach(columns):
    """The least and the greatest that elements i, i + 1, … can add to each row."""
    n, m = columns.shape
    low = np.zeros((n + 1, m))
    high = np.zeros((n + 1, m))
    for i in range(n - 1, -1, -1):
        for r in range(m):
            low[i, r] = low[i + 1, r] + min(columns[i, r], 0.0)
            high[i, r] = high[i + 1, r] + max(columns[i, r], 0.0)
    return low, high


@njit(nogil=True)
def search(
    columns,
    costs,
    prices,
    usual,
    activity,
    spent,
    low,
    high,
    room,
    pull,
    base,
    ceiling,
    apart,
    most,
):
    """The best completion of a partial point, its cost, that of the next best one, and the steps.

    Element i of those still open adds columns[i] to the rows and costs[i] to the `spent`; where it
    differs from usual[i] the bound `base` rises by prices[i], and by pull[r] for each unit that row
    r stays below `high`. Points that cost more than `ceiling`, or more than `apart` above the best,
    are left out. Gives up, with more than `most` steps, after that many.
    """
    n, m = columns.shape
    reach_low, reach_high = _reach(columns)
    x = np.zeros(n, np.bool_)
    found = np.zeros(n, np.bool_)
    tried = np.zeros(n + 1, np.int64)
    bound = np.empty(n + 1)
    bound[0] = base
    cost = spent
    best = np.inf
    second = np.inf
    steps = 0
    i = 0
    entered = True
    while True:
        if entered:
            steps += 1
            if steps > most:
                break
            here = bound[i]
            fits = True
            for r in range(m):
                greatest = activity[r] + reach_high[i, r]
                if activity[r] + reach_low[i, r] > high[r] + room[r] or greatest < low[r] - room[r]:
                    fits = False
                    break
                if greatest < high[r]:
                    here += pull[r] * (high[r] - greatest)
            fits = fits and here <= min(ceiling, best + apart)
            if fits and i == n:
                if cost < best:
                    second = best
                    best = cost
                    copy(x, found)
                elif cost < second:
                    second = cost
                fits = False
            if fits:
                tried[i] = 0
            else:
                entered = False
                i -= 1
                if i < 0:
                    break
                continue
        # Element i: its usual value first, then the other one, then back.
        if tried[i] > 0 and x[i]:
            cost -= costs[i]
            for r in range(m):
                activity[r] -= columns[i, r]
        if tried[i] == 2:
            entered = False
            i -= 1
            if i < 0:
                break
            continue
        x[i] = usual[i] if tried[i] == 0 else not usual[i]
        bound[i + 1] = bound[i] + (0.0 if tried[i] == 0 else prices[i])
        tried[i] += 1
        if x[i]:
            cost += costs[i]
            for r in range(m):
                activity[r] += columns[i, r]
        i += 1
        entered = True
    return found, best, second, steps
