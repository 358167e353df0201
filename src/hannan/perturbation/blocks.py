"""Blocks of projected noise, filled before use and never larger than a memory budget."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Number of draws made together."""

_IN_CACHE = 2**22
"""Bytes of a block: larger blocks leave the caches, and smaller blocks are swapped too often."""

Block = NDArray[np.float32]


class Blocks:
    """Consecutive draws, each projected to `width` float32 numbers.

    Blocks start small and double while draws follow one another, so that a short run pays for few
    draws and a long run fills large blocks. If draws are skipped, blocks start small again. Once
    blocks are large and the budget allows two, a second thread fills the next block while this one
    is used. Wide blocks are filled in pieces: the thread that needs a block helps to fill the
    remaining pieces. Two threads therefore work even if the budget allows only one block. The
    values of a draw do not depend on these details.

    Parameters
    ----------
    fill
        Function `fill(first, block)` that writes draws first, first + 1, … into the rows of the
        block. It should release the interpreter lock.
    width
        Length of one projected draw.
    memory
        Maximum number of bytes to hold. One draw is always held.
    piece
        Number of columns that make a call worthwhile, if `fill(first, block, start, stop)` can fill
        some columns only. Default None: it cannot.
    least
        Number of draws that take about the time of one. Default 16.

    Examples
    --------
    >>> def fill(first, block):
    ...     block[:] = np.arange(first, first + len(block))[:, None]
    >>> blocks = Blocks(fill, width=3, memory=2**16)
    >>> row = blocks.locate(5)
    >>> blocks.block[row]
    array([5., 5., 5.], dtype=float32)
    """

    def __init__(
        self,
        fill: Callable[..., None],
        width: int,
        memory: int,
        piece: int | None = None,
        least: int = LANES,
    ) -> None:
        self._fill = fill
        self._width = width
        self._piece = piece
        self._least = least
        row = 4 * width
        most = max(1, memory // row)
        self._ahead = most >= 2 * LANES
        limit = min(most // 2 if self._ahead else most, max(_IN_CACHE // row, LANES))
        self._limit = limit - limit % LANES if limit >= LANES else limit
        self._first = 0
        self.block: Block = np.empty((0, width), np.float32)
        self._spare: Block = self.block
        self._next: Future[None] | None = None
        self._left: deque[tuple[int, ...]] = deque()  # pieces of a block not begun yet
        self._process = 0

    def locate(self, draw: int) -> int:
        """Return the row of `block` that holds a draw, after switching blocks if needed."""
        row = draw - self._first
        if 0 <= row < len(self.block):
            return row
        follows = draw == self._first + len(self.block)
        if not follows:
            self._left.clear()  # the next block is not needed
        ready = self._collect()
        if ready and follows:
            self.block, self._spare = self._spare, self.block
        else:
            size = min(max(self._least, 2 * len(self.block) if follows else 0), self._limit)
            if size != len(self.block):
                self.block = self._empty(size)
            self._begin(draw, self.block, share=len(self._pieces) > 1)
            _fill(self._fill, draw, self.block, self._left)
            self._collect()
        self._first = draw
        if self._ahead and len(self.block) == self._limit:
            if self._spare.shape != self.block.shape:
                self._spare = self._empty(len(self.block))
            self._begin(draw + self._limit, self._spare, share=True)
        return 0

    def spans(self, first: int, count: int) -> Iterator[tuple[Block, int, int]]:
        """Yield draws first .. first + count - 1 as rows start .. stop - 1 of successive blocks."""
        last = first + count
        while first < last:
            start = self.locate(first)
            stop = start + last - first
            if stop > len(self.block):
                stop = len(self.block)
            yield self.block, start, stop
            first += stop - start

    @property
    def _pieces(self) -> list[tuple[int, ...]]:
        """Columns from and to, for each piece; an empty tuple if a block is filled in one call."""
        width, piece = self._width, self._piece
        if piece is None or width <= piece:
            return [()] if piece is None else [(0, width)]
        return [(start, min(start + piece, width)) for start in range(0, width, piece)]

    def _empty(self, size: int) -> Block:
        """Return a block whose rows begin at cache lines, if their length allows it."""
        spare = 64 // 4
        numbers = np.empty(size * self._width + spare, np.float32)
        start = -(numbers.ctypes.data // 4) % spare
        return numbers[start : start + size * self._width].reshape(size, self._width)

    def _begin(self, first: int, block: Block, *, share: bool) -> None:
        """Start filling a block; with `share`, the other thread helps."""
        self._left = deque(self._pieces)
        if share:
            self._process = os.getpid()
            self._next = _worker(self._process).submit(_fill, self._fill, first, block, self._left)

    def _collect(self) -> bool:
        """Help to fill the next block and wait for it; return whether it is filled."""
        under_way, self._next = self._next, None
        if under_way is None or self._process != os.getpid():
            return False  # threads do not survive a fork
        _fill(self._fill, self._first + len(self.block), self._spare, self._left)
        under_way.result()
        return True

    def __getstate__(self) -> dict[str, object]:
        self._collect()
        return self.__dict__.copy()


def _fill(
    fill: Callable[..., None], first: int, block: Block, left: deque[tuple[int, ...]]
) -> None:
    """Fill pieces not begun yet, until none is left."""
    while True:
        try:
            piece = left.popleft()
        except IndexError:
            return
        fill(first, block, *piece)


@cache
def _worker(process: int) -> ThreadPoolExecutor:
    """Return the one thread for all learners of a process."""
    return ThreadPoolExecutor(1, thread_name_prefix="hannan-noise")
