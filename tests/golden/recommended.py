"""What to start with: `hn.bandit` and the learner behind it, `hn.experts` and the one behind it."""

from functools import partial
from itertools import product
from typing import Any

import hannan as hn
from tests.golden.making import adaptive_discount, bandit, exp3_ix, tsallis
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import play
from tests.golden.worlds import MAIN, World
from tests.golden.wrappers import ALTERNATING, LISTED, LONG, ROWS, full_worlds

MANNERS = ("immediate", "late", "out_of_order", "forgetting", "many")


def settings() -> Settings:
    """All of them, by name."""
    yield from _tsallis()
    yield from _exp3_ix()
    yield from _bandit()
    yield from _adaptive_discount()


def _parts(manner: str, restricted: bool) -> tuple[str | None, str | None]:
    return "restricted" if restricted else None, None if manner == "immediate" else manner


def _tsallis() -> Settings:
    def make(world: World, guess: Any, options: dict[str, Any]) -> Any:
        return tsallis(world.oracle(), predictor=guess and guess(), **options)

    world = MAIN["all"]
    guesses = {None: None, "mean": hn.predictors.Mean, "last": hn.predictors.Last}
    for (what, guess), manner, restricted in product(guesses.items(), MANNERS, (False, True)):
        yield (
            named("tsallis", what, *_parts(manner, restricted)),
            partial(
                play, partial(make, world, guess, {}), world, manner=manner, restricted=restricted
            ),
        )
    for what, options in {
        "wider-range": {"loss_range": (0.0, 2.0)},
        "budget-0.5": {"trust": hn.Trust(0.5, prior=2.0)},
        "share-1": {"trust": hn.Trust(share=1.0)},
    }.items():
        yield (
            named("tsallis", "mean", what),
            partial(play, partial(make, world, hn.predictors.Mean, options), world),
        )


def _exp3_ix() -> Settings:
    def make(guess: Any) -> Any:
        return exp3_ix(MAIN["all"].oracle(), predictor=guess and guess())

    guesses = {None: None, "mean": hn.predictors.Mean}
    for (what, guess), manner, restricted in product(guesses.items(), MANNERS, (False, True)):
        given = {"manner": manner, "restricted": restricted}
        label = named("exp3-ix", what, *_parts(manner, restricted))
        yield label, partial(play, partial(make, guess), MAIN["all"], **given)


def _bandit() -> Settings:
    arms = World(lambda: hn.oracles.AllPolicies(1, 3), 3, losses=LISTED.losses)
    worlds: dict[str, tuple[World, dict[str, Any]]] = {
        "rows": (ROWS, {}),
        "arms": (arms, {"n_contexts": 1}),
        "contexts": (ALTERNATING, {"n_contexts": 2}),
        "listed": (LISTED, {"policies": LISTED.oracle()}),
    }
    for (name, (world, options)), manner in product(worlds.items(), ("immediate", "late", "many")):
        yield (
            named("recommended", "bandit", name, *_parts(manner, False)),
            partial(play, partial(bandit, 3, **options), world, rounds=LONG, manner=manner),
        )
        if manner == "immediate":
            yield (
                named("recommended", "bandit", name, "restricted"),
                partial(play, partial(bandit, 3, **options), world, restricted=True),
            )


def _adaptive_discount() -> Settings:
    def make(world: World, options: dict[str, Any]) -> Any:
        return adaptive_discount(world.oracle(), **world.known, **options)

    for (name, world), discounts in product(full_worlds().items(), (None, (1.0, 0.9), (0.5,))):
        options: dict[str, Any] = {"discounts": discounts}
        label = None if discounts is None else "-".join(map(str, discounts))
        for manner, restricted in product(MANNERS, (False, True)):
            if restricted and world.oracle().max_chosen > 1:
                continue
            if discounts is not None and manner not in ("immediate", "late"):
                continue
            yield (
                named("adaptive-discount", name, label, *_parts(manner, restricted)),
                partial(
                    play, partial(make, world, options), world,
                    manner=manner, restricted=restricted,
                ),
            )  # fmt: skip
    for what, option in {"any-losses": None, "wider-range": (-1.0, 2.0)}.items():
        yield (
            named("adaptive-discount", "finite", what),
            partial(play, partial(make, MAIN["finite"], {"loss_range": option}), MAIN["finite"]),
        )
