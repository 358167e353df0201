"""When to start a machine: only if everything that matters is in place, and what matters changes.

A morning is a row of twelve checks, passed or failed. A rule starts the machine if all checks of a
set have passed. Starting when something that matters failed costs 1, waiting without need 0.6.
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
print(f"always waiting costs {always[WAIT] / T:.3f}, always starting {always[START] / T:.3f}")
print(f"the learner paid {lost / T:.3f}")
print(f"best rule in hindsight: start if checks {best.variables} have passed")
print(learner.certificate())
