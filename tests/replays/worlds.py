"""Logs of worlds whose truth is known: what every action earns in every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

NAMES = (
    ["none", "5%", "10%", "free shipping"],
    ["NA", "EU", "US"],
    ["null", "a", "-"],
    ["off", "on"],
)
KINDS = (
    *("right", "right", "drift", "uniform", "estimate", "by action", "by reward", "rounded"),
    *("over time", "customers"),
)


@dataclass
class Log:
    """A log, the options that describe it, and the truth."""

    frame: pd.DataFrame
    means: Any  # of each action in each row
    chances: Any  # of each action in each row
    names: list[str]
    options: dict[str, Any]
    kind: str = "right"

    @property
    def current(self) -> float:
        """What the rule that drew the actions earns."""
        return float((self.means * self.chances).sum(axis=1).mean())

    @property
    def best(self) -> float:
        """What the best action of each row earns."""
        return float(self.means.max(axis=1).mean())

    def value(self, decisions) -> float:
        """What decisions earn, one for each row."""
        places = {name: k for k, name in enumerate(self.names)}
        return float(np.mean([m[places[a]] for m, a in zip(self.means, decisions, strict=True)]))


def drawn(rng, chances):
    """An action for each row."""
    return (rng.random((len(chances), 1)) > np.cumsum(chances, axis=1)).sum(axis=1)


def offers(n=1500, seed=0):
    """Offers in a shop, one of which is called none; what they earn depends on the customer."""
    rng = np.random.default_rng(seed)
    names = NAMES[0]
    age, new = rng.integers(18, 80, n), rng.random(n) < 0.4
    chances = np.where(new[:, None], [[0.25, 0.1, 0.3, 0.35]], [[0.45, 0.1, 0.2, 0.25]])
    actions = drawn(rng, chances)
    rates = np.where(new[:, None], [[0.08, 0.10, 0.14, 0.13]], [[0.12, 0.11, 0.10, 0.12]])
    rates = rates + np.where(age[:, None] > 50, [[0.0, 0.0, 0.0, 0.06]], 0.0)
    price = np.array([50.0, 47.5, 45.0, 44.0])
    rows = np.arange(n)
    bought = rng.random(n) < rates[rows, actions]
    earned = bought * price[actions] * rng.gamma(4.0, 0.25, n)
    frame = pd.DataFrame({
        "age": age, "new": new, "offer": np.array(names)[actions],
        "revenue": earned.round(2), "p": chances[rows, actions],
    })  # fmt: skip
    options = {"action": "offer", "reward": "revenue", "propensity": "p"}
    return Log(frame, rates * price, chances, names, options)


def one_segment(n=1500, seed=0):
    """A log in which one action was drawn for students only, with the right propensities."""
    rng = np.random.default_rng(seed)
    names, student = ["old", "new", "trial"], rng.random(n) < 0.35
    means = np.where(student[:, None], [[0.3, 0.3, 0.8]], [[0.3, 0.3, 0.02]])
    chances = np.where(student[:, None], [[0.4, 0.3, 0.3]], [[0.6, 0.4, 0.0]])
    actions, rows = drawn(rng, chances), np.arange(n)
    frame = pd.DataFrame({
        "x": rng.normal(size=n).round(3), "student": student, "did": np.array(names)[actions],
        "earned": (rng.random(n) < means[rows, actions]).astype(float), "p": chances[rows, actions],
    })  # fmt: skip
    options = {"action": "did", "reward": "earned", "propensity": "p"}
    return Log(frame, means, chances, names, options, "one segment")


def random_log(seed, n=1500):
    """A log of a random world; in one of three no action is better than another anywhere."""
    rng = np.random.default_rng([33, seed])
    names, kind = NAMES[seed % len(NAMES)], KINDS[seed // len(NAMES) % len(KINDS)]
    K = len(names)
    x, group = rng.normal(size=n), rng.integers(3, size=n)
    scores = rng.normal(scale=0.8, size=K) + rng.normal(scale=0.8, size=(3, K))[group]
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    chances = 0.1 / K + 0.9 * chances
    effect = 0.0 if seed % 3 == 0 else 0.5
    rates = 0.3 + effect * (
        0.2 * rng.normal(size=K)
        + 0.2 * np.outer(np.tanh(x), rng.normal(size=K))
        + 0.2 * rng.normal(size=(3, K))[group]
    )
    if kind == "drift":
        rates = np.where(np.arange(n)[:, None] < n // 2, rates, rates[:, ::-1])
    if kind == "over time":  # both what is done and what is earned change, to the end
        late = np.linspace(0.0, 1.0, n)[:, None]
        chances = (1.0 - late) * chances[:1] + late * chances[:1, ::-1]
        rates = rates + 0.4 * (late - 0.5)
    rates = rates.clip(0.02, 0.95)
    actions, rows = drawn(rng, chances), np.arange(n)
    if kind == "customers":  # of 20 rows each, for which one draw decides
        first = 20 * (rows // 20)
        chances, actions = chances[first], actions[first]
        rates = (rates + rng.uniform(-0.25, 0.4, size=n)[first, None]).clip(0.02, 0.95)
    hit = (rng.random(n) < rates[rows, actions]).astype(float)
    size = 1.0 if seed % 2 else 20.0
    earned = hit * (1.0 if seed % 2 else (size * rng.gamma(4.0, 0.25, n)).round(2))
    frame = pd.DataFrame({
        "x": x.round(4), "group": np.array(["north", "south", "NA"])[group],
        "did": np.array(names)[actions], "earned": earned, "p": chances[rows, actions],
    })  # fmt: skip
    options: dict[str, Any] = {"action": "did", "reward": "earned", "propensity": "p"}
    kept = np.ones(n, dtype=bool)
    if kind == "uniform":
        options["propensity"] = 1.0 / K
    elif kind == "estimate":
        options["propensity"] = "estimate"
    elif kind == "by action":
        kept = (actions != actions[0]) | (rng.random(n) < 0.5)
    elif kind == "by reward":
        kept = (hit > 0.0) | (rng.random(n) < 0.5)
    elif kind == "rounded":
        frame["p"] = frame["p"].round(2)
    elif kind == "over time":
        frame["p"] = chances.mean(axis=0)[actions]
    if options["propensity"] != "p":
        frame = frame.drop(columns="p")
    frame = frame[kept].reset_index(drop=True)
    return Log(frame, size * rates[kept], chances[kept], names, options, kind)
