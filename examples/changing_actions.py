"""Unavailable actions: offers that are out of stock.

A shop shows one of five offers to visitors of six kinds and observes only clicks. Each kind has a
best offer, which is out of stock in nine of ten visits. `act(context, available=...)` chooses among
the available actions. Compare the losses in the second half of the visits, and how often a learner
showed the best offer when it was available.
"""

import numpy as np

import hannan as hn

KINDS, OFFERS, VISITS = 6, 5, 6000
rng = np.random.default_rng(0)
ignored = rng.uniform(0.6, 0.9, size=(KINDS, OFFERS))  # probability of no click
best = rng.integers(OFFERS, size=KINDS)
ignored[np.arange(KINDS), best] = 0.1
kinds = rng.integers(KINDS, size=VISITS)
losses = (rng.random((VISITS, OFFERS)) < ignored[kinds]).astype(float)
available = rng.random((VISITS, OFFERS)) < 0.8
available[np.arange(VISITS), best[kinds]] = rng.random(VISITS) < 0.1
available[~available.any(axis=1)] = True
shop = hn.environments.FromArrays(kinds, losses, available=available)

rules = hn.oracles.AllPolicies(KINDS, OFFERS)
for name, learner in (
    ("random offers", hn.baselines.UniformRandom(OFFERS, seed=0)),
    ("ContextSemiBanditFTPL", hn.ContextSemiBanditFTPL(rules, seed=0)),
    ("hn.bandit", hn.bandit(OFFERS, n_contexts=KINDS, seed=0)),
):
    trace = hn.play(learner, shop, oracle=rules)
    late = np.arange(VISITS) >= VISITS // 2
    stocked = late & available[np.arange(VISITS), best[kinds]]
    hits = (trace.actions == best[kinds])[stocked].mean()
    print(f"{name:21} loss {trace.losses[late].mean():.3f}, best offer if available {hits:4.0%}")
