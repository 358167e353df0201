"""Cheapest assignments of n rows to different columns out of m >= n.

By the steps of Jonker and Volgenant: prices of columns from their minima, then auctions between
rows, then shortest augmenting paths for the rows left. [jonker1987]
"""

import numpy as np
from numba import float64

from hannan.kernels.compiling import njit
from hannan.kernels.weights import count_hit, count_short


@njit
def _reduce_columns(costs, handicap, price, owner, column):
    """Square tables: each column takes the row that bids most beyond its handicap."""
    n = costs.shape[0]
    for j in range(n):
        row = 0
        least = costs[0, j] - handicap[0]
        for i in range(1, n):
            here = costs[i, j] - handicap[i]
            if here < least:
                row, least = i, here
        if least < np.inf:
            price[j] = least
            if column[row] < 0:
                column[row] = j
                owner[j] = row


@njit
def _bid(costs, price, owner, column):
    """Free rows take their best columns and raise the prices to those of their second best.

    As many bids as there are rows: the last rows are served faster by augmenting paths.
    """
    n, m = costs.shape
    left = n
    for start in range(n):
        i = start
        while column[i] < 0 and left > 0:
            left -= 1
            first, second = np.inf, np.inf
            best = -1
            for j in range(m):
                here = costs[i, j] - price[j]
                if here < second:
                    if here < first:
                        first, second = here, first
                        best = j
                    else:
                        second = here
            if not second < np.inf or not first < second:
                break  # a tie, or a single column: left to augmenting paths
            price[best] -= second - first
            loser = owner[best]
            owner[best] = i
            column[i] = best
            if loser >= 0:
                column[loser] = -1
                i = loser


@njit
def _search(costs, price, owner, free, distance, before, done):
    """Find the free column nearest to a free row, -1 if there is none, and its distance.

    before[j] is the row from which the shortest path comes to column j.
    """
    m = costs.shape[1]
    best, shortest = -1, np.inf
    for j in range(m):
        here = costs[free, j] - price[j]
        distance[j] = here
        before[j] = free
        done[j] = False
        if here < shortest:
            best, shortest = j, here
    while best >= 0 and owner[best] >= 0:
        done[best] = True
        i = owner[best]
        gone = costs[i, best] - price[best] - shortest
        best, shortest = -1, np.inf
        for j in range(m):
            if not done[j]:
                here = costs[i, j] - price[j] - gone
                if here < distance[j]:
                    distance[j] = here
                    before[j] = i
                if distance[j] < shortest:
                    best, shortest = j, distance[j]
    return best, shortest


@njit
def _augment(costs, price, owner, column, free, distance, before, done):
    """Assign a free row along a shortest path to a free column; False if there is none."""
    best, shortest = _search(costs, price, owner, free, distance, before, done)
    if best < 0:
        return False
    for j in range(costs.shape[1]):
        if done[j]:
            price[j] += distance[j] - shortest
    j = best
    while True:
        i = before[j]
        owner[j] = i
        column[i], j = j, column[i]
        if i == free:
            return True


@njit
def assign(costs, handicap, price, owner, column, distance, before, done):
    """Set column[i] to the column of row i; return False if there is no assignment.

    Any finite handicaps of the rows are valid. Handicaps close to the rows' prices in a similar
    problem save time. The other arrays are scratch; at the end `price` holds the column prices.
    """
    n, m = costs.shape
    price[:] = 0.0
    owner[:] = -1
    column[:] = -1
    if n == m:
        _reduce_columns(costs, handicap, price, owner, column)
    _bid(costs, price, owner, column)
    for i in range(n):
        if column[i] < 0 and not _augment(costs, price, owner, column, i, distance, before, done):
            return False
    return True


@njit(nogil=True)
def resample(
    totals, block, start, stop, scale, row_of, column_of, n, m, most,
    elements, successes, hits, reached, used,
):  # fmt: skip
    """Go through rows of noise until every element was assigned `successes` times.

    Element k pairs row_of[k] with column_of[k] of an [n, m] table. Costs above `most`, and costs
    of pairs that are not elements, count as `most`. Pairs of this cost are not chosen: it is 0 if
    fewer may be paired, else infinity. Updates `hits`, and `reached` (the draw when an element had
    enough, counted from `used`); returns the number of rows used and of elements still short.
    """
    costs = np.full((n, m), most)
    handicap = np.zeros(n)
    price = np.empty(m)
    owner = np.empty(m, np.intp)
    column = np.empty(n, np.intp)
    distance = np.empty(m)
    before = np.empty(m, np.intp)
    done = np.empty(m, np.bool_)
    short = count_short(hits, successes)
    for k in range(totals.size):
        costs[row_of[k], column_of[k]] = min(totals[k], most)
    if n == m and assign(costs, handicap, price, owner, column, distance, before, done):
        for i in range(n):
            handicap[i] = costs[i, column[i]] - price[column[i]]
    row = start
    while row < stop and short > 0:
        for k in range(totals.size):
            here = totals[k] + scale * float64(block[row, k])
            costs[row_of[k], column_of[k]] = min(here, most)
        row += 1
        assign(costs, handicap, price, owner, column, distance, before, done)
        for e in range(elements.size):
            k = elements[e]
            i, j = row_of[k], column_of[k]
            if hits[e] < successes and column[i] == j and costs[i, j] < most:
                short -= count_hit(e, used + row - start, successes, hits, reached)
    return row - start, short
