"""Classify digits from bandit feedback.

The learner chooses a digit for each image and observes only whether it is right. The policies are
linear, with a ridge regression as the predictor. Compare the shares of mistakes in each third; the
certificate states why no theorem applies.
"""

import numpy as np
from sklearn.datasets import load_digits

import hannan as hn

ROUNDS = 3000


def main() -> None:
    features, labels = load_digits(return_X_y=True)
    features = features / 16.0
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=10),
        predictor=hn.predictors.Ridge(alpha=0.1),
        seed=0,
    )
    order = np.random.default_rng(0).integers(len(labels), size=ROUNDS)
    losses = np.empty(ROUNDS)
    for t, i in enumerate(order):
        action = learner.act(features[i])
        losses[t] = float(action != labels[i])
        learner.update(losses[t])
    for part in range(3):
        share = losses[part * 1000 : (part + 1) * 1000].mean()
        print(f"rounds {part * 1000 + 1:4d} to {(part + 1) * 1000}: {share:.1%} wrong")
    print(learner.certificate())


if __name__ == "__main__":
    main()
