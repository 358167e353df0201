"""Actions that come and go: articles on a front page, of which only some are in stock today.

Readers of six kinds see one of five offers, and only clicks are observed. The best offer for each
kind is sold out nine times in ten. `act(context, available=...)` plays the best of what is
available, and nothing is held against an offer, or counted for it, while it is not.
"""

import numpy as np

import hannan as hn

KINDS, OFFERS, VISITS = 6, 5, 6000
rng = np.random.default_rng(0)
ignored = rng.uniform(0.6, 0.9, size=(KINDS, OFFERS))  # how likely a reader does not click
best = rng.integers(OFFERS, size=KINDS)
ignored[np.arange(KINDS), best] = 0.1
kinds = rng.integers(KINDS, size=VISITS)
losses = (rng.random((VISITS, OFFERS)) < ignored[kinds]).astype(float)
there = rng.random((VISITS, OFFERS)) < 0.8
there[np.arange(VISITS), best[kinds]] = rng.random(VISITS) < 0.1
there[~there.any(axis=1)] = True
shop = hn.environments.FromArrays(kinds, losses, available=there)

rules = hn.oracles.AllPolicies(KINDS, OFFERS)
for name, learner in (
    ("offers at random", hn.baselines.UniformRandom(OFFERS, seed=0)),
    ("by score", hn.ContextSemiBanditFTPL(rules, seed=0)),
    ("hn.bandit", hn.bandit(OFFERS, n_contexts=KINDS, seed=0)),
):
    trace = hn.play(learner, shop, oracle=rules)
    late = np.arange(VISITS) >= VISITS // 2
    seen = late & there[np.arange(VISITS), best[kinds]]
    hits = (trace.actions == best[kinds])[seen].mean()
    print(f"{name:20} loss {trace.losses[late].mean():.3f}, the best when it was there {hits:4.0%}")
