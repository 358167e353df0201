"""The arcs of a graph with their capacities and reverse arcs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.state import Array, Count, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray

Indices = NDArray[np.int64]


class Arcs(Stored):
    """Arcs sorted by tail and head, without repetition; the reverse of each arc is listed too.

    Heads and tails never change, so sums on the same arcs share them; capacities are replaced,
    never modified in place.
    """

    stored = State(
        n=Count(2**31),
        keys=Array(None, dtype=np.int64, low=0, below=lambda self: self.n**2, rising=True).where(
            lambda self, keys: self._is_symmetric()
        ),
    )

    def _params_to_store(self) -> dict[str, Any]:
        return {"n": self.n, "keys": self.keys}

    def __init__(self, n: int, keys: Indices) -> None:
        self.n = n
        self.keys = keys
        """tail times n plus head."""

    def _is_symmetric(self) -> bool:
        back = self.heads * self.n + self.tails
        return np.array_equal(np.sort(back), self.keys) and bool((back != self.keys).all())

    @classmethod
    def gather(
        cls, n: int, tails: Indices, heads: Indices, capacities: FloatArray
    ) -> tuple[Arcs, FloatArray]:
        """Arcs given in any order, some perhaps several times; arcs from u to u are left out."""
        keep = (tails != heads) & (capacities != 0.0)
        tails, heads, capacities = tails[keep], heads[keep], capacities[keep]
        there, back = tails * n + heads, heads * n + tails
        keys, place = np.unique(np.concatenate([there, back]), return_inverse=True)
        total = np.bincount(place[: len(there)], capacities, len(keys)).astype(np.float64)
        return cls(n, keys), total

    @cached_property
    def tails(self) -> Indices:
        """Where each arc starts."""
        return self.keys // self.n

    @cached_property
    def heads(self) -> Indices:
        """Where each arc ends."""
        return self.keys % self.n

    @cached_property
    def start(self) -> Indices:
        """The arcs from u are start[u] .. start[u + 1] - 1."""
        return np.searchsorted(self.tails, np.arange(self.n + 1)).astype(np.int64)

    @cached_property
    def mates(self) -> Indices:
        """The reverse arc of each arc."""
        return np.searchsorted(self.keys, self.heads * self.n + self.tails).astype(np.int64)

    def same(self, other: Arcs) -> bool:
        """Whether these are the same arcs."""
        return self is other or np.array_equal(self.keys, other.keys)

    def spread(self, wider: Arcs, capacities: FloatArray) -> FloatArray:
        """The capacities in a graph that contains all these arcs and perhaps more."""
        total = np.zeros(len(wider.keys))
        total[np.searchsorted(wider.keys, self.keys)] = capacities
        return total

    def union(self, other: Arcs) -> Arcs:
        """The arcs of either graph."""
        return Arcs(self.n, np.union1d(self.keys, other.keys))
