r"""Weights from the probabilities of a success in draw after draw, instead of from successes.

Let :math:`p_1, p_2, …` in [0, 1] be independent with mean q and :math:`P_k = \prod_{i \le k}
(1-p_i)`. Then :math:`\sum_{k<L} P_k` has the mean of a geometric number cut at L, (1-(1-q)^L)/q,
and is its conditional mean. Draws stop at τ, the first n with :math:`p_1 + … + p_n \ge r`. The
order of the draws before τ does not matter to τ, so the sum up to it is replaced by its mean over
all orders; with n draws that is :math:`(n+1) \int_0^1 \prod_i (1 - s p_i) ds`. What is left after
τ, on average :math:`P_τ (1-(1-q)^{L-τ})/q`, is found by Russian roulette: a weight below θ becomes
θ or 0, with the right mean. For probabilities 0 and 1 all this is the weight of r successes.

The state of a weight is an array: sum of probabilities, weight that is left, sum so far, whether τ
has come, and from `_FIRST` on the products at the nodes of the integral.
"""

import math

import numpy as np

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import uniform

SUM = 2
"""Where a state has the weight, once no more draws are needed."""
_FIRST = 4
SIZE = _FIRST + WIDTH
"""Numbers in a state."""

_ROUNDING = 1e-9  # whether a sum is enough must not depend on the order of its terms
_COINS = 8  # a separate stream; smaller numbers belong to noise and to learners

_NODES, _SHARES = np.polynomial.legendre.leggauss(WIDTH)
# Before τ the integrand is no steeper than exp(-r s): sixteen nodes are exact for r up to ten.
_NODES, _SHARES = 0.5 * (1.0 + _NODES), 0.5 * _SHARES


@njit
def _mean_over_orders(state, n):
    """Return the mean over all orders of 1 + P_1 + … + P_n."""
    products = lanes.load(state, _FIRST)
    return (n + 1.0) * lanes.total(lanes.mul(products, lanes.load(_SHARES, 0)))


@njit
def take(state, n, p, most, enough, key, draw):
    """Add draw n + 1 of at most L - 1 = `most`; return whether another one is needed.

    The state need not be set before the first. Its random number is that of `key` and `draw`.
    """
    if n == 0:
        state[0], state[1], state[SUM], state[3] = 0.0, 1.0, 1.0, 0.0
        lanes.store(state, _FIRST, lanes.splat(1.0))
    left = state[1] * (1.0 - p)
    if state[3] == 0.0 and state[0] + p < enough - _ROUNDING:
        factor = lanes.mul(lanes.splat(p), lanes.load(_NODES, 0))
        factor = lanes.sub(lanes.splat(1.0), factor)
        lanes.store(state, _FIRST, lanes.mul(lanes.load(state, _FIRST), factor))
        state[0] += p
        state[1] = left
        if n + 1 >= most:
            state[SUM] = _mean_over_orders(state, n + 1)
        return n + 1 < most
    reached = state[3] == 0.0
    if reached:
        state[SUM] = _mean_over_orders(state, n) + left
        state[3] = 1.0
    theta = math.exp(-enough)
    if left < theta:
        if uniform(key, _COINS, draw) * theta >= left:
            return False
        left = theta
    if not reached:
        state[SUM] += left
    state[1] = left
    return n + 1 < most


@njit(nogil=True)
def take_all(state, n, chances, most, enough, key, first):
    """Take draws until the weight is known; return their number, and whether more are needed."""
    for i in range(chances.size):
        if not take(state, n + i, chances[i], most, enough, key, first + i):
            return i + 1, False
    return chances.size, True


@njit
def chance(gap, smooth):
    """Return F(gap), F the CDF of a unit Laplace variate; if not smooth, whether gap > 0."""
    if not smooth:
        return 1.0 if gap > 0.0 else 0.0
    return 0.5 * math.exp(gap) if gap < 0.0 else 1.0 - 0.5 * math.exp(-gap)


@njit
def after_trials(hits, reached, successes, limit, out):
    """Compute weights of elements drawn until each had `successes` successes, or `limit` draws.

    N / r, where success number r was draw number N; else L / (S + 1), after S successes.
    """
    for e in range(hits.size):
        if hits[e] >= successes:
            out[e] = reached[e] / successes
        else:
            out[e] = limit / (hits[e] + 1.0)


@njit
def count_short(hits, successes):
    """Return the number of elements that were chosen in fewer draws than `successes`."""
    short = 0
    for e in range(hits.size):
        if hits[e] < successes:
            short += 1
    return short


@njit
def count_hit(e, draw, successes, hits, reached):
    """Count a draw that chose element e; return 1 if this was the last one needed, else 0."""
    hits[e] += 1
    if hits[e] < successes:
        return 0
    reached[e] = draw
    return 1
