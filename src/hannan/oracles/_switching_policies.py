"""Sequences of listed policies, by dynamic programming over a matrix of costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from hannan.core import Action, ContextError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import LARGEST, Anything, Count, State
from hannan.core.validation import FloatArray
from hannan.kernels import finite
from hannan.kernels import switching as kernel
from hannan.oracles._sequences import Fakes, ListedNoise, Pair, Sequences, SwitchingPolicy
from hannan.oracles.finite_policies import FinitePolicies

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching


_MANY = 2**24  # numbers that are allocated without a check of the round numbers
_FAR = 1000  # largest ratio of the round number to the number of known rounds


class PolicySequences(Sequences):
    """Cost of every listed policy in every cell of time.

    Three results are cached, each until a new loss makes it invalid. Without noise: the best
    beginnings of sequences, which each round extends by one cell. Under one draw: the best cost of
    every policy in all cells except the queried one. Under a draw that is queried at several times
    (noise drawn once): the states before and after the cell, which advance with the cell.
    """

    stored = State(
        _totals=Anything().where(lambda self, totals: self._are_totals(totals)),
        _end=Count(lambda self: len(self._totals) + 1),
    )

    def _are_totals(self, totals: Any) -> bool:
        """Return whether these are totals of all policies, padded with infinity."""
        n = self.base.n_policies
        if not isinstance(totals, np.ndarray) or totals.dtype != np.float64 or totals.ndim != 2:
            return False
        shaped = totals.flags.c_contiguous and totals.shape[1] == self._row.size and len(totals)
        moderate = (np.abs(totals[:, :n]) <= LARGEST).all()
        return bool(shaped and moderate and (totals[:, n:] == np.inf).all())

    def __init__(self, oracle: Switching, price: float = 0.0) -> None:
        assert isinstance(oracle.base, FinitePolicies)
        super().__init__(oracle, price)
        self.base = oracle.base
        self._totals = self._empty(8)
        self._end = 0  # one more than the last cell with losses
        self._front = Front(oracle.levels, self.base.n_policies, price)
        self._plain: Leader | None = None
        self._row = np.empty(self._totals.shape[1])
        self._best = np.empty(self._totals.shape[1])
        self._solved: tuple[Draw, int] | None = None  # draw and cell that `_best` is for
        self._walk: Walk | None = None

    def _twin(self, price: float) -> PolicySequences:
        twin = PolicySequences(self.oracle, price)
        twin._totals = self._totals.copy()
        twin._end = self._end
        return twin

    def prepare(self, contexts: Sequence[Pair]) -> None:
        last = max(self.oracle.cell(context) for context in contexts)
        self._reserve(last + 1, known=len(contexts))

    def add(self, context: Pair, losses: FloatArray) -> None:
        cell = self.oracle.cell(context)
        self._reserve(cell + 1)
        by_code = self.base.losses_by_code(losses)
        finite.add(self._totals[cell], by_code, self.base._columns[context[1]])
        self._end = max(self._end, cell + 1)
        self._plain = None
        if self._front.at > cell:
            self._front = Front(self.oracle.levels, self.base.n_policies, self.price)
        if self._solved is not None and self._solved[-1] != cell:
            self._solved = None
        if self._walk is not None and self._walk.at != cell:
            self._walk = None

    def action(
        self, context: Pair, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        """Return the leader's action at one time; under noise the other times are not computed."""
        choice = self._index(context, draw, plus)
        if choice is None:
            return super().action(context, draw, plus, available)
        action = self.base.action(self.base.table[choice, context[1]])
        return action if available is None else int(available[action])

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        if draw.scale == 0.0:
            return [self._policy(self._leader())] * count
        return [self._policy(self._noisy(draw.later(i))) for i in range(count)]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        noise, first, scale = draw
        if scale == 0.0:
            return np.full(count, self._leader().value)
        ready = self._ready(noise)
        end, levels = max(self._end, ready.end), self.oracle.levels
        values = np.empty(count)
        for i in range(count):
            fakes = ready.fakes(first + i)
            best = _blank(levels, self._totals.shape[1])
            kernel.sweep(self._totals, 0, end, 1, fakes, scale, self.price, *best)
            values[i] = best[1][-1] if end else 0.0
        return values

    def _index(self, context: Pair, draw: Draw, plus: Plus) -> int | None:
        """Return the leading policy at this time with one more round; None if a copy is needed."""
        cell = self.oracle.cell(context)
        if draw.scale == 0.0:
            return self._leader().at(cell) if plus is None else None
        ready = self._ready(draw.noise)
        if context not in ready.covered:
            return self._noisy(draw).at(cell) if plus is None else None
        fakes = ready.fakes(draw.number)
        self._reserve(cell + 1)
        self._solve(ready, draw, cell, fakes)
        kernel.costs(self._totals, cell, fakes, draw.scale, self._row)
        if plus is not None:
            finite.add(self._row, self.base.losses_by_code(plus), self.base._columns[context[1]])
        return int(kernel.choose(self._row, self._best))

    def _solve(self, ready: ListedNoise, draw: Draw, cell: int, fakes: Fakes) -> None:
        """Make `_best` the best cost of every policy in all cells except `cell`."""
        known = self._solved
        if known == (draw, cell):
            return
        end, levels = max(self._end, ready.end, cell + 1), self.oracle.levels
        self._solved = None
        if self._walk is not None and not self._walk.goes_on(draw, cell):
            self._walk = None
        if self._walk is None and known is not None and known[0] == draw:
            self._walk = Walk(self, draw, cell, end, fakes)
        if self._walk is not None:
            self._walk.meet(self._totals, cell, fakes, self._best)
        else:
            price = self.price
            kernel.solve(self._totals, cell, end, fakes, draw.scale, price, levels, self._best)
        self._solved = draw, cell

    def _leader(self) -> Leader:
        """Return the leader without noise."""
        if self._plain is None:
            cell, none = max(self._front.at, self._end - 1, 0), self.oracle.listing.none
            self._reserve(cell + 1)
            self._front.advance(self._totals, cell, none, 0.0)
            self._plain = self._front.leader(self._totals, none, 0.0)
        return self._plain

    def _noisy(self, draw: Draw) -> Leader:
        ready = self._ready(draw.noise)
        fakes = ready.fakes(draw.number)
        front = Front(self.oracle.levels, self.base.n_policies, self.price)
        front.advance(self._totals, max(self._end, ready.end, 1) - 1, fakes, draw.scale)
        return front.leader(self._totals, fakes, draw.scale)

    def _policy(self, leader: Leader) -> SwitchingPolicy:
        step = self.oracle.grid
        pieces = zip(leader.since, leader.who, strict=True)
        return SwitchingPolicy(self.oracle, [(g * step, self.base.policy(n)) for g, n in pieces])

    def _ready(self, noise: Noise | None) -> ListedNoise:
        assert isinstance(noise, ListedNoise)
        self._reserve(noise.end)
        return noise

    def _reserve(self, cells: int, known: int = 0) -> None:
        """Allocate memory for `cells` cells; raise `ContextError` if few rounds are known."""
        if cells > len(self._totals):
            much = cells * self.base._columns.shape[1] > _MANY
            if much and cells > _FAR * max(known, len(self._totals)):
                raise ContextError(
                    "Rounds of Switching are numbered 0, 1, 2, …; got round "
                    f"{(cells - 1) * self.oracle.grid}, and only {max(known, len(self._totals))} "
                    "rounds were known. Number the rounds without large gaps."
                )
            more = self._empty(max(cells, 2 * len(self._totals)) - len(self._totals))
            self._totals = np.concatenate([self._totals, more])

    def _empty(self, cells: int) -> FloatArray:
        totals = np.zeros((cells, self.base._columns.shape[1]))
        totals[:, self.base.n_policies :] = np.inf
        return totals


