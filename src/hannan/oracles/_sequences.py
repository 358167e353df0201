"""Sequences of policies, totals over them, and noise on pairs of time and context."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Objective, Policy
from hannan.core.state import State
from hannan.oracles._combinatorial import SetNoise

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching

_SHOWN = 4  # pieces in a repr


class SwitchingPolicy(Policy):
    """One policy of the base class after another: `policy((t, x))`.

    Its `pieces` are pairs (start, policy): from round `start` on that policy is followed.
    """

    def __init__(self, oracle: Switching, pieces: Sequence[tuple[int, Policy]]) -> None:
        self.oracle = oracle
        self.pieces = tuple(pieces)
        self._starts = [start for start, _ in pieces]

    @property
    def switches(self) -> tuple[int, ...]:
        """The rounds in which the policy changes."""
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
    """A total over sequences in which each switch may have a price besides the losses."""

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
        """The same total with free switches."""
        return self if self.price == 0.0 else self._twin(0.0)

    @property
    def preference(self) -> float:
        """The largest total price of the switches of a sequence."""
        return self.price * self.oracle.switches

    @abstractmethod
    def _twin(self, price: float) -> Self:
        """A copy with another price."""


class SwitchingNoise(SetNoise):
    """Fake losses of the elements at every pair."""

    def __init__(
        self,
        contexts: Sequence[Any],
        n_actions: int,
        key: np.uint64,
        stream: int,
        memory: int,
        cells: NDArray[np.int64],
    ) -> None:
        super().__init__(contexts, n_actions, key, stream, memory)
        self.cells = cells
        """The cell of time that each pair lies in."""
        self.end = int(cells.max()) + 1 if len(cells) else 0
        """The number of cells up to the last one with noise."""
