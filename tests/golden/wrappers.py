"""Learners in learners, and Algorithm 1."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from river import drift

import hannan as hn
from tests.golden.making import (
    baseline,
    discounted,
    ftpl,
    full_information,
    restarting,
    semi_bandit,
    strongly_adaptive,
)
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import ROUNDS, play
from tests.golden.worlds import MAIN, OTHER, TABLE, World, drifting, number, row

Make = Callable[[], Any]
LONG = 900  # rounds until a detector has seen a change for sure


def settings() -> Settings:
    """All of them, by name."""
    yield from _restarting()
    yield from _discounted()
    yield from _strongly_adaptive()
    yield from _ftpl()


def _break(t: int, rng: Any, K: int) -> Any:
    """One action is free of loss, another one after 400 rounds."""
    return (np.arange(K) != (0 if t < 400 else 2)).astype(float)


ALTERNATING = World(lambda: hn.oracles.AllPolicies(2, 3), 3, lambda t, rng: t % 2, losses=_break)
ROWS = World(lambda: hn.oracles.LinearPolicies(n_actions=3), 3, row(4), losses=_break)
LISTED = World(lambda: hn.oracles.FinitePolicies(TABLE, 3), 3, number(6), losses=_break)


def _restarting() -> Settings:
    mean, ridge = hn.predictors.Mean, hn.predictors.Ridge
    inside: dict[str, tuple[World, Make]] = {
        "bandit-linear": (
            ROWS,
            lambda: semi_bandit(ROWS.oracle(), predictor=ridge(alpha=0.1), seed=0),
        ),
        "bandit-all": (
            ALTERNATING,
            lambda: semi_bandit(ALTERNATING.oracle(), predictor=mean(), seed=0),
        ),
        "bandit-plain": (LISTED, lambda: semi_bandit(LISTED.oracle(), seed=0)),
        "full-finite": (LISTED, lambda: full_information(LISTED.oracle(), seed=0)),
        "full-anytime": (
            LISTED,
            lambda: full_information(LISTED.oracle(), epsilon="anytime", seed=0),
        ),
        "full-mean": (
            ALTERNATING,
            lambda: full_information(ALTERNATING.oracle(), predictor=mean(), seed=0),
        ),
        "hedge": (LISTED, lambda: baseline("Hedge", TABLE, seed=0)),
        "epsilon-greedy": (ROWS, lambda: baseline("EpsilonGreedy", 3, seed=0)),
        "discounted": (
            LISTED,
            lambda: discounted(full_information(LISTED.oracle(), seed=0), 0.99),
        ),
    }
    for (name, (world, make)), manner in product(inside.items(), ("immediate", "late")):
        late = "late" if manner == "late" else None
        yield (
            named("restarting", name, late),
            partial(play, partial(_restarted, make), world, rounds=LONG, manner=manner),
        )
    for name, options in {
        "capped": {"max_restarts": 1},
        "never": {"max_restarts": 0},
        "adwin": {"detector": hn.adapters.RiverDetector(drift.ADWIN())},
        "watching": {"predictor": hn.predictors.Mean()},
    }.items():
        for kind in ("bandit-all", "full-finite"):
            world, make = inside[kind]
            yield (
                named("restarting", kind, name),
                partial(play, partial(_restarted, make, **options), world, rounds=LONG),
            )
    for kind, manner, restricted in (
        ("bandit-all", "immediate", True),
        ("bandit-all", "late", True),
        ("full-finite", "immediate", True),
        ("full-finite", "late", True),
        ("bandit-all", "forgetting", False),
        ("bandit-all", "many", False),
        ("hedge", "immediate", True),
        ("hedge", "many", False),
    ):
        world, make = inside[kind]
        limited = "restricted" if restricted else None
        late = None if manner == "immediate" else manner
        how: dict[str, Any] = {"manner": manner, "restricted": restricted, "rounds": LONG}
        yield (
            named("restarting", kind, limited, late),
            partial(play, partial(_restarted, make), world, **how),
        )


def _restarted(make: Make, **options: Any) -> Any:
    return restarting(make(), **options)


def full_worlds() -> dict[str, World]:
    """Worlds for learners that see all losses."""
    names = ("finite", "all", "linear-open", "disjunctions", "subsets")
    return {
        **{name: MAIN[name] for name in names},
        "slates": OTHER["slates"],
        "drifting": World(MAIN["finite"].oracle, 3, number(6), losses=drifting),
    }


def _discounted() -> Settings:
    def make(world: World, discount: float) -> Any:
        return discounted(full_information(world.oracle(), **world.known), discount)

    for (name, world), discount in product(full_worlds().items(), (1.0, 0.99, 0.7)):
        for restricted in (False, True):
            if restricted and world.oracle().max_chosen > 1:
                continue
            limited = "restricted" if restricted else None
            yield (
                named("discounted", name, discount, limited),
                partial(play, partial(make, world, discount), world, restricted=restricted),
            )


def _strongly_adaptive() -> Settings:
    def inner(world: World, epsilon: float | str, guess: Any) -> Any:
        given = {**world.known, "epsilon": epsilon}
        return full_information(world.oracle(), predictor=guess and guess(), **given)

    def make(world: World, epsilon: float | str, guess: Any, shortest: int) -> Any:
        return strongly_adaptive(inner(world, epsilon, guess), shortest=shortest)

    for name, world in full_worlds().items():
        for epsilon, guess, shortest, restricted in (
            ("adaptive", None, 8, False),
            ("adaptive", None, 8, True),
            ("adaptive", hn.predictors.Mean, 8, False),
            ("anytime", None, 8, False),
            (0.5, None, 8, True),
            ("adaptive", None, 3, False),
        ):
            if (restricted and world.oracle().max_chosen > 1) or (
                name == "linear-open" and shortest < 8
            ):
                continue
            limited = "restricted" if restricted else None
            label = named(
                "strongly-adaptive", name, epsilon, guess and "mean", f"from-{shortest}", limited
            )
            how = {"restricted": restricted, "rounds": ROUNDS}
            yield label, partial(play, partial(make, world, epsilon, guess, shortest), world, **how)
    for name, kind in (("hedge", "Hedge"), ("fixed-share", "FixedShare")):
        for restricted in (False, True):
            limited = "restricted" if restricted else None
            world = MAIN["finite"]
            yield (
                named("strongly-adaptive", name, limited),
                partial(play, partial(_mixed, kind), world, restricted=restricted),
            )


def _mixed(kind: str) -> Any:
    return strongly_adaptive(baseline(kind, TABLE, seed=0))


def fakes(rng: np.random.Generator) -> list[tuple[int, Any]]:
    """A few fake losses on random contexts."""
    return [(int(rng.integers(4)), rng.laplace(size=3)) for _ in range(rng.geometric(0.4))]


def _ftpl() -> Settings:
    def make(world: World, guess: Any, trust: str) -> Any:
        return ftpl(world.oracle(), fakes, predictor=guess and guess(), trust=trust)

    predictors = {None: None, "mean": hn.predictors.Mean, "last": hn.predictors.Last}
    for name, (what, guess), trust, restricted in product(
        ("finite", "all"), predictors.items(), ("earned", "always"), (False, True)
    ):
        if guess is None and trust == "always":
            continue
        limited = "restricted" if restricted else None
        world = MAIN[name]
        yield (
            named("ftpl", name, what and f"{what}-{trust}", limited),
            partial(play, partial(make, world, guess, trust), world, restricted=restricted),
        )
