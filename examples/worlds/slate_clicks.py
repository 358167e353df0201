"""Slates of items, each clicked or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.core.validation import check_probability
from hannan.environments.planted import PlantedWorld


class SlateClicks(PlantedWorld):
    """Choose m of K items for a visitor; an item without a click costs 1.

    Visitors (contexts) are random. An item of the planted policy's slate for the visitor gets a
    click with probability `appeal`, any other item with probability `dull`. With `fatigue` the
    adversary is adaptive: with this probability, the item that was chosen most often for this kind
    of visitor gets no click.

    Parameters
    ----------
    oracle
        A class of policies that choose sets of items.
    contexts
        The kinds of visitors. Default: the oracle's contexts.
    appeal, dull
        Probabilities of a click.
    fatigue
        Probability that the item chosen most often gets no click; with 0 the environment is
        stochastic.
    """

    oblivious = False

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        appeal: float = 0.6,
        dull: float = 0.2,
        fatigue: float = 0.5,
    ) -> None:
        super().__init__(oracle, contexts)
        self.appeal = check_probability(self, "appeal", appeal)
        self.dull = check_probability(self, "dull", dull)
        self.fatigue = check_probability(self, "fatigue", fatigue)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = self._plant(1, rng)[0]
        shown: list[Counter[int]] = [Counter() for _ in self._contexts]
        for i, u in self._draws(horizon, rng):
            losses = (u >= np.where(table[i], self.appeal, self.dull)).astype(np.float64)
            if shown[i] and rng.random() < self.fatigue:
                losses[shown[i].most_common(1)[0][0]] = 1.0
            this_round = Round(self._contexts[i], losses)
            yield this_round
            if this_round.action is not None:
                shown[i].update(np.atleast_1d(this_round.action).tolist())
