"""Search for the best 0/1 point of a linear program near the solution of its relaxation.

With multipliers y of the rows A x <= b (y <= 0) or A x = b and reduced costs d = c - y A, every
feasible x costs L + sum of |d_j| over the elements where x differs from the sign of d + sum of
-y_i (b_i - A_i x), where L = y b + sum of min(0, d_j). All terms are at least 0: so a point that
costs L + D at most can differ only where |d_j| <= D, and these points are gone through.
"""

import math

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.simplex import improve, judge

FAILED, OPEN, FOUND, SEARCHED = range(4)  # status that `best` returns
_FIRST = 6  # elements with prices that are searched first
_FEW = 24  # most elements searched together without first trying the cheapest ones
_TIES = 32  # points of equal cost after which the search ends


@njit
def _reach(columns):
    """Return the least and greatest sums that elements i, i + 1, … can add to each row."""
    n, m = columns.shape
    low = np.zeros((n + 1, m))
    high = np.zeros((n + 1, m))
    for i in range(n - 1, -1, -1):
        for r in range(m):
            low[i, r] = low[i + 1, r] + min(columns[i, r], 0.0)
            high[i, r] = high[i + 1, r] + max(columns[i, r], 0.0)
    return low, high


@njit
def dominance(columns, costs, equal, window, above, below):
    """Mark which elements are better than others, for j < i.

    Bit j of above[i] says that j is better than i, bit j of below[i] that i is better than j. With
    more than 64 elements none is marked.

    A better element takes no more room and costs less by more than `window`. A point that contains
    the worse one of two alone costs more than the best point by more than that, as it does so with
    the better one in its place.
    """
    n, m = columns.shape
    above[:] = 0
    below[:] = 0
    if n > 64:
        return
    for i in range(n):
        for j in range(i):
            if abs(costs[i] - costs[j]) <= window:
                continue
            better, worse = (j, i) if costs[j] < costs[i] else (i, j)
            fits = True
            for r in range(m):
                more = columns[better, r] - columns[worse, r]
                fits = fits and (more == 0.0 or (more < 0.0 and not equal[r]))
            if fits and better == j:
                above[i] |= np.uint64(1) << np.uint64(j)
            elif fits:
                below[i] |= np.uint64(1) << np.uint64(j)


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
    window,
    most,
    above,
    below,
):
    """Find the best completion of a partial point, its cost, the next best cost, and the steps.

    Element i of those still open adds columns[i] to the rows and costs[i] to the `spent`; where it
    differs from usual[i] the bound `base` rises by prices[i], and by pull[r] for each unit that row
    r stays below `high`. Points that cost more than `ceiling`, or more than the best by `window`,
    are left out, as are those that hold an element without a better one, which bits of `above` and
    `below` name as by `dominance`. Gives up, with more than `most` steps, after that many, or
    after many ties, which are not `apart`.
    """
    n, m = columns.shape
    reach_low, reach_high = _reach(columns)
    x = np.zeros(n, np.bool_)
    found = np.zeros(n, np.bool_)
    tried = np.zeros(n + 1, np.int64)
    bound = np.empty(n + 1)
    bound[0] = base
    held = np.uint64(0)  # the elements of x among the first 64
    one = np.uint64(1)
    cost = spent
    best = np.inf
    second = np.inf
    steps = 0
    ties = 0
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
            fits = fits and here <= min(ceiling, best + window)
            if fits and i == n:
                ties = ties + 1 if abs(cost - best) <= apart else 0
                if ties > _TIES:
                    steps = most + 1
                    break
                if cost < best:
                    second = best
                    best = cost
                    found[:] = x
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
            held &= ~(one << np.uint64(i & 63))
            for r in range(m):
                activity[r] -= columns[i, r]
        if tried[i] == 2 or (tried[i] == 1 and bound[i] + prices[i] > min(ceiling, best + window)):
            entered = False
            i -= 1
            if i < 0:
                break
            continue
        x[i] = usual[i] if tried[i] == 0 else not usual[i]
        bound[i + 1] = bound[i] + (0.0 if tried[i] == 0 else prices[i])
        tried[i] += 1
        if (above[i] & ~held if x[i] else below[i] & held) != 0:
            x[i] = False
            entered = False
            continue
        if x[i]:
            cost += costs[i]
            held |= one << np.uint64(i & 63)
            for r in range(m):
                activity[r] += columns[i, r]
        i += 1
        entered = True
    return found, best, second, steps


