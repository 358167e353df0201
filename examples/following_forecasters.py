"""Which of five forecasters should be believed today?

One of them is best on the whole, another in winter, and a third has just been retrained. How fast
the past goes out of date is not known, so it is left to the learner, who is told nothing.
"""

import numpy as np

import hannan as hn

DAYS = 3000
rng = np.random.default_rng(0)
bias = np.array([0.30, 0.35, 0.45, 0.50, 0.55])[None, :].repeat(DAYS, axis=0)
winter = np.cos(2 * np.pi * np.arange(DAYS) / 365) > 0.5
bias[winter, 1] = 0.10
bias[2000:, 4] = 0.05  # retrained
errors = np.clip(bias + rng.normal(0.0, 0.1, size=(DAYS, 5)), 0.0, 1.0)
world = hn.environments.FromArrays([0] * DAYS, errors)

learner = hn.experts(5, seed=0)
plain = hn.ContextFTPL(hn.oracles.FinitePolicies(range(5)), seed=0)
for name, player in (("experts", learner), ("ContextFTPL", plain)):
    trace = hn.play(player, world)
    print(f"{name:12} mean error {trace.losses.mean():.3f}")
print(f"{'hindsight':12} mean error {errors.mean(axis=0).min():.3f}")

print("what each rate of forgetting would have cost:")
for discount, loss in learner.base_losses.items():
    print(f"{discount:8g}  {loss / DAYS:.3f}")
print(f"most loss against a forecaster: {learner.regret_bound():.0f}")
print(f"most loss against six changes:  {learner.regret_bound(switches=6):.0f}")
