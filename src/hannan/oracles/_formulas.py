"""Disjunctions and conjunctions: common base class, running totals and noise.

Both are represented by sets S of variables that *miss* some contexts: with y the bits that are on
(for a disjunction) or off (for a conjunction), S misses the context if S & y == 0. A disjunction
plays 0 if it misses and 1 if it hits. A conjunction plays 1 if it misses and 0 if it hits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Oracle, Policy
from hannan.core.arrays import as_array, as_scalar, is_frame
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.params import short
from hannan.core.state import Array, Count, Number, Numbered, Part, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import branching, formulas
from hannan.oracles._combinatorial import SetNoise
from hannan.oracles._totals import Total, twin
from hannan.perturbation import Blocks

TABLE_VARIABLES = 20
"""Most variables for which the value of every formula is stored; beyond, a search is used."""

_MOST_VARIABLES = 64
_LARGEST_CHANGE = 45.0  # largest difference of two unit Laplace variates of 31 bits
_FEW_CONTEXTS = 128
_NO_CELLS = np.zeros(0, np.float32)
_NO_PLACES = np.zeros(0, np.int64)


class Formulas(Oracle):
    """Monotone formulas over n bits, one for each set of variables."""

    takes_new_contexts = True
    n_actions: int = 2
    miss: ClassVar[int]
    """Action of a formula without a variable in y."""

    def __init__(self, n: int) -> None:
        self.n = check_integer(self, "n", n, 1)
        if n > _MOST_VARIABLES:
            raise refuse(self, "n", f"at most {_MOST_VARIABLES}", n)
        self._all: int = (1 << self.n) - 1

    @abstractmethod
    def touched(self, context: int) -> int:
        """Return y, the variables each of which hits the context."""

    @property
    def n_policies(self) -> int:
        """Number N = 2^n of policies."""
        return self._all + 1

    def policy(self, variables: Iterable[int]) -> FormulaPolicy:
        """Return the formula over these variables, 0..n-1."""
        mask = 0
        for i in variables:
            if isinstance(i, bool) or not isinstance(i, Integral) or not 0 <= i < self.n:
                raise refuse(self, "variables", f"integers from 0 to {self.n - 1}", i)
            mask |= 1 << int(i)
        return FormulaPolicy(self, mask)

    def plays(self, mask: int, context: int) -> int:
        """Return the action of the formula over the variables of a mask."""
        return self.miss if mask & self.touched(context) == 0 else 1 - self.miss

    def check_context(self, context: Any) -> int:
        """Convert n bits to a number whose bit i is variable i; accept such a number, too."""
        if type(context) is int and 0 <= context <= self._all:
            return context
        if isinstance(context, Integral) and not isinstance(context, bool):
            if 0 <= int(context) <= self._all:
                return int(context)
            raise ContextError(
                f"A context as a number must have {self.n} bits, 0 to {self._all}; got {context!r}."
            )
        if hasattr(context, "as_py"):
            return self.check_context(as_scalar(context))
        try:
            row = as_array(context)
        except (TypeError, ValueError):
            row = np.empty(0)
        if is_frame(context) and len(row) == 1:
            row = row[0]
        if row.shape != (self.n,):
            raise ContextError(
                f"A context of {self!r} must be {self.n} bits; got {short(context)}."
            )
        on = row == 1
        bad = np.flatnonzero(~(on | (row == 0)))
        if bad.size:
            raise ContextError(
                f"A context must consist of bits, 0 or 1; bit {bad[0]} is {row[bad[0]]!r}. "
                "Encode other features as bits first."
            )
        return int.from_bytes(np.packbits(on, bitorder="little").tobytes(), "little")

    def check_contexts(self, contexts: Any) -> list[int]:
        return super().check_contexts(as_array(contexts) if is_frame(contexts) else contexts)

    def objective(self) -> FormulaObjective:
        return TableTotals(self) if self.n <= TABLE_VARIABLES else RowTotals(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake outcomes, projected on all formulas if that is cheaper."""
        return FormulaNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Return min(v, d) log 2 for v variables and d contexts that distinguish formulas."""
        touched = {self.touched(context) for context in contexts} - {0}
        columns = {sum(((y >> i) & 1) << k for k, y in enumerate(touched)) for i in range(self.n)}
        return min(len(columns - {0}), len(touched)) * math.log(2.0)

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        """Return 3/4 for each context decided by one variable; None if there are other contexts."""
        touched = {self.touched(context) for context in contexts} - {0}
        return None if any(y & (y - 1) for y in touched) else 0.75 * len(touched)

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Return whether each variable alone decides some context.

        The formula of all variables and the formula without one of them differ only on contexts
        that this one decides alone.
        """
        return {1 << i for i in range(self.n)} <= {self.touched(context) for context in contexts}


