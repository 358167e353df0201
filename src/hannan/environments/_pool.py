"""A pool of items that are born and die."""

from __future__ import annotations

import numpy as np

from hannan.core import Menu
from hannan.core.validation import FloatArray
from hannan.core.rounds import IntArray


class Pool:
    """Items with random features, each under a number that is never given to another.

    In every round one dies with probability size/lifetime, and another is born in its place.
    """

    def __init__(self, size: int, features: int, lifetime: float, rng: np.random.Generator) -> None:
        self.rows: FloatArray = rng.standard_normal((size, features))
        self.quality: FloatArray = rng.standard_normal(size)
        """What an item has that its features do not tell."""
        self.ids: IntArray = np.arange(size)
        self._death = min(size / lifetime, 1.0)
        self._rng = rng

    def turn(self) -> None:
        """Death and birth."""
        rng = self._rng
        if rng.random() < self._death:
            place = int(rng.integers(len(self.ids)))
            self.rows[place] = rng.standard_normal(self.rows.shape[1])
            self.quality[place] = rng.standard_normal()
            self.ids[place] = self.ids.max() + 1

    def offer(self, n: int, context: FloatArray) -> tuple[Menu, IntArray]:
        """Some of the items, and where in the pool they are."""
        chosen = self._rng.permutation(len(self.ids))[:n]
        return Menu(context, self.rows[chosen], tuple(self.ids[chosen].tolist())), chosen
