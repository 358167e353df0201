"""Sequences of listed policies: a matrix of costs, and dynamic programming over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hannan.core import Action, ContextError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import LARGEST, Anything, Count
from hannan.core.state import State as Declared
from hannan.core.validation import FloatArray
from hannan.kernels import finite
from hannan.kernels import switching as kernel
from hannan.oracles._sequences import Sequences, SwitchingPolicy
from hannan.oracles._switching_listing import Fakes, ListedNoise, Pair
from hannan.oracles._switching_states import Front, Leader, State, Walk
from hannan.oracles.finite_policies import FinitePolicies

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching


_MANY = 2**24  # numbers that are held without asking whether the rounds are real
_FAR = 1000  # how many times as many rounds as are known may lie between them


class PolicySequences(Sequences):
    """The cost of every listed policy in every cell of time.

    Three results are cached, each until a loss is added that it does not include. Without noise:
    the best beginnings of sequences, which each round extends by one cell. Under one draw: the best
    cost of every policy in all cells other than the one queried. Under a draw that is queried at
    several times (noise drawn once): the states before and after the cell, which move on with it.
    """

    stored = Declared(
        _totals=Anything().where(lambda self, totals: self._are_totals(totals)),
        _end=Count(lambda self: len(self._totals) + 1),
    )

    def _are_totals(self, totals: Any) -> bool:
        """Whether these are totals of all policies, padded with infinite ones."""
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
        self._solved: tuple[Any, ...] | None = None  # the query that `_best` answers
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
        """The action of the leader at one time; with noise the rest is not computed."""
        choice = self._index_plus(context, draw, plus)
        if choice is None:
            return super().action(context, draw, plus, available)
        action = self._play(choice, context)
        return action if available is None else int(available[action])

    def _index_plus(self, context: Pair, draw: Draw, plus: Plus) -> int | None:
        """The policy that leads at this time with one more round; None where a copy must tell."""
        if plus is None:
            return self._index(context, draw)
        if draw.scale == 0.0:
            return None
        ready, cell = self._ready(draw.noise), self.oracle.cell(context)
        if context not in ready.covered:
            return None
        row, best = self._here_and_elsewhere(ready, draw, cell)
        finite.add(row, self.base.losses_by_code(plus), self.base._columns[context[1]])
        return int(kernel.choose(row, best))

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
            state = State(levels, self._totals.shape[1])
            passed = state.values, state.least
            kernel.sweep(self._totals, 0, end, 1, fakes, scale, self.price, *passed)
            values[i] = state.least[-1] if end else 0.0
        return values

    def _index(self, context: Pair, draw: Draw) -> int:
        """The policy that the leader follows at this time."""
        noise, _, scale = draw
        cell = self.oracle.cell(context)
        if scale == 0.0:
            return self._leader().at(cell)
        ready = self._ready(noise)
        if context not in ready.covered:
            return self._noisy(draw).at(cell)
        row, best = self._here_and_elsewhere(ready, draw, cell)
        return int(kernel.choose(row, best))

    def _here_and_elsewhere(
        self, ready: ListedNoise, draw: Draw, cell: int
    ) -> tuple[FloatArray, FloatArray]:
        """The cost of every policy in a cell, and its best cost in all others."""
        fakes = ready.fakes(draw.number)
        self._reserve(cell + 1)
        self._solve(ready, draw, cell, fakes)
        kernel.costs(self._totals, cell, fakes, draw.scale, self._row)
        return self._row, self._best

    def _solve(self, ready: ListedNoise, draw: Draw, cell: int, fakes: Fakes) -> None:
        """Bring `_best` up to date."""
        noise, number, scale = draw
        known = self._solved
        if known is not None and known[0] is noise and known[1:] == (number, scale, cell):
            return
        same_draw = known is not None and known[0] is noise and known[1:3] == (number, scale)
        end, levels = max(self._end, ready.end, cell + 1), self.oracle.levels
        self._solved = None
        if self._walk is not None and not self._walk.goes_on((noise, number, scale), cell):
            self._walk = None
        if self._walk is None and same_draw:
            self._walk = Walk(
                (noise, number, scale), self._totals, cell, end, fakes, levels, self.price
            )
        if self._walk is not None:
            self._walk.meet(self._totals, cell, fakes, self._best)
        else:
            price = self.price
            kernel.solve(self._totals, cell, end, fakes, scale, price, levels, self._best)
        self._solved = (noise, number, scale, cell)

    def _leader(self) -> Leader:
        """The leader without noise."""
        if self._plain is None:
            self._plain = self._lead(max(self._front.at, self._end - 1, 0))
        return self._plain

    def _lead(self, cell: int, fakes: Fakes | None = None, behind: State | None = None) -> Leader:
        """The leader under fake losses from a cell on, given the state after that cell."""
        self._reserve(cell + 1)
        none = self.oracle.listing.none
        self._front.advance(self._totals, cell, none, 0.0)
        if fakes is None:
            return self._front.leader(self._totals, none, 0.0)
        return self._front.leader(self._totals, fakes, 1.0, behind)

    def _noisy(self, draw: Draw) -> Leader:
        noise, number, scale = draw
        ready = self._ready(noise)
        fakes = ready.fakes(number)
        front = Front(self.oracle.levels, self.base.n_policies, self.price)
        front.advance(self._totals, max(self._end, ready.end, 1) - 1, fakes, scale)
        return front.leader(self._totals, fakes, scale)

    def _play(self, index: int, context: Pair) -> Action:
        return self.base.action(self.base.table[index, context[1]])

    def _policy(self, leader: Leader) -> SwitchingPolicy:
        step = self.oracle.grid
        pieces = zip(leader.since, leader.who, strict=True)
        return SwitchingPolicy(self.oracle, [(g * step, self.base.policy(n)) for g, n in pieces])

    def _ready(self, noise: Noise | None) -> ListedNoise:
        assert isinstance(noise, ListedNoise)
        self._reserve(noise.end)
        return noise

    def _reserve(self, cells: int, known: int = 0) -> None:
        """Have room for so many cells, not many more than contexts that are known."""
        if cells > len(self._totals):
            much = cells * self.base._columns.shape[1] > _MANY
            if much and cells > _FAR * max(known, len(self._totals)):
                raise ContextError(
                    "Rounds of Switching are numbered 0, 1, 2, …; got round "
                    f"{(cells - 1) * self.oracle.grid} where {max(known, len(self._totals))} were "
                    "known."
                )
            more = self._empty(max(cells, 2 * len(self._totals)) - len(self._totals))
            self._totals = np.concatenate([self._totals, more])

    def _empty(self, cells: int) -> FloatArray:
        totals = np.zeros((cells, self.base._columns.shape[1]))
        totals[:, self.base.n_policies :] = np.inf
        return totals
