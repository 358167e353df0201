r"""Linear scores by ridge regression, their Gaussian noise, and the distribution of the best one.

The design :math:`A = \lambda I + \sum x x^\top = U^\top U` is stored as its upper Cholesky factor
U, row by row, and updated in place.
"""

import math

import numpy as np
from numba import int64, uint64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.distribution import trial_weight
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import philox

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_TO_UNIT = 2.0**-32
_TURN = 2.0 * math.pi * _TO_UNIT

# The smallest of K normals with unit variance and least mean 0 lies in [-8.5, 6.5].
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_NODES = -1.0 + 7.5 * _NODES
_WEIGHTS = 7.5 * _WEIGHTS
_LOST = 1e-10  # least part of a pivot that must be left

# exp(r) for |r| <= log(2)/2: Taylor's series, which is off by less than 1e-17.
_EXP = np.array([1.0 / math.factorial(n) for n in range(13, -1, -1)])
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
# Chebyshev fit of (1 + 2z) exp(z^2) erfc(z) for z in [0, 6.25], as a polynomial in
# 1.32 (z - 2)/(z + 2) + 0.32, from the highest power down: off by less than 4e-15 of itself.
_ERFC = np.array(
    [
        1.645332294163076e-09,
        5.77384042252818e-09,
        -3.367999635735691e-09,
        -5.9341553328302654e-08,
        -1.3195884004100717e-07,
        1.2120270616957012e-07,
        1.4714676513415096e-06,
        2.8818814388691508e-06,
        -6.411576351388985e-06,
        -4.337318355120773e-05,
        -2.678352021398885e-05,
        0.00042183193546681356,
        0.0009083895493509029,
        -0.00454593966165352,
        -0.01242581297669092,
        0.09114672879961008,
        -0.17383639783944435,
        0.014825067157798938,
        1.2871929431413094,
    ]
)
_TO_INTEGER = 1.5 * 2.0**52  # a whole number plus this has that number in its lowest bits
_FARTHEST = 37.0  # beyond it exp(-t^2/2) is below 1e-297, and taken as 0

# A check for zero before every division would keep loops out of vector instructions.
fast = njit(error_model="numpy")


@fast
def observe(U, x):
    """Add the outer product of x to the design."""
    p = x.size
    v = x.copy()
    for i in range(p):
        pivot, first = U[i, i], v[i]
        r = math.hypot(pivot, first)
        c = r / pivot
        s = first / pivot
        U[i, i] = r
        row, rest = U[i, i + 1 :], v[i + 1 :]
        for j in range(row.size):
            new = (row[j] + s * rest[j]) / c
            row[j] = new
            rest[j] = c * rest[j] - s * new


@fast
def add(U, b, x, losses):
    """Add the outer product of x to the design and x losses' to the moments."""
    observe(U, x)
    for i in range(x.size):
        for k in range(losses.size):
            b[i, k] += x[i] * losses[k]


@fast
def forward(U, v):
    """Replace v by U^-T v."""
    for i in range(v.size):
        top = v[i] / U[i, i]
        v[i] = top
        line, rest = U[i, i + 1 :], v[i + 1 :]
        for j in range(line.size):
            rest[j] -= line[j] * top


@fast
def backward(U, v):
    """Replace v by U^-1 v."""
    for i in range(v.size - 1, -1, -1):
        line, rest = U[i, i + 1 :], v[i + 1 :]
        t = v[i]
        for j in range(line.size):
            t -= line[j] * rest[j]
        v[i] = t / U[i, i]


@fast
def solve(U, b, row, x, v, scores):
    """Set v to U^-T x, scores to x' A^-1 b, x to the row and a constant; return x' A^-1 x."""
    p, K = b.shape
    x[row.size :] = 1.0
    for i in range(row.size):
        x[i] = row[i]
    for i in range(p):
        v[i] = x[i]
    forward(U, v)
    h = 0.0
    for i in range(p):
        h += v[i] * v[i]
    y = v.copy()
    backward(U, y)
    for k in range(K):
        scores[k] = 0.0
    for i in range(p - 1, -1, -1):
        for k in range(K):
            scores[k] += y[i] * b[i, k]
    return h


@njit
def _factor(A, W):
    """Replace A by its Cholesky factor U and W by U^-T W; False if A is lost in rounding."""
    p = A.shape[0]
    for i in range(p):
        square = A[i, i]
        for j in range(i):
            square += A[j, i] * A[j, i]
        if not A[i, i] > _LOST * square:
            return False
        pivot = math.sqrt(A[i, i])
        divide(A[i], pivot, i)
        divide(W[i], pivot, int64(0))
        for j in range(i + 1, p):
            subtract(A[j], A[i, j], A[i], j)
            subtract(W[j], A[i, j], W[i], int64(0))
    return True


@njit
def smooth(X, ridge, Z, out):
    """Set out to X A^-1 X' Z, predictions on the rows X of ridge regressions of Z [n, m].

    False where the penalty is lost in rounding. Sizes are too small for the threads of a BLAS.
    """
    n, p = X.shape
    A, W = np.zeros((p, p)), np.zeros((p, Z.shape[1]))
    for i in range(p):
        A[i, i] = ridge
    for t in range(n):
        for i in range(p):
            subtract(A[i], -X[t, i], X[t], i)
            subtract(W[i], -X[t, i], Z[t], int64(0))
    if not _factor(A, W):
        return False
    for i in range(p - 1, -1, -1):
        for j in range(i + 1, p):
            subtract(W[i], A[i, j], W[j], int64(0))
        divide(W[i], A[i, i], int64(0))
    out[:] = 0.0
    for t in range(n):
        for i in range(p):
            subtract(out[t], -X[t, i], W[i], int64(0))
    return True


