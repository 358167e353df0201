"""Ridge regressions on a row and on its random Fourier features, side by side.

A row becomes v = (z, 1, cosines): z standardised, a constant, and m random Fourier features. Part i
is a set of K ridge regressions on the first `sizes[i]` entries of v; parts without cosines are
linear. Their weights w_k and inverses R_k = (λI + Σ v v')^-1 lie one after another in two flat
arrays. An inverse is the lower triangle of R_k, row by row, or its diagonal alone; there are K of
them in each part, or one that all actions share, as they have seen the same rows.

`tally` has the faded sum of squared errors of each part, then that of the mixture and its weight.
`mark` describes the cache: mark[0] whether `v` belongs to `raw`, mark[1 + i] whose product R_k v
is in `products`, -1 for none. Nothing here sums in an order that depends on the machine.

Python hands a `Fit` over as a plain tuple, for which a call takes 3 µs less than for a NamedTuple.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import int64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH

LARGEST = 1e150  # sums of squares of larger features overflow
_LIMIT = 5.0  # standardised entries are clipped here
_SLACK = 1e-8  # relative slack of a square, more than its rounding error
_LIGHT = 0.01  # the widths of parts with a smaller share are not computed


class Fit(NamedTuple):
    """The regressions: construction of v from a row, layout in memory, weights and inverses.

    Rows are standardised unless `scale` is empty, and have a constant where v has room for it.
    Unless `calibrated` widths are taken in units of 1, and errors are not counted.
    """

    center: np.ndarray
    scale: np.ndarray
    waves: np.ndarray
    phases: np.ndarray
    height: float
    sizes: np.ndarray
    ridge: float
    triangular: bool
    calibrated: bool
    weights: np.ndarray
    inverse: np.ndarray
    seen: np.ndarray
    tally: np.ndarray
    raw: np.ndarray
    v: np.ndarray
    products: np.ndarray
    mark: np.ndarray


@njit
def shares(errors, out):
    """Set out to softmax(-2 errors), over the length of out."""
    least, total = np.inf, 0.0
    for i in range(out.size):  # `errors.min()` takes a second to be compiled
        if errors[i] < least:
            least = errors[i]
    for i in range(out.size):
        out[i] = math.exp(-2.0 * (errors[i] - least))
        total += out[i]
    for i in range(out.size):
        out[i] /= total


@njit
def deviation(tally):
    """Return σ, the size of an error; 1/2 before the first one."""
    return math.sqrt((0.25 + tally[-2]) / (1.0 + tally[-1]))


@njit
def turn(angles, root, z, waves, first):
    """Add root z_j waves[first + j] to angles, for all j."""
    for j in range(z.size):
        factor = root * z[j]
        wave = waves[first + j]
        for i in range(angles.size):
            angles[i] += factor * wave[i]


@njit
def cosines(angles, height):
    """Replace each angle by its cosine, times the height."""
    for i in range(angles.size):
        angles[i] = height * math.cos(angles[i])


@njit
def compare(row, raw):
    """Return whether a row is valid, and whether it equals another one."""
    same = True
    for j in range(row.size):
        if not abs(row[j]) <= LARGEST:
            return False, False
        same = same and row[j] == raw[j]
    return True, same


@njit
def expand(row, fit):
    """Compute v of a row if it is not cached; return False for a row not finite or too large."""
    p, m = fit.waves.shape
    v, mark = fit.v, fit.mark
    usable, same = compare(row, fit.raw)
    if not usable or (same and mark[0] == 1):
        return usable
    mark[0] = 1
    for i in range(1, mark.size):
        mark[i] = -1
    root = math.sqrt(p)
    for j in range(p):
        fit.raw[j] = v[j] = row[j]
        if fit.scale.size == p:
            z = (row[j] - fit.center[j]) / fit.scale[j]
            v[j] = min(max(z, -_LIMIT), _LIMIT) / root
    if v.size - m > p:
        v[p] = 1.0
    angles = v[v.size - m :]
    for i in range(m):
        angles[i] = fit.phases[i]
    turn(angles, 1.0, v[:p], fit.waves, int64(0))
    cosines(angles, fit.height)
    return True


@njit
def dot(a, b, n):
    """Return the inner product of the first n entries."""
    lane = lanes.splat(0.0)
    whole = n - n % WIDTH
    for j in range(0, whole, WIDTH):
        lane = lanes.add(lane, lanes.mul(lanes.load(a, j), lanes.load(b, j)))
    found = lanes.total(lane)
    for j in range(whole, n):
        found += a[j] * b[j]
    return found


@njit
def project(inverse, n, x, out):
    """Set out to R x."""
    if inverse.size == n:
        for i in range(n):
            out[i] = inverse[i] * x[i]
        return
    for i in range(n):
        out[i] = 0.0
    start = 0
    for i in range(n):
        # The row of the triangle is a row of R and, turned, a column.
        factor = x[i]
        factors = lanes.splat(factor)
        lane = lanes.splat(0.0)
        whole = i - i % WIDTH
        for j in range(0, whole, WIDTH):
            row = lanes.load(inverse, start + j)
            lane = lanes.add(lane, lanes.mul(row, lanes.load(x, j)))
            lanes.store(out, j, lanes.add(lanes.load(out, j), lanes.mul(row, factors)))
        found = lanes.total(lane)
        for j in range(whole, i):
            found += inverse[start + j] * x[j]
            out[j] += inverse[start + j] * factor
        out[i] += found + inverse[start + i] * factor
        start += i + 1


@njit(fastmath=True)
def form(inverse, n, x):
    """Approximate x'R x, in a third of the time that `project` takes."""
    found = 0.0
    start = 0
    for i in range(n):
        row = inverse[start : start + i]
        across = 0.0
        for j in range(i):
            across += row[j] * x[j]
        found += x[i] * (2.0 * across + inverse[start + i] * x[i])
        start += i + 1
    return found


