"""Save and load a learner with open decisions.

A service restarts while three decisions have no feedback. The loaded learner has the same open
decisions, and it continues with the same actions as the learner that was never stopped.
"""

import tempfile
from pathlib import Path

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
oracle = hn.oracles.AllPolicies(n_contexts=3, n_actions=4)
learner = hn.ContextSemiBanditFTPL(oracle, predictor=hn.predictors.Mean(), seed=7)

for _ in range(500):
    context = int(rng.integers(3))
    action = learner.act(context)
    learner.update(float(rng.random() < (0.2 if action == context else 0.7)))

decisions = learner.decide_many([0, 1, 2])  # without feedback so far
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "learner.hannan"
    learner.save(file)
    print(f"saved {learner.rounds} rounds in {file.stat().st_size:,} bytes")
    restarted = hn.load(file)
hn.warm_up(restarted, decide=True)  # compile before the first request; results do not change

print("open decisions after the restart:", restarted.open_decisions)
for decision in decisions:
    cost = float(decision.action != decision.context)
    learner.update(cost, decision=decision)
    restarted.update(cost, decision=decision.id)

same = all(learner.act(t % 3) == restarted.act(t % 3) for t in range(1000))
print("the next 1,000 actions are the same:", same)
