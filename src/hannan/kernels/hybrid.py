"""Ridge regressions shared by all actions: a steady one, a discounted one, one on cosines.

A pair (context, action) becomes v = (cosines, 1, x, a, products), with x and a standardised to unit
variance, products as in `kernels.described`, all divided by the root of their number. The
cosines are random Fourier features of (x, a). Part 0 regresses on all except the cosines, part 1
the same with observations that fade, part 2 one on the cosines and single features. They learn
losses less their mean, `level[0]`: so the penalty pulls towards that, rather than to a loss of
zero, which for rare clicks would be far from the mean.

Python hands `Shared` over as a plain tuple, for which a call takes less than for a NamedTuple.

Part i has weights w and R = s (λI + Σ γ^age v v')^-1, s = factor[i], as a lower triangle by rows.
`tally` is as in `kernels.blend`. Nothing here sums in an order that depends on the machine.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import int64

from hannan.kernels.blend import LARGEST, cosines, deviation, dot, project, shrink, turn
from hannan.kernels.compiling import njit

PARTS = 3
STEADY, FADING, COSINES = 0, 1, 2
_LIMIT = 5.0  # standardised features are clipped here
_BEHIND = 3.0  # log-likelihood deficit at which the steady part copies the fading one
_LARGE = 1e6  # from this factor on it is multiplied out


class Shared(NamedTuple):
    """The regressions: sizes of the parts of v, weights, inverses and discounts."""

    single: int
    cosines: int
    weights: np.ndarray
    inverse: np.ndarray
    factor: np.ndarray
    level: np.ndarray
    tally: np.ndarray
    turn: np.ndarray
    ridge: float
    fade: float


@njit
def bounds(m, single, size):
    """Return the bounds of each part in v: m cosines, then `size` others, single ones first."""
    begin = np.array([m, m, 0])
    end = np.array([m + size, m + size, m + single if m else 0])
    return begin, end


@njit
def scaled(row, center, scale, first, out):
    """Set out to a centred, scaled and clipped row; return False if not finite or too large."""
    for j in range(row.size):
        if not abs(row[j]) <= LARGEST:
            return False
        out[j] = min(max((row[j] - center[first + j]) / scale[first + j], -_LIMIT), _LIMIT)
    return True


@njit
def expand(context, rows, center, scale, plan, waves, phases, height, out):
    """Set out[k] to v of each row; return False for features not finite or too large."""
    left, right, slot, sign = plan
    n, q = rows.shape
    p = context.size
    m = phases.size
    size = out.shape[1] - m
    z = np.empty(1 + p + q)
    z[0] = 1.0
    root = 1.0 / math.sqrt(p + q)
    whole = 1.0 / math.sqrt(size)
    if not scaled(context, center, scale, int64(0), z[1 : 1 + p]):
        return False
    shared = phases.copy()
    turn(shared, root, z[1 : 1 + p], waves, int64(0))
    for k in range(n):
        if not scaled(rows[k], center, scale, p, z[1 + p :]):
            return False
        row = out[k]
        angles = row[:m]
        for i in range(m):
            angles[i] = shared[i]
        turn(angles, root, z[1 + p :], waves, p)
        cosines(angles, height)
        others = row[m:]
        others[:] = 0.0
        for t in range(left.size):
            others[slot[t]] += sign[t] * z[left[t]] * z[right[t]]
        for i in range(size):
            others[i] *= whole
    return True


@njit
def shares(tally, cosines, out):
    """Set out to the softmax of the log-likelihoods -errors/(2 σ²); cosines may be absent."""
    scale = 2.0 * deviation(tally) ** 2
    parts = PARTS if cosines else PARTS - 1
    least = tally[:parts].min()
    total = 0.0
    out[:] = 0.0
    for i in range(parts):
        out[i] = math.exp(-(tally[i] - least) / scale)
        total += out[i]
    for i in range(parts):
        out[i] /= total


@njit
def triangle(i, begin, end, inverse):
    """Return the inverse of part i."""
    start = 0
    for j in range(i):
        n = end[j] - begin[j]
        start += n * (n + 1) // 2
    n = end[i] - begin[i]
    return inverse[start : start + n * (n + 1) // 2]


@njit
def guess(v, i, begin, end, weights):
    """Return the prediction of part i, relative to the level."""
    n = end[i] - begin[i]
    return dot(weights[i], v[begin[i] : end[i]], n)


@njit
def width(v, i, begin, end, inverse, factor, product):
    """Return v'Rv in part i, never negative; set `product` to R v."""
    n = end[i] - begin[i]
    x = v[begin[i] : end[i]]
    project(triangle(i, begin, end, inverse), n, x, product)
    for j in range(n):
        product[j] *= factor[i]
    return max(dot(product, x, n), 0.0)


