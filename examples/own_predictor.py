"""Use your own predictor: choose the fastest courier.

Losses are minutes, from 0 to 90. The dispatcher's rule predicts them from the traffic but not from
the weather, so `Blend` combines it with a regression, and `Scaled` converts the losses. Compare the
mean minutes: the blend is almost as good as the best choice in each round.
"""

import numpy as np

import hannan as hn

ROUNDS, MINUTES = 2000, (0.0, 90.0)


class Rule:
    """Predict shares of 90 minutes by the dispatcher's rule, without learning."""

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
environment = hn.environments.FromArrays(days, minutes)

blend = hn.predictors.Blend([Rule(), hn.predictors.FourierRidge(50)])
for name, predictor in {"rule": Rule(), "blend": blend, "no predictor": None}.items():
    predictor = predictor and hn.predictors.Scaled(predictor, MINUTES)
    learner = hn.bandit(3, predictor=predictor, loss_range=MINUTES, seed=0)
    print(f"{name:13} {hn.play(learner, environment, seed=0).mean_loss:5.1f} minutes")
print(f"{'best choice':13} {90.0 * means.min(axis=1).mean():5.1f} minutes")
