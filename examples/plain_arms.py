"""Five advertisements, no features: which one is clicked most often?

Clicks are rare, so a learner that only weights what it sees needs many visitors. `hn.bandit` is
`TsallisINF` with a predictor, the mean loss of each advertisement, and with restarts. How far the
predictor is followed can be set by a `Trust`; here it never gets more than half of the rounds.
LinUCB shows what protection against an adversary costs where there is none.
"""

import numpy as np

import hannan as hn

VISITORS, SEEDS = 5000, 3
clicked = np.array([0.02, 0.03, 0.03, 0.05, 0.12])
arms = hn.oracles.AllPolicies(n_contexts=1, n_actions=5)
mean = hn.predictors.Mean()
half = hn.Trust(budget=3.0, prior=0.0, floor=0.5, share=0.5, baseline="covered")
players = {
    "hn.bandit": hn.bandit(5, n_contexts=1, seed=0),
    "TsallisINF, Trust": hn.TsallisINF(arms, predictor=mean, trust=half, seed=0),
    "TsallisINF": hn.TsallisINF(arms, seed=0),
    "LinUCB": hn.baselines.LinUCB(5),
}

print("clicks missed against always showing the best advertisement:")
for name, player in players.items():
    missed = []
    for seed in range(SEEDS):
        losses = (np.random.default_rng(seed).random((VISITORS, 5)) >= clicked).astype(float)
        learner = player.clone()
        played = hn.play(learner, hn.environments.FromArrays(None, losses)).actions
        missed.append(float((clicked.max() - clicked[played]).sum()))
    print(f"{name:18} {np.mean(missed):5.0f}")
