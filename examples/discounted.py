"""Discount old losses: a spam filter under drift.

The best threshold of a spam score drifts, because spammers adapt, so old messages must count less.
`Discounted` gives a loss of k rounds ago the weight discount^k. Compare the shares of mistakes: a
discount of 1 counts all messages equally, and a small one uses too few of them.
"""

import math

import numpy as np

import hannan as hn

ROUNDS = 6000
rng = np.random.default_rng(0)
scores = np.round(rng.random(ROUNDS), 2)
threshold = 0.5 + 0.35 * np.sin(2 * math.pi * np.arange(ROUNDS) / 3000)
spam = (scores + rng.normal(scale=0.05, size=ROUNDS)) > threshold
losses = np.column_stack([spam, ~spam]).astype(float)
environment = hn.environments.FromArrays(scores.tolist(), losses)

filters = hn.oracles.Thresholds()
plain = hn.ContextFTPL(filters, contexts=np.arange(101) / 100, seed=0)
print("discount  mistakes")
for discount in (1.0, 0.999, 0.99, 0.98, 0.9):
    learner = hn.Discounted(plain, discount)
    trace = hn.play(learner, environment)
    print(f"{discount:8g}  {trace.losses.mean():8.1%}")

learner = hn.Discounted(plain, 0.98)
hn.play(learner, environment)
print(learner.best_policy())
print(learner.certificate())
