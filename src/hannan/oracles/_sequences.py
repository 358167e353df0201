"""Sequences of policies, totals over them, and noise on pairs of time and context."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Objective, Policy
from hannan.core.state import State
from hannan.kernels import switching as kernel
from hannan.oracles._combinatorial import SetNoise
from hannan.oracles.finite_policies import FinitePolicies

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching

Pair = tuple[int, Any]
Fakes = tuple[Any, ...]
"""Losses on pairs of time and context, in the form of the kernels."""

_SHOWN = 4  # most pieces in a repr
_NONE = np.empty(0, np.int64)


class SwitchingPolicy(Policy):
    """Sequence of policies of the base class, called as `policy((t, x))`.

    Its `pieces` are pairs (start, policy): the sequence follows `policy` from round `start` on.
    """

    def __init__(self, oracle: Switching, pieces: Sequence[tuple[int, Policy]]) -> None:
        self.oracle = oracle
        self.pieces = tuple(pieces)
        self._starts = [start for start, _ in pieces]

    @property
    def switches(self) -> tuple[int, ...]:
        """Rounds in which the policy changes."""
        return tuple(self._starts[1:])

    def __call__(self, context: Any = None) -> Action:
        time, x = self.oracle.check_context(context)
        return self.pieces[bisect_right(self._starts, time) - 1][1](x)

    def __repr__(self) -> str:
        shown = [f"from {start} {policy!r}" for start, policy in self.pieces[:_SHOWN]]
        if len(self.pieces) > _SHOWN:
            shown.append(f"{len(self.pieces) - _SHOWN} more")
        return f"<sequence: {', '.join(shown)}>"


class Sequences(Objective):
    """A total over sequences in which each switch may have a price in addition to the losses."""

    oracle: Switching
    draws_in_batches = False

    stored = State()

    def __init__(self, oracle: Switching, price: float = 0.0) -> None:
        self.oracle = oracle
        self.price = price

    def _params_to_store(self) -> dict[str, Any]:
        return {"oracle": self.oracle, "price": self.price}

    @classmethod
    def _rebuild(cls, **params: Any) -> Self:
        return cls(**params)

    def copy(self) -> Self:
        return self._twin(self.price)

    def plain(self) -> Self:
        """Return this total with free switches."""
        return self if self.price == 0.0 else self._twin(0.0)

    @property
    def preference(self) -> float:
        """Largest total price of the switches of a sequence."""
        return self.price * self.oracle.switches

    @abstractmethod
    def _twin(self, price: float) -> Self:
        """Return a copy with another price."""


class SwitchingNoise(SetNoise):
    """Fake losses of the elements at every pair of time and context."""

    def __init__(
        self, oracle: Switching, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, oracle.n_actions, key, stream, memory)
        self.cells = oracle.cells(contexts)
        """The cell of time that each pair lies in."""
        self.end = int(self.cells.max(initial=-1)) + 1
        """The number of cells up to the last one with noise."""


class Listing:
    """Actions of listed policies, and losses in the order of these actions.

    If actions are sets, losses are first added up for every policy.
    """

    def __init__(self, base: FinitePolicies) -> None:
        self.n_actions = base.n_actions
        self._columns = base._columns
        self._sets = base.sets
        self.none: Fakes = (np.empty(0), _NONE, _NONE, _NONE, self._read)
        """No losses at all."""

    def arrange(self, cells: NDArray[np.int64], contexts: NDArray[np.int64]) -> Fakes:
        """Sort pairs by cell; return the start of each cell, of the losses of each pair, …."""
        order = np.argsort(cells, kind="stable")
        end = int(cells[order[-1]]) + 1 if len(cells) else 0
        first = np.searchsorted(cells[order], np.arange(end + 1)).astype(np.int64)
        if self._sets is None:
            return first, order * self.n_actions, contexts[order], self._read
        return first, order * self._columns.shape[1], np.zeros(len(cells), np.int64), self._read

    def seen(self, losses: NDArray[Any], contexts: NDArray[np.int64]) -> NDArray[Any]:
        """Return the losses of elements on some contexts, one arranged vector after another."""
        if self._sets is None:
            return losses.astype(np.float64, copy=False)  # kernels are compiled for one type
        out = np.empty((len(contexts), self._columns.shape[1]))
        kernel.project(losses, self.n_actions, contexts, self._columns, *self._members, out)
        return out.reshape(-1)

    @cached_property
    def _read(self) -> NDArray[Any]:
        """Index of the loss of each policy among the losses of a context."""
        if self._sets is None:
            return self._columns
        return np.arange(self._columns.shape[1])[None, :]

    @cached_property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Elements of each set, one set after another."""
        assert self._sets is not None
        starts = np.concatenate([[0], np.cumsum(self._sets.sum(axis=1))])
        return starts.astype(np.int64), np.nonzero(self._sets)[1].astype(np.int64)


class ListedNoise(SwitchingNoise):
    """Fake losses at every pair, in the form of the dynamic programmes of listed policies."""

    def __init__(
        self, oracle: Switching, contexts: Sequence[Pair], key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(oracle, contexts, key, stream, memory)
        self.covered = frozenset(contexts)
        """The pairs, for looking up."""
        self._listing = oracle.listing
        self._contexts = np.array([x for _, x in contexts], np.int64)
        self._arrangement = self._listing.arrange(self.cells, self._contexts)
        self._seen: tuple[int, NDArray[Any]] | None = None

    def fakes(self, draw: int) -> Fakes:
        """Return one draw; it is valid until the next call."""
        if self._seen is None or self._seen[0] != draw:
            self._seen = (draw, self._listing.seen(self.row(draw), self._contexts))
        return (self._seen[1], *self._arrangement)
