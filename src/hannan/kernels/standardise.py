"""Columns of a stream, standardised as they arrive."""

import math

from hannan.kernels.compiling import njit


@njit
def standardise(table, count, mean, squares, out):
    """Set out[t, j] to (x - mean) / deviation, both of column j up to row t (Welford's sums).

    `mean` and `squares` [p] continue from `count` rows read before, so that the result does not
    depend on how the rows are split into tables. A column that has been constant so far is 0.
    """
    for t in range(table.shape[0]):
        n = count + t + 1
        for j in range(table.shape[1]):
            x = table[t, j]
            before = x - mean[j]
            mean[j] += before / n
            squares[j] += before * (x - mean[j])
            out[t, j] = 0.0
            if squares[j] > 0.0:
                out[t, j] = (x - mean[j]) / math.sqrt(squares[j] / n)