@dataclass(frozen=True)
class Leader:
    """Best sequence: policy who[j] from cell since[j] on."""

    since: list[int]
    who: list[int]
    value: float

    def at(self, cell: int) -> int:
        """Return the policy of a cell."""
        return self.who[bisect_right(self.since, cell) - 1]


def _blank(levels: int, width: int) -> tuple[FloatArray, FloatArray]:
    """Return the best cost of no cells by level and last policy; see `kernels.switching`."""
    return np.zeros(levels * width), np.full(levels, np.inf)


class Front:
    """Best beginnings of sequences before a cell, each with its pieces."""

    def __init__(self, levels: int, n_policies: int, price: float) -> None:
        self.at = 0
        """The cell that comes next."""
        self._price = price
        self._values = np.zeros((levels, n_policies))
        count = np.ones((levels, n_policies), np.int32)
        since = np.zeros((levels, n_policies, levels), np.int32)
        who = np.zeros_like(since)
        who[:, :, 0] = np.arange(n_policies)
        self._pieces = (count, since, who)

    def advance(self, totals: FloatArray, cell: int, fakes: Fakes, scale: float) -> None:
        """Advance until `cell` is the next cell."""
        if cell > self.at:
            given = fakes, scale, self._price, self._values, self._pieces
            kernel.extend(totals, self.at, cell, *given)
            self.at = cell

    def leader(self, totals: FloatArray, fakes: Fakes, scale: float) -> Leader:
        """Return the first of the best sequences up to and including the next cell."""
        behind = _blank(len(self._values), totals.shape[1])
        given = fakes, scale, self._price, self._values, self._pieces
        q, n, value = kernel.pick(totals, self.at, *given, *behind)
        count, since, who = self._pieces
        size = count[q, n]
        return Leader(since[q, n, :size].tolist(), who[q, n, :size].tolist(), value)


