"""Non-stationary losses: the best policy is the worst at first.

The best policy in hindsight has the highest losses in the first fifth of the run, and you observe
only the loss of the chosen action. A learner that stops trying this policy does not observe that it
improves: compare the last column. With `trust="baseline"`, the mean of the observed losses replaces
the unobserved ones. The default, `trust="earned"`, measures the cost of its hints and continues
to explore.
"""

import numpy as np

import hannan as hn

ROUNDS, SEEDS = 2000, 8
policies = hn.oracles.FinitePolicies.random(n_policies=50, n_contexts=20, n_actions=3, seed=0)
environment = hn.environments.Bait(policies, early=0.9, late=0.1, other=0.5, part=0.2)
mean = hn.predictors.Mean()

learners = {
    "LinUCB": hn.baselines.LinUCB(3),
    "trust='baseline'": hn.ContextSemiBanditFTPL(
        policies, predictor=mean, trust="baseline", seed=0
    ),
    "trust='earned'": hn.ContextSemiBanditFTPL(policies, predictor=mean, seed=0),
    "no predictor": hn.ContextSemiBanditFTPL(policies, seed=0),
}
print("mean loss          all   first fifth   last fifth")
for name, learner in learners.items():
    runs = [hn.play(learner.clone(), environment, ROUNDS, seed=s).losses for s in range(SEEDS)]
    fifths = np.mean(runs, axis=0).reshape(5, -1).mean(axis=1)
    print(f"{name:16}  {fifths.mean():.2f}  {fifths[0]:11.2f}  {fifths[-1]:11.2f}")
print("best policy       0.26         0.90         0.10")
