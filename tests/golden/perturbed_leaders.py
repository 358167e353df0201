"""The two main learners: all ways to choose epsilon, noise, predictions and resampling."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import hannan as hn
from tests.golden.making import full_information, semi_bandit
from tests.golden.playing import ROUNDS, Trace, play
from tests.golden.worlds import MAIN, OPEN, SETS, UNSIZED, World

EPSILONS = ("adaptive", "anytime", "theorem", 0.5)
TRUSTS = ("earned", "baseline")
Settings = Iterator[tuple[str, Any]]


def named(*parts: Any) -> str:
    """The name of a setting; parts that are empty say that nothing is special."""
    return "/".join(str(part) for part in parts if part not in (None, ""))


def settings() -> Settings:
    """All of them, by name."""
    yield from _full()
    yield from _full_restricted()
    yield from _bandit_resampled()
    yield from _bandit_advised()
    yield from _bandit_restricted()
    yield from _parameters()
    yield from _manners()


def _worlds(worlds: dict[str, World]) -> Iterator[tuple[str, World, float | str]]:
    """Worlds with the epsilons they allow: where contexts are open no theorem speaks."""
    for (name, world), epsilon in product(worlds.items(), EPSILONS):
        if not (epsilon == "theorem" and name in OPEN):
            yield name, world, epsilon


def _horizon(epsilon: float | str) -> int | None:
    return ROUNDS if epsilon == "theorem" else None


def _mean() -> Any:
    return hn.predictors.Mean(by_context=False)


def _guesses(name: str) -> Any:
    return hn.predictors.Ridge(alpha=0.1) if name.startswith("linear") else _mean()


def _play_full(
    world: World, epsilon: float | str, options: dict[str, Any], guess: Any, **manner: Any
) -> Trace:
    def make() -> Any:
        predictor = None if guess is None else guess()
        given = {**world.known, **world.options, **options}
        return full_information(
            world.oracle(), epsilon=epsilon, horizon=_horizon(epsilon), predictor=predictor, **given
        )

    return play(make, world, **manner)


def _play_bandit(
    world: World, epsilon: float | str, options: dict[str, Any], guess: Any, **manner: Any
) -> Trace:
    def make() -> Any:
        predictor = None if guess is None else guess()
        given = {**world.known, **options}
        return semi_bandit(
            world.oracle(), epsilon=epsilon, horizon=_horizon(epsilon), predictor=predictor, **given
        )

    return play(make, world, **manner)


def _full() -> Settings:
    for name, world, epsilon in _worlds({**MAIN, "function-unsized": UNSIZED}):
        for trust, noise in product((None, "earned", "always"), ("fresh", "once")):
            guess = None if trust is None else _mean
            options = {"noise": noise} if trust is None else {"noise": noise, "trust": trust}
            label = named("full", name, epsilon, trust and f"mean-{trust}", noise)
            yield label, partial(_play_full, world, epsilon, options, guess)
        if epsilon != "adaptive" or name == "finite":  # refused, which need not be seen often
            label = named("full", name, epsilon, "late")
            yield label, partial(_play_full, world, epsilon, {}, None, manner="late")
    label = named("full", "finite", 0.5, "mean-earned", "late")
    yield label, partial(_play_full, MAIN["finite"], 0.5, {}, _mean, manner="late")


def _full_restricted() -> Settings:
    single = {name: world for name, world in MAIN.items() if name not in SETS}
    for name, world, epsilon in _worlds({**single, "function-unsized": UNSIZED}):
        for trust, manner in ((None, "immediate"), ("earned", "immediate"), (None, "late")):
            late = "late" if manner == "late" else None
            if late and epsilon == "adaptive":
                continue
            label = named("full", name, epsilon, trust and "mean-earned", "restricted", late)
            guess = None if trust is None else _mean
            how = {"manner": manner, "restricted": True}
            yield label, partial(_play_full, world, epsilon, {}, guess, **how)
    for name in SETS:  # restricted action sets are for single actions
        label = named("full", name, "adaptive", "restricted")
        yield label, partial(_play_full, MAIN[name], "adaptive", {}, None, restricted=True)


def _bandit_resampled() -> Settings:
    modes = ("auto", "shared", "rao-blackwell", "exact")
    for name, world, epsilon in _worlds(MAIN):
        for resampling, late in product(modes, (None, "late")):
            label = named("bandit", name, epsilon, resampling, late)
            how = {"manner": late or "immediate"}
            yield (
                label,
                partial(_play_bandit, world, epsilon, {"resampling": resampling}, None, **how),
            )


def _bandit_advised() -> Settings:
    for name, world, epsilon in _worlds(MAIN):
        for trust, late in product(TRUSTS, (None, "late")):
            label = named("bandit", name, epsilon, trust, late)
            options = {"trust": trust}
            guess = partial(_guesses, name)
            how = {"manner": late or "immediate"}
            yield label, partial(_play_bandit, world, epsilon, options, guess, **how)


def _bandit_restricted() -> Settings:
    single = {name: world for name, world in MAIN.items() if name not in SETS}
    for name, world, epsilon in _worlds(single):
        for trust, resampling, late in product((None, *TRUSTS), ("auto", "shared"), (None, "late")):
            options = {"resampling": resampling} | ({"trust": trust} if trust else {})
            label = named("bandit", name, epsilon, trust, resampling, "restricted", late)
            guess = _mean if trust else None
            how = {"manner": late or "immediate", "restricted": True}
            yield label, partial(_play_bandit, world, epsilon, options, guess, **how)
    for name in SETS:
        label = named("bandit", name, "adaptive", "auto", "restricted")
        yield label, partial(_play_bandit, MAIN[name], "adaptive", {}, None, restricted=True)


def _parameters() -> Settings:
    """Parameters that need not be combined with all others."""
    for name in ("finite", "linear-open", "disjunctions", "subsets"):
        world = MAIN[name]
        for eagerness in (0.5, 3.0):
            what = f"eagerness-{eagerness}"
            options: dict[str, Any] = {"eagerness": eagerness}
            yield (
                named("full", name, "adaptive", what),
                partial(_play_full, world, "adaptive", options, None),
            )
            yield (
                named("bandit", name, "adaptive", what),
                partial(_play_bandit, world, "adaptive", options, None),
            )
        for seed in (0, 12345678901234567890):
            yield (
                named("full", name, "adaptive", f"seed-{seed}"),
                partial(_play_full, world, "adaptive", {"seed": seed}, None),
            )
        for successes, late in product((1, 3, 5), (None, "late")):
            options = {"resampling": "rao-blackwell", "successes": successes}
            yield (
                named("bandit", name, "adaptive", f"successes-{successes}", late),
                partial(_play_bandit, world, "adaptive", options, None, manner=late or "immediate"),
            )
        for limit, epsilon in product((1, 7), ("adaptive", 0.5)):
            yield (
                named("bandit", name, epsilon, f"max-resamples-{limit}"),
                partial(_play_bandit, world, epsilon, {"max_resamples": limit}, None),
            )
        yield (
            named("bandit", name, "adaptive", "wider-range"),
            partial(_play_bandit, world, "adaptive", {"loss_range": (0.0, 2.0)}, None),
        )
        yield (
            named("full", name, "adaptive", "wider-range"),
            partial(_play_full, world, "adaptive", {"loss_range": (-1.0, 2.0)}, None),
        )
        yield (
            named("full", name, "adaptive", "any-losses"),
            partial(_play_full, world, "adaptive", {"loss_range": None}, None),
        )
    trusts = {
        "budget-0.5": hn.Trust(0.5, prior=2.0),
        "prior-2": hn.Trust(prior=2.0, floor=0.1),
        "share-0.5": hn.Trust(prior=2.0, share=0.5),
        "share-1": hn.Trust(share=1.0),
        "no-baseline": hn.Trust(baseline=None),
        "any-baseline": hn.Trust(baseline="prediction"),
    }
    for name, (what, believed) in product(("finite", "all", "linear-open"), trusts.items()):
        yield (
            named("bandit", name, "adaptive", "earned", what),
            partial(
                _play_bandit,
                MAIN[name],
                "adaptive",
                {"trust": believed},
                partial(_guesses, name),
            ),
        )
    predictors = {
        "last": hn.predictors.Last,
        "exponential-mean": hn.predictors.ExponentialMean,
        "mean": hn.predictors.Mean,
        "ridge": hn.predictors.Ridge,
        "fourier-ridge": hn.predictors.FourierRidge,
        "blend": hn.predictors.Blend,
    }
    for (what, guess), name in product(predictors.items(), ("finite", "all", "linear-open")):
        if what in ("ridge", "fourier-ridge", "blend") and name != "linear-open":
            continue  # they need rows
        yield (
            named("full", name, "adaptive", f"by-context-{what}"),
            partial(_play_full, MAIN[name], "adaptive", {}, guess),
        )
        yield (
            named("bandit", name, "adaptive", f"by-context-{what}"),
            partial(_play_bandit, MAIN[name], "adaptive", {}, guess),
        )


def _manners() -> Settings:
    """Decisions that are out_of_order, forgotten or made together."""
    for name, manner, restricted in product(
        ("finite", "all", "linear-open", "subsets"),
        ("out_of_order", "forgetting", "many"),
        (False, True),
    ):
        if restricted and name in SETS:
            continue
        how: dict[str, Any] = {"manner": manner, "restricted": restricted}
        limited = "restricted" if restricted else None
        world = MAIN[name]
        for epsilon in ("anytime", 0.5):
            yield (
                named("full", name, epsilon, limited, manner),
                partial(_play_full, world, epsilon, {}, None, **how),
            )
        for epsilon, trust in product(("adaptive", "anytime"), (None, "earned", "baseline")):
            options = {"trust": trust} if trust else {}
            guess = partial(_guesses, name) if trust else None
            if trust == "earned" and name in SETS:
                continue
            yield (
                named("bandit", name, epsilon, trust, limited, manner),
                partial(_play_bandit, world, epsilon, options, guess, **how),
            )
