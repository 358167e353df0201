"""Slow twins of the learners for worlds that change, written from their definitions."""

import math

from tests import naive


def covering(t, shortest):
    """The covering intervals (first, last) that hold round t, by going through all of them."""
    M = 1
    while shortest > M:
        M *= 2
    found, length = [], M
    while length <= max(t, M):
        for i in range(t // length + 1):
            first, last = max(i * length, 1), (i + 1) * length - 1
            if (i >= 1 or length == M) and first <= t <= last:
                found.append((first, last))
        length *= 2
    return found


def prior(first, last, t, M):
    """1/(i² length) for the interval number i of its scale; 1/t for the one without end."""
    if last is None:
        return 1 / max(t, M)
    length = M if first == 1 else last - first + 1
    return 1 / (max(first // length, 1) ** 2 * length)


def potential(R, C):
    """exp([R]₊² / 3C)"""
    return math.exp(max(R, 0.0) ** 2 / (3 * C)) if C > 0 else 1.0


def normal_hedge(priors, regrets):
    """Probabilities from a prior and the list of all regrets of each expert."""
    weights = []
    for q, r in zip(priors, regrets, strict=True):
        R, C = sum(r), sum(map(abs, r))
        weights.append(q * 0.5 * (potential(R + 1, C + 1) - potential(R - 1, C + 1)))
    if sum(weights) == 0:
        weights = priors
    return [w / sum(weights) for w in weights]


def discounted(rows, X, rounds, unit, G, gamma):
    """Plays and D after each round: all totals made anew from the definition in each round."""
    plays, costs, D = [], [], []
    for T, (context, losses) in enumerate(rounds):
        before = sum(gamma ** (T - t) * cost for t, cost in enumerate(costs))
        history = [(x, gamma ** (T - t) * v) for t, (x, v) in enumerate(rounds[:T])]
        fakes = naive.fakes_of(X, unit(T), before / G)
        action = rows[naive.leader(rows, fakes + history)][context]
        foreseeing = rows[naive.leader(rows, [*fakes, *history, (context, losses)])][context]
        costs.append(losses[action] - losses[foreseeing])
        plays.append(action)
        D.append(before + costs[-1])
    return plays, D


def discounted_regret(rows, rounds, actions, gamma):
    """Discounted loss, and how much more it is than that of the best policy."""
    T = len(rounds)
    weighted = [(x, gamma ** (T - 1 - t) * v) for t, (x, v) in enumerate(rounds)]
    loss = sum(v[a] for (_, v), a in zip(weighted, actions, strict=True))
    return loss, loss - naive.best_value(rows, weighted)
