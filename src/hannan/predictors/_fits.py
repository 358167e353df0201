"""Regressions of `Blend`, `FourierRidge` and `Ridge`, on rows standardised by running moments."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from hannan.core.arrays import grown
from hannan.core.errors import ParameterError
from hannan.core.params import Parametrised
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Count, ListOf, Part, State
from hannan.core.validation import FloatArray
from hannan.kernels import blend as kernel
from hannan.kernels.losses import extremes
from hannan.predictors._table import FORGETTING

BANDWIDTHS = (1.0, 2.0)
_FEWEST = 10  # least number of Fourier features; with fewer there is no Fourier part
FIRST, LAST = 8, 512
MEMORY = 2**26


class Standardiser(Parametrised):
    r"""Means and scales of the features, from the first rows.

    A row becomes :math:`\mathrm{clip}\bigl((x - c)/s, \pm 5\bigr)/\sqrt p`. Before 8 rows have been
    learned, c = 0 and s = 1. When the number of rows reaches 8, 16, …, 512, c becomes the mean and
    s the standard deviation of all rows so far (s = 1 for a constant column). After the last
    renewal they stay fixed. A fit in another scaling is useless, so the observations are stored
    until the last renewal, and the fits learn them again after each renewal. If the observations
    would take more than `memory` bytes, the last renewal is earlier: at the largest power of two,
    from 8 on, that fits.

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
        """Number of observations stored for the next renewal."""
        return self._count if self._count < self._last else 0

    @property
    def settled(self) -> bool:
        """Whether the last renewal of the scaling has happened."""
        return self._count >= self._last

    def extended(self, n_actions: int) -> Standardiser:
        """Return a copy for more actions; there are no observations of the new actions."""
        twin = copy.deepcopy(self)
        twin.n_actions = n_actions
        return twin

    def keep(self, row: FloatArray, elements: IntArray, losses: FloatArray) -> bool:
        """Store an observation; return whether the scaling changed and `kept` must be learned."""
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
        # The mean of equal numbers may differ from these numbers by a rounding error.
        constant = spread <= 1e-12 * np.abs(self._rows).max(axis=0)
        self.center[:] = center
        self.scale[:] = np.where(constant, 1.0, spread)
        return True

    def kept(self) -> Iterator[tuple[FloatArray, IntArray, FloatArray]]:
        """Yield all observations so far, oldest first; drop them after the last renewal."""
        yield from zip(self._rows, self._elements, self._losses, strict=True)
        if self._count == self._last:
            self._rows = np.zeros((0, self.n_features))
            self._elements, self._losses = [], []


