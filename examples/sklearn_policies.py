"""Use a scikit-learn model as a policy class.

Customers are feature vectors, not known in advance, and see one of three offers. The policy is a
shallow decision tree: the learner fits it to the losses so far plus noise. Halfway through, the
tastes change. Compare the mean losses; the last line states why no theorem applies.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import hannan as hn

rng = np.random.default_rng(0)
T = 600
ages = rng.integers(2, 9, size=T) * 10.0
visits = rng.integers(0, 6, size=T).astype(float)
customers = np.column_stack([ages, visits])
liked = np.where(ages < 40, 0, np.where(visits < 3, 1, 2))
liked[T // 2 :] = np.where(ages < 60, 0, 2)[T // 2 :]
losses = (rng.random((T, 3)) < np.where(np.eye(3)[liked] == 1, 0.1, 0.7)).astype(float)

tree = DecisionTreeClassifier(max_depth=2)
oracle = hn.oracles.SklearnPolicies(tree, n_actions=3)
learner = hn.ContextFTPL(oracle, epsilon=0.5, seed=0)
trace = hn.play(learner, hn.environments.FromArrays(customers, losses))

constant = losses.mean(axis=0).min()
print(f"mean loss of the best single offer  {constant:.3f}")
print(f"mean loss of the learner            {trace.losses.mean():.3f}")
print(f"mean loss of the best tree found    {(trace.losses.sum() - trace.regret()) / T:.3f}")
best = learner.best_policy()
for age, n in ((25, 0), (45, 1), (70, 5)):
    print(f"best offer for age {age}, visits {n}: {best([age, n])}")
print(learner.certificate().notes[-1])
