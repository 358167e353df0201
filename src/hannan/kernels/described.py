"""Actions with features: products of features, and one regression that all actions share.

A feature of (context, action) is the product of two entries of z = (1, context, action). The design
A = λI + Σ φφ' is stored as its upper Cholesky factor U, row by row, as in `kernels.linear`.
"""

import math

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.linear import backward, fill_normals, forward


@njit
def cross(context, rows, left, right, slot, sign, out):
    """Add sign[t] z[left[t]] z[right[t]] to out[k, slot[t]], z = (1, context, rows[k])."""
    n, q = rows.shape
    p = context.size
    z = np.empty(1 + p + q)
    z[0] = 1.0
    for j in range(p):
        z[1 + j] = context[j]
    for k in range(n):
        for j in range(q):
            z[1 + p + j] = rows[k, j]
        row = out[k]
        row[:] = 0.0
        for t in range(left.size):
            row[slot[t]] += sign[t] * z[left[t]] * z[right[t]]


@njit
def add(U, b, rows, losses):
    """Add the outer products of all rows to the design and their losses to the moments."""
    n, P = rows.shape
    v = np.empty(P)
    for k in range(n):
        for j in range(P):
            v[j] = rows[k, j]
        for i in range(P):
            if v[i] == 0.0:
                continue
            row = U[i]
            pivot = row[i]
            r = math.hypot(pivot, v[i])
            # A rotation: its second row needs the first one as it was, so that nothing waits.
            c, s = pivot / r, v[i] / r
            row[i] = r
            for j in range(i + 1, P):
                u, w = row[j], v[j]
                row[j] = c * u + s * w
                v[j] = c * w - s * u
        if losses[k] != 0.0:
            for j in range(P):
                b[j] += losses[k] * rows[k, j]


@njit
def fit(U, b, w):
    """Set w to A^-1 b."""
    w[:] = b
    forward(U, w)
    backward(U, w)


@njit
def _solve(U, V):
    """Replace the columns of V by those of U'^-1 V, U being upper triangular."""
    P, n = V.shape
    for i in range(P):
        top = V[i]
        pivot = U[i, i]
        for k in range(n):
            top[k] /= pivot
        row = U[i]
        for j in range(i + 1, P):
            u = row[j]
            if u != 0.0:
                below = V[j]
                for k in range(n):
                    below[k] -= u * top[k]


@njit
def look(U, w, rows, scores, gram):
    """Set scores[k] to <w, rows[k]>, and gram to rows A^-1 rows'."""
    n, P = rows.shape
    V = np.empty((P, n))
    for k in range(n):
        total = 0.0
        for j in range(P):
            V[j, k] = rows[k, j]
            total += w[j] * rows[k, j]
        scores[k] = total
    _solve(U, V)
    gram[:] = 0.0
    for i in range(P):
        top = V[i]
        for k in range(n):
            factor = top[k]
            line = gram[k]
            for j in range(n):
                line[j] += factor * top[j]


@njit
def least(scores, sigma, key, stream, draw, numbers):
    """Return the argmin of scores plus sigma times the standard normal numbers of a draw."""
    if sigma != 0.0:
        fill_normals(key, stream, draw, numbers)
    best = 0
    value = np.inf
    for k in range(scores.size):
        found = scores[k]
        if sigma != 0.0:
            found += sigma * numbers[0, k]
        if found < value:
            best, value = k, found
    return best


@njit
def choices(scores, sigma, key, stream, first, out):
    """Find `least` under each of several draws, as marks in out [draws, n]."""
    numbers = np.empty((1, scores.size), np.float32)
    for i in range(out.shape[0]):
        out[i, least(scores, sigma, key, stream, first + i, numbers)] = True
