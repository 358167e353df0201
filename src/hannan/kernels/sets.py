"""Sums over the chosen elements of a set, for the hints of a predictor."""

import math

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.distribution import mean_weight


@njit
def mark(action, hint, hit):
    """Set whether each element of an action is in the hint; both are sorted."""
    i = 0
    for k in range(action.size):
        while i < hint.size and hint[i] < action[k]:
            i += 1
        hit[k] = i < hint.size and hint[i] == action[k]


@njit
def largest_step(values, action, hit, low, high):
    """Return the sums of high - V over the hinted elements and of V - low over the others."""
    own = 0.0
    others = 0.0
    for k in range(action.size):
        if hit[k]:
            own += high - values[action[k]]
        else:
            others += values[action[k]] - low
    return own, others


@njit
def gap(values, hint, chosen):
    """Return V of the hint minus the mean V of the chosen sets, [draws, K]."""
    total = 0.0
    for i in range(chosen.shape[0]):
        for j in range(chosen.shape[1]):
            if chosen[i, j]:
                total += values[j]
    for k in range(hint.size):
        total -= chosen.shape[0] * values[hint[k]]
    return -total / chosen.shape[0]


@njit
def total(values, elements):
    """Return the sum of the values of some elements."""
    found = 0.0
    for k in range(elements.size):
        found += values[elements[k]]
    return found


@njit
def mixture(hit, explored, share, explores):
    """Return (c, s): an element's probability is s (c + (1 - c) x), x that in the base's set."""
    kept = 1.0 - explores
    certain = (kept * share if hit else 0.0) + (explores if explored else 0.0)
    s = certain + kept * (1.0 - share)
    return certain / s, s


@njit
def from_probabilities(x, hit, explored, share, explores, limit, weights, ratio):
    """Set the mean weights of elements, and their ratios, from the base's probabilities x."""
    for k in range(x.size):
        c, s = mixture(hit[k], explored[k], share, explores)
        weights[k] = mean_weight(c + (1.0 - c) * x[k], limit) / s
        likely = (share if hit[k] else 0.0) + (1.0 - share) * x[k]
        ratio[k] = x[k] / likely if likely > 0.0 else 1.0


@njit
def from_numbers(numbers, places, hit, explored, share, explores, limit, weights, ratio):
    """Set the estimate of 1/q of the elements at `places`, and of the ratio for hinted elements.

    `numbers` are the draws until these elements were chosen, `limit` if they were not.
    """
    log_base = math.log1p(-share)
    for i in range(numbers.size):
        k, n = places[i], numbers[i]
        if hit[k] and share > 0.0:
            ratio[k] = math.exp((n - 1.0) * log_base) if n < limit else 0.0
        c, s = mixture(hit[k], explored[k], share, explores)
        if c > 0.0:
            n = -math.expm1(n * math.log1p(-c)) / c
        weights[k] = n / s


@njit
def charge(losses, values, action, hit, weights, ratio, share, largest):
    """Return the terms of a round's losses in the cost S and in the hint's measured advantage."""
    cost = 0.0
    gain = 0.0
    for k in range(action.size):
        surprise = losses[k] - values[action[k]]
        if np.isnan(surprise):
            continue
        base = ratio[k] if share > 0.0 else 1.0
        cost += (1.0 - base) * surprise
        factor = (weights[k] if hit[k] else 0.0) - base
        gain += min(max(factor, -largest), largest) * surprise
    return cost, gain
