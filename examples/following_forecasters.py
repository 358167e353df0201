"""Follow the best of five forecasters under drift.

One forecaster is best overall, another in winter, and a third from day 2000 on. `hn.experts`
observes the errors of all five and adapts how fast it discounts old ones. Compare its mean error
with that of each fixed discount and of the best forecaster in hindsight.
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
environment = hn.environments.FromArrays([0] * DAYS, errors)

learner = hn.experts(5, seed=0)
plain = hn.ContextFTPL(hn.oracles.FinitePolicies(range(5)), seed=0)
for name, each in (("hn.experts", learner), ("ContextFTPL", plain)):
    trace = hn.play(each, environment)
    print(f"{name:15} mean error {trace.losses.mean():.3f}")
print(f"{'best forecaster':15} mean error {errors.mean(axis=0).min():.3f}")

print("mean error with each discount:")
for discount, loss in learner.base_losses.items():
    print(f"{discount:8g}  {loss / DAYS:.3f}")
print(f"regret bound against one forecaster: {learner.regret_bound():.0f}")
print(f"regret bound against six changes:    {learner.regret_bound(switches=6):.0f}")
