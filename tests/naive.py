"""Slow twins, written from the definitions in the paper, with nothing from the library.

A policy class is a list of rows: row n holds policy n's action on each context. A history is a
list of (context, losses). Ties go to the first policy.
"""

import itertools
import math

import numpy as np


def philox4x32(counter, key):
    """Philox4x32 with ten rounds, on Python integers [salmon2011]."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0 = 0xD2511F53 * c[0]
        p1 = 0xCD9E8D57 * c[2]
        c = [
            (p1 >> 32) ^ c[1] ^ k[0],
            p1 & 0xFFFFFFFF,
            (p0 >> 32) ^ c[3] ^ k[1],
            p0 & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def laplace_of_word(word):
    """A Laplace variate by inversion: the lowest bit is the sign, the others the size."""
    size = -math.log(((word >> 1) + 0.5) / 2**31)
    return -size if word & 1 else size


def unit_noise(key, stream, draw, cells):
    """Unit Laplace noise of the first cells of a draw, one Philox counter for four cells."""
    key = int(key)
    values = []
    for quad in range(-(-cells // 4)):
        counter = [quad, stream, draw & 0xFFFFFFFF, draw >> 32]
        words = philox4x32(counter, [key & 0xFFFFFFFF, key >> 32])
        values += [laplace_of_word(word) for word in words]
    return np.array(values[:cells])


def all_policies(n_contexts, n_actions):
    """Every map from contexts to actions, smallest first."""
    return [list(row) for row in itertools.product(range(n_actions), repeat=n_contexts)]


def value(row, history):
    """Total loss of a policy."""
    return sum(losses[row[context]] for context, losses in history)


def leader(rows, history):
    """Index of the first policy with the smallest total loss."""
    values = [value(row, history) for row in rows]
    return min(range(len(rows)), key=lambda n: (values[n], n))


def best_value(rows, history):
    """The smallest total loss."""
    return min(value(row, history) for row in rows)


def fakes_of(X, zeta, scale):
    """Fake outcomes: a perturbed loss vector for each context of X."""
    return [(x, scale * z) for x, z in zip(X, zeta, strict=True)]


def algorithm_2(rows, X, history, context, epsilon, rng, n_actions):
    """One action of Context-FTPL: draw fake losses on X, lead, act."""
    zeta = rng.laplace(scale=1.0 / epsilon, size=(len(X), n_actions))
    return rows[leader(rows, fakes_of(X, zeta, 1.0) + history)][context]


def self_tuned(rows, X, rounds, unit, G):
    """Plays and D after each round of the self-tuned learner, noise `unit(draw)` given."""
    history, plays, D, seen = [], [], 0.0, []
    for t, (context, losses) in enumerate(rounds):
        fakes = fakes_of(X, unit(t), D / G)
        action = rows[leader(rows, fakes + history)][context]
        history.append((context, losses))
        foreseeing = rows[leader(rows, fakes + history)][context]
        D += losses[action] - losses[foreseeing]
        plays.append(action)
        seen.append(D)
    return plays, seen


def regret(rows, rounds, actions):
    """Loss suffered minus that of the best policy."""
    suffered = sum(losses[a] for (_, losses), a in zip(rounds, actions, strict=True))
    return suffered - best_value(rows, rounds)


def laplace_complexity(rows, X, n_actions, draws, rng):
    """Mean and standard error of max over policies of unit noise."""
    zeta = rng.laplace(size=(draws, len(X), n_actions))
    values = np.zeros((draws, len(rows)))
    for i in range(len(X)):
        for n, row in enumerate(rows):
            values[:, n] += zeta[:, i, row[X[i]]]
    best = values.max(axis=1)
    return best.mean(), best.std(ddof=1) / math.sqrt(draws)


def hedge_weights(rows, history, rate):
    """Normalised exponential weights."""
    weights = [math.exp(-rate * value(row, history)) for row in rows]
    return [w / sum(weights) for w in weights]


def solver(rows):
    """A solve(contexts, losses) function that tries every policy."""

    def solve(contexts, losses):
        best = leader(rows, list(zip(contexts, losses, strict=True)))
        return lambda context: rows[best][context]

    return solve


def optimistic(rows, X, rounds, guesses, unit, G):
    """As `self_tuned`, with a guess of each round's losses that counts when the leader is found."""
    history, plays, D, seen = [], [], 0.0, []
    for t, ((context, losses), guess) in enumerate(zip(rounds, guesses, strict=True)):
        fakes = fakes_of(X, unit(t), D / G)
        action = rows[leader(rows, [*fakes, *history, (context, guess)])][context]
        history.append((context, losses))
        foreseeing = rows[leader(rows, fakes + history)][context]
        surprise = losses - guess
        D += surprise[action] - surprise[foreseeing]
        plays.append(action)
        seen.append(D)
    return plays, seen


def playout_fakes(future, n_actions, size, sparse, rng):
    """Noise for each future round, one after the other."""
    fakes = []
    for context in future:
        z = np.zeros(n_actions)
        if not sparse:
            z = rng.normal(0.0, size, n_actions)
        elif rng.random() < n_actions / size:
            z[rng.integers(n_actions)] = size * rng.choice([-1.0, 1.0])
        fakes.append((context, z))
    return fakes
