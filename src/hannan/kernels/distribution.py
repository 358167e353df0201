r"""The exact distribution of the smallest of K numbers under independent Laplace noise."""

import math

import numpy as np

from hannan.kernels.compiling import njit

# Gauss-Legendre nodes and weights on [0, 1]. Twelve integrate polynomials up to degree 23 exactly,
# and exp over a piece of length four, or eight where it only falls, to rounding.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_NODES, _WEIGHTS = 0.5 * (1.0 + _NODES), 0.5 * _WEIGHTS
_REACH = 40.0  # the density beyond is below exp(-40)
_FAR = 800.0  # exp(-g) is zero beyond
_PIECE = 4.0
_STEEP = 8.0


@njit
def argmin_distribution(values, scale, out):
    r"""Set out[j] to the probability that j minimises values[j] + scale * unit Laplace noise.

    Values may be infinite, but not all of them. With g = (values - least)/scale and v the value of
    the minimum, :math:`q_j = \int f(v - g_j) \prod_{i \ne j} (1 - F(v - g_i))\,dv`. With
    :math:`w = e^v` and :math:`a_i = e^{-g_i}/2`, the factors are :math:`a_j w` and
    :math:`1 - a_i w` as long as v < g_i, and :math:`e^{g_i}/(2w)` beyond, both of them. So below
    all g the integrand, in w, is a polynomial; between two of them one product serves all that
    have been passed; and above all of them it is a power of w.
    """
    K = values.size
    if K == 2:
        _of_two(values, scale, out)
        return
    least = values.min()
    order = np.argsort(values)
    g, a = np.empty(K), np.empty(K)
    for m in range(K):
        g[m] = (values[order[m]] - least) / scale
        a[m] = 0.5 * math.exp(-g[m])
    found = np.zeros(K)
    _below(a, found)
    common = np.zeros(K)  # common part of the first m + 1, between the m-th g and the next
    height = 0.0
    for m in range(K):
        left = g[m]
        height += left - math.log(2.0)
        # exp(height - (m + 1) v) is the product of those passed; times w it bounds all others.
        if left >= _REACH or height - m * left < -_REACH:
            break
        if m == K - 1:
            common[m] = math.exp(height - K * left) / K
            break
        right = min(g[m + 1], _REACH)
        pieces = math.ceil((right - left) * (m + 1) / _PIECE)
        if pieces > 0:
            common[m] = _between(a, height, m, left, (right - left) / pieces, pieces, found)
    total = passed = 0.0
    for m in range(K - 1, -1, -1):
        passed += common[m]
        found[m] += passed
        total += found[m]
    for m in range(K):
        out[order[m]] = found[m] / total


@njit
def _of_two(values, scale, out):
    r"""Compute K = 2: the value larger by g has probability :math:`e^{-g} (2 + g)/4`."""
    larger = 1 if values[1] >= values[0] else 0
    g = (values[larger] - values[1 - larger]) / scale
    # For an infinite g the product would be infinity times zero.
    out[larger] = math.exp(-g) * (2.0 + g) / 4.0 if g < _FAR else 0.0
    out[1 - larger] = 1.0 - out[larger]


@njit
def lesson(values, scale, action, loss, trials, distribution):
    """Compute the weight and the instability of a loss; write the choice's `distribution`.

    Returns the mean weight of the action, see `trial_weight`, and the instability cost: the
    decrease of the action's probability once its weighted loss is added, times that loss.
    """
    argmin_distribution(values, scale, distribution)
    weight = trial_weight(distribution[action], trials)
    amount = weight * loss
    if amount == 0.0:
        return weight, 0.0
    later, after = values.copy(), np.empty(values.size)
    later[action] += amount
    argmin_distribution(later, scale, after)
    return weight, max(0.0, amount * (distribution[action] - after[action]))


@njit
def trial_weight(q, trials):
    """Return (1 - (1-p)^L)/(p s), where a trial counts with probability s and then succeeds with p.

    p = c + (1 - c) q has the certain part c; `trials` are (L, c, s).
    """
    limit, certain, kept = trials
    return mean_weight(certain + (1.0 - certain) * q, limit) / kept


@njit
def mean_weight(q, limit):
    """Return (1 - (1-q)^L)/q."""
    if q <= 0.0:
        return float(limit)
    return 1.0 if q >= 1.0 else -math.expm1(limit * math.log1p(-q)) / q


@njit
def _below(a, found):
    """Add the integral over w from 0 to 1 of a_j times the product of all other 1 - a_i w."""
    K = a.size
    slope = 0.0
    for i in range(K):
        slope += a[i]
    left, right = 0.0, 1.0 if K <= 24 or slope <= _STEEP else _STEEP / slope
    while left < 1.0 and left * slope < _REACH + _STEEP:
        for k in range(_NODES.size):
            w = left + (right - left) * _NODES[k]
            product = _WEIGHTS[k] * (right - left)
            for i in range(K):
                product *= 1.0 - a[i] * w
            for j in range(K):
                found[j] += a[j] * (product / (1.0 - a[j] * w))
        left, right = right, min(1.0, 2.0 * right)


@njit
def _between(a, height, m, left, width, pieces, found):
    """Add the integral between the m-th g and the next; what all that were passed have of it."""
    K = a.size
    common = 0.0
    for p in range(pieces):
        for k in range(_NODES.size):
            v = left + width * (p + _NODES[k])
            w = math.exp(v)
            product = _WEIGHTS[k] * width * math.exp(height - (m + 1) * v)
            for i in range(m + 1, K):
                product *= 1.0 - a[i] * w
            common += product
            for j in range(m + 1, K):
                found[j] += a[j] * w * (product / (1.0 - a[j] * w))
    return common
