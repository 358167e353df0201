"""The best set of variables for signed weights, by branch and bound.

Finding the best monotone formula is NP-hard, so the time can grow exponentially with the number of
variables. Bounds, rules that decide variables and a good first set keep most searches short.

A set S of variables costs

    sum_{i in S} w[i] + sum_c weight[c] [S misses context c],

where a context is a set of variables and S misses it if they have none in common. A positive
weight is a *penalty* for missing, a negative one a *reward*. Masks are unsigned 64-bit words, bit
i for variable i.
"""

import numpy as np
from numba import float64, uint64

from hannan.kernels.compiling import njit
from hannan.kernels.lanes import count_bits, lowest_bit

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ROUNDING = 1e-12  # possible error of a bound, relative to the sum of all weights


@njit
def bits(word):
    """Yield the numbers of the set bits, from the lowest on."""
    while word != _NONE:
        yield lowest_bit(word)
        word &= word - _ONE


@njit
def cost(mask, w, masks, weights):
    """Compute the cost of one set, always summed in the same order."""
    total = 0.0
    for i in range(w.size):
        if mask >> uint64(i) & _ONE:
            total += w[i]
    for c in range(masks.size):
        if mask & masks[c] == _NONE:
            total += weights[c]
    return total


@njit
def split(all_masks, all_weights, w):
    """Split contexts: no variable gives a constant, one variable a linear term; others stay.

    Fills w; returns the constant and the masks and nonzero weights of the other contexts.
    """
    constant = 0.0
    w[:] = 0.0
    kept = 0
    masks = np.empty(all_masks.size, np.uint64)
    weights = np.empty(all_masks.size, np.float64)
    for c in range(all_masks.size):
        mask, weight = all_masks[c], all_weights[c]
        if weight == 0.0:
            continue
        if count_bits(mask) > 1:
            masks[kept] = mask
            weights[kept] = weight
            kept += 1
            continue
        constant += weight
        if mask != _NONE:
            w[lowest_bit(mask)] -= weight
    return constant, masks[:kept], weights[:kept]


@njit
def _descend(mask, w, masks, weights):
    """Flip the variable that helps most until none does."""
    n = w.size
    gain = np.empty(n, np.float64)
    for _ in range(4 * n):
        for i in range(n):
            gain[i] = -w[i] if mask >> uint64(i) & _ONE else w[i]
        for c in range(masks.size):
            common = mask & masks[c]
            if common == _NONE:
                for i in bits(masks[c]):
                    gain[i] -= weights[c]
            elif count_bits(common) == 1:
                gain[lowest_bit(common)] += weights[c]
        at = 0
        for i in range(1, n):
            if gain[i] < gain[at]:
                at = i
        if gain[at] >= -1e-12:
            break
        mask ^= _ONE << uint64(at)
    return mask


@njit
def _restrict(inside, outside, w, penalty, pw, n_penalties, reward, rw, n_rewards):
    """Fix variables, in place: drop contexts that are settled, make those of one variable linear.

    Returns the cost of fixing them, and how many penalties and rewards are left.
    """
    lost = 0.0
    kept = 0
    for c in range(n_penalties):
        mask, weight = penalty[c], pw[c]
        if mask & inside != _NONE:
            continue
        mask &= ~outside
        if count_bits(mask) > 1:
            penalty[kept] = mask
            pw[kept] = weight
            kept += 1
            continue
        lost += weight
        if mask != _NONE:
            w[lowest_bit(mask)] -= weight
    n_penalties = kept
    kept = 0
    for c in range(n_rewards):
        mask, weight = reward[c], rw[c]
        if mask & inside != _NONE:
            lost += weight
            continue
        mask &= ~outside
        if count_bits(mask) > 1:
            reward[kept] = mask
            rw[kept] = weight
            kept += 1
        elif mask != _NONE:
            w[lowest_bit(mask)] += weight
    return lost, n_penalties, kept


@njit
def _sums(masks, weights, count, out):
    """Set out[i] to the total weight of the contexts that hold variable i."""
    out[:] = 0.0
    for c in range(count):
        for i in bits(masks[c]):
            out[i] += weights[c]


@njit
def _gather(i, need, reward, budget, n_rewards, at):
    """Take up to `need` from the rewards that variable i would lose.

    Rewards before at[i] are used up.
    """
    got = 0.0
    while at[i] < n_rewards:
        c = at[i]
        if reward[c] >> uint64(i) & _ONE:
            t = min(budget[c], need - got)
            budget[c] -= t
            got += t
            if got >= need:
                break
        at[i] += 1
    return got


