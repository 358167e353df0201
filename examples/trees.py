"""Trees: stop a machine before it fails.

A machine fails if it is hot and dry, or cold and damp. A stump uses one of the two readings, a tree
of depth 2 uses both: compare their mistakes. The readings are not declared in advance, so the
certificate states that no theorem applies.
"""

import numpy as np

import hannan as hn

ROUNDS = 2000
rng = np.random.default_rng(0)
readings = np.column_stack([rng.normal(20, 8, ROUNDS), rng.uniform(0, 1, ROUNDS)])
hot, damp = readings[:, 0] > 22, readings[:, 1] > 0.45
fails = (hot != damp) ^ (rng.random(ROUNDS) < 0.05)
RUN, STOP = 0, 1

for oracle in (hn.oracles.Stumps(n_actions=2), hn.oracles.Trees(n_actions=2, depth=2)):
    learner = hn.ContextFTPL(oracle, seed=0)
    mistakes = 0.0
    for row, failure in zip(readings, fails, strict=True):
        losses = np.array([float(failure), float(not failure)])
        mistakes += losses[learner.act(row)]
        learner.update(losses)
    print(f"{type(oracle).__name__:7s} wrong in {mistakes / ROUNDS:.1%} of {ROUNDS} rounds")

print(learner.best_policy())
print(learner.certificate().notes[0])
