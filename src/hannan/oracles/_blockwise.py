"""Objectives whose leaders are found row by row in blocks of projected noise."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray
from hannan.oracles._totals import Resample, Total
from hannan.perturbation import Blocks

Codes = NDArray[np.int64]

NO_NOISE = np.zeros((1, 0), np.float32)


class BlockObjective(Total):
    """Objective whose kernel finds leaders, coded as rows of integers, in a block of noise.

    A subclass sets its kernel, the arrays of its statistic and the code of its leaders. A kernel
    is a module with three functions. All take the statistic first, and at scale 0 they do not read
    the block:

    - `act(*statistic, block, row, scale, place)` returns the action of the leader under one row.
    - `leaders(*statistic, block, start, stop, scale, codes, values)` writes the leaders.
    - `resample_one(*statistic, block, start, stop, scale, place, element, successes)` goes through
      rows until the leader has chosen `element` often enough. It returns the number of times and
      the number of rows used.
    """

    _kernel: Any
    _code_width: int
    """Number of integers that code a leader."""

    @property
    @abstractmethod
    def _statistic(self) -> tuple[Any, ...]:
        """Arrays that kernels take."""

    @abstractmethod
    def _blocks(self, noise: Noise | None) -> Blocks | None:
        """Prepare the statistic for this noise; return the blocks that hold its draws."""

    @abstractmethod
    def _place(self, context: Any) -> Any:
        """Return the part of a context that leaders depend on."""

    @abstractmethod
    def _policy(self, code: NDArray[np.int64]) -> Policy:
        """Decode a policy."""

    @abstractmethod
    def _plays(self, codes: Codes, place: Any) -> NDArray[Any]:
        """Return the action of each coded policy."""

    def action(
        self, context: Any, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if plus is not None:
            return self._after(context, plus, draw.noise).action(context, draw, None, available)
        block, row, scale = self._row(draw)
        code = int(self._kernel.act(*self._statistic, block, row, scale, self._place(context)))
        return code if available is None else int(available[code])

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        codes = self._search(draw, count)[0]
        # Many draws have few distinct leaders: an object for each draw would dominate the cost.
        one = codes.shape[1] == 1  # plain integers are sorted faster than rows
        found, which = np.unique(codes.ravel() if one else codes, axis=0, return_inverse=True)
        made = [self._policy(code) for code in found.reshape(-1, codes.shape[1])]
        return [made[i] for i in which.ravel().tolist()]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        return self._search(draw, count)[1]

    def chosen(
        self, context: Any, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        total = self if plus is None else self._after(context, plus, draw.noise)
        codes = total._search(draw, count)[0]
        actions = total._plays(codes, total._place(context))
        if available is not None:
            actions = available[actions]
        return self._inclusion(actions)

    def _resampler(
        self, context: Any, elements: IntArray, draw: Draw, plus: Plus, available: Available
    ) -> tuple[Resample, Blocks] | None:
        total = self if plus is None else self._after(context, plus, draw.noise)
        blocks = total._blocks(draw.noise)
        if blocks is None or available is not None or len(elements) != 1:
            return None
        kernel, statistic, place = self._kernel, total._statistic, total._place(context)

        def resample(
            block: Any, start: int, stop: int, successes: int, hits: Any, reached: Any, used: int
        ) -> tuple[int, int]:
            rest = draw.scale, place, elements[0], successes - hits[0]
            more, rows = kernel.resample_one(*statistic, block, start, stop, *rest)
            hits[0] += more
            reached[0] = used + rows
            return rows, successes - hits[0]

        return resample, blocks

    def _inclusion(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which elements each of several actions chooses."""
        return np.asarray(actions[:, None] == np.arange(self.n_actions))

    def _after(self, context: Any, plus: FloatArray, noise: Noise | None) -> Self:
        """Return a total with one more round, for queries under this noise."""
        twin = self.copy()
        twin.add(context, plus)
        return twin

    def _row(self, draw: Draw) -> tuple[NDArray[np.float32], int, float]:
        """Return the block and the row of a draw, and the scale (0 without noise)."""
        noise, number, scale = draw
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0:
            return NO_NOISE, 0, 0.0
        row = blocks.locate(number)
        return blocks.block, row, scale

    def _search(self, draw: Draw, count: int) -> tuple[Codes, FloatArray]:
        """Find codes and values of the leaders under each draw."""
        noise, first, scale = draw
        codes, values = np.empty((count, self._code_width), np.int64), np.empty(count)
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0:
            self._kernel.leaders(*self._statistic, NO_NOISE, 0, min(1, count), 0.0, codes, values)
            codes[1:], values[1:] = codes[:1], values[:1]
            return codes, values
        done = 0
        for block, start, stop in blocks.spans(first, count):
            here = slice(done, done + stop - start)
            self._kernel.leaders(
                *self._statistic, block, start, stop, scale, codes[here], values[here]
            )
            done = here.stop
        return codes, values
