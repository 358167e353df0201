"""Small worlds for a Decider: contexts of mixed kinds, and what each action earns."""

import datetime as dt

import numpy as np

ACTIONS = ["red", "green", "blue"]


def contexts(n, seed=0):
    """Rows of numbers, words, dates, flags, and what is missing."""
    rng = np.random.default_rng(seed)
    start = dt.datetime(2026, 1, 1)
    found = []
    for t in range(n):
        found.append({
            "age": None if rng.random() < 0.1 else int(rng.integers(18, 80)),
            "basket": float(rng.gamma(2.0, 20.0)),
            "city": [None, "Rome", "Oslo", "Bonn"][rng.integers(4)],
            "new": bool(rng.integers(2)),
            "when": start + dt.timedelta(hours=t),
        })  # fmt: skip
    return found


def earned(context, action, seed=0):
    """From 0 to 200: each action is best for some contexts; a function of what is asked alone."""
    best = "red" if context["new"] else "green" if context["city"] in (None, "Rome") else "blue"
    noise = np.random.default_rng([seed, int(context["basket"] * 1e6)]).uniform(0.0, 60.0)
    return noise + (140.0 if action == best else 20.0)
