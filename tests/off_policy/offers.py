"""Logs of offers in euros whose truth is known."""

import numpy as np
import pandas as pd

OFFERS = ("10%", "5%", "free shipping", "none")
PRICE = 30.0
LAWS = ([0.2, 0.1, 0.3, 0.4], [0.3, 0.2, 0.1, 0.4])  # below 40 years, and from 40 on


def frame(n, seed=0):
    """Rows of a shop that chose offers at random by age, with its propensities."""
    rng = np.random.default_rng(seed)
    age, new = rng.integers(18, 70, size=n), rng.random(n) < 0.4
    distribution = np.where((age < 40)[:, None], *LAWS)
    taken = (rng.random(n)[:, None] > distribution.cumsum(axis=1)).sum(axis=1).clip(max=3)
    buys = rng.random(n) < chances(age, new)[np.arange(n), taken]
    revenue = np.where(buys, np.round(PRICE + rng.normal(0.0, 5.0, size=n), 2), 0.0)
    return pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(["Rome", "Oslo"], size=n),
            "new": new,
            "offer": np.array(OFFERS)[taken],
            "revenue": revenue,
            "p": distribution[np.arange(n), taken],
        }
    )


def chances(age, new):
    """Probability of a sale by offer, for the rows of two arrays."""
    base = 0.1 + 0.002 * (np.asarray(age) - 18)
    lift = np.where(np.asarray(new)[:, None], [0.1, 0.05, 0.15, 0.0], [0.02, 0.0, -0.05, 0.0])
    return base[:, None] + lift


def rule(row):
    """Free shipping for new customers, nothing for others."""
    return "free shipping" if row["new"] else "none"


def truths(seed=1, n=400_000):
    """Mean revenue of `rule`, and of what the shop did, in the long run."""
    rng = np.random.default_rng(seed)
    age, new = rng.integers(18, 70, size=n), rng.random(n) < 0.4
    p = chances(age, new) * PRICE
    distribution = np.where((age < 40)[:, None], *LAWS)
    return float(np.where(new, p[:, 2], p[:, 3]).mean()), float(
        (distribution * p).sum(axis=1).mean()
    )
