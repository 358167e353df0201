r"""The probability of an element to be among the m smallest under independent Laplace noise.

In units of the scale, with :math:`g_k` the totals, element j is chosen with probability
:math:`\int f(v - g_j)\, P(N_j(v) < m)\,dv`, where :math:`N_j(v)` counts the other elements whose
perturbed value is below v: a sum of independent Bernoulli variables with probabilities
:math:`p_k(v) = F(v - g_k)`. The integral is over the window in which that sum passes m, with
sixteen Gauss-Legendre nodes for each piece, and the distribution of the sum is needed only up to m.
Where v is well below :math:`g_k`, as it is for nearly all of many elements,
:math:`p_k(v) \propto e^v`, so that the generating function :math:`\prod_k (1 + p_k(v)(w - 1))` of
all those variables follows from a few power sums, computed once for each piece; the others are
multiplied in one by one.
"""

import math

import numpy as np

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.distribution import mean_weight
from hannan.kernels.lanes import WIDTH
from hannan.kernels.subsets import smallest

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(WIDTH)
_TOLERANCE = 1e-13
_LOG_TOLERANCE = math.log(_TOLERANCE)
_TERMS = 8  # number of power sums; the next would change a logarithm by 1e-12 of the first
_SMALL = 1.0 / 16.0  # largest probability of a far element
_CLIP = 600.0
_REACH = 60.0
_LONGEST = 4.0
_SHORTEST = 0.5
_BINOMIAL = np.array(
    [[float(math.comb(j, n)) for n in range(_TERMS + 1)] for j in range(_TERMS + 1)]
)


@njit
def _window_start(leaders, weight_above, m):
    """Find a v, relative to the last leader, below which m smaller values are never seen.

    Counting the first a leaders with certainty and bounding every other variable by a Poisson one,
    P(N >= m) <= (e^v T_a)^(m-a) / (m-a)!, for each a < m; the best of these is taken.
    """
    best = -np.inf
    T = weight_above
    for a in range(m - 1, -1, -1):
        if a < m - 1:
            T += 0.5 * math.exp(min(-leaders[a], _CLIP))
        left = m - a
        mean = (math.lgamma(left + 1.0) + _LOG_TOLERANCE) / left
        best = max(best, mean - math.log(T))
    return best


@njit
def _far_sums(others, limit, at_end, sums):
    """Set sums[j - 1] to the sum of j-th powers of the small probabilities at a piece's end."""
    zero = lanes.splat(0.0)
    highest = lanes.splat(limit)
    factor = lanes.splat(at_end)
    s1, s2, s3, s4, s5, s6, s7, s8 = zero, zero, zero, zero, zero, zero, zero, zero
    for k in range(0, others.size, WIDTH):
        w = lanes.load(others, k)
        x = lanes.mul(factor, lanes.where_less(highest, w, zero, w))
        x2 = lanes.mul(x, x)
        x3 = lanes.mul(x2, x)
        x4 = lanes.mul(x2, x2)
        s1 = lanes.add(s1, x)
        s2 = lanes.add(s2, x2)
        s3 = lanes.add(s3, x3)
        s4 = lanes.add(s4, x4)
        s5 = lanes.add(s5, lanes.mul(x4, x))
        s6 = lanes.add(s6, lanes.mul(x4, x2))
        s7 = lanes.add(s7, lanes.mul(x4, x3))
        s8 = lanes.add(s8, lanes.mul(x4, x4))
    slots = np.empty(_TERMS * WIDTH)
    lanes.store(slots, 0, s1)
    lanes.store(slots, WIDTH, s2)
    lanes.store(slots, 2 * WIDTH, s3)
    lanes.store(slots, 3 * WIDTH, s4)
    lanes.store(slots, 4 * WIDTH, s5)
    lanes.store(slots, 5 * WIDTH, s6)
    lanes.store(slots, 6 * WIDTH, s7)
    lanes.store(slots, 7 * WIDTH, s8)
    for j in range(_TERMS):
        total = 0.0
        for i in range(WIDTH):
            total += slots[j * WIDTH + i]
        sums[j] = total


@njit
def _far_coins(sums, growth, m, out):
    r"""Set out[d, i] to P(d far elements are below) at node i, d < m; growth[i] = e^(v_i - right).

    The logarithm of their generating function is :math:`\sum_j (-1)^{j+1} s_j (w-1)^j / j` with
    power sums s_j; it is expanded in w, and its exponential built up term by term.
    """
    terms = np.empty((_TERMS + 1) * WIDTH)  # n times the coefficient of w^n
    for n in range(_TERMS + 1):
        lanes.store(terms, n * WIDTH, lanes.splat(0.0))
    base = lanes.load(growth, 0)
    power = lanes.splat(1.0)
    for j in range(1, _TERMS + 1):
        power = lanes.mul(power, base)
        for n in range(j + 1):
            factor = sums[j - 1] / j * _BINOMIAL[j, n] * (n if n > 0 else 1) * (2 * (n % 2) - 1)
            old = lanes.load(terms, n * WIDTH)
            lanes.store(terms, n * WIDTH, lanes.add(old, lanes.mul(lanes.splat(factor), power)))
    for i in range(WIDTH):
        out[i] = math.exp(terms[i])
    for d in range(1, m):
        total = lanes.splat(0.0)
        for n in range(1, min(d, _TERMS) + 1):
            a = lanes.load(terms, n * WIDTH)
            total = lanes.add(total, lanes.mul(a, lanes.load(out, (d - n) * WIDTH)))
        lanes.store(out, d * WIDTH, lanes.mul(total, lanes.splat(1.0 / d)))


