"""A shop with four prices: what each visitor pays has a known probability."""

import math
import random

import numpy as np

import hannan as hn

PRICES = [6.0, 8.0, 11.0, 14.0]
NOW = 8.0


def visitor(rng):
    """Return what the shop knows of a visitor."""
    segment = rng.choice(["student", "regular", "regular", "pro"])
    return {"segment": segment, "age": rng.randint(18, 70), "mobile": rng.random() < 0.5}


def buys(price, row):
    """Return the probability that a visitor buys at a price."""
    limit = {"student": 7.2, "regular": 12.3, "pro": 17.0}[row["segment"]]
    limit += 0.03 * (row["age"] - 40)
    return 0.35 * (1.0 - math.erf((price - limit) / 1.7 / math.sqrt(2.0)))


def shop(seed, **how):
    """Return a Decider whose current rule is one price for all."""
    return hn.Decider(actions=PRICES, rewards=(0, 14), baseline=NOW, seed=seed, **how)


def sell(d, decisions, seed):
    """Let a shop decide; return the true mean reward of its decisions, and of the current price."""
    rng, ours, now = random.Random(1000 + seed), [], []
    for _ in range(decisions):
        row, draw = visitor(rng), rng.random()
        decision = d.decide(row)
        price = decision.action
        d.report(decision, reward=price if draw < buys(price, row) else 0.0)
        ours.append(price * buys(price, row))
        now.append(NOW * buys(NOW, row))
    return np.mean(ours), np.mean(now)