@njit
def shrink(inverse, n, product, bottom):
    """Subtract (R x)(R x)' / bottom from R."""
    if inverse.size == n:
        for i in range(n):
            inverse[i] -= product[i] * product[i] / bottom
        return
    start = 0
    for i in range(n):
        factor = product[i] / bottom
        row = inverse[start : start + i + 1]
        for j in range(i + 1):
            row[j] -= factor * product[j]
        start += i + 1


@njit
def length(i, sizes, triangular):
    """Return the number of entries in an inverse of part i."""
    n = sizes[i]
    return n * (n + 1) // 2 if triangular else n


@njit
def copies(K, inverse, sizes, triangular):
    """Return the number of inverses of a part: K, or 1 if shared."""
    each = 0
    for i in range(sizes.size):
        each += length(i, sizes, triangular)
    return K if inverse.size == K * each else 1


@njit
def means(v, sizes, weights, share, out):
    """Set out[k] to the mixture of <w_k, v> over the parts."""
    for k in range(out.size):
        out[k] = 0.0
    start = 0
    for i in range(sizes.size):
        n = sizes[i]
        for k in range(out.size):
            out[k] += share[i] * dot(weights[start : start + n], v, n)
            start += n


@njit
def width(which, many, v, sizes, inverse, triangular, share, widest, products, fresh):
    """Return the mixture of √(v'R v), R being inverse number `which` of `many` in each part.

    The products R v are left in `products`, and taken from there unless they have to be `fresh`.
    """
    found = 0.0
    start = 0
    place = 0
    for i in range(sizes.size):
        n = sizes[i]
        each = length(i, sizes, triangular)
        if share[i] >= _LIGHT:
            product = products[place : place + n]
            if fresh:
                begin = start + which * each
                project(inverse[begin : begin + each], n, v, product)
            # Despite rounding, not wider than before the first row.
            square = max(dot(product, v, n), 0.0)
            found += share[i] * min(math.sqrt(square), widest[i])
        start += many * each
        place += n
    return found


@njit
def reach(which, many, v, sizes, inverse, share, widest):
    """Return an upper bound on `width` that holds despite rounding, for triangles.

    It is at most the width before the first row.
    """
    found = 0.0
    start = 0
    for i in range(sizes.size):
        n = sizes[i]
        each = n * (n + 1) // 2
        if share[i] >= _LIGHT:
            begin = start + which * each
            square = form(inverse[begin : begin + each], n, v) + _SLACK * widest[i] * widest[i]
            found += share[i] * min((1.0 + _SLACK) * math.sqrt(max(square, 0.0)), widest[i])
        start += many * each
    return found


@njit
def limits(v, sizes, ridge, out):
    """Set out[i] to |v|/√λ, the width of part i without data."""
    for i in range(sizes.size):
        out[i] = math.sqrt(dot(v, v, sizes[i]) / ridge)


@njit
def advise(row, some, alpha, values, numbers):
    """Return the action of least lower confidence value; `values` are means clipped to [0, 1].

    Actions are looked at in the order of their means, until no wider interval could help. Those
    never seen all have mean 0 and the same width, so that the first stands for all. Returns -1
    for a row that is not finite.
    """
    fit = Fit(*numbers)
    if not expand(row, fit):
        return -1
    v, sizes, inverse = fit.v, fit.sizes, fit.inverse
    K = values.size
    P = sizes.size
    share, widest, left = np.empty(P), np.empty(P), np.empty(K)
    shares(fit.tally, share)
    means(v, sizes, fit.weights, share, values)
    factor = alpha * deviation(fit.tally) if fit.calibrated else alpha
    limits(v, sizes, fit.ridge, widest)
    most = mixture(share, widest)
    best = split_seen(some, values, fit.seen, left)
    least = values[best] - factor * most if best >= 0 else np.inf
    many = copies(K, inverse, sizes, fit.triangular)
    spare = fit.products[1]
    while True:
        k = least_left(some, left)
        if k < 0 or (best >= 0 and left[k] - factor * most > least):
            break
        value, left[k] = left[k], np.inf
        which = k if many == K else 0
        # The first that was looked at most often is the best already.
        rough = fit.triangular and best >= 0 and factor > 0.0
        if rough and value - factor * reach(which, many, v, sizes, inverse, share, widest) > least:
            continue
        if factor > 0.0:
            value -= factor * width(
                which, many, v, sizes, inverse, fit.triangular, share, widest, spare, True
            )
        if value < least or (value == least and k < best):
            best, least = k, value
            remember(which if factor > 0.0 else int64(-1), share, fit)
    for k in range(K):
        values[k] = min(max(values[k], 0.0), 1.0)
    return best