@njit
def _bound(free, w, penalty, pw, n_penalties, reward, rw, n_rewards, r, budget, at):
    """Find a feasible dual solution: a lower bound on the cost of the free variables.

    Rewards are shared among the variables that would lose them; penalties are charged as far
    as every variable that would avoid them remains too expensive. r[i] becomes the reduced cost of
    variable i: taking it in (r > 0) or leaving it out (r < 0) adds |r[i]| to the bound.
    """
    for c in range(n_rewards):
        budget[c] = rw[c]
    for i in bits(free):
        r[i] = w[i]
        at[i] = 0
        if r[i] < 0.0:
            r[i] += _gather(i, -r[i], reward, budget, n_rewards, at)
    total = 0.0
    dry = _NONE  # exhausted variables: their penalties cannot be charged
    for c in range(n_penalties):
        if penalty[c] & dry != _NONE:
            continue
        t = pw[c]
        for i in bits(penalty[c]):
            if r[i] < t:
                r[i] += _gather(i, t - r[i], reward, budget, n_rewards, at)
                if r[i] < t:
                    t = r[i]
                    if t <= 0.0:
                        dry |= _ONE << i
                        break
        if t > 0.0:
            total += t
            for i in bits(penalty[c]):
                r[i] -= t
    for i in bits(free):
        if r[i] < 0.0:
            total += r[i]
    return total


@njit
def _good_set(w, masks, weights, guess):
    """Find a good first set: the signs of w, nothing, or the start set, improved by flips."""
    best, best_mask = np.inf, _NONE
    signs = _NONE
    for i in range(w.size):
        if w[i] < 0.0:
            signs |= _ONE << uint64(i)
    for start in range(3):
        mask = signs if start == 0 else (_NONE if start == 1 else guess)
        mask = _descend(mask, w, masks, weights)
        value = cost(mask, w, masks, weights)
        if value < best or (value == best and mask < best_mask):
            best, best_mask = value, mask
    return best, best_mask


@njit
def _small_first(masks, weights, sign, n, kept_masks, kept_weights):
    """Select the contexts whose weights have a sign, the smallest first, and |weight|.

    So penalties of small contexts are charged first, while variables can still pay.
    """
    kept = 0
    for wanted in range(2, n + 1):
        for c in range(masks.size):
            if sign * weights[c] > 0.0 and count_bits(masks[c]) == wanted:
                kept_masks[kept] = masks[c]
                kept_weights[kept] = sign * weights[c]
                kept += 1


@njit
def _propagate(
    take, leave, inside, free, paid, w, penalty, pw, n_penalties, reward, rw, n_rewards, p, q
):
    """Fix variables, and all those that follow from them, in place.

    A variable is left out if it never helps, and taken in if it always does: if it lowers the cost
    although all its rewards are lost. Returns the sets and numbers that describe the node.
    """
    while True:
        for i in bits(take):
            paid += w[i]
        inside |= take
        free &= ~(take | leave)
        lost, n_penalties, n_rewards = _restrict(
            take, leave, w, penalty, pw, n_penalties, reward, rw, n_rewards
        )
        paid += lost
        _sums(penalty, pw, n_penalties, p)
        _sums(reward, rw, n_rewards, q)
        take, leave = _NONE, _NONE
        for i in bits(free):
            if w[i] - p[i] >= 0.0:
                leave |= _ONE << i
            elif w[i] + q[i] < 0.0:
                take |= _ONE << i
        if take | leave == _NONE:
            return inside, free, paid, n_penalties, n_rewards


@njit
def _fix(free, r, low, most):
    """Return variables to take and to leave out, without which the bound exceeds `most`."""
    take, leave = _NONE, _NONE
    for i in bits(free):
        if r[i] > 0.0 and low + r[i] > most:
            leave |= _ONE << i
        elif r[i] < 0.0 and low - r[i] > most:
            take |= _ONE << i
    return take, leave


@njit
def _most_at_stake(free, w, p, q):
    """Choose the variable to branch on: the one for which both choices may cost most."""
    branch, impact = _NONE, -1.0
    for i in bits(free):
        stakes = (w[i] + q[i]) * (p[i] - w[i])
        if stakes > impact:
            branch, impact = i, stakes
    return branch


