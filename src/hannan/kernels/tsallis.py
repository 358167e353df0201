"""Tsallis-INF: the law of an action whose probabilities minimise loss less Tsallis entropy."""

import math

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.noise import uniform


@njit
def law(totals, eta, out):
    """out[k] = 4 / (eta (totals[k] - y))^2 with y such that these add up to 1; inf has 0.

    The sum rises with y and is convex, and it is at least 1 at the start, so Newton's method
    comes down to the root without overshooting.
    """
    K = totals.size
    least = np.inf
    for k in range(K):
        least = min(least, totals[k])
    y = least - 2.0 / eta
    for _ in range(100):
        value, slope = -1.0, 0.0
        for k in range(K):
            root = 2.0 / (eta * (totals[k] - y))
            value += root * root
            slope += eta * root * root * root
        step = value / slope
        y -= step
        if not step > 1e-14 * abs(y):
            break
    total = 0.0
    for k in range(K):
        root = 2.0 / (eta * (totals[k] - y))
        out[k] = root * root
        total += out[k]
    for k in range(K):
        out[k] /= total


@njit
def capped_law(totals, values, advice, share, kept, eta, top, baseline, out):
    """The law with `values` as a baseline, as large as the guarantee allows; both are written.

    Losses are at most `top`; `kept` is what exploration leaves to the law and its advice.

    A baseline that was too high then moves the law no more than a loss would: with the weight
    1/q of an action the step is at most half of what the entropy withstands.
    """
    K = totals.size
    tilted = np.empty(K)
    for k in range(K):
        tilted[k] = totals[k] + values[k]
    law(tilted, eta, out)
    base = 1.0 - share
    for k in range(K):
        cap = 0.0
        if out[k] > 0.0:
            cap = base / (2.0 * eta * (1.0 / math.sqrt(out[k]) + 0.5 * eta * top))
        if k == advice:
            cap = max(cap, math.sqrt(share * base) / eta)
        baseline[k] = min(values[k], kept * cap)
        tilted[k] = totals[k] + baseline[k]
    law(tilted, eta, out)


@njit
def learn(totals, x, tops, scale, baseline, covered, decided, action, weight, loss, late):
    """Add the estimate of a loss on context x; what it cost not to have known it.

    That may be negative. `decided` is the law at the decision, made at this `scale`, of which
    `tops` keeps the largest; `covered`: whether there was a baseline. The action has become less
    likely, now that its loss is known and all that was learned since its decision. For a `late`
    round a baseline counts as the law sees it now.
    """
    row = totals[x]
    K = row.size
    tops[x] = max(tops[x], scale)
    eta = 1.0 / tops[x]
    estimate, seen, now = np.empty(K), np.empty(K), np.empty(K)
    for k in range(K):
        estimate[k] = baseline[k] if covered else 0.0
    surprise = weight * (loss - estimate[action])
    cost = 0.0
    if late and covered:
        for k in range(K):
            seen[k] = row[k] + baseline[k]
        law(seen, eta, now)
        for k in range(K):
            cost += baseline[k] * (decided[k] - now[k])
    estimate[action] += surprise
    for k in range(K):
        seen[k] = row[k] + estimate[k]
    if surprise != 0.0:
        law(seen, eta, now)
        cost += surprise * (decided[action] - now[action])
    for k in range(K):
        row[k] = seen[k]
    return cost


@njit
def choose(probabilities, u):
    """The action that a uniform number falls on."""
    last = 0
    for k in range(probabilities.size):
        if probabilities[k] > 0.0:
            last = k
            u -= probabilities[k]
            if u < 0.0:
                return k
    return last


@njit
def play(law, advice, share, key, stream, number):
    """The advice with probability `share`, else a draw from the law; and one over its probability.

    The random number is that of a draw of noise.
    """
    u = uniform(key, stream, number)
    action = advice
    if u >= share:
        action = choose(law, (u - share) / (1.0 - share))
    q = (1.0 - share) * law[action]
    if action == advice:
        q += share
    return action, 1.0 / q


@njit
def decide(
    totals, x, visits, values, covered, advice, share, kept, top, key, stream, number, baseline, out
):
    """A whole decision on context x: the action, one over its probability, 1/β and 1/η.

    Written are the law and, if the round is `covered`, its baseline; `values` are read only then.
    """
    cost = 1.0 / ((1.0 - share) * kept)
    eta = 2.0 / (top * math.sqrt(visits + cost))
    if covered:
        capped_law(totals[x], values, advice, share, kept, eta, top, baseline, out)
    else:
        law(totals[x], eta, out)
    action, weight = play(out, advice, share, key, stream, number)
    return action, weight, cost, 1.0 / eta
