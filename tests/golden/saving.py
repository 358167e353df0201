"""Learners that are saved and loaded on the way, with rounds open and without."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import hannan as hn
from tests.golden.making import (
    adaptive_discount,
    bandit,
    baseline,
    discounted,
    exp3_ix,
    ftpl,
    full_information,
    playout_bandit,
    playout_full,
    restarting,
    semi_bandit,
    strongly_adaptive,
    tsallis,
)
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import ROUNDS, play
from tests.golden.worlds import MAIN, OTHER, TABLE, UNSIZED, World
from tests.golden.wrappers import fakes

PROMPT = {f"full/{name}" for name in ("finite", "finite/once", "finite/mean", "all")}
PROMPT |= {"full/linear-open", "full/function-unsized", "restarting/full", "playout/full"}
Make = Callable[[], Any]


def _learners() -> dict[str, tuple[World, Make]]:
    mean, ridge = hn.predictors.Mean, hn.predictors.Ridge
    finite, linear, every = MAIN["finite"], MAIN["linear-open"], MAIN["all"]
    arriving = finite.contexts(ROUNDS)
    found: dict[str, tuple[World, Make]] = {
        "full/finite": (finite, lambda: full_information(finite.oracle())),
        "full/finite/anytime": (
            finite,
            lambda: full_information(finite.oracle(), epsilon="anytime"),
        ),
        "full/finite/once": (finite, lambda: full_information(finite.oracle(), noise="once")),
        "full/finite/mean": (finite, lambda: full_information(finite.oracle(), predictor=mean())),
        "full/all": (every, lambda: full_information(every.oracle())),
        "full/linear-open": (linear, lambda: full_information(linear.oracle())),
        "full/subsets": (
            MAIN["subsets"],
            lambda: full_information(MAIN["subsets"].oracle(), epsilon=0.5),
        ),
        "full/function-unsized": (
            UNSIZED,
            lambda: full_information(UNSIZED.oracle(), **UNSIZED.known),
        ),
        "bandit/finite": (finite, lambda: semi_bandit(finite.oracle())),
        "bandit/finite/earned": (finite, lambda: semi_bandit(finite.oracle(), predictor=mean())),
        "bandit/finite/baseline": (
            finite,
            lambda: semi_bandit(finite.oracle(), predictor=mean(), trust="baseline"),
        ),
        "tsallis": (every, lambda: tsallis(every.oracle())),
        "tsallis/mean": (every, lambda: tsallis(every.oracle(), predictor=mean())),
        "exp3-ix/mean": (every, lambda: exp3_ix(every.oracle(), predictor=mean())),
        "recommended/rows": (linear, lambda: bandit(3)),
        "adaptive-discount": (finite, lambda: adaptive_discount(finite.oracle())),
        "bandit/finite/anytime": (
            finite,
            lambda: semi_bandit(finite.oracle(), epsilon="anytime"),
        ),
        "bandit/all": (every, lambda: semi_bandit(every.oracle(), predictor=mean())),
        "bandit/linear-open": (
            linear,
            lambda: semi_bandit(linear.oracle(), predictor=ridge(alpha=0.1)),
        ),
        "bandit/subsets": (MAIN["subsets"], lambda: semi_bandit(MAIN["subsets"].oracle())),
        "bandit/slates": (OTHER["slates"], lambda: semi_bandit(OTHER["slates"].oracle())),
        "playout/full": (finite, lambda: playout_full(finite.oracle(), sequence=arriving)),
        "playout/bandit": (
            finite,
            lambda: playout_bandit(finite.oracle(), pool=arriving, horizon=ROUNDS),
        ),
        "restarting/full": (finite, lambda: restarting(full_information(finite.oracle()))),
        "restarting/bandit": (
            every,
            lambda: restarting(semi_bandit(every.oracle(), predictor=mean())),
        ),
        "discounted": (finite, lambda: discounted(full_information(finite.oracle()), 0.7)),
        "strongly-adaptive": (
            finite,
            lambda: strongly_adaptive(full_information(finite.oracle())),
        ),
        "ftpl": (finite, lambda: ftpl(finite.oracle(), fakes, predictor=mean())),
        "follow-the-leader": (finite, lambda: baseline("FollowTheLeader", finite.oracle())),
        "kalai-vempala": (finite, lambda: baseline("KalaiVempala", finite.oracle(), seed=3)),
        "epoch-greedy": (finite, lambda: baseline("EpochGreedy", finite.oracle(), seed=3)),
        "lin-ucb": (linear, lambda: baseline("LinUCB", 3)),
        "epsilon-greedy": (linear, lambda: baseline("EpsilonGreedy", 3, seed=3)),
        "uniform-random": (finite, lambda: baseline("UniformRandom", 3, seed=3)),
    }
    for kind in ("Hedge", "OptimisticHedge", "AdaNormalHedge", "FixedShare", "Exp4"):
        found[kind.lower()] = finite, partial(baseline, kind, TABLE, seed=3)
    return found


def settings() -> Settings:
    """All of them, by name."""
    for (name, (world, make)), manner, restricted in product(
        _learners().items(), ("immediate", "late"), (False, True)
    ):
        late = manner == "late"
        if late and (name in PROMPT or make().late is not None):
            continue
        if restricted and (world.n_actions > 3 or late):
            continue
        parts = ("restricted" if restricted else None, "late" if late else None)
        label = named("saved", name, *parts)
        how: dict[str, Any] = {"manner": manner, "restricted": restricted, "saved": True}
        yield label, partial(play, make, world, **how)
