"""Intercept classifiers: offer discounts by two scores.

A customer has two scores in [0, 1], and no customer comes twice. A classifier offers the discount
above a line that meets each axis at a multiple of 0.1. The noise lies on the twenty points of a
separator, which distinguishes all 121 classifiers. Compare early and late mistakes.
"""

import numpy as np

import hannan as hn

oracle = hn.oracles.InterceptClassifiers(2, tau=0.1)
points = hn.separators.intercept_classifiers(2, tau=0.1)
learner = hn.ContextFTPL(oracle, separator=points, seed=0)
rng = np.random.default_rng(1)

T = 5000
truth = oracle.policy([0.6, 0.9])
lost = np.zeros(T)
for t in range(T):
    customer = rng.random(2)
    buys = truth(customer) if rng.random() < 0.9 else 1 - truth(customer)
    losses = np.array([buys, 1 - buys], dtype=float)
    lost[t] = losses[learner.act(customer)]
    learner.update(losses)

print(f"classifiers: {oracle.n_policies}, points of the separator: {len(points)}")
early, late = lost[:500].mean(), lost[-500:].mean()
print(f"mistakes in the first 500 rounds: {early:.3f}, in the last 500: {late:.3f}")
print(f"intercepts of the best line: {learner.best_policy().intercepts}")
print(learner.certificate())
