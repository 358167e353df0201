"""Common base classes of running totals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from hannan.core import Action, ContextError, Objective, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Plus
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Numbered, RowBytes, State
from hannan.core.stored import Stored, declared
from hannan.core.validation import FloatArray
from hannan.kernels.weights import after_trials
from hannan.perturbation import Blocks

T = TypeVar("T")
Resample = Callable[..., tuple[int, int]]


def twin(total: T, *own: str) -> T:
    """Copy a total: the copy has copies of its declared state and shares all other attributes."""
    made = object.__new__(type(total))
    vars(made).update(vars(total))
    for name in own:
        value = getattr(total, name)
        setattr(made, name, value.copy() if hasattr(value, "copy") else value)
    return made


def solve_then_add(
    total: Any, context: Any, losses: FloatArray, draw: Draw, available: Available = None
) -> Action:
    """Settle a round with a solver that may fail; a failure leaves the total unchanged."""
    action: Action = total.action(context, draw, losses, available)
    total.add(context, losses)
    return action


class Total(Objective):
    """A total whose copies have separate declared state and share all other attributes."""

    def copy(self) -> Self:
        return twin(self, *declared(type(self)))

    def weights(
        self,
        context: Any,
        elements: IntArray,
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        """Process each block of noise in one compiled call, if the class has a kernel for it."""
        found = None
        if draw.scale != 0.0:
            found = self._resampler(context, elements, draw, plus, available)
        if found is None:
            return super().weights(context, elements, draw, limit, successes, plus, available)
        resample, blocks = found
        hits, reached = np.zeros((2, len(elements)), np.intp)
        used, short = 0, len(elements)
        while used < limit - 1 and short > 0:
            start = blocks.locate(draw.number + used)
            stop = min(len(blocks.block), start + limit - 1 - used)
            rows, short = resample(blocks.block, start, stop, successes, hits, reached, used)
            used += rows
        weights = np.empty(len(elements))
        after_trials(hits, reached, successes, limit, weights)
        return weights, used

    def _resampler(
        self, context: Any, elements: IntArray, draw: Draw, plus: Plus, available: Available
    ) -> tuple[Resample, Blocks] | None:
        """Return a function, and the blocks that hold the noise; None without such a function.

        `resample(block, start, stop, successes, hits, reached, used)` goes through rows of a block.
        It updates the successes of each element, and the draw at which an element had enough of
        them. It returns the number of rows used and the number of elements that need more.
        """
        return None


class Solved(Total):
    """A total whose leaders are found one after another, together with their values."""

    @abstractmethod
    def _solve(self, draw: Draw) -> tuple[Policy, float]:
        """Return the leader under one draw, and its value."""

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        return [self._solve(draw.later(i))[0] for i in range(count)]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        return np.array([self._solve(draw.later(i))[1] for i in range(count)])


class Rows(Stored):
    """Sum of the losses of each distinct context, and the number of its rounds.

    A subclass declares the keys of contexts in `stored`.
    """

    stored = State(
        _room=Array(None, lambda self: self._room.shape[1]).where(
            lambda self, room: len(room) and (room[:, -1] >= 0.0).all()
        )
    )

    def __init__(self, n_actions: int) -> None:
        self.index: dict[Any, int] = {}
        """The row of each context."""
        self._room: FloatArray = np.zeros((8, n_actions + 1))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def totals(self) -> FloatArray:
        """Copy of the totals, [contexts, K]."""
        return self._room[: len(self.index), :-1].copy()

    @property
    def counts(self) -> FloatArray:
        """Copy of the numbers of rounds."""
        return self._room[: len(self.index), -1].copy()

    def place(self, context: Any) -> int:
        """Return the row of a context; add a row for a new context."""
        row = self.index.setdefault(context, len(self.index))
        if row == len(self._room):
            self._room = np.concatenate([self._room, np.zeros_like(self._room)])
        return row

    def add(self, context: Any, losses: FloatArray) -> bool:
        """Add a round; return whether its context is new."""
        known = len(self.index)
        place = self.place(context)  # may reallocate the room, so it comes first
        row = self._room[place]
        row[:-1] += losses
        row[-1] += 1.0
        return place == known

    def copy(self) -> Self:
        """Return an independent copy."""
        return twin(self, *declared(type(self)))


class FeatureRows(Rows):
    """Totals of feature vectors, which all have the same length."""

    stored = State(
        index=Numbered(RowBytes(), most=lambda self: len(self._room)).where(
            lambda self, index: len(set(map(len, index))) <= 1
        )
    )

    @property
    def n_features(self) -> int | None:
        """Number of features of a context; None before the first context."""
        return next((len(key) // 8 for key in self.index), None)

    @property
    def contexts(self) -> FloatArray:
        """Contexts as a table, in the order of their arrival."""
        rows = np.frombuffer(b"".join(self.index)).copy()
        return rows.reshape(len(self.index), self.n_features or 0)

    def place(self, context: FloatArray) -> int:
        key = context.tobytes()
        if key not in self.index and self.n_features not in (None, len(context)):
            raise ContextError(
                f"Contexts so far had {self.n_features} features; got {len(context)}."
            )
        return super().place(key)
