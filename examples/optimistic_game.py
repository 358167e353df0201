"""Optimistic learners in rock, paper, scissors.

Two populations of 60 learners play with unequal stakes. After each round a learner observes the
loss of each action against the *average* play of the other population. This average changes slowly,
so the previous losses predict the next ones well. The table lists the duality gap of the average
play, which is 0 in equilibrium: it falls faster with the predictor. (Two single learners observe
one sampled action per round, which is hard to predict, so a predictor helps little.)
"""

import numpy as np

import hannan as hn

STAKES = np.array([[0, 2, -1], [-1, 0, 1], [1, -1, 0]])  # losses of the row population, -1 to 2
COST = (STAKES + 1) / 3
SIZE, ROUNDS = 60, (10, 30, 100, 300, 1000)
oracle = hn.oracles.AllPolicies(1, 3)


def gaps(**options):
    """Return the duality gap of the average play after some rounds."""
    rows, columns = (
        [hn.ContextFTPL(oracle, seed=seed, **options) for seed in range(side, 2 * SIZE, 2)]
        for side in (0, 1)
    )
    x, y = np.zeros((2, ROUNDS[-1], 3))
    for t in range(ROUNDS[-1]):
        x[t] = np.bincount([learner.act() for learner in rows], minlength=3) / SIZE
        y[t] = np.bincount([learner.act() for learner in columns], minlength=3) / SIZE
        for learner, other in zip(rows, columns, strict=True):
            learner.update(COST @ y[t])
            other.update(1 - x[t] @ COST)
    return [(x[:T].mean(0) @ COST).max() - (COST @ y[:T].mean(0)).min() for T in ROUNDS]


plain, optimistic = gaps(), gaps(predictor=hn.predictors.Last(by_context=False))
print("rounds  plain  optimistic")
for row in zip(ROUNDS, plain, optimistic, strict=True):
    print("{:6d} {:6.4f} {:11.4f}".format(*row))
