"""Described items that come and go: clicks, an adversary, rules with a bound, and speed.

`python -m benchmarks items` plays 5 seeds of 20,000 rounds; `quick` in the environment variable
ITEMS plays one of 4,000. The learner was tuned on seeds below 10, so games have others.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from examples.worlds import Items

import hannan as hn
from benchmarks.measure import Line, ratio, take_turns
from benchmarks.rules import rule_game

_QUICK = os.environ.get("ITEMS") == "quick"
SEEDS, ROUNDS = (1, 4000) if _QUICK else (5, 20_000)
OFFERED, FEATURES, WINDOW = 10, 20, 500
FIRST = 400
Make = Callable[[int], Any]

OURS = "hn.bandit"
PEERS: dict[str, Make] = {
    "VW squarecb": lambda seed: hn.baselines.VowpalWabbit(None, "--squarecb", seed=seed),
    "VW synthcover": lambda seed: hn.baselines.VowpalWabbit(None, "--synthcover", seed=seed),
    "hybrid LinUCB": lambda seed: hn.baselines.ItemLinUCB("hybrid"),
    "disjoint LinUCB": lambda seed: hn.baselines.ItemLinUCB("disjoint"),
}
ALL: dict[str, Make] = {
    OURS: lambda seed: hn.bandit(actions="items", seed=seed),
    **PEERS,
    "shared LinUCB": lambda seed: hn.baselines.ItemLinUCB("shared"),
    "uniform": lambda seed: hn.baselines.UniformRandom(None, seed=seed),
}
WITHOUT_FEATURES = ("disjoint LinUCB", "uniform")


def run() -> list[Line]:
    """The lines of all parts."""
    return [*_clicks(), *_adversary(), *_rules(), *_speed(), *_memory()]


def mean_loss(make: Make, world: hn.Environment, seed: int, rounds: int) -> float:
    """Of a game."""
    learner = make(seed)
    world.meet(learner)
    total = 0.0
    for this_round in world.rounds(rounds, np.random.default_rng(seed)):
        shown = this_round.reveal(learner.act(this_round.context), learner.feedback)
        learner.update(shown)
        total += this_round.loss
    return total / rounds


def _clicks() -> list[Line]:
    lines = []
    for name, changes in (("steady taste", None), ("taste changing every 5,000 rounds", 5000)):
        rates = {}
        for who, make in ALL.items():
            world = Items(OFFERED, changes=changes)
            games = [
                1.0 - mean_loss(make, world, seed, ROUNDS) for seed in range(FIRST, FIRST + SEEDS)
            ]
            rates[who] = float(np.mean(games))
            lines.append(_line(f"click rate, {name}: {who}", 100.0 * rates[who], "%"))
        best = max(rates[who] for who in PEERS)
        least = 1.1 if changes else 1.0
        what = f"{name}: hn.bandit over the best peer"
        lines.append(_line(what, rates[OURS] / best, "x", least))
        blind = max(rates[who] for who in WITHOUT_FEATURES)
        what = f"{name}: hn.bandit over the best without features of items"
        lines.append(_line(what, rates[OURS] / blind, "x", 1.1))
    return lines


def _adversary() -> list[Line]:
    rounds = ROUNDS // 4
    found = {}
    for who in (OURS, "VW squarecb", "hybrid LinUCB", "uniform"):
        world = hn.environments.ItemPunisher(OFFERED)
        games = [mean_loss(ALL[who], world, seed, rounds) for seed in range(SEEDS)]
        found[who] = float(np.mean(games))
    lines = [_line(f"likeliest item punished: {who}", loss, "loss") for who, loss in found.items()]
    above = found[OURS] - found["uniform"]
    return [*lines, _line("hn.bandit above uniform play", above, "loss", 0.05, at_least=False)]


def _rules() -> list[Line]:
    games = [rule_game(seed, 2000) for seed in range(4 if _QUICK else 20)]
    regrets = [regret for regret, _ in games]
    bound = min(bound for _, bound in games)
    return [
        _line("ListedRules, 50 rules, leader punished: regret", float(np.mean(regrets)), "loss"),
        _line(
            "the same, the largest, beside the bound", max(regrets), "loss", bound, at_least=False
        ),
    ]


def _menus(count: int) -> list[hn.Menu]:
    rng = np.random.default_rng(0)
    shape = OFFERED, FEATURES
    return [hn.Menu(rng.normal(size=FEATURES), rng.normal(size=shape)) for _ in range(count)]


def _speed() -> list[Line]:
    menus, losses = _menus(WINDOW), np.random.default_rng(1).random(WINDOW).tolist()

    def seconds(learner: Any) -> float:
        started = time.perf_counter()
        for menu, loss in zip(menus, losses, strict=True):
            learner.act(menu)
            learner.update(loss)
        return (time.perf_counter() - started) / WINDOW

    ours, vw = ALL[OURS](0), ALL["VW squarecb"](0)
    for learner in (ours, vw):
        for _ in range(3):
            seconds(learner)
    mine, theirs = take_turns([lambda: seconds(ours), lambda: seconds(vw)], repetitions=7)
    return [
        _line(f"{OFFERED} actions x {FEATURES} features", 1.0 / min(mine), "rounds/s", 3000),
        _line("the same, Vowpal Wabbit", 1.0 / min(theirs), "rounds/s"),
        _line("speed over Vowpal Wabbit's", ratio(theirs, mine), "x", 0.5),
    ]


def _memory() -> list[Line]:
    """The file of a learner is all that it keeps."""
    learner = hn.bandit(actions="items", seed=0)
    rng, sizes = np.random.default_rng(0), []
    for t in range(20_000):
        ids = range(5 * t, 5 * t + 5)
        learner.act(rng.normal(size=2), actions=rng.normal(size=(5, 2)), ids=ids)
        learner.update(float(rng.random() < 0.5))
        if t in (9_999, 19_999):
            with tempfile.NamedTemporaryFile() as file:
                learner.save(file.name)
                sizes.append(os.path.getsize(file.name))
    what = "size of the learner after 100,000 items over that after 50,000"
    return [_line(what, sizes[1] / sizes[0], "x", 1.05, at_least=False)]


def _line(
    what: str, value: float, unit: str, target: float | None = None, *, at_least: bool = True
) -> Line:
    return Line(what, value, f"{value:,.4g} {unit}", target, at_least)
