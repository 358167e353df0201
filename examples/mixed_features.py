"""Contexts as they come: names, words, dates, and values that are missing.

A shop makes one of three offers to each visitor. What it knows of them is a mapping, not a row of
numbers, and not everything is known of everyone. `Features` finds out what the columns are, and
goes on when a later visitor brings a column or a plan that nobody has seen before.
"""

import numpy as np

import hannan as hn
from hannan.features import Features

VISITS = 4000
PLANS = ("free", "pro", "team")
rng = np.random.default_rng(0)
features, learner = Features(), hn.bandit(3, seed=0)
taken = np.zeros(VISITS)
for t in range(VISITS):
    plan, age = PLANS[rng.integers(3)], rng.uniform(18, 70)
    visit = {
        "plan": plan if rng.random() > 0.1 else None,
        "age": round(age, 1) if rng.random() > 0.1 else "n/a",
        "since": f"20{rng.integers(10, 24)}-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}",
    }
    if t > VISITS // 2:
        visit["device"] = "phone" if t % 2 else "desktop"  # a column that came later
    best = PLANS.index(plan) if age < 60 else 0
    offer = learner.act(features.encode(visit))
    features.see(visit)
    taken[t] = rng.random() < (0.6 if offer == best else 0.2)
    learner.update(1.0 - taken[t])

print("kinds:", ", ".join(f"{name} {kind}" for name, kind in features.kinds.items()))
print(f"numbers in a row: {features.width}")
first, last = taken[:1000].mean(), taken[-1000:].mean()
print(f"offers taken, first and last thousand: {first:.2f}, {last:.2f}")
print("by chance 0.33, at best 0.60")
