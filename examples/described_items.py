"""Choose among items with features.

The items change from round to round, so a learner that uses their features also learns about new
items. The output compares its share of clicks with that of LinUCB on item ids and of a uniform
choice. The last lines make one decision without an environment.
"""

import numpy as np
from worlds import Items

import hannan as hn

ROUNDS = 3000
environment = Items(offered=5, pool=50, features=2, clicks=(0.1, 0.6))
learners = {
    "hn.bandit": hn.bandit(actions="items", seed=0),
    "LinUCB, item ids only": hn.baselines.ItemLinUCB("disjoint"),
    "uniform": hn.baselines.UniformRandom(None, seed=0),
}
for name, learner in learners.items():
    trace = hn.play(learner, environment, ROUNDS, seed=0)
    print(f"{name:21} clicks in {100 * (1 - trace.losses.mean()):.1f} % of the rounds")

# Without an environment: pass the features of the available items by id.
learner = learners["hn.bandit"]
offers = {"news": [1.0, 0.2], "sport": [-0.5, 1.0], "weather": [0.0, 0.0]}
visitor = np.array([0.4, -1.2])
decision = learner.decide(visitor, actions=offers)
print(f"shown: {decision.action}, with probability {decision.propensity:.2f}")
learner.update(1.0, decision=decision)  # not clicked
