"""Blocks of projected noise, filled ahead of use and never larger than a memory budget."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Draws are made this many at a time."""

_IN_CACHE = 2**20
"""Bytes of a block that fits into the second-level cache."""

Block = NDArray[np.float32]


class Blocks:
    """Consecutive draws, each projected to `width` float32 numbers.

    Blocks start small and double, so that a short game pays for few draws and a long one fills
    large blocks. Once they are large, and if the budget allows two, the next one is filled by a
    second thread while this one is used. The values of a draw do not depend on any of this.

    Parameters
    ----------
    fill
        `fill(first, block)` writes draws first, first + 1, … into the rows of the block; it
        should release the interpreter lock.
    width
        Numbers in one projected draw.
    memory
        Bytes held at most; one draw is always held.

    Examples
    --------
    >>> def fill(first, block):
    ...     block[:] = np.arange(first, first + len(block))[:, None]
    >>> blocks = Blocks(fill, width=3, memory=2**16)
    >>> row = blocks.locate(5)
    >>> blocks.block[row]
    array([5., 5., 5.], dtype=float32)
    """

    def __init__(self, fill: Callable[[int, Block], None], width: int, memory: int) -> None:
        self._fill = fill
        self._width = width
        row = 4 * width
        most = max(1, memory // row)
        self._ahead = most >= 2 * LANES
        limit = min(most // 2 if self._ahead else most, max(_IN_CACHE // row, LANES))
        self._limit = limit - limit % LANES if limit >= LANES else limit
        self._first = 0
        self.block: Block = np.empty((0, width), np.float32)
        self._spare: Block = self.block
        self._next: Future[None] | None = None
        self._process = 0

    def locate(self, draw: int) -> int:
        """The row of `block` that holds a draw, after moving on to another block if necessary."""
        row = draw - self._first
        if 0 <= row < len(self.block):
            return row
        ready = self._collect()
        if ready and draw == self._first + len(self.block):
            self.block, self._spare = self._spare, self.block
        else:
            size = min(max(LANES, 2 * len(self.block)), self._limit)
            if size != len(self.block):
                self.block = np.empty((size, self._width), np.float32)
            self._fill(draw, self.block)
        self._first = draw
        if self._ahead and len(self.block) == self._limit:
            if self._spare.shape != self.block.shape:
                self._spare = np.empty_like(self.block)
            self._process = os.getpid()
            self._next = _worker(self._process).submit(self._fill, draw + self._limit, self._spare)
        return 0

    def spans(self, first: int, count: int) -> Iterator[tuple[Block, int, int]]:
        """Draws first .. first + count - 1, as rows start .. stop - 1 of block after block."""
        last = first + count
        while first < last:
            start = self.locate(first)
            stop = start + last - first
            if stop > len(self.block):
                stop = len(self.block)
            yield self.block, start, stop
            first += stop - start

    def _collect(self) -> bool:
        """Whether the next block is filled; waits if it is being filled."""
        under_way, self._next = self._next, None
        if under_way is None or self._process != os.getpid():
            return False  # threads do not survive a fork
        under_way.result()
        return True

    def __getstate__(self) -> dict[str, object]:
        self._collect()
        return self.__dict__.copy()


@cache
def _worker(process: int) -> ThreadPoolExecutor:
    """One thread for all learners of a process."""
    return ThreadPoolExecutor(1, thread_name_prefix="hannan-noise")
