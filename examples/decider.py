"""Which offer for which visitor: named actions, rewards in euros, and what is done today beside it.

Outcomes come some visits later, and a few never do.
"""

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
offers = ["discount", "free shipping", "nothing"]
shop = hn.Decider(offers, rewards=(0, 120), baseline="nothing", exploration=0.05, seed=0)


def spent(visitor, offer):
    """New visitors answer to free shipping, others to nothing but the season."""
    mean = 90.0 if offer == "free shipping" and visitor["new"] else 30.0
    return float(np.clip(rng.normal(mean, 10.0), 0.0, 120.0))


waiting = []
for number in range(3000):
    visitor = {
        "age": None if rng.random() < 0.1 else int(rng.integers(18, 80)),
        "city": ["Rome", "Oslo", None][rng.integers(3)],
        "new": bool(rng.integers(2)),
    }
    decision = shop.decide(visitor, id=f"visit-{number}")
    waiting.append((decision, spent(visitor, decision.action)))
    if len(waiting) > 20:
        decision, euros = waiting.pop(int(rng.integers(20)))
        if rng.random() < 0.98:
            shop.report(decision, reward=euros)
shop.expire(older_than=0)  # no answer: nothing is learned from these

print(shop)
print(shop.why(decision))
