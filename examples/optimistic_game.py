"""Two crowds play rock, paper, scissors with unequal stakes; those who look ahead settle sooner.

Each of the 60 players of a crowd is a learner of its own and is shown, after a round, what each
action would have cost against the *average* play of the other crowd. That average moves slowly,
so the previous losses foretell the next ones. What is printed is the duality gap of the average
play so far: how much the two crowds together could still gain by a best reply; 0 is equilibrium.
(Two single players see one sampled action a round, which nobody can foretell: there optimism
helps little.)
"""

import numpy as np

import hannan as hn

STAKES = np.array([[0, 2, -1], [-1, 0, 1], [1, -1, 0]])  # what the row crowd pays, -1 to 2
COST = (STAKES + 1) / 3
CROWD, ROUNDS = 60, (10, 30, 100, 300, 1000)
oracle = hn.oracles.AllPolicies(1, 3)


def gaps(**options):
    """The duality gap of the average play after some rounds."""
    rows, columns = (
        [hn.ContextFTPL(oracle, seed=seed, **options) for seed in range(side, 2 * CROWD, 2)]
        for side in (0, 1)
    )
    x, y = np.zeros((2, ROUNDS[-1], 3))
    for t in range(ROUNDS[-1]):
        x[t] = np.bincount([player.act() for player in rows], minlength=3) / CROWD
        y[t] = np.bincount([player.act() for player in columns], minlength=3) / CROWD
        for player, other in zip(rows, columns, strict=True):
            player.update(COST @ y[t])
            other.update(1 - x[t] @ COST)
    return [(x[:T].mean(0) @ COST).max() - (COST @ y[:T].mean(0)).min() for T in ROUNDS]


plain, optimistic = gaps(), gaps(predictor=hn.predictors.Last(by_context=False))
print("rounds  plain  optimistic")
for row in zip(ROUNDS, plain, optimistic, strict=True):
    print("{:6d} {:6.4f} {:11.4f}".format(*row))
