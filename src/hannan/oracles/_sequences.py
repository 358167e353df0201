"""Sequences of policies, and noise on pairs of time and context."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Policy
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_rows
from hannan.perturbation import Blocks, LaplaceNoise

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching

_SHOWN = 4  # pieces in a repr


class SwitchingPolicy(Policy):
    """One policy of the base class after another: `policy((t, x))`.

    Attributes
    ----------
    pieces
        Pairs (start, policy): from round `start` on that policy is followed.
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


class SwitchingNoise(LaplaceNoise):
    """Fake losses of the elements at every pair, a block of draws at a time."""

    def __init__(
        self,
        contexts: Sequence[Any],
        n_actions: int,
        key: np.uint64,
        stream: int,
        memory: int,
        cells: NDArray[np.int64],
    ) -> None:
        super().__init__(contexts, n_actions, key, stream)
        self.cells = cells
        """The cell of time that each pair lies in."""
        self.end = int(cells.max()) + 1 if len(cells) else 0
        """The number of cells up to the last one with noise."""
        width = -(-self.n_cells // WIDTH) * WIDTH
        self.blocks = Blocks(self._fill, max(WIDTH, width), memory)

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        fill_rows(self.key, self.stream, first, block)

    def row(self, draw: int) -> NDArray[np.float32]:
        """One draw, for reading until the next is asked for."""
        at = self.blocks.locate(draw)
        return self.blocks.block[at, : self.n_cells]
