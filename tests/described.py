"""Menus, rules and small games with described actions, for several test modules."""

import numpy as np

import hannan as hn


def menus(count, seed=0, p=2, q=3, most=6, ids=False):
    """Menus of different sizes."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(count):
        n = int(rng.integers(2, most + 1))
        names = [f"item {t % 5}-{k}" for k in range(n)] if ids else None
        found.append(hn.Menu(rng.normal(size=p), rng.normal(size=(n, q)), names))
    return found


def first(context, actions):
    """A rule that chooses."""
    return 0


def last(context, actions):
    """Another one."""
    return len(actions) - 1


def smallest(context, actions):
    """A rule that scores."""
    return actions[:, 0]


def dearest(context, actions):
    """Another one."""
    return -actions[:, 1]


RULES = [first, last, smallest, dearest]


def play(learner, rounds, seed=0, ids=False):
    """Actions of a game in which the loss is a coin that the chosen row weighs."""
    rng, found = np.random.default_rng(seed), []
    for menu in menus(rounds, seed, ids=ids):
        action = learner.act(menu)
        mean = 1.0 / (1.0 + np.exp(-menu.rows[action, 0]))
        learner.update(float(rng.random() < mean))
        found.append(action)
    return found
