"""Policy classes beside the main ones, loss functions on sets, and sequences that switch."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

import hannan as hn
from tests.golden.making import full_information, semi_bandit
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import play
from tests.golden.worlds import OTHER, TABLE, Rng, World, drifting

SLOW = ("linear-program", "sklearn", "multi-label-finite", "trees", "intercepts", "matroid")
FEW = 40
T = 60  # rounds that sequences with switches are made for


def settings() -> Settings:
    """All of them, by name."""
    yield from _others()
    yield from _functions()
    yield from _switching()


def _rounds(name: str) -> int:
    return 25 if name == "sklearn" else FEW if name in SLOW else 80


def _others() -> Settings:
    def full(world: World, epsilon: Any, guess: Any, noise: str = "fresh") -> Any:
        given = {**world.known, **world.options, "epsilon": epsilon, "noise": noise}
        return full_information(world.oracle(), predictor=guess and guess(), **given)

    def bandit(world: World, epsilon: Any, guess: Any) -> Any:
        trust = "earned" if world.oracle().max_chosen == 1 else "baseline"
        given = {**world.known, "epsilon": epsilon, "trust": trust}
        return semi_bandit(world.oracle(), predictor=guess and guess(), **given)

    for name, world in OTHER.items():
        rounds = _rounds(name)
        for epsilon, guess in (("adaptive", None), ("adaptive", hn.predictors.Last), (0.3, None)):
            how = named(epsilon, guess and "last")
            yield (
                named("class", "full", name, how),
                partial(play, partial(full, world, epsilon, guess), world, rounds=rounds),
            )
        yield (
            named("class", "full", name, "once", "anytime"),
            partial(play, partial(full, world, "anytime", None, "once"), world, rounds=rounds),
        )
        if world.options:  # losses of both signs: not for bandits
            continue
        for epsilon, guess, manner in (
            ("adaptive", None, "immediate"),
            ("adaptive", None, "late"),
            ("adaptive", hn.predictors.Last, "immediate"),
            (0.3, hn.predictors.Last, "late"),
        ):
            how = named(epsilon, guess and "last", "late" if manner == "late" else None)
            yield (
                named("class", "bandit", name, how),
                partial(
                    play,
                    partial(bandit, world, epsilon, guess),
                    world,
                    rounds=rounds,
                    manner=manner,
                ),
            )


def _coverage(t: int, rng: Rng, K: int) -> Any:
    sets = [[0, 1], [1, 2], [2], [0, 2]]
    return hn.losses.Coverage(sets, weights=rng.random(3) * 0.2) + hn.losses.Linear(
        -0.1 * rng.random(4)
    )


def _cut(t: int, rng: Rng, K: int) -> Any:
    weights = 0.2 * rng.random(3)
    return hn.losses.Cut([0, 1, 2], [1, 2, 3], weights, n=4, modular=0.2 * rng.random(4) - 0.1)


def _concave(t: int, rng: Rng, K: int) -> Any:
    steps = np.concatenate(([0.0], np.cumsum(0.2 * np.sort(rng.random(4))[::-1])))
    return hn.losses.ConcaveOfCardinality(steps) + hn.losses.Linear(-0.25 * rng.random(4))


def _root(t: int, rng: Rng, K: int) -> Any:
    return 0.5 * hn.losses.ConcaveOfModular(rng.random(4) / 4.0, "sqrt") + hn.losses.Linear(
        -0.3 * rng.random(4)
    )


def pairs_of_two(chosen: Any) -> float:
    """How many of two pairs have an element that is chosen."""
    return len(set(np.asarray(chosen) // 2)) / 2


def _custom(t: int, rng: Rng, K: int) -> Any:
    return 0.4 * hn.losses.Custom(pairs_of_two, n=4) + hn.losses.Linear(-0.3 * rng.random(4))


def _vectors(t: int, rng: Rng, K: int) -> Any:
    return 0.5 * (rng.random(4) - 0.5)


def _mixed(t: int, rng: Rng, K: int) -> Any:
    return (_coverage, _cut, _root, _vectors)[t % 4](t, rng, K)


def _functions() -> Settings:
    """Losses that are functions of the set chosen."""

    def make(world: World, epsilon: Any, guess: Any, noise: str) -> Any:
        predictor = guess and guess(by_context=False)
        return full_information(
            world.oracle(), epsilon=epsilon, predictor=predictor, noise=noise, **world.options
        )

    kinds = {
        "coverage": _coverage,
        "cut": _cut,
        "concave-of-cardinality": _concave,
        "concave-of-modular": _root,
        "custom": _custom,
        "vectors": _vectors,
        "mixed": _mixed,
    }
    for name, losses in kinds.items():
        world = World(
            lambda: hn.oracles.Submodular(4), 4, losses=losses, options={"loss_range": (-2.0, 2.0)}
        )
        for epsilon, guess, noise, manner in (
            ("adaptive", None, "fresh", "immediate"),
            ("anytime", None, "once", "immediate"),
            ("adaptive", hn.predictors.Last, "fresh", "immediate"),
            ("anytime", None, "fresh", "late"),
        ):
            late = "late" if manner == "late" else None
            if name == "mixed" and guess is not None:
                continue  # a guess that is a function does not fit losses that are a vector
            label = named(
                "class", "full", "submodular", name, epsilon, guess and "last", noise, late
            )
            yield (
                label,
                partial(
                    play,
                    partial(make, world, epsilon, guess, noise),
                    world,
                    rounds=25 if name == "custom" else FEW,
                    manner=manner,
                ),
            )


def _switching() -> Settings:
    """Sequences of policies; the number of the round is the learner's to know."""
    contexts = [int(x) for x in np.random.default_rng(8).integers(6, size=T)]

    def known(t: int, rng: Rng) -> int:
        return int(rng.integers(6))

    assert World(lambda: None, 3, known).contexts(T) == contexts  # what will arrive

    def listed(**options: Any) -> World:
        def oracle() -> Any:
            base = hn.oracles.FinitePolicies(TABLE[:12], 3)
            return hn.oracles.Switching(base, 2, sequence=contexts, **options)

        return World(oracle, 3, known, losses=drifting)

    def paths(**options: Any) -> World:
        def oracle() -> Any:
            roads = hn.oracles.Paths([("a", "b"), ("a", "b"), ("a", "b")], "a", "b")
            return hn.oracles.Switching(roads, 1, sequence=T, **options)

        return World(oracle, 3, losses=drifting)

    worlds = {
        "listed": listed(),
        "listed-unreluctant": listed(reluctance=0.0),
        "listed-reluctant": listed(reluctance=2.0),
        "listed-grid": listed(grid=5),
        "listed-intervals": listed(method="intervals"),
        "paths": paths(),
        "paths-reluctant": paths(reluctance=1.0),
    }

    def full(world: World, epsilon: Any, noise: str, guess: Any = None) -> Any:
        return full_information(
            world.oracle(), epsilon=epsilon, noise=noise, predictor=guess and guess()
        )

    def bandit(world: World, epsilon: Any) -> Any:
        return semi_bandit(world.oracle(), epsilon=epsilon)

    for (name, world), (epsilon, noise, manner) in product(
        worlds.items(),
        (
            ("adaptive", "fresh", "immediate"),
            ("adaptive", "once", "immediate"),
            ("anytime", "fresh", "late"),
            (0.5, "fresh", "immediate"),
        ),
    ):
        late = "late" if manner == "late" else None
        if name == "listed-intervals" and (noise, epsilon) != ("fresh", "adaptive"):
            continue  # takes long
        yield (
            named("class", "full", "switching", name, epsilon, noise, late),
            partial(play, partial(full, world, epsilon, noise), world, rounds=T, manner=manner),
        )
    for name, manner in product(
        ("listed", "listed-reluctant", "listed-grid", "paths"), ("immediate", "late")
    ):
        late = "late" if manner == "late" else None
        yield (
            named("class", "bandit", "switching", name, late),
            partial(
                play,
                partial(bandit, worlds[name], "adaptive"),
                worlds[name],
                rounds=T,
                manner=manner,
            ),
        )
    yield (
        named("class", "full", "switching", "listed", "last"),
        partial(
            play,
            partial(full, worlds["listed"], "adaptive", "fresh", hn.predictors.Last),
            worlds["listed"],
            rounds=T,
        ),
    )
