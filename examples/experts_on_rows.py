"""Wines are sorted by their measurements, and afterwards the right class is shown.

All losses are known after each round, so `hn.experts` applies. Given a class on rows of features
it is an `AdaptiveDiscount`, with a blend of regressions beside the policies. After half of the
rounds the classes change their names.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import hannan as hn

ROUNDS = 1200
rows, labels = load_wine(return_X_y=True)
rows = scale(rows) / np.sqrt(rows.shape[1])
order = np.random.default_rng(0).integers(len(rows), size=ROUNDS)
names = np.where(np.arange(ROUNDS) < ROUNDS // 2, labels[order], (labels[order] + 1) % 3)
world = hn.environments.FromArrays(rows[order], 1.0 - np.eye(3)[names])

linear = hn.oracles.LinearPolicies(3)
curved = hn.oracles.LinearPolicies(3, features=hn.oracles.RandomFourier(50))
print("wrong in percent, by thirds of the rounds")
for name, learner in {
    "hn.experts": hn.experts(linear, seed=0),
    "ContextFTPL": hn.ContextFTPL(linear, seed=0),
    "with cosines": hn.ContextFTPL(curved, seed=0),
}.items():
    thirds = 100.0 * hn.play(learner, world, seed=0).losses.reshape(3, -1).mean(axis=1)
    print(f"{name:12}", *(f"{share:5.1f}" for share in thirds))
