"""Slow twins of the bandit baselines, written from the definitions."""

import math

import numpy as np

from hannan.core.learner import learner_rng


def first_smallest(values):
    """The smallest index with the smallest value."""
    return min(range(len(values)), key=lambda k: (values[k], k))


def lower_confidence(rounds, x, K, alpha, ridge):
    """<w_k, x> - alpha sqrt(x' R_k x), from scratch, after rounds (x, action, loss)."""
    values = []
    for k in range(K):
        mine = [(row, loss) for row, action, loss in rounds if action == k]
        design = ridge * np.eye(len(x)) + sum(np.outer(row, row) for row, _ in mine)
        moment = np.zeros(len(x)) + sum(loss * row for row, loss in mine)
        R = np.linalg.inv(design)
        values.append(R @ moment @ x - alpha * math.sqrt(x @ R @ x))
    return values


def epsilon_greedy(rounds, K, epsilon, decay, seed):
    """Actions, with the mean loss of each action on each context as the guess."""
    rng = learner_rng(seed)
    seen, actions = {}, []
    for t, (context, losses) in enumerate(rounds, start=1):
        means = [np.mean(seen.get((context, k), [0.0])) for k in range(K)]
        action = first_smallest(means)
        if rng.random() < epsilon / t**decay:
            action = int(rng.integers(K))
        seen.setdefault((context, action), []).append(losses[action])
        actions.append(action)
    return actions


def epoch_greedy(rows, rounds, K, log_size, seed):
    """Actions, and which rounds explored, for a listed class."""
    rng = learner_rng(seed)
    totals = [0.0] * len(rows)
    actions, exploring = [], []
    n = left = 0
    for context, losses in rounds:
        exploring.append(left == 0)
        if left > 0:
            actions.append(rows[first_smallest(totals)][context])
            left -= 1
            continue
        action = int(rng.integers(K))
        actions.append(action)
        for i, row in enumerate(rows):
            if row[context] == action:
                totals[i] += K * losses[action]
        n += 1
        left = max(1, int((n / (2 * K * log_size)) ** 0.5))
    return actions, exploring
