"""Shared parts of disjunctions and conjunctions.

Both are read as sets S of variables that *miss* some contexts: with y the bits that are on (for a
disjunction) or off (for a conjunction), S misses the context if S & y == 0. A disjunction plays 0
where it misses and 1 where it hits, a conjunction the other way round.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from hannan.core import ContextError, Oracle
from hannan.core.arrays import as_array, as_scalar, is_frame
from hannan.core.oracle import Noise
from hannan.core.params import short
from hannan.core.validation import check_integer, refuse
from hannan.oracles._formula_totals import (
    FormulaNoise,
    FormulaObjective,
    FormulaPolicy,
    RowTotals,
    TableTotals,
)

TABLE_VARIABLES = 20
"""Up to this many variables the value of every formula is kept; beyond, the best is searched."""

_MOST_VARIABLES = 64


class Formulas(Oracle):
    """Monotone formulas over n bits, one for each set of variables."""

    open_world = True
    n_actions: int = 2
    miss: ClassVar[int]
    """The action played where no variable of the formula is in y."""

    def __init__(self, n: int) -> None:
        self.n = check_integer(self, "n", n, 1)
        if n > _MOST_VARIABLES:
            raise refuse(self, "n", f"at most {_MOST_VARIABLES}", n)
        self._all: int = (1 << self.n) - 1

    @abstractmethod
    def touched(self, context: int) -> int:
        """y: the variables any one of which hits the context."""

    @property
    def n_policies(self) -> int:
        """N = 2^n."""
        return self._all + 1

    def policy(self, variables: Iterable[int]) -> FormulaPolicy:
        """The formula over these variables, 0..n-1."""
        mask = 0
        for i in variables:
            if isinstance(i, bool) or not isinstance(i, Integral) or not 0 <= i < self.n:
                raise refuse(self, "variables", f"integers from 0 to {self.n - 1}", i)
            mask |= 1 << int(i)
        return FormulaPolicy(self, mask)

    def plays(self, mask: int, context: int) -> int:
        """The action of the formula over the variables of a mask."""
        return self.miss if mask & self.touched(context) == 0 else 1 - self.miss

    def check_context(self, context: Any) -> int:
        """A row of n bits as a number, bit i being variable i; such a number is accepted too."""
        if type(context) is int and 0 <= context <= self._all:
            return context
        if isinstance(context, Integral) and not isinstance(context, bool):
            if 0 <= int(context) <= self._all:
                return int(context)
            raise ContextError(
                f"A context given as a number holds {self.n} bits, 0 to {self._all}; "
                f"got {context!r}."
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
                f"A context of {self!r} is a row of {self.n} bits; got {short(context)}."
            )
        on = row == 1
        bad = np.flatnonzero(~(on | (row == 0)))
        if bad.size:
            raise ContextError(
                f"A context is a row of bits, 0 or 1; bit {bad[0]} is {row[bad[0]]!r}. "
                "Encode other features as bits first."
            )
        return int.from_bytes(np.packbits(on, bitorder="little").tobytes(), "little")

    def check_contexts(self, contexts: Any) -> list[int]:
        return super().check_contexts(as_array(contexts) if is_frame(contexts) else contexts)

    def objective(self) -> FormulaObjective:
        return TableTotals(self) if self.n <= TABLE_VARIABLES else RowTotals(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Fake outcomes, projected on all formulas where that is cheaper."""
        return FormulaNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """min(v, d) log 2, v the variables and d the contexts that can tell formulas apart."""
        touched = {self.touched(context) for context in contexts} - {0}
        columns = {sum(((y >> i) & 1) << k for k, y in enumerate(touched)) for i in range(self.n)}
        return min(len(columns - {0}), len(touched)) * math.log(2.0)

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        """3/4 for each context where one variable alone decides; None if there are others."""
        touched = {self.touched(context) for context in contexts} - {0}
        return None if any(y & (y - 1) for y in touched) else 0.75 * len(touched)

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Whether every variable decides some context alone.

        The formula of all variables and that of all but one differ only on such contexts.
        """
        return {1 << i for i in range(self.n)} <= {self.touched(context) for context in contexts}
