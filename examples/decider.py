"""Choose offers for visitors with hn.Decider.

Actions have names, rewards are in euros, and visitors have missing features. Outcomes arrive some
visits later, out of order, and a few never arrive. The output compares the decisions with your
current rule (`baseline="nothing"`) and explains the last one.
"""

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
offers = ["discount", "free shipping", "nothing"]
shop = hn.Decider(offers, rewards=(0, 120), baseline="nothing", exploration=0.05, seed=0)


def spent(visitor, offer):
    """Return the euros that a visitor spends: new visitors like free shipping."""
    mean = 90.0 if offer == "free shipping" and visitor["new"] else 30.0
    return float(np.clip(rng.normal(mean, 10.0), 0.0, 120.0))


pending = []
for number in range(3000):
    visitor = {
        "age": None if rng.random() < 0.1 else int(rng.integers(18, 80)),
        "city": ["Rome", "Oslo", None][rng.integers(3)],
        "new": bool(rng.integers(2)),
    }
    decision = shop.decide(visitor, id=f"visit-{number}")
    pending.append((decision, spent(visitor, decision.action)))
    if len(pending) > 20:
        decision, euros = pending.pop(int(rng.integers(20)))
        if rng.random() < 0.98:
            shop.report(decision, reward=euros)
shop.expire(older_than=0)  # the learner does not learn from these

print(shop)
print(shop.why(decision))
