"""Blocks of projected noise, filled ahead of use and never larger than a memory budget."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Draws are made this many at a time."""

_IN_CACHE = 2**20
"""Bytes of a block that still sits in the second-level cache."""


class Blocks:
    """Consecutive draws, each projected to `width` float32 numbers.

    Blocks start small and double, so that a short game pays for few draws and a long one fills
    large blocks. What a draw holds does not depend on the block it came in.

    Parameters
    ----------
    fill
        `fill(first, block)` writes draws first, first + 1, … into the rows of the block.
    width
        Numbers in one projected draw.
    memory
        Largest size of the block in bytes; one draw is always held.
    """

    def __init__(
        self, fill: Callable[[int, NDArray[np.float32]], None], width: int, memory: int
    ) -> None:
        self._fill = fill
        row = 4 * width
        limit = min(memory, max(_IN_CACHE, LANES * row)) // row
        self._limit = max(1, limit - limit % LANES if limit >= LANES else limit)
        self._first = 0
        self.block = np.empty((0, width), np.float32)

    def ahead(self, draw: int) -> int:
        """How many draws from this one on are at hand, after filling a block if need be."""
        return self.block.shape[0] - self.locate(draw)

    def locate(self, draw: int) -> int:
        """The row of `block` that holds a draw, after filling a new block if need be."""
        row = draw - self._first
        if 0 <= row < self.block.shape[0]:
            return row
        size = min(max(LANES, 2 * self.block.shape[0]), self._limit)
        if size != self.block.shape[0]:
            self.block = np.empty((size, self.block.shape[1]), np.float32)
        self._fill(draw, self.block)
        self._first = draw
        return 0