@njit
def _chances(weight, powers, inverse, p, q):
    """Set p[i] to F(v_i - g), q to 1 - p, for weight = e^(-g)/2, powers[i] = e^(v_i)."""
    half = lanes.splat(0.5)
    one = lanes.splat(1.0)
    minus = lanes.splat(-1.0)
    x = lanes.mul(lanes.splat(weight), lanes.load(powers, 0))
    up = lanes.mul(lanes.splat(0.25 / weight), lanes.load(inverse, 0))
    p_below, q_below = x, lanes.add(one, lanes.mul(minus, x))
    p_above, q_above = lanes.add(one, lanes.mul(minus, up)), up
    lanes.store(p, 0, lanes.where_less(half, x, p_above, p_below))
    lanes.store(q, 0, lanes.where_less(half, x, q_above, q_below))


@njit
def _toss(coefficients, m, p, q, out):
    """Multiply a generating function, truncated at m, by that of one more element."""
    heads = lanes.load(p, 0)
    tails = lanes.load(q, 0)
    for d in range(m - 1, 0, -1):
        a = lanes.mul(lanes.load(coefficients, d * WIDTH), tails)
        b = lanes.mul(lanes.load(coefficients, (d - 1) * WIDTH), heads)
        lanes.store(out, d * WIDTH, lanes.add(a, b))
    lanes.store(out, 0, lanes.mul(lanes.load(coefficients, 0), tails))


@njit
def _piece(others, weights, m, left, right, out):
    """Add the integral over one piece; returns the largest P(N_j < m) at its end.

    `weights` are those of the elements in question, `others` those of the rest.
    """
    size = weights.size
    half = 0.5 * (right - left)
    at_end = math.exp(right)
    powers = np.empty(WIDTH)
    inverse = np.empty(WIDTH)
    growth = np.empty(WIDTH)
    for i in range(WIDTH):
        powers[i] = math.exp(left + half * (1.0 + _NODES[i]))
        inverse[i] = 1.0 / powers[i]
        growth[i] = powers[i] / at_end
    limit = _SMALL / at_end
    sums = np.empty(_TERMS)
    _far_sums(others, limit, at_end, sums)
    ahead = np.empty((size + 1, m * WIDTH))  # elements before e: probability of d below
    after = np.empty((size + 1, m * WIDTH))  # elements from e on: probability of at most d below
    p = np.empty((size + 1, WIDTH))
    q = np.empty((size + 1, WIDTH))
    first, one_p, one_q = ahead[0], p[size], q[size]
    _far_coins(sums, growth, m, first)
    for k in range(others.size):
        if others[k] > limit:
            _chances(others[k], powers, inverse, one_p, one_q)
            _toss(first, m, one_p, one_q, first)
    for e in range(size):
        _chances(weights[e], powers, inverse, p[e], q[e])
        _toss(ahead[e], m, p[e], q[e], ahead[e + 1])
    after[size, :] = 1.0
    for e in range(size - 1, 0, -1):
        _toss(after[e + 1], m, p[e], q[e], after[e])
    last = 0.0
    slots = np.empty(WIDTH)
    for e in range(size):
        total = lanes.splat(0.0)
        before, rest = ahead[e], after[e + 1]
        for d in range(m):
            a = lanes.load(before, d * WIDTH)
            total = lanes.add(total, lanes.mul(a, lanes.load(rest, (m - 1 - d) * WIDTH)))
        lanes.store(slots, 0, total)
        integral = 0.0
        for i in range(WIDTH):
            integral += _WEIGHTS[i] * slots[i] * min(p[e, i], q[e, i])
        out[e] += half * integral
        last = max(last, slots[WIDTH - 1])
    return last


@njit
def _next_kink(h, left, right):
    """Return the first of h between left and right, or right; pieces keep a least length."""
    for k in range(h.size):
        if left < h[k] < right:
            right = max(h[k], left + _SHORTEST)
    return right


@njit(nogil=True)
def inclusion(totals, no_noise, scale, m, below, elements, out):
    """Set out[e] to the probability that elements[e] is among the m smallest perturbed totals.

    Only values less than `below` are chosen. Pieces end at the kinks of the densities of these
    elements; the kinks of other elements, which are smoother, only make pieces shorter.
    """
    values = np.empty(m)
    where = np.empty(m, np.intp)
    smallest(totals, no_noise, 0.0, m, np.inf, values, where)
    top = values[0]
    h = (totals - top) / scale
    others = np.zeros((h.size + WIDTH - 1) // WIDTH * WIDTH)
    above = 0.0
    for k in range(h.size):
        others[k] = 0.5 * math.exp(min(max(-h[k], -_CLIP), _CLIP))
        if h[k] >= 0.0:
            above += others[k]
    values.sort()
    left = _window_start((values - top) / scale, above, m)
    end = min((below - top) / scale, _REACH)
    left = min(left, end)
    kinks = np.empty(elements.size)
    weights = np.empty(elements.size)
    for e in range(elements.size):
        kinks[e] = h[elements[e]]
        weights[e] = others[elements[e]]
        others[elements[e]] = 0.0
        u = left - kinks[e]
        out[e] = 0.5 * math.exp(u) if u <= 0.0 else 1.0 - 0.5 * math.exp(-u)
    kinks.sort()
    longest = min(_LONGEST, 2.0 * _LONGEST / math.sqrt(m))
    at = 0
    while left < end:
        while at < kinks.size and kinks[at] <= left:
            at += 1
        right = min(_next_kink(h, left, left + longest), end)
        if at < kinks.size:
            right = min(right, kinks[at])
        if _piece(others, weights, m, left, right, out) < _TOLERANCE:
            break
        left = right


@njit
def mean_weights(q, limit, out):
    """Set out[e] to (1 - (1-q)^L)/q, the mean of geometric resampling with L = limit."""
    for e in range(q.size):
        out[e] = mean_weight(q[e], limit)
