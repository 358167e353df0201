"""Is the new system better than today's rule? An answer that may be looked at after every visitor.

A learner shows one of three offers to two kinds of visitors; whether a visitor left is known later,
and sooner if they stayed, and of some it is never known. Three policies are watched: today's rule,
and two offers shown to everybody. One looks every 500 visitors and stops when it is clear that the
learner does better than today's rule.
"""

from collections import defaultdict

import numpy as np

import hannan as hn

LEAVING = np.array([[0.7, 0.3, 0.8], [0.7, 0.7, 0.2]])  # by kind and offer; known to us alone
rng = np.random.default_rng(0)

learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), epsilon=0.01, seed=0)
watch = hn.off_policy.Watch({"today": lambda kind: 0, "offer 1": 1, "offer 2": 2})

due = defaultdict(list)
ours, today = 0.0, 0.0
for t in range(1, 6001):
    kind = int(rng.integers(2))
    left = (rng.random(3) < LEAVING[kind]).astype(float)
    decision = learner.decide(kind)
    watch.add_decision(decision)
    ours, today = ours + left[decision.action], today + left[0]
    if rng.random() > 0.01:
        due[t + (0 if left[decision.action] == 0.0 else 60)].append((decision, left))
    for earlier, its in due.pop(t, []):
        loss = its[earlier.action]
        learner.update(loss, decision=earlier)
        watch.add_loss(earlier, loss)
    if t % 500 == 0 and watch.intervals()["today"].verdict != "not known":
        break
print(watch)
print(f"in truth the learner lost {ours - today:+.0f} visitors against today's rule")
