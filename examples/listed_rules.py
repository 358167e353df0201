"""Choose among your own rules for items with features.

Each round has other offers with two features: price and days of delivery. A rule returns a score
for each offer (the smallest is chosen) or the position of an offer. The output is the best rule and
a bound on the regret against it.
"""

import numpy as np

import hannan as hn


def cheapest(context, actions):
    """Return a score for each offer: the smallest is chosen."""
    return actions[:, 0]


def fastest(context, actions):
    """Return the second feature, the days of delivery, as scores."""
    return actions[:, 1]


def first(context, actions):
    """Return a position: a rule can also choose directly."""
    return 0


rules = hn.oracles.ListedRules([cheapest, fastest, first])
learner = hn.ContextSemiBanditFTPL(rules, seed=0)
rng = np.random.default_rng(0)
total = 0.0
for t in range(2000):
    offers = rng.random((int(rng.integers(2, 7)), 2))  # other offers in every round
    chosen = learner.act(f"order {t}", actions=offers)  # no context comes twice
    loss = 0.2 * offers[chosen, 0] + 0.8 * offers[chosen, 1]
    learner.update(loss)
    total += loss
print(f"mean loss {total / 2000:.3f} per round; best rule: {learner.best_policy()}")
print(f"regret is at most {learner.regret_bound() / 2000:.2f} per round, for any offers")
