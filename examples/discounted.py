"""A spam filter whose best threshold drifts, since spammers learn too.

A message has a score; it is let through (0) or stopped (1), and sooner or later we learn what it
was. What was right a year ago is wrong now, so old messages should count less.
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
world = hn.environments.FromArrays(scores.tolist(), losses)

filters = hn.oracles.Thresholds()
plain = hn.ContextFTPL(filters, contexts=np.arange(101) / 100, seed=0)
print("discount  mistakes")
for discount in (1.0, 0.999, 0.99, 0.98, 0.9):
    learner = hn.Discounted(plain, discount)
    trace = hn.play(learner, world)
    print(f"{discount:8g}  {trace.losses.mean():8.1%}")

learner = hn.Discounted(plain, 0.98)
hn.play(learner, world)
print(learner.best_policy())
print(learner.certificate())
