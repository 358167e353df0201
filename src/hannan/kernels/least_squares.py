"""Ridge regressions for K elements on the same features, by rank-one updates.

Kept are the weights w_k [K, n] and the lower triangles of R_k = (λI + Σ x x')^-1, row by row,
[K, n (n+1)/2], or a single triangle while all elements have seen the same rows. `seen` says whose
weights have been fitted to anything.

A row is standardised by `center` and `scale`, unless these are empty; a constant feature is added
where there is one more weight than features in the row. Sums do not depend on the machine.
"""

import math

import numpy as np

from hannan.kernels.blend import LARGEST, dot, limit, project, shrink, standardise
from hannan.kernels.compiling import njit


@njit
def expand(row, center, scale, x):
    """What the regressions see of a row; False for one that is not finite or too large."""
    for j in range(row.size):
        if not abs(row[j]) <= LARGEST:
            return False
        x[j] = row[j]
    if scale.size:
        standardise(row, center, scale, x)
    x[row.size :] = 1.0
    return True


@njit
def width(k, x, inverse, seen, widest, product):
    """√(x' R_k x); `product` gets R_k x, unless nothing was seen of k."""
    if not seen[k]:
        return widest
    project(inverse[k if inverse.shape[0] > 1 else 0], x.size, x, product)
    # No wider than before anything was seen, whatever the rounding.
    return min(math.sqrt(max(dot(product, x, x.size), 0.0)), widest)


@njit
def look(row, center, scale, weights, inverse, seen, ridge, means, widths):
    """The means <w_k, x> and the widths as they are; False for a bad row."""
    K, n = weights.shape
    x, product = np.empty(n), np.empty(n)
    if not expand(row, center, scale, x):
        return False
    widest = math.sqrt(dot(x, x, n) / ridge)
    for k in range(K):
        means[k] = dot(weights[k], x, n)
        widths[k] = width(k, x, inverse, seen, widest, product)
    return True


@njit
def advise(row, center, scale, weights, inverse, seen, ridge, alpha, some, estimates):
    """Which of `some` has the least mean less α widths; `estimates`: the means in [0, 1].

    All elements count where `some` is empty. They are looked at in the order of their means, until
    no width could change the answer. Those never seen all have mean 0 and the same width, so that
    the first stands for all. Returns -1 for a bad row.
    """
    K, n = weights.shape
    x, product = np.empty(n), np.empty(n)
    if not expand(row, center, scale, x):
        return -1
    widest = math.sqrt(dot(x, x, n) / ridge)
    open_ = np.zeros(K, np.bool_)
    best, least = -1, np.inf
    for k in range(K):
        estimates[k] = dot(weights[k], x, n)
    for i in range(some.size if some.size else K):
        k = some[i] if some.size else i
        if seen[k]:
            open_[k] = True
        elif best < 0:
            best, least = k, estimates[k] - alpha * widest
    while True:
        k = -1
        for j in range(K):
            if open_[j] and (k < 0 or estimates[j] < estimates[k]):
                k = j
        if k < 0 or (best >= 0 and estimates[k] - alpha * widest > least):
            break
        open_[k] = False
        if best >= 0 and alpha > 0.0:  # the first that was looked at most often is
            own = inverse[k if inverse.shape[0] > 1 else 0]
            if estimates[k] - alpha * limit(own, n, x, widest) > least:
                continue
        value = estimates[k]
        if alpha > 0.0:
            value -= alpha * width(k, x, inverse, seen, widest, product)
        if value < least or (value == least and k < best):
            best, least = k, value
    for k in range(K):
        estimates[k] = min(max(estimates[k], 0.0), 1.0)
    return best


@njit
def learn_one(row, center, scale, weights, inverse, seen, k, loss):
    """As `learn`, for a single one of several elements, which have inverses of their own."""
    n = weights.shape[1]
    x, product = np.empty(n), np.empty(n)
    if not expand(row, center, scale, x):
        return False
    w, own = weights[k], inverse[k]
    project(own, n, x, product)
    bottom = 1.0 + dot(product, x, n)
    shrink(own, n, product, bottom)
    gain = (loss - dot(w, x, n)) / bottom
    for j in range(n):
        w[j] += gain * product[j]
    seen[k] = True
    return True


@njit
def learn(row, center, scale, weights, inverse, seen, elements, losses):
    """Add the observation (row, losses[i]) to regression elements[i] (Sherman-Morrison).

    A shared inverse must have all elements listed. False for a bad row: nothing has changed.
    """
    n = weights.shape[1]
    x, product = np.empty(n), np.empty(n)
    if not expand(row, center, scale, x):
        return False
    bottom = 1.0
    for e in range(elements.size):
        k = elements[e]
        if e == 0 or inverse.shape[0] > 1:
            own = inverse[k if inverse.shape[0] > 1 else 0]
            project(own, n, x, product)
            bottom = 1.0 + dot(product, x, n)
            shrink(own, n, product, bottom)
        w = weights[k]
        gain = (losses[e] - dot(w, x, n)) / bottom
        for j in range(n):
            w[j] += gain * product[j]
        seen[k] = True
    return True
