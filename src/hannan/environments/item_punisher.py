"""The adversary that knows which of the offered items is the likeliest to be chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.core import Environment, Round
from hannan.core.validation import check_integer, check_positive, check_probability
from hannan.environments._pool import Pool
from hannan.environments._punisher import Copies


class ItemPunisher(Environment):
    """Of the items offered, the one that copies of the learner would most likely choose costs 1.

    As `CopyPunisher`, for described actions: a round offers some items of a pool, each with
    features and an id, and losses have nothing to do with the features. All other items cost 1
    with probability `low`, else 0. A learner without randomness loses in every round; uniform play
    loses 1/K + (1 - 1/K) `low` a round, and nobody can do better in all of them.

    Parameters
    ----------
    offered
        Items in a round.
    pool
        Items that there are at a time.
    features
        Features of a visitor, and as many of an item; all standard normal.
    lifetime
        Rounds that an item lives, on average.
    copies
        How many copies are asked. Ties among their answers go to the item offered first.
    low
        The probability of a loss on all other items.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.ItemPunisher(offered=5)
    >>> learner = hn.baselines.ItemLinUCB()
    >>> float(hn.play(learner, world, horizon=100, seed=0).losses.mean())
    1.0
    """

    oblivious = False
    n_actions = None  # type: ignore[assignment]  # those that a round offers

    def __init__(
        self,
        offered: int = 10,
        pool: int = 200,
        *,
        features: int = 4,
        lifetime: float = 4000.0,
        copies: int = 32,
        low: float = 0.2,
    ) -> None:
        self.pool = check_integer(self, "pool", pool, 1)
        self.offered = check_integer(self, "offered", offered, 1, self.pool + 1)
        self.features = check_integer(self, "features", features, 1)
        self.lifetime = check_positive(self, "lifetime", lifetime)
        self.copies = check_integer(self, "copies", copies, 1)
        self.low = check_probability(self, "low", low)
        self._asked = Copies(self, self.copies)

    def meet(self, learner: Any) -> None:
        self._asked.meet(learner)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Rounds against the last learner given to `meet`."""
        self._asked.check_met()
        seed = int(rng.integers(2**62))
        rng = rng.spawn(1)[0]  # a learner with the same seed may draw from the other
        pool = Pool(self.pool, self.features, self.lifetime, rng)
        for t in range(horizon):
            pool.turn()
            menu, _ = pool.offer(self.offered, rng.standard_normal(self.features))
            favourite = self._asked.favourite(menu, seed + t)
            losses = (rng.random(self.offered) < self.low).astype(np.float64)
            losses[favourite] = 1.0
            yield Round(menu, losses)
