"""Monitor a learner against your current rule with Watch.

A learner shows one of three offers and learns later, or never, whether the visitor left. `Watch`
compares it with your current rule and with two constant offers. Its intervals are anytime-valid, so
you can look every 500 visitors and stop when the verdict is clear. The last line states the true
difference.
"""

from collections import defaultdict

import numpy as np

import hannan as hn

LEAVING = np.array([[0.7, 0.3, 0.8], [0.7, 0.7, 0.2]])  # by kind and offer, not observed
rng = np.random.default_rng(0)

learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), epsilon=0.01, seed=0)
watch = hn.off_policy.Watch({"current rule": lambda kind: 0, "offer 1": 1, "offer 2": 2})

due = defaultdict(list)
ours, current = 0.0, 0.0
for t in range(1, 6001):
    kind = int(rng.integers(2))
    left = (rng.random(3) < LEAVING[kind]).astype(float)
    decision = learner.decide(kind)
    watch.add_decision(decision)
    ours, current = ours + left[decision.action], current + left[0]
    if rng.random() > 0.01:
        due[t + (0 if left[decision.action] == 0.0 else 60)].append((decision, left))
    for earlier, outcomes in due.pop(t, []):
        loss = outcomes[earlier.action]
        learner.update(loss, decision=earlier)
        watch.add_loss(earlier, loss)
    if t % 500 == 0 and watch.intervals()["current rule"].verdict != "not known":
        break
print(watch)
print(f"true difference, learner minus current rule: {ours - current:+.0f} visitors left")
