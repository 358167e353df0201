"""Multi-armed bandit: find the most clicked advertisement.

Without contexts, `hn.bandit` is `TsallisINF` with restarts and a predictor, the mean loss of each
advertisement. Clicks are rare, so importance weights alone need many visitors. A `Trust` limits how
often the learner follows the predictor; here, to half of the rounds. Compare the missed clicks:
LinUCB shows the price of protection against an adversary in an environment without one.
"""

import numpy as np

import hannan as hn

VISITORS, SEEDS = 5000, 3
clicked = np.array([0.02, 0.03, 0.03, 0.05, 0.12])
actions = hn.oracles.AllPolicies(n_contexts=1, n_actions=5)
mean = hn.predictors.Mean()
half = hn.Trust(budget=3.0, prior=0.0, floor=0.5, share=0.5, baseline="covered")
learners = {
    "hn.bandit": hn.bandit(5, n_contexts=1, seed=0),
    "TsallisINF, Trust": hn.TsallisINF(actions, predictor=mean, trust=half, seed=0),
    "TsallisINF": hn.TsallisINF(actions, seed=0),
    "LinUCB": hn.baselines.LinUCB(5),
}

print("missed clicks, compared with the best advertisement:")
for name, learner in learners.items():
    missed = []
    for seed in range(SEEDS):
        losses = (np.random.default_rng(seed).random((VISITORS, 5)) >= clicked).astype(float)
        environment = hn.environments.FromArrays(None, losses)
        chosen = hn.play(learner.clone(), environment).actions
        missed.append(float((clicked.max() - clicked[chosen]).sum()))
    print(f"{name:18} {np.mean(missed):5.0f}")