@njit
def in_units(costs, out):
    """Scale costs to about 1 by a power of two, and return this power.

    Unavailable elements, of infinite cost, cost more than all others together.
    """
    size = 0.0
    for j in range(costs.size):
        if abs(costs[j]) < np.inf:
            size = max(size, abs(costs[j]))
    unit = math.ldexp(1.0, math.frexp(size)[1]) if size > 0.0 else 1.0
    wall = 1.0
    for j in range(costs.size):
        out[j] = costs[j] / unit
        if abs(out[j]) < np.inf:
            wall += abs(out[j])
    for j in range(costs.size):
        if abs(out[j]) == np.inf:
            out[j] = wall
    return unit


@njit
def needed(costs, last, point, free):
    """Return the lead at the `last` costs that guarantees a lead of the point at these costs.

    Another point may have gained the losses of this point's elements, and the gains of others. If
    one that is not `free` makes the difference it cost more than the best one by what that one
    leads, at least, and by as much again for each further one: so the largest of these counts.
    Infinite, if other elements are unavailable now, or the point has an unavailable element.
    """
    moved, most = 0.0, 0.0
    for j in range(costs.size):
        if abs(costs[j]) < np.inf and abs(last[j]) < np.inf:
            more = costs[j] - last[j] if point[j] else last[j] - costs[j]
            if more > 0.0 and free[j]:
                moved += more
            elif more > most:
                most = more
        elif point[j] or costs[j] != last[j]:
            return np.inf
    return moved + most


@njit
def _sort(elements, prices):
    """Sort elements by the size of their prices, the largest first."""
    if elements.size > _FEW:
        elements[:] = elements[np.argsort(-np.abs(prices[elements]), kind="mergesort")]
        return
    for i in range(1, elements.size):
        j = elements[i]
        while i > 0 and abs(prices[elements[i - 1]]) < abs(prices[j]):
            elements[i] = elements[i - 1]
            i -= 1
        elements[i] = j


