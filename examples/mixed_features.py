"""Encode mixed features with missing values.

A shop makes one of three offers to each visitor. Contexts are mappings with words, numbers and
dates, and some values are missing. `Features` infers the kind of each column and encodes later
visitors even if they have a new column or a new plan. Compare the shares of offers taken early and
late.
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
        visit["device"] = "phone" if t % 2 else "desktop"  # a new column
    best = PLANS.index(plan) if age < 60 else 0
    offer = learner.act(features.encode(visit))
    features.see(visit)
    taken[t] = rng.random() < (0.6 if offer == best else 0.2)
    learner.update(1.0 - taken[t])

print("kinds of columns:", ", ".join(f"{name} {kind}" for name, kind in features.kinds.items()))
print(f"length of the feature vector: {features.width}")
first, last = taken[:1000].mean(), taken[-1000:].mean()
print(f"share of offers taken, first and last thousand visits: {first:.2f}, {last:.2f}")
print("random offers 0.33, best offers 0.60")