class Walk:
    r"""One draw, queried at one cell after another.

    The state before the current cell is updated in each step. The states after the cell are stored
    at about :math:`\sqrt T` checkpoints, and computed for all cells between two checkpoints when
    the first of these cells is reached. So a step costs O(kN) on average, and the memory is
    :math:`O(\sqrt T k N)`.
    """

    def __init__(
        self, total: PolicySequences, draw: Draw, cell: int, end: int, fakes: Fakes
    ) -> None:
        self.at = 0
        self._price = total.price
        self._draw = draw
        self._start = cell
        self._end = end
        self._size = total.oracle.levels, total._totals.shape[1]
        self._front = _blank(*self._size)
        self._stride = max(1, isqrt(end - cell))
        self._marks = self._kept(-(-(end - cell) // self._stride))
        self._block = self._kept(self._stride + 1)
        self._number = -1  # number of the stored block
        given = fakes, draw.scale, self._price, *_blank(*self._size)
        kernel.snapshots(total._totals, end, cell, self._stride, *given, *self._marks)

    def goes_on(self, draw: Draw, cell: int) -> bool:
        """Return whether a cell can be reached under this draw."""
        return self._draw == draw and self.at <= cell < self._end

    def meet(self, totals: FloatArray, cell: int, fakes: Fakes, best: FloatArray) -> None:
        """Move to a cell; write to best[n] the best cost of policy n in all other cells."""
        kernel.sweep(totals, self.at, cell, 1, fakes, self._draw.scale, self._price, *self._front)
        self.at = cell
        number, place = divmod(cell - self._start, self._stride)
        if number != self._number:
            self._fill(totals, number, fakes)
        behind, least = self._block
        kernel.meet(*self._front, behind[place], least[place], self._price, best)

    def _fill(self, totals: FloatArray, number: int, fakes: Fakes) -> None:
        """Compute the state after each cell of a block, from the checkpoint behind it."""
        behind = _blank(*self._size)
        start, stop = self._start + number * self._stride, self._end
        if number + 1 < len(self._marks[0]):
            for state, marks in zip(behind, self._marks, strict=True):
                state[:] = marks[number + 1]
            stop = start + self._stride + 1
        given = fakes, self._draw.scale, self._price, *behind
        kernel.snapshots(totals, stop, start, 1, *given, *self._block)
        self._number = number

    def _kept(self, count: int) -> tuple[FloatArray, FloatArray]:
        levels, width = self._size
        return np.empty((count, levels * width)), np.empty((count, levels))
