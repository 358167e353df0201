"""Which of three couriers is fastest? A rule of thumb and a regression predict together.

Losses are minutes, from 0 to 90. The dispatcher's rule knows the traffic but not the weather, so
it is blended with a regression, and the blend is wrapped in `Scaled` for losses in minutes.
"""

import numpy as np

import hannan as hn

ROUNDS, MINUTES = 2000, (0.0, 90.0)


class Rule:
    """What the dispatcher expects, as a share of 90 minutes; it learns nothing."""

    def predict(self, context):
        traffic, _ = context
        return np.array([0.2 + 0.4 * traffic, 0.45, 0.5 - 0.1 * traffic])

    def learn(self, context, action, loss):
        pass


rng = np.random.default_rng(0)
days = rng.random((ROUNDS, 2))  # traffic and rain
traffic, rain = days.T
means = np.column_stack([0.2 + 0.4 * traffic + 0.3 * rain, 0.45 - 0.2 * rain, 0.5 - 0.1 * traffic])
minutes = 90.0 * np.clip(means + rng.normal(0.0, 0.05, size=(ROUNDS, 3)), 0.0, 1.0)
world = hn.environments.FromArrays(days, minutes)

blend = hn.predictors.Blend([Rule(), hn.predictors.FourierRidge(50)])
for name, guess in {"the rule": Rule(), "the blend": blend, "no predictor": None}.items():
    guess = guess and hn.predictors.Scaled(guess, MINUTES)
    learner = hn.bandit(3, predictor=guess, loss_range=MINUTES, seed=0)
    print(f"{name:13} {hn.play(learner, world, seed=0).mean_loss:5.1f} minutes")
print(f"{'always best':13} {90.0 * means.min(axis=1).mean():5.1f} minutes")
