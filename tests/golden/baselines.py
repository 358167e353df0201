"""Every baseline: losses at once and late, all actions available or only some."""

import importlib.util
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import hannan as hn
from tests.golden.making import SEED, baseline
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import play
from tests.golden.worlds import MAIN, OTHER, SLATES, TABLE, World

Make = Callable[[], Any]
BITS = list(product((0, 1), repeat=4))
FEATURES = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.2, 0.1], [0.9, 0.3], [0.4, 0.8]]


def _makers() -> dict[str, tuple[World, Make]]:
    finite, linear, slates = MAIN["finite"], MAIN["linear-open"], OTHER["slates"]

    def make(kind: str, *given: Any, **options: Any) -> Make:
        return partial(baseline, kind, *given, **options)

    found: dict[str, tuple[World, Make]] = {
        "follow-the-leader/finite": (
            finite,
            lambda: baseline("FollowTheLeader", finite.oracle()),
        ),
        "follow-the-leader/all": (
            MAIN["all"],
            lambda: baseline("FollowTheLeader", MAIN["all"].oracle()),
        ),
        "follow-the-leader/subsets": (
            MAIN["subsets"],
            lambda: baseline("FollowTheLeader", MAIN["subsets"].oracle()),
        ),
        "uniform-random": (finite, make("UniformRandom", 3, seed=SEED)),
        "lin-ucb/linear": (linear, make("LinUCB", 3)),
        "lin-ucb/finite": (finite, make("LinUCB", 3, alpha=0.5)),
        "lin-ucb/features": (finite, make("LinUCB", 3, features=FEATURES)),
        "epsilon-greedy/linear": (linear, make("EpsilonGreedy", 3, seed=SEED)),
        "epsilon-greedy/decay": (
            linear,
            make("EpsilonGreedy", 3, epsilon=1.0, decay=0.5, seed=SEED),
        ),
        "epsilon-greedy/mean": (
            finite,
            lambda: baseline("EpsilonGreedy", 3, hn.predictors.Mean(), epsilon=0.2, seed=SEED),
        ),
        "fixed-share/rates": (
            finite,
            make("FixedShare", TABLE, share=0.02, learning_rate=0.5, seed=SEED),
        ),
        "fixed-share/horizon": (
            finite,
            make("FixedShare", TABLE, horizon=120, switches=3, seed=SEED),
        ),
        "optimistic-hedge/mean": (
            finite,
            lambda: baseline("OptimisticHedge", TABLE, predictor=hn.predictors.Mean(), seed=SEED),
        ),
    }
    for kind in ("Hedge", "OptimisticHedge", "AdaNormalHedge", "FixedShare", "Exp4"):
        name = _dashed(kind)
        found[f"{name}/finite"] = finite, make(kind, TABLE, seed=SEED)
        found[f"{name}/slates"] = slates, make(kind, SLATES, seed=SEED)
    for kind in ("Hedge", "OptimisticHedge", "Exp4"):
        found[f"{_dashed(kind)}/rate"] = finite, make(kind, TABLE, learning_rate=0.2, seed=SEED)
    for where in ("finite", "all", "disjunctions", "subsets", "paths"):
        world = MAIN[where]
        given = {"contexts": BITS} if where == "disjunctions" else {}
        for name, options in {
            "": {},
            "/epsilon": {"epsilon": 0.2},
            "/horizon": {"horizon": 120},
        }.items():
            found[f"kalai-vempala/{where}{name}"] = (
                world,
                partial(_on, "KalaiVempala", world, seed=SEED, **given, **options),
            )
    for where in ("finite", "all", "linear-open", "function"):
        world = MAIN.get(where) or OTHER[where]
        options = {"log_size": 3.0} if where in ("linear-open", "function") else {}
        found[f"epoch-greedy/{where}"] = (
            world,
            partial(_on, "EpochGreedy", world, seed=SEED, **world.known, **options),
        )
    if importlib.util.find_spec("vowpalwabbit") is not None:
        for name, arguments in {"squarecb": "--squarecb", "epsilon": "--epsilon 0.1"}.items():
            found[f"vowpal-wabbit/{name}"] = (
                linear,
                make("VowpalWabbit", 3, arguments, seed=SEED),
            )
    return found


def _on(kind: str, world: World, **options: Any) -> Any:
    return baseline(kind, world.oracle(), **options)


def _dashed(kind: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in kind).removeprefix("-")


def settings() -> Settings:
    """All of them, by name."""
    for (name, (world, make)), manner, restricted in product(
        _makers().items(),
        ("immediate", "late", "out_of_order", "forgetting", "many"),
        (False, True),
    ):
        if restricted and (world.n_actions > 3 or manner not in ("immediate", "late")):
            continue
        if manner != "immediate" and name.startswith("epoch-greedy"):
            continue  # it learns in the order of play, so it has no decide()
        if manner != "immediate" and name == "exp4/slates":
            continue  # refused: it is for single actions
        late = None if manner == "immediate" else manner
        limited = "restricted" if restricted else None
        label = named("baseline", name, limited, late)
        yield label, partial(play, make, world, manner=manner, restricted=restricted)
