"""Sequences of any policies: best policies of intervals, and best intervals."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Oracle, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.policy import loss_of
from hannan.core.state import Context, Count, Key, ListOf, Numbered, Part, State, TupleOf
from hannan.core.validation import FloatArray
from hannan.kernels import switching as kernel
from hannan.oracles._combinatorial import SetOracle
from hannan.oracles._sequences import Pair, Sequences, SwitchingNoise, SwitchingPolicy
from hannan.oracles._totals import Rows

if TYPE_CHECKING:
    from hannan.oracles.switching import Switching

Places = NDArray[np.intp]


class IntervalSequences(Sequences):
    """Total loss vector of every pair of time and context.

    For each draw the inner oracle computes the minimal total of every interval of time, and on
    demand the leaders of the best intervals. The last solution is cached until a loss is added.
    """

    stored = State(_rows=Part())

    def __init__(self, oracle: Switching, price: float = 0.0) -> None:
        super().__init__(oracle, price)
        self._rows = PairRows(oracle)
        self._last: IntervalSolution | None = None
        self._solved = WITHOUT_NOISE  # the draw of `_last`
        self._met: tuple[Noise, Places] | None = None

    def _twin(self, price: float) -> IntervalSequences:
        made = IntervalSequences(self.oracle, price)
        made._rows = self._rows.copy()
        made._met = self._met
        return made

    def prepare(self, contexts: Sequence[Pair]) -> None:
        for context in contexts:
            self._rows.place(context)

    def add(self, context: Pair, losses: FloatArray) -> None:
        self._rows.add(context, losses)
        self._last = None

    def action(
        self, context: Pair, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if plus is not None or available is not None:
            return super().action(context, draw, plus, available)
        return self._solve(draw).policy_at(self.oracle.cell(context))(context[1])

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        found: list[Policy] = []
        for i in range(count):
            solution = self._solve(draw.later(i))
            starts = [cell * self.oracle.grid for cell in solution.starts]
            policies = [solution.policy(i) for i in range(len(starts))]
            found.append(SwitchingPolicy(self.oracle, list(zip(starts, policies, strict=True))))
        return found

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        return np.array([self._solve(draw.later(i)).value for i in range(count)])

    def _solve(self, draw: Draw) -> IntervalSolution:
        noise, number, scale = draw
        asked = WITHOUT_NOISE if scale == 0.0 else draw
        if self._last is None or self._solved != asked:
            places, fakes = np.empty(0, np.intp), np.zeros((0, self.n_actions))
            if scale != 0.0:
                assert isinstance(noise, SwitchingNoise)
                places = self._places(noise)
                fakes = noise.row(number).reshape(len(places), -1).astype(np.float64)
            rows, live = self._rows.totals, self._rows.counts > 0.0
            np.add.at(rows, places, scale * fakes)  # a cell may hold one context many times
            live[places] = True
            contexts, order, cuts = self._rows.by_cell(live)
            self._last = IntervalSolution(self.oracle, self.price, contexts, cuts, rows[order])
            self._solved = asked
        return self._last

    def _places(self, noise: SwitchingNoise) -> Places:
        """Return the rows that this noise perturbs."""
        if self._met is None or self._met[0] is not noise:
            places = [self._rows.place(context) for context in noise.contexts]
            self._met = (noise, np.array(places, np.intp))
        return self._met[1]


class PairRows(Rows):
    """Totals of each pair of cell and context."""

    stored = State(
        contexts=ListOf(Context("oracle.base"), most=lambda self: len(self._room)),
        index=Numbered(TupleOf(Count(2**31), Key())).where(
            lambda self, index: (
                [key for _, key in index] == [self.oracle.base.key(x) for x in self.contexts]
            )
        ),
    )

    def __init__(self, oracle: Switching) -> None:
        super().__init__(oracle.n_actions)
        self.oracle = oracle
        self.contexts: list[Any] = []

    def place(self, context: Pair) -> int:
        row = super().place((self.oracle.cell(context), self.oracle.base.key(context[1])))
        if row == len(self.contexts):
            self.contexts.append(context[1])
        return row

    def by_cell(self, live: NDArray[np.bool_]) -> tuple[list[Any], Places, Places]:
        """Return all contexts with live rows first in order of time, this order, and cell ends."""
        cells = np.array([cell for cell, _ in self.index], np.intp)
        order = np.lexsort((np.arange(len(cells)), cells, ~live))
        cells = cells[order[: int(live.sum())]]
        end = int(cells[-1]) + 1 if len(cells) else 0
        cuts = np.searchsorted(cells, np.arange(end + 1))
        return [self.contexts[i] for i in order], order, cuts


class IntervalSolution:
    """Best intervals for some rows, and the inner oracle's leaders on them, found on demand."""

    def __init__(
        self, oracle: Switching, price: float, contexts: list[Any], cuts: Places, losses: FloatArray
    ) -> None:
        self._base = oracle.base
        self._contexts = contexts
        self._losses = losses
        self._cuts = cuts
        self.starts = [0]
        """The first cell of each interval."""
        self.value = 0.0
        if len(cuts) > 1:
            minima = interval_minima(self._base, contexts, losses, cuts)
            ends, self.value = kernel.partition(minima, price, oracle.levels)
            self.starts += ends[:-1].tolist()
        self._policies: dict[int, Policy] = {}

    def policy_at(self, cell: int) -> Policy:
        """Return the leader of the interval around a cell."""
        return self.policy(bisect_right(self.starts, cell) - 1)

    def policy(self, number: int) -> Policy:
        """Return the leader of an interval."""
        if number not in self._policies:
            ends = [self._cuts[start] for start in self.starts] + [self._cuts[-1]]
            self._policies[number] = self._lead(ends[number], ends[number + 1])
        return self._policies[number]

    def _lead(self, start: int, stop: int) -> Policy:
        base = self._base
        total = base.objective()
        keys = [base.key(context) for context in self._contexts]
        known = dict(zip(keys, self._contexts, strict=True))
        if known:
            total.prepare(list(known.values()))
        if not base.exact:  # a reduction may depend on how often a context occurs
            for row in range(start, stop):
                total.add(self._contexts[row], self._losses[row])
            return total.leader()
        sums: dict[Hashable, FloatArray] = {}
        for row in range(start, stop):
            if keys[row] in sums:
                sums[keys[row]] += self._losses[row]
            else:
                sums[keys[row]] = self._losses[row].copy()
        for key, losses in sums.items():
            total.add(known[key], losses)
        return total.leader()


def interval_minima(
    base: Oracle, contexts: Sequence[Any], losses: FloatArray, cuts: Places
) -> FloatArray:
    """Return the minimal totals of all intervals of a history, without noise.

    Entry [i, j], i < j, is the minimum over the rows cuts[i] .. cuts[j] - 1; other entries are 0.
    Contexts beyond the last cut are passed only to `Objective.prepare`. Inexact classes that do not
    know the minimum give the value of their leader.
    """
    if isinstance(base, SetOracle):
        return base.interval_minima(contexts, losses, cuts)
    values = np.zeros((len(cuts), len(cuts)))
    known = list({base.key(context): context for context in contexts}.values())
    for i in range(len(cuts) - 1):
        total = base.objective()
        if known:
            total.prepare(known)
        for j in range(i + 1, len(cuts)):
            for row in range(cuts[j - 1], cuts[j]):
                total.add(contexts[row], losses[row])
            values[i, j] = total.minima()[0]
            if np.isnan(values[i, j]):
                rows = range(cuts[i], cuts[j])
                leader = total.leader()
                values[i, j] = sum(loss_of(losses[r], leader(contexts[r])) for r in rows)
    return values