@njit
def mixture(share, widest):
    """Return the mixed width before the first row."""
    total = 0.0
    for i in range(share.size):
        if share[i] >= _LIGHT:
            total += share[i] * widest[i]
    return total


@njit
def split_seen(some, values, seen, left):
    """Return the first unseen one of `some`, -1 if none; left[k] = means of the others.

    Actions that are not in `some` get infinity.
    """
    first = int64(-1)
    left[:] = np.inf
    for k in some:
        if seen[k]:
            left[k] = values[k]
        elif first < 0:
            first = k
    return first


@njit
def least_left(some, left):
    """Return the first of `some` with the least value in `left`; -1 if none is finite."""
    best, least = int64(-1), np.inf
    for k in some:
        if left[k] < least:
            best, least = k, left[k]
    return best


@njit
def remember(which, share, fit):
    """Cache the products of inverse number `which`; -1 for none."""
    for i in range(share.size):
        fit.mark[1 + i] = which if share[i] >= _LIGHT else -1
    for j in range(fit.products.shape[1]):
        fit.products[0, j] = fit.products[1, j]


@njit
def look(row, values, widths, numbers):
    """Write unclipped means, and widths unless that array is empty; False as for `advise`."""
    fit = Fit(*numbers)
    if not expand(row, fit):
        return False
    v, sizes, inverse = fit.v, fit.sizes, fit.inverse
    K = values.size
    P = sizes.size
    share, widest = np.empty(P), np.empty(P)
    shares(fit.tally, share)
    means(v, sizes, fit.weights, share, values)
    limits(v, sizes, fit.ridge, widest)
    many = copies(K, inverse, sizes, fit.triangular)
    spare, fresh = fit.products[1], True
    for k in range(widths.size):
        if fit.seen[k]:
            which = k if many == K else 0
            widths[k] = width(
                which, many, v, sizes, inverse, fit.triangular, share, widest, spare, fresh
            )
            fresh = many == K
        else:
            widths[k] = mixture(share, widest)
    return True


@njit
def learn(row, elements, losses, keep, numbers):
    """Count the errors, faded by `keep`, and add the losses of these elements to their fits.

    Shared inverses must have all elements listed. False as for `advise`, and nothing has changed.
    """
    fit = Fit(*numbers)
    if not expand(row, fit):
        return False
    v, sizes, weights, inverse, mark = fit.v, fit.sizes, fit.weights, fit.inverse, fit.mark
    K = fit.seen.size
    P = sizes.size
    if fit.calibrated:
        count(v, elements, losses, keep, sizes, weights, K, fit.tally)
    many = copies(K, inverse, sizes, fit.triangular)
    start = 0
    first = 0
    place = 0
    for i in range(P):
        n = sizes[i]
        each = length(i, sizes, fit.triangular)
        product = fit.products[0, place : place + n]
        bottom = 1.0
        for e in range(elements.size):
            k = elements[e]
            if many == K or e == 0:
                which = k if many == K else 0
                begin = start + which * each
                own = inverse[begin : begin + each]
                if mark[1 + i] != which:
                    project(own, n, v, product)
                bottom = 1.0 + dot(product, v, n)
                shrink(own, n, product, bottom)
                mark[1 + i] = -1
            w = weights[first + k * n : first + (k + 1) * n]
            gain = (losses[e] - dot(w, v, n)) / bottom
            for j in range(n):
                w[j] += gain * product[j]
        start += many * each
        first += K * n
        place += n
    for e in range(elements.size):
        fit.seen[elements[e]] = True
    return True


@njit
def count(v, elements, losses, keep, sizes, weights, K, tally):
    """Add the mean squared errors of a round, of predictions clipped to [0, 1], to the tally."""
    P = sizes.size
    share, errors = np.empty(P), np.empty(P + 1)
    shares(tally, share)
    for i in range(P + 1):
        errors[i] = 0.0
    for e in range(elements.size):
        mixed = 0.0
        first = 0
        for i in range(P):
            n = sizes[i]
            begin = first + elements[e] * n
            guess = dot(weights[begin : begin + n], v, n)
            mixed += share[i] * guess
            error = losses[e] - min(max(guess, 0.0), 1.0)
            errors[i] += error * error  # a power takes longer to be compiled
            first += K * n
        error = losses[e] - min(max(mixed, 0.0), 1.0)
        errors[P] += error * error
    size = elements.size if elements.size else 1
    for i in range(P + 1):
        tally[i] = keep * tally[i] + errors[i] / size
    tally[P + 1] = keep * tally[P + 1] + 1.0
