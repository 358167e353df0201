"""Losses on pairs of time and context, as listed policies incur them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.kernels import switching as kernel
from hannan.oracles._sequences import SwitchingNoise
from hannan.oracles.finite_policies import FinitePolicies

Pair = tuple[int, int]
Fakes = tuple[Any, ...]
"""Losses on pairs as the kernels take them."""

_NONE = np.empty(0, np.int64)


class Listing:
    """The actions of listed policies, and losses in the order of those actions.

    Where actions are sets, losses are first added up for every policy.
    """

    def __init__(self, base: FinitePolicies) -> None:
        self.n_actions = base.n_actions
        self._columns = base._columns
        self._sets = base.sets
        self.none: Fakes = (np.empty(0), _NONE, _NONE, _NONE, self._read)
        """No losses at all."""

    def arrange(self, cells: NDArray[np.int64], contexts: NDArray[np.int64]) -> Fakes:
        """Pairs sorted by cell: where each cell begins, where the losses of each pair begin, …."""
        order = np.argsort(cells, kind="stable")
        end = int(cells[order[-1]]) + 1 if len(cells) else 0
        first = np.searchsorted(cells[order], np.arange(end + 1)).astype(np.int64)
        if self._sets is None:
            return first, order * self.n_actions, contexts[order], self._read
        return first, order * self._columns.shape[1], np.zeros(len(cells), np.int64), self._read

    def seen(self, losses: NDArray[Any], contexts: NDArray[np.int64]) -> NDArray[Any]:
        """The losses of elements on some contexts, one vector after another, as arranged."""
        if self._sets is None:
            return losses.astype(np.float64, copy=False)  # kernels are compiled for one type
        out = np.empty((len(contexts), self._columns.shape[1]))
        kernel.project(losses, self.n_actions, contexts, self._columns, *self._members, out)
        return out.reshape(-1)

    @cached_property
    def _read(self) -> NDArray[Any]:
        """The index of the loss of each policy among those of a context."""
        if self._sets is None:
            return self._columns
        return np.arange(self._columns.shape[1])[None, :]

    @cached_property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The elements of each set, one set after another."""
        assert self._sets is not None
        starts = np.concatenate([[0], np.cumsum(self._sets.sum(axis=1))])
        return starts.astype(np.int64), np.nonzero(self._sets)[1].astype(np.int64)


class ListedNoise(SwitchingNoise):
    """Fake losses at every pair, as the programmes of listed policies read them."""

    def __init__(
        self,
        contexts: Sequence[Pair],
        listing: Listing,
        key: np.uint64,
        stream: int,
        memory: int,
        cells: NDArray[np.int64],
    ) -> None:
        super().__init__(contexts, listing.n_actions, key, stream, memory, cells)
        self.covered = frozenset(contexts)
        """The pairs, for looking up."""
        self._listing = listing
        self._contexts = unzipped(contexts)[1]
        self._arrangement = listing.arrange(cells, self._contexts)
        self._seen: tuple[int, NDArray[Any]] | None = None

    def fakes(self, draw: int) -> Fakes:
        """One draw; valid until the next call."""
        if self._seen is None or self._seen[0] != draw:
            self._seen = (draw, self._listing.seen(self.row(draw), self._contexts))
        return (self._seen[1], *self._arrangement)


def unzipped(pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """Times and contexts of some pairs, [2, d]."""
    return np.array(list(zip(*pairs, strict=True)), np.int64).reshape(2, len(pairs))