class FormulaPolicy(Policy):
    """Formula over a set of variables."""

    def __init__(self, oracle: Formulas, mask: int) -> None:
        self.oracle = oracle
        self.mask = mask

    @property
    def variables(self) -> tuple[int, ...]:
        """Variables in ascending order."""
        return tuple(i for i in range(self.oracle.n) if self.mask >> i & 1)

    def __call__(self, context: Any = None) -> int:
        return self.oracle.plays(self.mask, self.oracle.check_context(context))

    def __repr__(self) -> str:
        word = " or " if self.oracle.miss == 0 else " and "
        empty = "false" if self.oracle.miss == 0 else "true"
        return f"<policy {word.join(f'x{i}' for i in self.variables) or empty}>"


class FormulaNoise(SetNoise):
    """Fake outcomes on contexts, each as a weight for missing the context.

    Totals read these weights, or their projection on all formulas.
    """

    def __init__(
        self, oracle: Formulas, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, 2, key, stream, memory)
        self.miss = oracle.miss
        self.touched = [oracle.touched(context) for context in contexts]
        self.linear = all(y & (y - 1) == 0 for y in self.touched)
        """Whether every context is decided by one variable, or by none."""
        self.places = np.array([y.bit_length() - 1 for y in self.touched])
        # The finest resolution at which sums over all contexts fit into 31 bits.
        most = _LARGEST_CHANGE * len(self.touched)
        self.steps = 2.0 ** math.floor(math.log2((2**31 - 1) / most - 1.0))
        self._bits = table_bits(oracle.n)
        self._memory = memory
        self._tables: Blocks | None = None

    def cells(self, draw: int) -> NDArray[np.float32]:
        """Return the noise on the contexts, two numbers for each, and padding."""
        place = self.blocks.locate(draw)
        row: NDArray[np.float32] = self.blocks.block[place]
        return row

    def table(self, draw: int) -> NDArray[np.int32]:
        """Return the noise on each formula as an integer multiple of 1/`steps`."""
        if self._tables is None:
            size = 2**self._bits
            self._tables = Blocks(
                self._fill_tables, size + 2 * (size // formulas.LEAF), self._memory
            )
        place = self._tables.locate(draw)
        row: NDArray[np.int32] = self._tables.block[place].view(np.int32)
        return row

    def all_hit(self, draw: int) -> float:
        """Return the noise of a formula that hits every context."""
        return float(self.unit(draw)[:, 1 - self.miss].sum())

    def _fill_tables(self, first: int, block: NDArray[np.float32]) -> None:
        touched, rows = np.array(self.touched, np.int64), block.view(np.int32)
        shape = self.miss, self.steps, self._bits
        formulas.fill_tables(self.key, self.stream, first, touched, *shape, rows)


class FormulaObjective(Total):
    r"""Total :math:`c + \sum_x w_x [S \text{ misses } x]`: :math:`w_x` is the extra loss of
    missing x, and c the loss of hitting every context."""

    oracle: Formulas
    draws_in_batches = False

    stored = State(constant=Number())

    def __init__(self, oracle: Formulas) -> None:
        self.oracle = oracle
        self.constant = 0.0

    def add(self, context: int, losses: FloatArray) -> None:
        miss = self.oracle.miss
        self.constant += float(losses[1 - miss])
        weight = float(losses[miss] - losses[1 - miss])
        if weight != 0.0:
            self._add(self.oracle.touched(context), weight)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        found = (self._search(draw.later(i), 0, 0.0) for i in range(count))
        return [FormulaPolicy(self.oracle, mask) for mask, _ in found]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        noise, first, scale = draw
        values = np.full(count, self.constant)
        for i in range(count):
            values[i] += self._search(draw.later(i), 0, 0.0)[1]
            if isinstance(noise, FormulaNoise) and scale != 0.0:
                values[i] += scale * noise.all_hit(first + i)
        return values

    def action(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> int:
        touched, weight = 0, 0.0
        if plus is not None:
            miss = self.oracle.miss
            touched, weight = self.oracle.touched(context), float(plus[miss] - plus[1 - miss])
        choice = self.oracle.plays(self._search(draw, touched, weight)[0], context)
        return choice if available is None else int(available[choice])

    @abstractmethod
    def _add(self, touched: int, weight: float) -> None:
        """Add a weight for missing all these variables."""

    @abstractmethod
    def _search(self, draw: Draw, touched: int, weight: float) -> tuple[int, float]:
        """Find the best mask with one more weight, and its value minus c."""


class TableTotals(FormulaObjective):
    """Value of every formula, in a table with a tree of minima above it.

    While the distinct contexts are few, their weights are stored, too: under noise that is not
    linear in the variables, a search is then cheaper than a scan of the table.
    """

    stored = State(scores=Array(), _few=Part() | None)

    def _restored(self) -> None:
        formulas.build(self.scores, self.tree)

    def __init__(self, oracle: Formulas) -> None:
        super().__init__(oracle)
        self._bits = table_bits(oracle.n)
        self.scores = np.zeros(2**self._bits)
        self.scores[oracle.n_policies :] = np.inf
        self.tree = np.empty(2 * (self.scores.size // formulas.LEAF))
        formulas.build(self.scores, self.tree)
        self._few: RowTotals | None = RowTotals(oracle)

    def copy(self) -> TableTotals:
        return twin(self, "scores", "tree", "_few")

    def _add(self, touched: int, weight: float) -> None:
        formulas.add(self.scores, self.tree, touched, weight)
        if self._few is not None:
            self._few._add(touched, weight)
            if len(self._few._rows) > _FEW_CONTEXTS:
                self._few = None

    def _search(self, draw: Draw, touched: int, weight: float) -> tuple[int, float]:
        noise, number, scale = draw
        cells, places = _NO_CELLS, _NO_PLACES
        if scale != 0.0:
            assert isinstance(noise, FormulaNoise)
            if not noise.linear:
                if self._few is not None and self._few.size(noise) <= _FEW_CONTEXTS:
                    return self._few._search(draw, touched, weight)
                self._few = None
                row, unit = noise.table(number), scale / noise.steps
                mask, value = formulas.table_leader(
                    self.scores, self.tree, row, unit, touched, weight
                )
                return int(mask), float(value)
            cells, places = noise.cells(number), noise.places
        miss, bits = self.oracle.miss, self._bits
        mask, value = formulas.linear_draw(
            self.scores, self.tree, cells, scale, miss, places, bits, touched, weight
        )
        return int(mask), float(value)


class RowTotals(FormulaObjective):
    """Weight of every distinct context; leaders are found by branch and bound."""

    stored = State(
        _totals=Array(None).where(lambda self, totals: len(totals)),
        _rows=Numbered(Count("oracle.n_policies"), most=lambda self: len(self._totals)),
        _masks=Array(lambda self: len(self._totals), dtype=np.uint64).where(
            lambda self, masks: masks[: len(self._rows)].tolist() == [*self._rows]
        ),
        _guess=Count("oracle.n_policies"),
    )

    def __init__(self, oracle: Formulas) -> None:
        super().__init__(oracle)
        self._rows: dict[int, int] = {}
        self._masks = np.zeros(64, np.uint64)
        self._totals = np.zeros(64)
        self._guess = 0
        self._placed: tuple[FormulaNoise | None, NDArray[np.int64]] = (None, _NO_PLACES)

    def _add(self, touched: int, weight: float) -> None:
        row = self._row(touched)  # may reallocate the totals, so it comes first
        self._totals[row] += weight

    def _search(self, draw: Draw, touched: int, weight: float) -> tuple[int, float]:
        noise, number, scale = draw
        cells, places = _NO_CELLS, _NO_PLACES
        if scale != 0.0:
            assert isinstance(noise, FormulaNoise)
            cells, places = noise.cells(number), self._places(noise)
        tilt = self._row(touched) if weight != 0.0 else -1
        count, n, miss = len(self._rows), self.oracle.n, self.oracle.miss
        known, guess = (self._masks[:count], self._totals[:count]), np.uint64(self._guess)
        mask, value, _ = branching.draw(*known, n, cells, scale, miss, places, tilt, weight, guess)
        self._guess = int(mask)
        return self._guess, float(value)

    def size(self, noise: FormulaNoise) -> int:
        """Return the number of distinct contexts seen or perturbed."""
        self._places(noise)
        return len(self._rows)

    def _places(self, noise: FormulaNoise) -> NDArray[np.int64]:
        if self._placed[0] is not noise:
            self._placed = noise, np.array([self._row(y) for y in noise.touched], np.int64)
        return self._placed[1]

    def _row(self, touched: int) -> int:
        row = self._rows.setdefault(touched, len(self._rows))
        if row >= self._totals.size:
            self._masks = np.concatenate([self._masks, np.zeros_like(self._masks)])
            self._totals = np.concatenate([self._totals, np.zeros_like(self._totals)])
        self._masks[row] = touched
        return row


def table_bits(n: int) -> int:
    """Return the number of bits of a table for n variables, at least that of one block."""
    return max(n, formulas.LEAF_BITS)
