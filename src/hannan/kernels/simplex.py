"""The primal simplex method on min c x, A x <= b or = b, 0 <= x <= 1, from a feasible basis.

For small dense programs whose costs change from call to call: the last basis stays feasible.
Element j of the K has the column columns[j]; row r has a slack, element K + r, which is never
negative, and 0 if the row is an equation. A nonbasic variable is at 0, or at 1 where `upper`.
"""

import numpy as np

from hannan.kernels.compiling import njit

_ZERO = 1e-9  # reduced costs and pivots below this count as zero


@njit
def _multipliers(columns, costs, basis, inverse, duals, reduced):
    """Compute the multipliers of the rows, and the reduced costs of the elements."""
    K, m = columns.shape
    for r in range(m):
        total = 0.0
        for i in range(m):
            if basis[i] < K:
                total += costs[basis[i]] * inverse[i, r]
        duals[r] = total
    for j in range(K):
        total = costs[j]
        for r in range(m):
            total -= duals[r] * columns[j, r]
        reduced[j] = total


@njit
def _entering(reduced, duals, equal, basic, upper, first):
    """Choose the nonbasic variable of largest gain, or the first with a gain; -1 if none."""
    K = reduced.size
    best, found = _ZERO, -1
    for j in range(K + duals.size):
        if basic[j] or (j >= K and equal[j - K]):
            continue
        gain = duals[j - K] if j >= K else (reduced[j] if upper[j] else -reduced[j])
        if gain > best:
            best, found = gain, j
            if first:
                break
    return found


@njit
def _pivot(inverse, w, row):
    """Make the column with coordinates w basic in a row."""
    m = w.size
    for r in range(m):
        inverse[row, r] /= w[row]
    for i in range(m):
        if i != row and w[i] != 0.0:
            for r in range(m):
                inverse[i, r] -= w[i] * inverse[row, r]


@njit(nogil=True)
def improve(columns, costs, equal, basis, basic, upper, inverse, values, most, duals, reduced):
    """Pivot until nothing gains; the number of pivots, or -1 if there would be more than `most`."""
    K, m = columns.shape
    w = np.empty(m)
    pivots = 0
    stuck = 0
    while True:
        _multipliers(columns, costs, basis, inverse, duals, reduced)
        # Taking the first that gains ends cycles at a degenerate vertex. [bland1977]
        j = _entering(reduced, duals, equal, basic, upper, stuck > m)
        if j < 0:
            return pivots
        if pivots >= most:
            return -1
        pivots += 1
        for i in range(m):
            if j >= K:
                w[i] = inverse[i, j - K]
            else:
                w[i] = 0.0
                for r in range(m):
                    w[i] += inverse[i, r] * columns[j, r]
        sign = -1.0 if j < K and upper[j] else 1.0
        step = 1.0 if j < K else np.inf
        row = -1
        to_upper = False
        for i in range(m):
            speed = sign * w[i]
            if speed > _ZERO:
                room = max(values[i], 0.0) / speed
                rising = False
            elif speed < -_ZERO and (basis[i] < K or equal[basis[i] - K]):
                top = 1.0 if basis[i] < K else 0.0
                room = max(top - values[i], 0.0) / -speed
                rising = True
            else:
                continue
            if room < step or (
                row >= 0 and room == step and not stuck > m and abs(w[i]) > abs(w[row])
            ):
                step, row, to_upper = room, i, rising
            elif row >= 0 and room == step and stuck > m and basis[i] < basis[row]:
                row, to_upper = i, rising
        if step == np.inf:
            return -1
        stuck = stuck + 1 if step <= _ZERO else 0
        for i in range(m):
            values[i] -= step * sign * w[i]
        if row < 0:
            upper[j] = not upper[j]
            continue
        leaving = basis[row]
        basic[leaving] = False
        if leaving < K:
            upper[leaving] = to_upper
        start = 1.0 if sign < 0.0 else 0.0
        values[row] = start + sign * step
        if j < K:
            upper[j] = False
        basic[j] = True
        basis[row] = j
        _pivot(inverse, w, row)


@njit(nogil=True)
def judge(
    columns, low, high, equal, room, basis, basic, upper, values, duals, reduced, strict, out
):
    """Write the solution; whether it is right, whether it is a 0/1 point, and the only one."""
    K, m = columns.shape
    for j in range(K):
        out[j] = 1.0 if upper[j] and not basic[j] else 0.0
    integral = True
    for i in range(m):
        if basis[i] < K:
            value = values[i]
            near = np.round(value)
            if abs(value - near) <= 1e-7:
                value = near
            else:
                integral = False
            out[basis[i]] = value
    right = True
    for r in range(m):
        total = 0.0
        for j in range(K):
            total += out[j] * columns[j, r]
        slack = room[r] if integral else 1e3 * room[r]
        if total > high[r] + slack or total < low[r] - slack:
            right = False
    for j in range(K):
        if out[j] < -1e-7 or out[j] > 1.0 + 1e-7:
            right = False
    only = True
    for j in range(K + m):
        if basic[j] or (j >= K and equal[j - K]):
            continue
        if abs(reduced[j] if j < K else duals[j - K]) <= strict:
            only = False
    return right, integral, only
