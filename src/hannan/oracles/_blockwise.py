"""Objectives whose leaders are found row by row in blocks of projected noise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Objective, Policy
from hannan.core.oracle import Noise
from hannan.core.validation import FloatArray
from hannan.perturbation import Blocks

Block = NDArray[np.float32]
Codes = NDArray[np.int64]

_NO_NOISE: Block = np.zeros((1, 0), np.float32)


class BlockObjective(Objective):
    """Leaders as rows of integers, found by a kernel in any rows of a block of noise.

    A class says what its statistic is by five short methods; at scale 0 kernels do not look at
    the block.
    """

    @abstractmethod
    def _blocks(self, noise: Noise | None) -> Blocks | None:
        """Make the statistic ready for this noise; the blocks that hold its draws."""

    @abstractmethod
    def _place(self, context: Any) -> Any:
        """All that leaders look at in a context."""

    @abstractmethod
    def _act(self, block: Block, row: int, scale: float, place: Any) -> int:
        """The leader's action under a row of the block."""

    @abstractmethod
    def _find(self, block: Block, start: int, stop: int, scale: float) -> tuple[Codes, FloatArray]:
        """Codes and values of the leaders under rows of the block."""

    @abstractmethod
    def _draw_until(
        self,
        block: Block,
        start: int,
        stop: int,
        scale: float,
        place: Any,
        element: int,
        successes: int,
    ) -> tuple[int, int]:
        """Rows until the leader's action was `element` so often; how often, and rows used."""

    @abstractmethod
    def _policy(self, code: NDArray[np.int64]) -> Policy:
        """The policy behind a code."""

    @abstractmethod
    def _plays(self, codes: Codes, place: Any) -> NDArray[np.int64]:
        """What each of some coded policies does."""

    def action(self, context: Any, noise: Noise | None, draw: int, scale: float) -> int:
        """The leader's action, in one compiled call."""
        blocks = self._blocks(noise)
        place = self._place(context)
        if blocks is None or scale == 0.0:
            return int(self._act(_NO_NOISE, 0, 0.0, place))
        row = blocks.locate(draw)
        return int(self._act(blocks.block, row, scale, place))

    def leaders(self, noise: Noise | None, first: int, count: int, scale: float) -> list[Policy]:
        """The leader under each draw."""
        return [self._policy(code) for code in self._search(noise, first, count, scale)[0]]

    def minima(self, noise: Noise | None, first: int, count: int, scale: float) -> FloatArray:
        """The value of the leader under each draw."""
        return self._search(noise, first, count, scale)[1]

    def chosen(
        self, context: Any, noise: Noise | None, first: int, count: int, scale: float
    ) -> NDArray[np.bool_]:
        """The action of the leader under each draw."""
        codes = self._search(noise, first, count, scale)[0]
        actions = self._plays(codes, self._place(context))
        return np.asarray(actions[:, None] == np.arange(self.n_actions))

    def resample_one(
        self,
        context: Any,
        element: int,
        noise: Noise | None,
        first: int,
        limit: int,
        successes: int,
        scale: float,
    ) -> tuple[float, int]:
        """Leader after leader inside one compiled call for each block of noise."""
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0:
            return super().resample_one(context, element, noise, first, limit, successes, scale)
        place = self._place(context)
        hits = used = 0
        while used < limit - 1 and hits < successes:
            row = blocks.locate(first + used)
            block = blocks.block
            stop = min(block.shape[0], row + limit - 1 - used)
            more, rows = self._draw_until(block, row, stop, scale, place, element, successes - hits)
            hits += more
            used += rows
        return (used / successes if hits >= successes else limit / (hits + 1.0)), used

    def _search(
        self, noise: Noise | None, first: int, count: int, scale: float
    ) -> tuple[Codes, FloatArray]:
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0:
            codes, values = self._find(_NO_NOISE, 0, 1, 0.0)
            return np.repeat(codes, count, axis=0), np.repeat(values, count)
        found = []
        done = 0
        while done < count:
            row = blocks.locate(first + done)
            stop = min(blocks.block.shape[0], row + count - done)
            found.append(self._find(blocks.block, row, stop, scale))
            done += stop - row
        return np.concatenate([c for c, _ in found]), np.concatenate([v for _, v in found])