@njit(nogil=True)
def search(w, masks, weights, guess):
    """Find the smallest best mask, its cost, and the number of nodes visited.

    `guess` is the start set; it does not change the answer.
    """
    n = w.size
    everything = ~_NONE if n == 64 else (_ONE << uint64(n)) - _ONE
    slack = 0.0
    n_penalties = 0
    for i in range(n):
        slack += _ROUNDING * abs(w[i])
    for c in range(masks.size):
        slack += _ROUNDING * abs(weights[c])
        n_penalties += weights[c] > 0.0
    best, best_mask = _good_set(w, masks, weights, guess & everything)

    # A stack of nodes: the variables fixed, their cost, and the remaining problem.
    n_rewards = masks.size - n_penalties
    top = n + 2
    ins = np.zeros(top, np.uint64)
    frees = np.zeros(top, np.uint64)
    bills = np.zeros(top, np.float64)
    takes = np.zeros(top, np.uint64)
    leaves = np.zeros(top, np.uint64)
    counts = np.zeros((top, 2), np.int64)
    W = np.zeros((top, n), np.float64)
    PENALTY = np.empty((top, n_penalties), np.uint64)
    PW = np.empty((top, n_penalties), np.float64)
    REWARD = np.empty((top, n_rewards), np.uint64)
    RW = np.empty((top, n_rewards), np.float64)
    p = np.empty(n, np.float64)
    q = np.empty(n, np.float64)
    r = np.empty(n, np.float64)
    budget = np.empty(n_rewards, np.float64)
    at = np.empty(n, np.int64)
    _small_first(masks, weights, 1.0, n, PENALTY[0], PW[0])
    _small_first(masks, weights, -1.0, n, REWARD[0], RW[0])
    for c in range(n_rewards):
        bills[0] -= RW[0, c]
    counts[0, 0], counts[0, 1] = n_penalties, n_rewards
    frees[0] = everything
    W[0] = w

    nodes = 0
    depth = 0
    while depth >= 0:
        nodes += 1
        inside, free, paid = ins[depth], frees[depth], bills[depth]
        n_penalties, n_rewards = counts[depth]
        v, penalty, pw, reward, rw = W[depth], PENALTY[depth], PW[depth], REWARD[depth], RW[depth]
        take, leave = takes[depth], leaves[depth]
        while True:
            inside, free, paid, n_penalties, n_rewards = _propagate(
                take, leave, inside, free, paid, v, penalty, pw, n_penalties, reward, rw,
                n_rewards, p, q
            )  # fmt: skip
            low = paid + _bound(
                free, v, penalty, pw, n_penalties, reward, rw, n_rewards, r, budget, at
            )
            pruned = low > best + slack or (low >= best - slack and inside > best_mask)
            if pruned:
                break
            take, leave = _fix(free, r, low, best + slack)
            if take | leave == _NONE:
                break
        if pruned or free == _NONE:
            if not pruned:
                value = cost(inside, w, masks, weights)
                if value < best or (value == best and inside < best_mask):
                    best, best_mask = value, inside
            depth -= 1
            continue

        branch = _most_at_stake(free, v, p, q)
        bit = _ONE << branch
        promising = v[branch] + q[branch] - p[branch] < 0.0
        for child in (depth, depth + 1):  # the child of lower bound is visited first
            ins[child], frees[child], bills[child] = inside, free, paid
            counts[child, 0], counts[child, 1] = n_penalties, n_rewards
            take_it = promising == (child > depth)
            takes[child] = bit if take_it else _NONE
            leaves[child] = _NONE if take_it else bit
        W[depth + 1] = v
        PENALTY[depth + 1, :n_penalties] = penalty[:n_penalties]
        PW[depth + 1, :n_penalties] = pw[:n_penalties]
        REWARD[depth + 1, :n_rewards] = reward[:n_rewards]
        RW[depth + 1, :n_rewards] = rw[:n_rewards]
        depth += 1
    return best_mask, best, nodes


@njit(nogil=True)
def draw(masks, totals, n, cells, scale, miss, places, tilt, weight, guess):
    """Find the best set under noise, its value less the noise of hitting all, and the nodes.

    Noise context x has row places[x] of the totals; row `tilt` gets `weight` on top.
    """
    weights = totals.copy()
    for x in range(places.size):
        change = float64(cells[2 * x + miss]) - float64(cells[2 * x + 1 - miss])
        weights[places[x]] += scale * change
    if tilt >= 0:
        weights[tilt] += weight
    w = np.empty(n, np.float64)
    constant, some, theirs = split(masks, weights, w)
    mask, value, nodes = search(w, some, theirs, guess)
    return mask, constant + value, nodes
