"""Contexts seen so far, as a sample of bounded size."""

from typing import Any

import numpy as np

from hannan.core.kept import expect
from hannan.core.stored import Stored


class Reservoir(Stored):
    """A uniform sample of at most `capacity` of the contexts seen.

    `contexts` is renewed whenever their number has doubled: O(log t) times.
    """

    _varying = frozenset({"contexts", "_sample"})
    _fixed = frozenset({"capacity"})

    def __init__(self, capacity: int, key: np.uint64) -> None:
        self.capacity = capacity
        self.contexts: list[Any] = []
        self.seen = 0
        self._sample: list[Any] = []
        self._rng = np.random.default_rng(int(key))
        self._look = 1

    @property
    def kept(self) -> list[Any]:
        """All contexts in here."""
        return [*self.contexts, *self._sample]

    def _check_stored(self) -> None:
        most = min(self.capacity, self.seen)
        expect(
            self,
            contexts=type(self.contexts) is list and len(self.contexts) <= most,
            _sample=type(self._sample) is list and len(self._sample) == most,
        )

    @property
    def due(self) -> bool:
        """Whether the next context renews `contexts`."""
        return self.seen + 1 >= self._look

    def offer(self, context: Any) -> bool:
        """Take notice of a context; True when `contexts` has been renewed."""
        self.seen += 1
        if len(self._sample) < self.capacity:
            self._sample.append(context)
        else:
            place = int(self._rng.integers(self.seen))
            if place < self.capacity:
                self._sample[place] = context
        if self.seen < self._look:
            return False
        self._look = 2 * self.seen
        self.contexts = list(self._sample)
        return True
