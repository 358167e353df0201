"""A few rules of one's own over whatever is offered, and a bound on regret against the best."""

import numpy as np

import hannan as hn


def cheapest(context, actions):
    """A score for each offer: the smallest is taken."""
    return actions[:, 0]


def fastest(context, actions):
    """The same by the second feature, days of delivery."""
    return actions[:, 1]


def first(context, actions):
    """A rule may also choose by itself."""
    return 0


rules = hn.oracles.ListedRules([cheapest, fastest, first])
learner = hn.ContextSemiBanditFTPL(rules, seed=0)
rng = np.random.default_rng(0)
paid = 0.0
for t in range(2000):
    offers = rng.random((int(rng.integers(2, 7)), 2))  # other ones in every round
    chosen = learner.act(f"order {t}", actions=offers)  # and no context comes twice
    loss = 0.2 * offers[chosen, 0] + 0.8 * offers[chosen, 1]
    learner.update(loss)
    paid += loss
print(f"paid {paid / 2000:.3f} a round; best so far: {learner.best_policy()}")
print(f"regret is at most {learner.regret_bound() / 2000:.2f} a round, whoever chose the offers")
