"""Items that come and go, each described by features: what was learned of one helps with others."""

import numpy as np
from worlds import Items

import hannan as hn

ROUNDS = 3000
world = Items(offered=5, pool=50, features=2, clicks=(0.1, 0.6))
contenders = {
    "hn.bandit": hn.bandit(actions="items", seed=0),
    "LinUCB, items by name only": hn.baselines.ItemLinUCB("disjoint"),
    "uniform": hn.baselines.UniformRandom(None, seed=0),
}
for name, learner in contenders.items():
    trace = hn.play(learner, world, ROUNDS, seed=0)
    print(f"{name:27} clicks in {100 * (1 - trace.losses.mean()):.1f} % of the rounds")

# Without an environment: rows for what is offered now, ids where they are known again.
learner = contenders["hn.bandit"]
offers = {"news": [1.0, 0.2], "sport": [-0.5, 1.0], "weather": [0.0, 0.0]}
visitor = np.array([0.4, -1.2])
decision = learner.decide(visitor, actions=offers)
print(f"shown: {decision.action}, with probability {decision.propensity:.2f}")
learner.update(1.0, decision=decision)  # not clicked
