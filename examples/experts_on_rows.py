"""Full information: classify wines with hn.experts.

After each choice of a class you observe the right one, so all losses are known and `hn.experts`
applies. For a class of policies on feature vectors, it adds a blend of regressions to the policies.
Compare the mistakes by third: after half of the rounds the classes are renamed.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import hannan as hn

ROUNDS = 1200
rows, labels = load_wine(return_X_y=True)
rows = scale(rows) / np.sqrt(rows.shape[1])
order = np.random.default_rng(0).integers(len(rows), size=ROUNDS)
classes = np.where(np.arange(ROUNDS) < ROUNDS // 2, labels[order], (labels[order] + 1) % 3)
environment = hn.environments.FromArrays(rows[order], 1.0 - np.eye(3)[classes])

linear = hn.oracles.LinearPolicies(3)
fourier = hn.oracles.LinearPolicies(3, features=hn.oracles.RandomFourier(50))
print("mistakes in percent, by third of the rounds")
for name, learner in {
    "hn.experts": hn.experts(linear, seed=0),
    "ContextFTPL": hn.ContextFTPL(linear, seed=0),
    "random Fourier": hn.ContextFTPL(fourier, seed=0),
}.items():
    thirds = 100.0 * hn.play(learner, environment, seed=0).losses.reshape(3, -1).mean(axis=1)
    print(f"{name:14}", *(f"{share:5.1f}" for share in thirds))
