"""How far a hint is followed, and what it costs more than the choice it takes the place of.

`measured` has what feedback has shown of hints: S, what they have cost; what they would have cost
if always followed, in units of the largest loss; and the sum of squares of the same.
"""

import math

import numpy as np

from hannan.kernels.compiling import njit

S, COST, SQUARES = 0, 1, 2

_ANSWERED = 4.0  # rounds for each open one, from which on hints get all that they have earned
_LARGEST_RATIO = 100.0  # of one measurement of the hint's advantage, which only steers its share


@njit
def share(
    values, low, measured, terms, top, G, n, W, reserve, waiting, answered, alone, kept
):  # fmt: skip
    """p of round n; -1 where the budget of hints is spent, NaN for values out of [low, low + top].

    `terms` are the numbers of a `Trust`: budget, prior, floor and share. W, what is reserved, and
    how many rounds wait or have been answered are as in `Hint`; `kept` is what exploration leaves.
    """
    for k in range(values.size):
        if not low <= values[k] <= low + top:
            return np.nan
    budget, _, _, largest = terms
    limit = budget * top * math.sqrt(G * n)
    if largest == 1.0:  # no theorem: nothing has to be reserved
        return wanted(measured, terms, n, W, waiting, answered) if limit >= measured[S] else -1.0
    left = kept * (limit - measured[S] - reserve) / top
    # At most what `largest_step` will be, for a share of one half where it depends on that.
    if left < (1.5 if alone else 1.0):
        return -1.0
    found = wanted(measured, terms, n, W, waiting, answered)
    if alone:  # so that S stays within the budget whatever happens
        found = min(found, 1.0 - 1.0 / max(left, 2.0))
    return found


@njit
def wanted(measured, terms, n, W, waiting, answered):
    """p by the hint's advantage so far, within what the base must keep."""
    _, prior, floor, largest = terms
    cost = measured[COST]
    z = prior - cost / math.sqrt(measured[SQUARES] + 1.0)
    earned = 1.0 / (1.0 + math.exp(-min(max(2.0 * z, -500.0), 30.0)))  # less than 1
    kept = floor / math.sqrt(1.0 + max(-cost, 0.0))
    most = 1.0
    if largest < 1.0:  # so that W <= n / (1 - share)
        room = n / (1.0 - largest) - W
        most = 1.0 - 1.0 / room if room > 1.0 else 0.0
    if waiting:
        # Until it learns more a predictor recommends the same: rounds that are open together
        # would all explore alike. The base has a random draw for each of them.
        earned *= min(answered / (_ANSWERED * waiting), 1.0)
    return min(max(min(earned, 1.0 - kept), 0.0), most)


@njit
def price(law, values, advice, action, share):
    """By the estimates alone; the base's probability of the action over the real one; its value.

    `law` is that of the base, which is followed but for a `share` of the rounds.
    """
    expected = values[advice]
    for k in range(law.size):
        expected -= law[k] * values[k]
    ratio = 1.0 / (1.0 - share)
    if action == advice:
        likely = share + (1.0 - share) * law[advice]
        ratio = law[advice] / likely if likely > 0.0 else 1.0
    return expected, ratio, values[action]


@njit
def charge(measured, law, values, advice, action, share, loss, weight, top, known, kept):
    """Add what a hint has cost. `known`: the law is, and `values` were the latest.

    Only a part `kept` of such rounds is left by exploration, so that each counts for more.

    Where the law is estimated the ratio is too small on average, so that the cost is overstated:
    safe, but only if losses are not compared with estimates of them.
    """
    expected, ratio, value = price(law, values, advice, action, share)
    surprise = loss - value
    if share > 0.0:
        if known:
            measured[S] += (share * expected + (1.0 - ratio) * surprise) / kept
        else:
            measured[S] += (1.0 - ratio) * loss / kept
    hit = weight if action == advice else 0.0
    factor = min(max(hit - ratio, -_LARGEST_RATIO), _LARGEST_RATIO)
    gap = (expected + factor * surprise) / top
    measured[COST] += gap
    measured[SQUARES] += gap * gap
