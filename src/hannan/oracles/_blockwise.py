"""Objectives whose leaders are found row by row in blocks of projected noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.validation import FloatArray
from hannan.kernels.weights import after_trials
from hannan.oracles._totals import Total
from hannan.perturbation import Blocks

Codes = NDArray[np.int64]
Resample = Callable[..., tuple[int, int]]

NO_NOISE = np.zeros((1, 0), np.float32)


def resampled(
    resample: Resample, blocks: Blocks, first: int, limit: int, successes: int, count: int
) -> tuple[FloatArray, int]:
    """Return the weights of several elements, and the number of draws used.

    `resample(block, start, stop, hits, reached, used)` goes through rows of a block, updates the
    successes of each element and the draw at which it had enough of them, and returns how many rows
    it used and how many elements need more.
    """
    hits, reached = np.zeros((2, count), np.intp)
    used, short = 0, count
    while used < limit - 1 and short > 0:
        start = blocks.locate(first + used)
        stop = min(len(blocks.block), start + limit - 1 - used)
        rows, short = resample(blocks.block, start, stop, hits, reached, used)
        used += rows
    weights = np.empty(count)
    after_trials(hits, reached, successes, limit, weights)
    return weights, used


class BlockObjective(Total):
    """Leaders as rows of integers, found by a kernel in any rows of a block of noise.

    A class names its kernel, the arrays of its statistic and how its leaders are coded. A kernel
    is a module with three functions, all of which take the statistic first; at scale 0 they do
    not look at the block:

    - `act(*statistic, block, row, scale, place)`, the action of the leader under one row;
    - `leaders(*statistic, block, start, stop, scale, codes, values)`, which writes the leaders;
    - `resample_one(*statistic, block, start, stop, scale, place, element, successes)`, which goes
      through rows until the leader's action was `element` often enough, and returns how often it
      was, and how many rows were used.
    """

    _kernel: Any
    _code_width: int
    """How many integers code a leader."""

    @property
    @abstractmethod
    def _statistic(self) -> tuple[Any, ...]:
        """The arrays that kernels take."""

    @abstractmethod
    def _blocks(self, noise: Noise | None) -> Blocks | None:
        """Prepare the statistic for this noise; returns the blocks that hold its draws."""

    @abstractmethod
    def _place(self, context: Any) -> Any:
        """The part of a context that leaders depend on."""

    @abstractmethod
    def _policy(self, code: NDArray[np.int64]) -> Policy:
        """The policy behind a code."""

    @abstractmethod
    def _plays(self, codes: Codes, place: Any) -> NDArray[Any]:
        """The action of each coded policy."""

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
        # Few policies lead under many draws: an object for each draw would take most of the time.
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

    def weights(
        self,
        context: Any,
        elements: NDArray[np.intp],
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        """Search leader after leader inside one compiled call for each block of noise."""
        if plus is not None:
            after = self._after(context, plus, draw.noise)
            return after.weights(context, elements, draw, limit, successes, None, available)
        noise, first, scale = draw
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0 or available is not None or len(elements) != 1:
            return super().weights(context, elements, draw, limit, successes, None, available)
        draw_until = self._kernel.resample_one
        statistic, place = self._statistic, self._place(context)
        hits = used = 0
        while used < limit - 1 and hits < successes:
            start = blocks.locate(first + used)
            block = blocks.block
            stop = min(start + limit - 1 - used, len(block))
            more, rows = draw_until(
                *statistic, block, start, stop, scale, place, elements[0], successes - hits
            )
            hits += more
            used += rows
        weight = used / successes if hits >= successes else limit / (hits + 1.0)
        return np.array([weight]), used

    def _inclusion(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which elements each of several actions chooses."""
        return np.asarray(actions[:, None] == np.arange(self.n_actions))

    def _after(self, context: Any, plus: FloatArray, noise: Noise | None) -> Self:
        """Return a total with one more round, for questions under this noise."""
        twin = self.copy()
        twin.add(context, plus)
        return twin

    def _row(self, draw: Draw) -> tuple[NDArray[np.float32], int, float]:
        """Where a draw is: block and row, and the scale (0 without noise)."""
        noise, number, scale = draw
        blocks = self._blocks(noise)
        if blocks is None or scale == 0.0:
            return NO_NOISE, 0, 0.0
        row = blocks.locate(number)
        return blocks.block, row, scale

    def _search(self, draw: Draw, count: int) -> tuple[Codes, FloatArray]:
        """Codes and values of the leaders under each draw."""
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