@njit
def look(V, offsets, spreads, numbers, means, widths):
    """Write means of all rows, and widths unless that array is empty: those of the heaviest part.

    `offsets` and `spreads` describe each item itself: the part of its loss not explained by its
    features, and v'Rv of that.
    """
    fit = Shared(*numbers)
    begin, end = bounds(fit.cosines, fit.single, V.shape[1] - fit.cosines)
    share = np.empty(PARTS)
    shares(fit.tally, fit.cosines > 0, share)
    heaviest = 0
    for i in range(PARTS):
        if share[i] > share[heaviest]:
            heaviest = i
    product = np.empty(V.shape[1])
    for k in range(V.shape[0]):
        means[k] = fit.level[0] + offsets[k]
        for i in range(PARTS):
            if share[i] > 0.0:
                means[k] += share[i] * guess(V[k], i, begin, end, fit.weights)
    for k in range(widths.size):
        square = width(V[k], heaviest, begin, end, fit.inverse, fit.factor, product)
        widths[k] = math.sqrt(square + spreads[k])


@njit
def learn(v, loss, offset, keep, numbers):
    """Count the errors of all parts, discounted by `keep`, and learn from a loss.

    Returns the excess of the loss over the parts' mixture, without the offset of the item."""
    fit = Shared(*numbers)
    weights, inverse, factor, level, tally = (
        fit.weights, fit.inverse, fit.factor, fit.level, fit.tally
    )  # fmt: skip
    begin, end = bounds(fit.cosines, fit.single, v.size - fit.cosines)
    share = np.empty(PARTS)
    shares(tally, fit.cosines > 0, share)
    mixed = level[0]
    guesses = np.zeros(PARTS)
    for i in range(PARTS):
        if end[i] > begin[i]:
            guesses[i] = guess(v, i, begin, end, weights)
            mixed += share[i] * guesses[i]
            value = level[0] + offset + guesses[i]
            tally[i] = keep * tally[i] + (loss - min(max(value, 0.0), 1.0)) ** 2
    error = loss - min(max(mixed + offset, 0.0), 1.0)
    tally[PARTS] = keep * tally[PARTS] + error * error
    tally[PARTS + 1] = keep * tally[PARTS + 1] + 1.0
    product = np.empty(v.size)
    for i in range(PARTS):
        n = end[i] - begin[i]
        if n == 0:
            continue
        gamma = fit.fade if i == FADING else 1.0
        own = triangle(i, begin, end, inverse)
        bottom = gamma + width(v, i, begin, end, inverse, factor, product)
        gain = (loss - level[0] - offset - guesses[i]) / bottom
        for j in range(n):
            weights[i, j] += gain * product[j]
        shrink(own, n, product, bottom * factor[i])
        if i == FADING:
            factor[i] /= gamma
            amount = (1.0 - gamma) * fit.ridge * n
            renew(own, n, amount, fit.turn[0] % n, weights[i], factor, product)
            fit.turn[0] += 1
    level[1] += 1.0
    level[0] += (loss - level[0]) / level[1]
    behind = (tally[STEADY] - tally[FADING]) / (2.0 * deviation(tally) ** 2)
    if behind > _BEHIND:  # old data mislead: continue from the fading part
        take_over(begin, end, weights, inverse, factor, tally)
    return loss - mixed


@njit
def renew(own, n, amount, j, w, factor, product):
    """Add to the faded penalty of one weight, each in its turn, as if it had been seen to be 0."""
    for i in range(n):
        a, b = max(i, j), min(i, j)
        product[i] = factor[FADING] * own[a * (a + 1) // 2 + b]
    bottom = 1.0 / amount + product[j]
    gain = -w[j] / bottom
    for i in range(n):
        w[i] += gain * product[i]
    shrink(own, n, product, bottom * factor[FADING])
    if factor[FADING] > _LARGE:
        for i in range(own.size):
            own[i] *= factor[FADING]
        factor[FADING] = 1.0


@njit
def take_over(begin, end, weights, inverse, factor, tally):
    """Copy the weights of the fading part to the steady part."""
    steady = triangle(STEADY, begin, end, inverse)
    fading = triangle(FADING, begin, end, inverse)
    for i in range(steady.size):
        steady[i] = factor[FADING] * fading[i]
    factor[STEADY] = 1.0
    for j in range(weights.shape[1]):
        weights[STEADY, j] = weights[FADING, j]
    tally[STEADY] = tally[FADING]
