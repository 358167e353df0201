"""Noise on the contexts to come: all of them known in order, or a pool to draw them from."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np

import hannan as hn
from tests.golden.making import playout_bandit, playout_full
from tests.golden.perturbed_leaders import Settings, named
from tests.golden.playing import ROUNDS, Trace, play
from tests.golden.worlds import MAIN, OTHER, World

WORLDS = {name: MAIN[name] for name in ("finite", "all", "disjunctions", "linear-open", "subsets")}
REFUSED = ("finite", "pool")  # late decisions with full information: one world is enough
WORLDS |= {name: OTHER[name] for name in ("slates", "one-context", "multi-label-all")}


def settings() -> Settings:
    """All of them, by name."""
    makers = {"full": playout_full, "bandit": playout_bandit}
    for (kind, make), (name, world), future in product(
        makers.items(), WORLDS.items(), ("sequence", "pool")
    ):
        for epsilon, restricted, manner in (
            ("adaptive", False, "immediate"),
            (0.02, False, "immediate"),
            ("adaptive", True, "immediate"),
            ("adaptive", False, "late"),
            ("adaptive", True, "late"),
            ("adaptive", False, "forgetting"),
            ("adaptive", False, "many"),
        ):
            sets = world.oracle().max_chosen > 1
            if (
                (restricted and sets)
                or (manner != "immediate" and kind == "full" and (name, future) != REFUSED)
                or (kind == "bandit" and sets and (manner, future) != ("immediate", "pool"))
            ):
                continue
            limited = "restricted" if restricted else None
            how = None if manner == "immediate" else manner
            label = named("playout", kind, name, future, epsilon, limited, how)
            yield (
                label,
                partial(_play, make, world, future, epsilon, manner=manner, restricted=restricted),
            )


def _play(make: Any, world: World, future: str, epsilon: float | str, **manner: Any) -> Trace:
    arriving = world.contexts(ROUNDS)
    given: dict[str, Any] = {"sequence": arriving}
    if future == "pool":
        given = {"pool": arriving[: ROUNDS // 2], "horizon": ROUNDS}
    if isinstance(arriving[0], np.ndarray):
        given = {name: np.array(v) if name != "horizon" else v for name, v in given.items()}
    if make is playout_full:
        given |= world.options

    def learner() -> hn.Learner:
        return make(world.oracle(), epsilon=epsilon, **given)

    return play(learner, world, **manner)