@njit
def prove(
    columns, costs, low, high, equal, room, duals, pool, strict, tied, window, steps, out, free
):  # fmt: skip
    """Write the best 0/1 point and say FOUND, if it is in the pool, or SEARCHED; and how far it
    leads, as far as that is known: `window` at most. Points that differ from the vertex where it is
    not `free` cost more than that.

    OPEN where it is not the only one, or takes too long to find. `duals` are multipliers of the
    rows, and `pool` has points that are feasible. Points that cost no more than `tied` more count
    as equal; prices up to `strict` count as none.
    """
    K, m = columns.shape
    reduced = np.empty(K)
    y = np.empty(m)
    bound = 0.0
    for r in range(m):
        y[r] = duals[r] if equal[r] else min(duals[r], 0.0)
        bound += y[r] * high[r]
    total = 0.0
    least = np.full(_FIRST, np.inf)  # the positive prices, in order
    for j in range(K):
        price = costs[j]
        for r in range(m):
            price -= columns[j, r] * y[r]
        reduced[j] = price
        bound += min(price, 0.0)
        price = abs(price)
        total += price
        if strict < price < least[-1]:
            i = _FIRST - 1
            while i > 0 and least[i - 1] > price:
                least[i] = least[i - 1]
                i -= 1
            least[i] = price
    spend = np.zeros(pool.shape[1])
    for j in range(K):
        for i in range(pool.shape[1]):
            spend[i] += costs[j] * pool[j, i]
    known = spend.min() if spend.size > 0 else np.inf
    apart = 2.0 * tied
    window = max(window, apart)
    depth = (least[-1] if least[-1] < np.inf else total) + 2.0 * apart
    top = known - bound + apart + window
    near = 0
    for j in range(K):
        near += abs(reduced[j]) <= top
    if near <= _FEW and known < np.inf:
        depth = top
    pull = np.empty(m)
    for r in range(m):
        pull[r] = 0.0 if equal[r] else -y[r]
    most = steps // m
    order = np.empty(K, np.int64)
    while True:
        depth = min(depth, top)
        activity = np.zeros(m)
        spent = 0.0
        n = 0
        for j in range(K):
            if abs(reduced[j]) <= depth:
                order[n] = j
                n += 1
                continue
            out[j] = reduced[j] < 0.0
            if out[j]:
                spent += costs[j]
                for r in range(m):
                    activity[r] += columns[j, r]
        unsure = order[:n]
        _sort(unsure, reduced)
        some = np.empty((unsure.size, m))
        theirs, prices = np.empty(unsure.size), np.empty(unsure.size)
        usual = np.empty(unsure.size, np.bool_)
        for i in range(unsure.size):
            j = unsure[i]
            some[i] = columns[j]
            theirs[i] = costs[j]
            prices[i] = abs(reduced[j])
            usual[i] = reduced[j] < 0.0
        above, below = np.empty((2, unsure.size), np.uint64)
        dominance(some, theirs, equal, window, above, below)
        part, best, second, taken = search(
            some, theirs, prices, usual, activity, spent, low, high, room, pull, bound,
            bound + depth, apart, window, most, above, below,
        )  # fmt: skip
        if taken > most:
            return OPEN, 0.0
        if best + apart <= bound + depth:
            for i in range(unsure.size):
                out[unsure[i]] = part[i]
            if second - best <= tied:
                return OPEN, 0.0
            for j in range(K):
                free[j] = abs(reduced[j]) <= depth
            lead = min(second, bound + depth, best + window) - best
            return FOUND if best >= known - tied else SEARCHED, lead
        if depth > total and known == np.inf:
            return OPEN, 0.0
        depth *= 2.0


@njit(nogil=True)
def best(
    columns, given, low, high, equal, room, basis, basic, upper, inverse, values, pool,
    strict, tied, window, widest, steps, last, point, free, lead, out,
):  # fmt: skip
    """Find the best 0/1 point of a program, starting from the best basis for other costs.

    Says whether the basis FAILED, the best point is not known to be the only one (OPEN), or it was
    FOUND as a vertex, or SEARCHED near it; and how many pivots there were. The best point has
    unavailable elements, whose costs are infinite, only if all points have.

    A `point` that had a `lead` at the `last` costs may still be the best for sure. Returns besides
    how far the best point leads at these costs, 0 where none was looked for near a vertex, and how
    far it must have led at the last ones.
    """
    K, m = columns.shape
    moved = needed(given, last, point, free) if lead != 0.0 else np.inf
    if moved < lead:
        out[:] = point
        return FOUND, 0, lead, moved
    costs, duals, reduced, vertex = np.empty(K), np.empty(m), np.empty(K), np.empty(K)
    unit = in_units(given, costs)
    pivots = improve(
        columns, costs, equal, basis, basic, upper, inverse, values, 10 * (K + m), duals, reduced
    )
    if pivots < 0:
        return FAILED, 0, 0.0, moved
    right, integral, only = judge(
        columns, low, high, equal, room, basis, basic, upper, values, duals, reduced, strict, vertex
    )
    if not right:
        return FAILED, 0, 0.0, moved
    if integral and only:
        for j in range(K):
            out[j] = vertex[j] > 0.0
        return FOUND, pivots, 0.0, moved
    window = window / unit if window <= widest * unit else 0.0  # else no lead will be enough
    found, lead = prove(
        columns, costs, low, high, equal, room, duals, pool, strict, tied, window, steps, out, free,
    )  # fmt: skip
    last[:] = given
    # Subtract the tolerance for ties.
    return found, pivots, unit * (lead - 10.0 * strict), moved


@njit
def shut(costs, point):
    """Return whether a point has an unavailable element."""
    found = False
    for j in range(costs.size):
        found |= point[j] and abs(costs[j]) == np.inf
    return found