@fast
def divide(row, number, start):
    """Divide a row by a number, from an entry on; slices would take the compiler seconds."""
    for j in range(start, row.size):
        row[j] /= number


@njit
def subtract(row, factor, other, start):
    """Subtract factor * other from row, from an entry on."""
    for j in range(start, row.size):
        row[j] -= factor * other[j]


@njit(nogil=True)
def fill_normals(key, stream, first, out):
    """Write standard normal variates, a row for each draw, by the method of Box and Muller."""
    draws, size = out.shape
    for d in range(draws):
        n = uint64(first + d)
        row = out[d]
        for at in range(0, size, 4):
            words = philox(key, uint64(at // 4), stream, n & _LOW, n >> _32)
            for i in range(0, min(4, size - at), 2):
                radius = math.sqrt(-2.0 * math.log((float(words[i]) + 0.5) * _TO_UNIT))
                angle = _TURN * (float(words[i + 1]) + 0.5)
                row[at + i] = radius * math.cos(angle)
                if at + i + 1 < size:
                    row[at + i + 1] = radius * math.sin(angle)


@njit
def perturb(v, g, factor, scores):
    """Add factor * <v, g_k> to scores[k]."""
    p, K = g.shape
    for i in range(p):
        w = factor * v[i]
        for k in range(K):
            scores[k] += w * g[i, k]


@njit
def polynomial(coefficients, x, out):
    """Evaluate by Horner's rule, from the highest power down, for a multiple of 16 numbers."""
    for i in range(0, x.size, WIDTH):
        base, value = lanes.load(x, i), lanes.splat(coefficients[0])
        for n in range(1, coefficients.size):
            value = lanes.add(lanes.mul(value, base), lanes.splat(coefficients[n]))
        lanes.store(out, i, value)


@fast
def normal_tails(t, density, survival):
    """Return exp(-t^2/2), and the probability that a standard normal number exceeds t.

    For a multiple of sixteen numbers, in vector instructions, which the functions of the C
    library do not use.
    """
    size = t.size
    x, power = np.empty(size), np.empty(size)
    for i in range(size):
        here = t[i] if t[i] > -_FARTHEST else -_FARTHEST
        square = -0.5 * (here * here)
        whole = np.floor(square * 1.4426950408889634 + 0.5)
        x[i] = (square - whole * _LOG2_HIGH) - whole * _LOG2_LOW
        power[i] = whole + _TO_INTEGER
    polynomial(_EXP, x, density)
    bits, shift = density.view(np.int64), power.view(np.int64)
    for i in range(size):
        bits[i] += shift[i] << 52
    for i in range(size):
        density[i] = density[i] if t[i] > -_FARTHEST else 0.0
        z = min(abs(t[i]) * 0.7071067811865476, 6.25)
        x[i] = 1.32 * ((z - 2.0) / (z + 2.0)) + 0.32
    polynomial(_ERFC, x, survival)
    for i in range(size):
        z = min(abs(t[i]) * 0.7071067811865476, 6.25)
        tail = 0.5 * density[i] * survival[i] / (1.0 + 2.0 * z)
        survival[i] = tail if t[i] > 0.0 else 1.0 - tail


@fast
def normal_lesson(scores, sigma, action, loss, leverage, trials, distribution):
    """Compute `distribution.lesson` for normal noise; a loss moves its score by the leverage."""
    normal_distribution(scores, sigma, -1, 0.0, distribution)
    weight = trial_weight(distribution[action], trials)
    amount = weight * loss
    if amount == 0.0:
        return weight, 0.0
    after = np.empty(scores.size)
    normal_distribution(scores, sigma, action, leverage * amount, after)
    return weight, max(0.0, amount * (distribution[action] - after[action]))


@fast
def _gaps(scores, sigma, action, rise):
    """Return how far each score is above the least, in units of sigma, after one has risen."""
    gap = np.empty(scores.size)
    low = np.inf
    for k in range(scores.size):
        gap[k] = scores[k] + rise if k == action else scores[k]
        low = min(low, gap[k])
    for k in range(scores.size):
        gap[k] = (gap[k] - low) / sigma
    return gap


@fast
def normal_distribution(scores, sigma, action, rise, out):
    """Set out[k] to the probability that k minimises scores[k] + sigma * standard normal noise.

    The score of one action has risen before that; of none if it is -1.
    """
    K = scores.size
    gap = _gaps(scores, sigma, action, rise)
    t, density, survival = np.empty(48 * K), np.empty(48 * K), np.empty(48 * K)
    for i in range(48):
        for k in range(K):
            t[i * K + k] = _NODES[i] - gap[k]
    normal_tails(t, density, survival)
    for k in range(K):
        out[k] = 0.0
    for i in range(48):
        at = i * K
        product = _WEIGHTS[i]
        for k in range(K):
            product *= survival[at + k]
        for k in range(K):
            out[k] += density[at + k] * (product / survival[at + k])
    total = 0.0
    for k in range(K):
        total += out[k]
    for k in range(K):
        out[k] /= total
