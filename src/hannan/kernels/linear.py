r"""Linear scores by ridge regression, their Gaussian noise, and the law of the best one.

The design :math:`A = \lambda I + \sum x x^\top = U^\top U` is kept as its upper Cholesky factor U,
row by row, and updated in place.
"""

import math

import numpy as np
from numba import uint64

from hannan.kernels.compiling import njit
from hannan.kernels.noise import philox

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_TO_UNIT = 2.0**-32
_TURN = 2.0 * math.pi * _TO_UNIT

# The smallest of K normals with unit variance and least mean 0 lies in [-8.5, 6.5].
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_NODES = -1.0 + 7.5 * _NODES
_WEIGHTS = 7.5 * _WEIGHTS


@njit
def add(U, b, x, losses):
    """Add the outer product of x to the design and x losses' to the moments."""
    p = x.size
    v = x.copy()
    for i in range(p):
        row = U[i]
        r = math.hypot(row[i], v[i])
        c = r / row[i]
        s = v[i] / row[i]
        row[i] = r
        for j in range(i + 1, p):
            row[j] = (row[j] + s * v[j]) / c
            v[j] = c * v[j] - s * row[j]
    for i in range(p):
        for k in range(losses.size):
            b[i, k] += x[i] * losses[k]


@njit
def solve(U, b, x, v, scores):
    """v = U^-T x and scores = x' A^-1 b; returns x' A^-1 x."""
    p, K = b.shape
    for i in range(p):
        v[i] = x[i]
    for i in range(p):
        v[i] /= U[i, i]
        top = v[i]
        row = U[i]
        for j in range(i + 1, p):
            v[j] -= row[j] * top
    h = 0.0
    for i in range(p):
        h += v[i] * v[i]
    y = v.copy()
    for k in range(K):
        scores[k] = 0.0
    for i in range(p - 1, -1, -1):
        row = U[i]
        t = y[i]
        for j in range(i + 1, p):
            t -= row[j] * y[j]
        y[i] = t / row[i]
        for k in range(K):
            scores[k] += y[i] * b[i, k]
    return h


@njit(nogil=True)
def fill_normals(key, stream, first, out):
    """Standard normal variates, a row for each draw, by the method of Box and Muller."""
    draws, size = out.shape
    for d in range(draws):
        n = uint64(first + d)
        row = out[d]
        for at in range(0, size, 4):
            w0, w1, w2, w3 = philox(key, uint64(at // 4), stream, n & _LOW, n >> _32)
            radius = math.sqrt(-2.0 * math.log((float(w0) + 0.5) * _TO_UNIT))
            angle = _TURN * (float(w1) + 0.5)
            row[at] = radius * math.cos(angle)
            if at + 1 < size:
                row[at + 1] = radius * math.sin(angle)
            radius = math.sqrt(-2.0 * math.log((float(w2) + 0.5) * _TO_UNIT))
            angle = _TURN * (float(w3) + 0.5)
            if at + 2 < size:
                row[at + 2] = radius * math.cos(angle)
            if at + 3 < size:
                row[at + 3] = radius * math.sin(angle)


@njit
def perturb(v, g, factor, scores):
    """scores[k] += factor * <v, g_k>"""
    p, K = g.shape
    for i in range(p):
        w = factor * v[i]
        for k in range(K):
            scores[k] += w * g[i, k]


@njit
def normal_law(scores, sigma, out):
    """out[k] = probability that k minimises scores[k] + sigma * standard normal noise."""
    K = scores.size
    low = scores[0]
    for k in range(1, K):
        low = min(low, scores[k])
    survival = np.empty(K)
    density = np.empty(K)
    out[:] = 0.0
    for i in range(_NODES.size):
        product = 1.0
        for k in range(K):
            t = _NODES[i] - (scores[k] - low) / sigma
            survival[k] = max(0.5 * math.erfc(t * 0.7071067811865476), 1e-300)
            density[k] = math.exp(-0.5 * t * t)
            product *= survival[k]
        for k in range(K):
            out[k] += _WEIGHTS[i] * density[k] * (product / survival[k])
    total = 0.0
    for k in range(K):
        total += out[k]
    for k in range(K):
        out[k] /= total
