"""States of the dynamic programme over time for listed policies."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from hannan.core.validation import FloatArray
from hannan.kernels import switching as kernel
from hannan.oracles._switching_listing import Fakes


@dataclass(frozen=True)
class Leader:
    """A best sequence: policy who[j] from cell since[j] on."""

    since: list[int]
    who: list[int]
    value: float

    def at(self, cell: int) -> int:
        """The policy followed in a cell."""
        return self.who[bisect_right(self.since, cell) - 1]


class State:
    """The best cost of some cells by level and last policy; see `kernels.switching`."""

    def __init__(self, levels: int, width: int) -> None:
        self.values = np.zeros(levels * width)
        self.least = np.full(levels, np.inf)


class Front:
    """The best beginnings of sequences before a cell, each with its pieces."""

    def __init__(self, levels: int, n_policies: int, price: float) -> None:
        self.at = 0
        """The cell that comes next."""
        self._price = price
        self._values = np.zeros((levels, n_policies))
        count = np.ones((levels, n_policies), np.int32)
        since = np.zeros((levels, n_policies, levels), np.int32)
        who = np.zeros_like(since)
        who[:, :, 0] = np.arange(n_policies)
        self._pieces = (count, since, who)

    def advance(self, totals: FloatArray, cell: int, fakes: Fakes, scale: float) -> None:
        """Go on until `cell` comes next."""
        if cell > self.at:
            kernel.extend(
                totals, self.at, cell, fakes, scale, self._price, self._values, self._pieces
            )
            self.at = cell

    def leader(
        self, totals: FloatArray, fakes: Fakes, scale: float, behind: State | None = None
    ) -> Leader:
        """The first of the best sequences up to and including the next cell."""
        if behind is None:
            behind = State(len(self._values), totals.shape[1])
        q, n, value = kernel.pick(
            totals, self.at, fakes, scale, self._price, self._values, self._pieces,
            behind.values, behind.least,
        )  # fmt: skip
        count, since, who = self._pieces
        size = count[q, n]
        return Leader(since[q, n, :size].tolist(), who[q, n, :size].tolist(), value)


class Walk:
    r"""One draw, queried at one cell after another.

    The state before the cell is carried along. The states after it are kept at about
    :math:`\sqrt T` checkpoints, and computed for all cells between two checkpoints when the first
    of them is reached: a step costs O(kN) on average, and the memory is :math:`O(\sqrt T k N)`.
    """

    def __init__(
        self,
        draw: tuple[Any, int, float],
        totals: FloatArray,
        cell: int,
        end: int,
        fakes: Fakes,
        levels: int,
        price: float,
    ) -> None:
        self.at = 0
        self._price = price
        self._draw = draw
        self._start = cell
        self._end = end
        self._front = State(levels, totals.shape[1])
        self._stride = max(1, isqrt(end - cell))
        marks = -(-(end - cell) // self._stride)
        self._marks = self._kept(marks, levels, totals.shape[1])
        self._block = self._kept(self._stride + 1, levels, totals.shape[1])
        self._number = -1  # of the block that is kept
        behind = State(levels, totals.shape[1])
        kernel.snapshots(
            totals, end, cell, self._stride, fakes, draw[2], price, behind.values, behind.least,
            *self._marks,
        )  # fmt: skip

    def goes_on(self, draw: tuple[Any, int, float], cell: int) -> bool:
        """Whether a cell can be reached under this draw."""
        same = self._draw[0] is draw[0] and self._draw[1:] == draw[1:]
        return same and self.at <= cell < self._end

    def meet(self, totals: FloatArray, cell: int, fakes: Fakes, best: FloatArray) -> None:
        """Go to a cell; best[n] becomes the best cost of policy n in all other cells."""
        front = self._front
        scale, price = self._draw[2], self._price
        kernel.sweep(totals, self.at, cell, 1, fakes, scale, price, front.values, front.least)
        self.at = cell
        number, place = divmod(cell - self._start, self._stride)
        if number != self._number:
            self._fill(totals, number, fakes)
        behind, least = self._block
        kernel.meet(front.values, front.least, behind[place], least[place], price, best)

    def _fill(self, totals: FloatArray, number: int, fakes: Fakes) -> None:
        """Compute the state after each cell of a block, from the checkpoint behind it."""
        levels = len(self._front.least)
        behind = State(levels, totals.shape[1])
        start, stop = self._start + number * self._stride, self._end
        if number + 1 < len(self._marks[0]):
            behind.values[:] = self._marks[0][number + 1]
            behind.least[:] = self._marks[1][number + 1]
            stop = start + self._stride + 1
        kernel.snapshots(
            totals, stop, start, 1, fakes, self._draw[2], self._price, behind.values, behind.least,
            *self._block,
        )  # fmt: skip
        self._number = number

    @staticmethod
    def _kept(count: int, levels: int, width: int) -> tuple[FloatArray, FloatArray]:
        return np.empty((count, levels * width)), np.empty((count, levels))
