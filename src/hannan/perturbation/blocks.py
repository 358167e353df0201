"""Blocks of projected noise, filled ahead of use and never larger than a memory budget."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Draws are made this many at a time."""

_IN_CACHE = 2**22
"""Bytes of a block: larger ones leave the caches, and smaller ones are handed over too often."""

Block = NDArray[np.float32]


class Blocks:
    """Consecutive draws, each projected to `width` float32 numbers.

    Blocks start small and double while draws follow one another, so that a short game pays for few
    draws and a long one fills large blocks; where draws are left out they start small again. Once
    they are large, and if the budget allows two, the next one is filled by a second thread while
    this one is used. Wide blocks are filled in pieces: whoever needs a block
    helps with those that are left, so that two threads are at work also where the budget allows
    only one block. The values of a draw do not depend on any of this.

    Parameters
    ----------
    fill
        `fill(first, block)` writes draws first, first + 1, … into the rows of the block; it
        should release the interpreter lock.
    width
        Numbers in one projected draw.
    memory
        Bytes held at most; one draw is always held.
    piece
        Where `fill(first, block, start, stop)` can be asked for some columns: how many are worth
        a call.
    least
        How many draws are made in about the time of one.

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
        self._left: deque[tuple[int, ...]] = deque()  # pieces of a block that nobody has begun
        self._process = 0

    def locate(self, draw: int) -> int:
        """The row of `block` that holds a draw, after moving on to another block if necessary."""
        row = draw - self._first
        if 0 <= row < len(self.block):
            return row
        follows = draw == self._first + len(self.block)
        if not follows:
            self._left.clear()  # nobody needs the block that was begun
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
        """Draws first .. first + count - 1, as rows start .. stop - 1 of block after block."""
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
        """Columns from and to, for each piece; nothing for a block that is filled at once."""
        width, piece = self._width, self._piece
        if piece is None or width <= piece:
            return [()] if piece is None else [(0, width)]
        return [(start, min(start + piece, width)) for start in range(0, width, piece)]

    def _empty(self, size: int) -> Block:
        """A block whose rows begin where cache lines do, if they are as long as some of these."""
        spare = 64 // 4
        numbers = np.empty(size * self._width + spare, np.float32)
        start = -(numbers.ctypes.data // 4) % spare
        return numbers[start : start + size * self._width].reshape(size, self._width)

    def _begin(self, first: int, block: Block, *, share: bool) -> None:
        """Let a block be filled, with the help of the other thread."""
        self._left = deque(self._pieces)
        if share:
            self._process = os.getpid()
            self._next = _worker(self._process).submit(_fill, self._fill, first, block, self._left)

    def _collect(self) -> bool:
        """Whether the next block is filled; helps with what is left of it, and waits."""
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
    """Fill pieces that nobody has begun, until there are none."""
    while True:
        try:
            piece = left.popleft()
        except IndexError:
            return
        fill(first, block, *piece)


@cache
def _worker(process: int) -> ThreadPoolExecutor:
    """One thread for all learners of a process."""
    return ThreadPoolExecutor(1, thread_name_prefix="hannan-noise")
