"""Which offer for which visitor: named actions, rewards in euros, and what is done today beside it.

Visitors are mappings of numbers, words and missing values. Outcomes come some visits later, and a
few never do.
"""

import numpy as np

import hannan as hn

OFFERS = ["10 % off", "free shipping", "nothing"]


def visitors(n, rng):
    for _ in range(n):
        yield {
            "age": None if rng.random() < 0.1 else int(rng.integers(18, 80)),
            "city": ["Rome", "Oslo", None][rng.integers(3)],
            "basket": float(rng.gamma(2.0, 30.0)),
            "new": bool(rng.integers(2)),
        }


def spent(visitor, offer, rng):
    """New visitors answer to free shipping, others to a discount if their basket is full."""
    if visitor["new"]:
        mean = 70.0 if offer == "free shipping" else 30.0
    else:
        mean = {"10 % off": 40.0 + 0.3 * visitor["basket"], "free shipping": 35.0}.get(offer, 50.0)
    return float(np.clip(rng.normal(mean, 15.0), 0.0, 120.0))


rng = np.random.default_rng(0)
shop = hn.Decider(OFFERS, rewards=(0, 120), baseline="nothing", exploration=0.05, seed=0)

waiting = []
for number, visitor in enumerate(visitors(3000, rng)):
    decision = shop.decide(visitor, id=f"visit-{number}")
    waiting.append((decision, spent(visitor, decision.action, rng)))
    if len(waiting) > 20:
        decision, euros = waiting.pop(int(rng.integers(20)))
        if rng.random() < 0.98:
            shop.report(decision, reward=euros)
shop.expire(older_than=0, reward=0.0)  # who has not bought by now has spent nothing

print(shop)
print()
print(shop.why(decision))

shop.add_action("a gift")  # K grows, and nothing is forgotten
shop.retire("10 % off")
print()
print(
    "with a gift:",
    shop.decide(next(visitors(1, rng))).action in ("free shipping", "nothing", "a gift"),
)
