"""Handwritten digits with bandit feedback: a loss of 1 unless the label is played."""

import numpy as np
from sklearn.datasets import load_digits

K = 10


def mean_loss(learner, T, seed):
    """Over T rounds, the rows in a new order on each pass."""
    rows, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = [rng.permutation(len(labels)) for _ in range(T // len(labels) + 1)]
    total = 0.0
    for i in np.concatenate(order)[:T]:
        loss = float(learner.act(rows[i] / 16.0) != labels[i])
        learner.update(loss)
        total += loss
    return total / T
