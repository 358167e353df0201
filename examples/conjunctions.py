"""Conjunctions: start a machine if the needed checks passed.

Each morning twelve checks pass or fail. A policy starts the machine if all checks of one set have
passed; the needed set changes halfway. Starting costs 1 if a needed check failed, and waiting costs
0.6 if none failed. Compare the learner's mean loss with those of the constant actions.
"""

import numpy as np

import hannan as hn

CHECKS, T = 12, 4000
oracle = hn.oracles.Conjunctions(CHECKS)
learner = hn.ContextFTPL(oracle, separator=hn.separators.conjunctions(CHECKS), seed=0)
rng = np.random.default_rng(1)

NEEDED = oracle.policy([2, 5, 6]), oracle.policy([2, 5])
WAIT, START = 0, 1
lost, always = 0.0, np.zeros(2)
for t in range(T):
    morning = rng.random(CHECKS) < 0.8
    ready = NEEDED[2 * t // T](morning) if rng.random() < 0.9 else int(rng.integers(2))
    losses = np.array([0.6 * ready, 1.0 - ready])
    lost += losses[learner.act(morning)]
    learner.update(losses)
    always += losses

best = learner.best_policy()
print(f"mean loss of WAIT: {always[WAIT] / T:.3f}, of START: {always[START] / T:.3f}")
print(f"mean loss of the learner: {lost / T:.3f}")
print(f"best rule in hindsight: start if checks {best.variables} have passed")
print(learner.certificate())