def diagonal(n: int, value: float) -> FloatArray:
    """Return a multiple of the identity matrix as its lower triangle, row by row."""
    triangle = np.zeros(n * (n + 1) // 2)
    i = np.arange(n)
    triangle[i * (i + 3) // 2] = value
    return triangle


def usable(row: FloatArray) -> bool:
    """Return whether all features are finite and their squares can be added up."""
    low, high = extremes(row)
    return bool(low >= -kernel.LARGEST and high <= kernel.LARGEST)


class Fits(Parametrised):
    r"""Ridge regressions for K actions, on rows of p features: see `hannan.kernels.blend`.

    The inverses take :math:`\frac12 K n (n+1)` doubles for n entries. If this exceeds `memory`
    bytes, there are fewer Fourier features; if fewer than ten would remain, there are none. If the
    rows without Fourier features are still too long, only the diagonals are stored. Without
    `bandwidths` there are no Fourier features. If `calibrated`, widths are in units of the size of
    an error.

    """

    stored = State(
        _scaling=Part(),
        _weights=Array(),
        _inverse=Array(None).where(
            lambda self, inverse: len(inverse) in (self._one, self._one * self.n_actions)
        ),
        _seen=Array(),
        _tally=Array(low=0.0),
    )
    room_for = ("n_actions n_features",)

    def __init__(
        self,
        n_actions: int,
        n_features: int,
        *,
        features: int = 0,
        linear: bool = False,
        standardise: bool,
        bandwidths: tuple[float, ...] = (),
        ridge: float,
        memory: int,
        seed: int = 0,
        intercept: bool = True,
        calibrated: bool = True,
    ) -> None:
        self.n_actions, self.n_features, self.features = n_actions, n_features, features
        self.linear, self.standardise, self.bandwidths = linear, standardise, bandwidths
        self.ridge, self.memory, self.seed = ridge, memory, seed
        self.intercept, self.calibrated = intercept, calibrated
        q = n_features + intercept
        each = self._affordable(q)
        m = each * len(bandwidths)
        self._sizes = np.array([q, q + m] if linear and m else [q + m])
        self._triangular = self._bytes(q, m) <= memory
        rng = np.random.default_rng(seed)
        waves = [g * rng.standard_normal((n_features, each)) for g in bandwidths]
        self._waves: FloatArray = np.concatenate(waves, axis=1) if m else np.zeros((n_features, 0))
        self._phases: FloatArray = rng.uniform(0.0, 2.0 * math.pi, m)
        self._height = math.sqrt(2.0 / each) if m else 0.0
        self._scaling = Standardiser(n_actions, n_features, min(memory, MEMORY))
        self._forget()
        self._raw = np.zeros(n_features)
        self._v = np.zeros(q + m)
        self._products = np.zeros((2, int(self._sizes.sum())))
        self._mark = np.zeros(1 + len(self._sizes), dtype=np.int64)
        self._everyone = np.arange(n_actions)
        self._restored()

    def _affordable(self, q: int) -> int:
        """Return the number of Fourier features of each bandwidth that fit into the memory."""
        each = self.features // max(len(self.bandwidths), 1)
        while each and self._bytes(q, each * len(self.bandwidths)) > self.memory:
            each -= 1
        return each if each * len(self.bandwidths) >= min(_FEWEST, self.features) else 0

    def _bytes(self, q: int, m: int) -> int:
        """Return the number of bytes of the inverses if each action has a separate one."""
        found = 0
        for n in [q, q + m] if self.linear and m else [q + m]:
            found += n * (n + 1) // 2
        return 8 * self.n_actions * found

    def _forget(self) -> None:
        """Reset all regressions, in the current scaling."""
        K, start = self.n_actions, 1.0 / self.ridge
        parts = [
            diagonal(n, start) if self._triangular else np.full(n, start)
            for n in self._sizes.tolist()
        ]
        self._inverse: FloatArray = np.concatenate(parts)  # shared until the data differ
        self._one = len(self._inverse)
        self._weights: FloatArray = np.zeros(K * int(self._sizes.sum()))
        self._seen = np.zeros(K, dtype=np.bool_)
        self._tally: FloatArray = np.zeros(len(self._sizes) + 2)

    def _restored(self) -> None:
        """Collect the arguments that all kernels take."""
        fit = kernel.Fit(
            center=self._scaling.center,
            scale=self._scaling.scale if self.standardise else np.zeros(0),
            waves=self._waves,
            phases=self._phases,
            height=self._height,
            sizes=self._sizes,
            ridge=self.ridge,
            triangular=self._triangular,
            calibrated=self.calibrated,
            weights=self._weights,
            inverse=self._inverse,
            seen=self._seen,
            tally=self._tally,
            raw=self._raw,
            v=self._v,
            products=self._products,
            mark=self._mark,
        )
        self._numbers = tuple(fit)
        self._keeps = self.standardise and not self._scaling.settled  # store observations
        self._mark[:] = 0  # nothing is cached

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Allocate new scratch space, because unpickled arrays may be read-only."""
        vars(self).update(state)
        for name in ("_raw", "_v", "_products", "_mark"):
            setattr(self, name, np.zeros_like(state[name]))
        self._restored()

    def extended(self, n_actions: int) -> Self:
        """Return a copy with new regressions for more actions."""
        twin = self.clone(n_actions=n_actions)
        if not np.array_equal(twin._sizes, self._sizes) or twin._triangular != self._triangular:
            raise ParameterError(
                f"Regressions for {n_actions} actions on {self.n_features} features need more than "
                f"memory={self.memory} bytes. Pass a larger memory."
            )
        K, more = self.n_actions, n_actions - self.n_actions
        fresh = twin._inverse
        twin._scaling = self._scaling.extended(n_actions)
        twin._weights = self._each(self._weights, K, self._sizes, [0.0] * len(self._sizes), more)
        lengths = [self._length(n) for n in self._sizes.tolist()]
        split = np.split(fresh, np.cumsum(lengths)[:-1])
        shared = len(self._inverse) == self._one
        old = self._parted() if shared else self._inverse
        twin._inverse = self._each(old, K, lengths, split, more)
        if shared and not self._seen.any():
            twin._inverse = fresh
        twin._seen = grown(self._seen, n_actions)
        twin._tally = self._tally.copy()
        twin._restored()
        return twin

    @staticmethod
    def _each(numbers: FloatArray, K: int, sizes: Any, values: list[Any], more: int) -> FloatArray:
        """Return for each part the numbers of all actions, followed by those of new actions."""
        ends = np.cumsum([K * int(n) for n in sizes])
        found = []
        for part, n, value in zip(np.split(numbers, ends[:-1]), sizes, values, strict=True):
            found += [part, np.tile(np.broadcast_to(value, int(n)), more)]
        return np.concatenate(found)

    @property
    def shares(self) -> FloatArray:
        """Weight of each part in the mixture."""
        found = np.empty(len(self._sizes))
        kernel.shares(self._tally[:-2], found)
        return found

    @property
    def deviation(self) -> float:
        """Size σ of an error."""
        return float(kernel.deviation(self._tally)) if self.calibrated else 1.0

    def advise(
        self, row: FloatArray, available: IntArray | None, alpha: float
    ) -> tuple[int, FloatArray]:
        """Return the action of the least lower confidence value (-1: bad row), and the means."""
        estimates = np.empty(self.n_actions)
        some = self._everyone if available is None else available
        action = int(kernel.advise(row, some, alpha, estimates, self._numbers))
        return action, estimates

    def look(self, row: FloatArray, widths: bool) -> tuple[FloatArray, FloatArray] | None:
        """Return the means without clipping, and the widths if requested; None for a bad row."""
        values = np.empty(self.n_actions), np.empty(self.n_actions if widths else 0)
        return values if kernel.look(row, *values, self._numbers) else None

    def learn(
        self, row: FloatArray, elements: IntArray, losses: FloatArray, again: bool = False
    ) -> bool:
        """Learn from an observation, or `again` in another scaling; return False for a bad row."""
        if len(elements) < self.n_actions and len(self._inverse) == self._one:
            if not usable(row):
                return False
            self._inverse = self._parted()  # one per action, instead of a shared one
            self._restored()
        if not kernel.learn(row, elements, losses, FORGETTING, self._numbers):
            return False
        if self._keeps and not again and self._scaling.keep(row, elements, losses):
            self._forget()
            self._restored()
            for observation in self._scaling.kept():
                self.learn(*observation, again=True)
        return True

    def _parted(self) -> FloatArray:
        ends = np.cumsum([self._length(n) for n in self._sizes.tolist()])
        shared = np.split(self._inverse, ends[:-1])
        return np.concatenate([np.tile(each, self.n_actions) for each in shared])

    def _length(self, n: int) -> int:
        """Return the length of an inverse."""
        return n * (n + 1) // 2 if self._triangular else n
