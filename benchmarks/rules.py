"""Rules over any contexts and any actions: the theorem for small separators at its best."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hannan.core import Menu
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.validation import FloatArray
from hannan.learners import ContextSemiBanditFTPL
from hannan.oracles import ListedRules

RULES, FEATURES = 50, 4


def rule_game(seed: int, rounds: int, **options: Any) -> tuple[float, float]:
    """Return the regret to the best rule where the leading one is punished, and the bound.

    Contexts never come twice, and from two to four new actions are offered in each round.
    """
    rng = np.random.default_rng([7, seed])
    oracle = ListedRules(_rules(rng.normal(size=(RULES, FEATURES, 3))))
    learner = ContextSemiBanditFTPL(oracle, seed=seed, **options)
    totals, suffered = oracle.objective(), 0.0
    for _ in range(rounds):
        rows = rng.normal(size=(int(rng.integers(2, 5)), FEATURES))
        menu = oracle.check_context(Menu(rng.normal(size=3), rows))
        losses = (rng.random(len(menu)) < 0.9).astype(np.float64)
        for good in range(3):  # they take turns at leading
            losses[menu.choices[good]] = float(rng.random() < 0.1)
        losses[totals.action(menu, WITHOUT_NOISE)] = 1.0
        action = learner.act(menu)
        learner.update(float(losses[action]))
        suffered += float(losses[action])
        totals.add(menu, losses)
    bound = learner.regret_bound()
    assert bound is not None
    return suffered - float(totals.minima()[0]), bound


def _rules(weights: FloatArray) -> list[Callable[[Any, FloatArray], int]]:
    """Return rules that take the action of the lowest score, w times context times action.

    A round asks all of them about the same rows, so the first one asked computes it for all.
    """
    known: Any = None
    choices: list[int] = []

    def choice(number: int, context: Any, actions: FloatArray) -> int:
        nonlocal known, choices
        if actions is not known:
            known = actions
            choices = (weights @ context @ actions.T).argmin(axis=1).tolist()
        return choices[number]

    return [partial(choice, number) for number in range(len(weights))]
