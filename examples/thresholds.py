"""Which price to ask from which basket value on, when only the sale made or missed is seen.

There are three prices, and a rule asks one of them below some basket value and another from it
on. Which prices and where is learned from the revenue of the price asked (a bandit problem).
"""

import numpy as np

import hannan as hn

PRICES = np.array([2.0, 3.0, 5.0])
BASKETS = [float(value) for value in range(5, 105, 5)]
ROUNDS = 4000

oracle = hn.oracles.Thresholds(n_actions=len(PRICES))
learner = hn.ContextSemiBanditFTPL(oracle, contexts=BASKETS, seed=0)
chance = hn.baselines.UniformRandom(len(PRICES), seed=0)
rng = np.random.default_rng(1)
earned = {"learner": 0.0, "random prices": 0.0}
hindsight = oracle.objective()

for _ in range(ROUNDS):
    basket = BASKETS[rng.integers(len(BASKETS))]
    sold = rng.random() < np.array([0.7, 0.7, 0.7] if basket >= 60 else [0.6, 0.3, 0.05])
    revenue = PRICES * sold
    losses = 1.0 - revenue / PRICES.max()
    hindsight.add(basket, losses)
    for name, player in (("learner", learner), ("random prices", chance)):
        action = player.act(basket)
        earned[name] += revenue[action]
        player.update(losses[action] if player is learner else losses)

best = PRICES.max() * (ROUNDS - hindsight.minima()[0])
for name, sum_ in {**earned, "best rule in hindsight": best}.items():
    print(f"{name:23s} {sum_:8.0f}")
rule = hindsight.leader()
print(f"best rule: {PRICES[rule.above]:g} from a basket of {rule.threshold:g} on,", end=" ")
print(f"{PRICES[rule.below]:g} below")
