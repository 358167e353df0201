"""Logs of small worlds whose truth is known."""

import numpy as np

from hannan.off_policy import Log

D, K = 3, 3
MEANS = np.array([[0.2, 0.6, 0.8], [0.7, 0.3, 0.5], [0.5, 0.9, 0.1]])
LAW = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.3, 0.5, 0.2]])
POLICY = np.array([0, 1, 2])


def draw(n, seed=0, distribution=LAW):
    """A log of n rounds with losses 0 or 1, contexts being drawn uniformly."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(D, size=n)
    q = distribution[contexts]
    actions = (rng.random(n)[:, None] > q.cumsum(axis=1)).sum(axis=1).clip(max=K - 1)
    losses = (rng.random(n) < MEANS[contexts, actions]).astype(float)
    p = q[np.arange(n), actions]
    return Log(contexts, actions, losses, p, K, distribution=q)


def truth(policy=POLICY):
    """The mean loss of a policy in the world the logs come from."""
    return float(np.mean([MEANS[x, policy[x]] for x in range(D)]))
