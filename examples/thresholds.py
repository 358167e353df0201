"""Thresholds: choose prices by basket value.

A policy asks one of three prices below some basket value and another one from this value on. You
observe only whether the customer buys at the price asked (bandit feedback). Compare the revenues of
the learner, of random prices and of the best rule in hindsight.
"""

import numpy as np

import hannan as hn

PRICES = np.array([2.0, 3.0, 5.0])
BASKETS = [float(value) for value in range(5, 105, 5)]
ROUNDS = 4000

oracle = hn.oracles.Thresholds(n_actions=len(PRICES))
learner = hn.ContextSemiBanditFTPL(oracle, contexts=BASKETS, seed=0)
uniform = hn.baselines.UniformRandom(len(PRICES), seed=0)
rng = np.random.default_rng(1)
earned = {"learner": 0.0, "random prices": 0.0}
hindsight = oracle.objective()

for _ in range(ROUNDS):
    basket = BASKETS[rng.integers(len(BASKETS))]
    sold = rng.random() < np.array([0.7, 0.7, 0.7] if basket >= 60 else [0.6, 0.3, 0.05])
    revenue = PRICES * sold
    losses = 1.0 - revenue / PRICES.max()
    hindsight.add(basket, losses)
    for name, each in (("learner", learner), ("random prices", uniform)):
        action = each.act(basket)
        earned[name] += revenue[action]
        each.update(losses[action] if each is learner else losses)

best = PRICES.max() * (ROUNDS - hindsight.minima()[0])
for name, sum_ in {**earned, "best rule in hindsight": best}.items():
    print(f"{name:23s} {sum_:8.0f}")
rule = hindsight.leader()
print(f"best rule: {PRICES[rule.above]:g} from a basket of {rule.threshold:g} on,", end=" ")
print(f"{PRICES[rule.below]:g} below")
