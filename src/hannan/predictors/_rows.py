"""Rows of numbers, standardised as they come."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np

from hannan.core.params import Parametrised
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Count, ListOf, State
from hannan.core.validation import FloatArray
from hannan.kernels import blend as kernel
from hannan.kernels.losses import extremes

FIRST, LAST = 8, 512
MEMORY = 2**26


class Standardiser(Parametrised):
    r"""Centres and scales of the features, from the first rows that were learned.

    A row becomes :math:`\mathrm{clip}\bigl((x - c)/s, \pm 5\bigr)/\sqrt p`. Until 8 rows were
    learned c = 0 and s = 1; when their number reaches 8, 16, …, 512, c and s become the means and
    standard deviations of all of them (s = 1 for a column that never changed), and then stay. What
    was fitted in another scaling is useless, so the observations are kept until the last renewal
    and are to be learned again at each. Where they would take more than `memory` bytes that is
    earlier: at the last power of two, from 8 on, that fits.
    """

    stored = State(
        center=Array(),
        scale=Array().where(lambda self, scale: (scale > 0.0).all()),
        _count=Count(below=lambda self: self._last + 1),
        _rows=Array(None, "n_features").where(
            lambda self, rows: self._held <= len(rows) <= LAST and (len(rows) or not self._held)
        ),
        _elements=ListOf(Array(None, dtype=np.intp, low=0, below="n_actions"), length="_held"),
        _losses=ListOf(Array(None), length="_held").where(
            lambda self, losses: [len(a) for a in losses] == [len(b) for b in self._elements]
        ),
    )
    room_for = ("n_features",)

    def __init__(self, n_actions: int, n_features: int, memory: int) -> None:
        self.n_actions = n_actions
        self.n_features = n_features
        self.memory = memory
        self.center: FloatArray = np.zeros(n_features)
        self.scale: FloatArray = np.ones(n_features)
        self._last = LAST
        while self._last > FIRST and 8 * self._last * (n_features + n_actions) > memory:
            self._last //= 2
        self._count = 0
        self._rows: FloatArray = np.zeros((FIRST, n_features))
        self._elements: list[IntArray] = []
        self._losses: list[FloatArray] = []

    @property
    def _held(self) -> int:
        """Number of observations that wait for the next renewal."""
        return self._count if self._count < self._last else 0

    @property
    def settled(self) -> bool:
        """Whether the scaling has been renewed for the last time."""
        return self._count >= self._last

    def extended(self, n_actions: int) -> Standardiser:
        """With more actions, of which no observation is kept."""
        twin = copy.deepcopy(self)
        twin.n_actions = n_actions
        return twin

    def keep(self, row: FloatArray, elements: IntArray, losses: FloatArray) -> bool:
        """Count a row; whether the scaling changed, so that `kept` is to be learned anew."""
        if self._count >= self._last:
            return False
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self._count] = row
        self._elements.append(elements.copy())
        self._losses.append(losses.copy())
        self._count += 1
        if self._count < FIRST or self._count & (self._count - 1):
            return False
        center, spread = self._rows.mean(axis=0), self._rows.std(axis=0)
        # The mean of equal numbers may differ from them by a rounding error.
        constant = spread <= 1e-12 * np.abs(self._rows).max(axis=0)
        self.center[:] = center
        self.scale[:] = np.where(constant, 1.0, spread)
        return True

    def kept(self) -> Iterator[tuple[FloatArray, IntArray, FloatArray]]:
        """All observations so far, oldest first; forgotten after the last renewal."""
        yield from zip(self._rows, self._elements, self._losses, strict=True)
        if self._count == self._last:
            self._rows = np.zeros((0, self.n_features))
            self._elements, self._losses = [], []


def diagonal(n: int, value: float) -> FloatArray:
    """A matrix with the same number all along its diagonal: its lower triangle, row by row."""
    triangle = np.zeros(n * (n + 1) // 2)
    i = np.arange(n)
    triangle[i * (i + 3) // 2] = value
    return triangle


def usable(row: FloatArray) -> bool:
    """Whether all features are finite and their squares can be added up."""
    low, high = extremes(row)
    return bool(low >= -kernel.LARGEST and high <= kernel.LARGEST)
