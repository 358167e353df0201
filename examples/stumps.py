"""Stumps: decide on biopsies with one threshold.

The breast cancer data of scikit-learn hold 30 measurements of each tumour. Missing a malignant one
costs 1, a biopsy of a benign one 0.3. The patients are known in advance, their diagnoses are not
(the transductive setting). Compare the losses per patient and read the best rule.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

import hannan as hn

data = load_breast_cancer()
X = data.data
BIOPSY, WAIT = 0, 1
losses = np.zeros((len(X), 2))
losses[data.target == 1, BIOPSY] = 0.3
losses[data.target == 0, WAIT] = 1.0

learner = hn.ContextFTPL(hn.oracles.Stumps(n_actions=2), contexts=X, seed=0)
incurred = []
for patient in np.random.default_rng(0).permutation(len(X)):
    action = learner.act(X[patient])
    incurred.append(losses[patient, action])
    learner.update(losses[patient])

best = learner.best_policy()
decision = {BIOPSY: "biopsy", WAIT: "wait"}
print(f"loss per patient, first 100: {np.mean(incurred[:100]):.3f}")
print(f"loss per patient, last 100:  {np.mean(incurred[-100:]):.3f}")
print(f"always a biopsy:             {losses[:, BIOPSY].mean():.3f}")
print(f"best rule in hindsight:      {np.mean([losses[i, best(x)] for i, x in enumerate(X)]):.3f}")
name = data.feature_names[best.feature]
print(f"{decision[best.above]} if {name} >= {best.threshold:g}, else {decision[best.below]}")
