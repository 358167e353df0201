"""Actions described by features: menus of three, other ones in every round."""

from functools import partial
from itertools import product
from typing import Any

import hannan as hn
from tests.described import RULES
from tests.golden.making import SEED
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import play
from tests.golden.worlds import Rng, World


def offer(t: int, rng: Rng) -> hn.Menu:
    """A context of two features and three items of three, some of which come again."""
    ids = [f"item {t // 10}-{k}" for k in range(3)]
    return hn.Menu(rng.normal(size=2), rng.normal(size=(3, 3)), ids)


def _rules() -> hn.Oracle:
    return hn.oracles.ListedRules(RULES)


def settings() -> Settings:
    """All of them, by name."""
    shared = World(hn.oracles.SharedLinear, 3, offer)
    hashed = World(partial(hn.oracles.SharedLinear, width=5), 3, offer)
    rules = World(_rules, 3, offer)
    games: dict[str, tuple[World, Any]] = {
        "bandit": (shared, lambda: hn.bandit(actions="items", seed=SEED)),
        "shared": (hashed, lambda: hn.ContextSemiBanditFTPL(hashed.oracle(), seed=SEED)),
        "rules": (rules, lambda: hn.ContextSemiBanditFTPL(rules.oracle(), seed=SEED)),
        "rules-hinted": (rules, lambda: hn.ContextSemiBanditFTPL(
            rules.oracle(), predictor=hn.predictors.Hybrid(cosines=10), seed=SEED)),
        "explored": (shared, lambda: hn.bandit(
            actions="items", seed=SEED, exploration=0.05)),
    }  # fmt: skip
    for (name, (world, make)), manner in product(games.items(), ("immediate", "late", "many")):
        late = None if manner == "immediate" else manner
        yield named("items", name, late), partial(play, make, world, manner=manner)
        if manner == "immediate":
            yield named("items", name, "saved"), partial(play, make, world, saved=True)
    for model in ("hybrid", "disjoint", "shared"):
        make = partial(hn.baselines.ItemLinUCB, model)
        yield named("items", "linucb", model), partial(play, make, shared)
