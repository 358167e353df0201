"""Contexts seen so far, as a sample of bounded size."""

import copy
from typing import Any, Self

import numpy as np

from hannan.core.state import Context, Count, Generator, ListOf, State
from hannan.core.stored import Stored

_AT_ONCE = 64


class Reservoir(Stored):
    """A uniform sample of at most `capacity` of the contexts seen.

    `contexts` is renewed whenever their number has doubled: O(log t) times.
    """

    stored = State(
        seen=Count(),
        contexts=ListOf(Context("_oracle"), most=lambda self: min(self.capacity, self.seen)),
        _sample=ListOf(Context("_oracle"), length=lambda self: min(self.capacity, self.seen)),
        _rng=Generator(),
        _coming=ListOf(Count(lambda self: self.seen + _AT_ONCE), most=_AT_ONCE - 1),
        left=Count(low=1),
    )

    def __init__(self, capacity: int, key: np.uint64) -> None:
        self.capacity = capacity
        self.contexts: list[Any] = []
        self.seen = 0
        self._sample: list[Any] = []
        self._rng = np.random.default_rng(int(key))
        self._coming: list[int] = []  # of contexts to come, the next one last
        self.left = 1  # contexts until `contexts` is renewed

    def __copy__(self) -> Self:
        """One that goes on by itself; contexts are never changed, so that both may hold them."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), _sample=list(self._sample), _coming=list(self._coming))
        twin._rng = copy.deepcopy(self._rng)
        return twin

    def offer(self, context: Any) -> bool:
        """Take notice of a context; True when `contexts` has been renewed."""
        self.seen += 1
        if len(self._sample) < self.capacity:
            self._sample.append(context)
        else:
            place = self._place()
            if place < self.capacity:
                self._sample[place] = context
        self.left -= 1
        if self.left:
            return False
        self.left = self.seen
        self.contexts = list(self._sample)
        return True

    def _place(self) -> int:
        """A number below `seen`; drawn for some contexts at once, as a single one takes longer."""
        if not self._coming:
            drawn = self._rng.integers(np.arange(self.seen, self.seen + _AT_ONCE))
            self._coming = drawn[::-1].tolist()
        return self._coming.pop()
