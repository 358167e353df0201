"""Slow twins of the learners that mix listed policies, from their definitions.

Each returns the weights of every round and what the mixture lost in it. `costs[t][n]` is the loss
of policy n in round t.
"""

import itertools
import math


def costs_of(rows, history):
    """What each policy loses in each round."""
    return [[losses[row[context]] for row in rows] for context, losses in history]


def normalised(weights):
    """Weights that sum to one."""
    total = math.fsum(weights)
    return [w / total for w in weights]


def mixed(weights, cost):
    """The mixture's loss."""
    return math.fsum(w * c for w, c in zip(weights, cost, strict=True))


def fixed_share(costs, rate, share):
    """`rate(t)` of round t = 1, 2, …; `share(t)` is spread before round t = 2, 3, …"""
    N = len(costs[0])
    weights, played, losses = [1 / N] * N, [], []
    for t, cost in enumerate(costs, start=1):
        played.append(weights)
        losses.append(mixed(weights, cost))
        kept = normalised([w * math.exp(-rate(t) * c) for w, c in zip(weights, cost, strict=True)])
        weights = [(1 - share(t + 1)) * v + share(t + 1) / N for v in kept]
    return [*played, weights], losses


def normal_hedge_weight(R, C):
    """(Φ(R + 1, C + 1) - Φ(R - 1, C + 1)) / 2."""
    up, down = (math.exp(max(R + step, 0.0) ** 2 / (3 * (C + 1))) for step in (1, -1))
    return (up - down) / 2


def ada_normal_hedge(costs, prior):
    """Also returns the sums of regrets and of their sizes."""
    N = len(prior)
    R, C, weights, played, losses = [0.0] * N, [0.0] * N, list(prior), [], []
    for cost in costs:
        played.append(weights)
        losses.append(mixed(weights, cost))
        for n in range(N):
            regret = losses[-1] - cost[n]
            R[n] += regret
            C[n] += abs(regret)
        found = [prior[n] * normal_hedge_weight(R[n], C[n]) for n in range(N)]
        weights = normalised(found) if sum(found) > 0 else list(prior)
    return [*played, weights], losses, R, C


def optimistic_hedge(rows, history, guesses, rate):
    """`guesses[t]` are of all elements; `rate(t, V2)` with V2 the sum of v² before round t."""
    totals, squares, played, losses = [0.0] * len(rows), 0.0, [], []
    for t, ((context, loss), guess) in enumerate(zip(history, guesses, strict=True), start=1):
        eta = rate(t, squares)
        weights = normalised(
            [math.exp(-eta * (totals[n] + guess[row[context]])) for n, row in enumerate(rows)]
        )
        played.append(weights)
        cost = [loss[row[context]] for row in rows]
        losses.append(mixed(weights, cost))
        totals = [L + c for L, c in zip(totals, cost, strict=True)]
        errors = [a - b for a, b in zip(loss, guess, strict=True)]
        squares += (max(errors) - min(errors)) ** 2
    return played, losses, squares


def best_sequence(costs, switches):
    """The least loss of a sequence of policies with at most that many changes, one by one."""
    T, N = len(costs), len(costs[0])
    best = math.inf
    for count in range(switches + 1):
        for cuts in itertools.combinations(range(1, T), count):
            ends = (0, *cuts, T)
            best = min(
                best,
                sum(
                    min(sum(costs[t][n] for t in range(a, b)) for n in range(N))
                    for a, b in itertools.pairwise(ends)
                ),
            )
    return best
