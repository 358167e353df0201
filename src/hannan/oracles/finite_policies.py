"""Policies listed one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import InputTypeError, Objective, Oracle, ParameterError, Policy
from hannan.core.oracle import Noise
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels import finite as kernel
from hannan.kernels.lanes import WIDTH
from hannan.oracles._tables import check_table_context
from hannan.perturbation import Blocks, LaplaceNoise

_FIRST_LEVEL_CACHE = 48 * 1024


class FinitePolicies(Oracle):
    r"""A policy class given as a table: policy n plays `actions[n, i]` on context i.

    The leader for past losses :math:`\ell_1, …, \ell_t` is
    :math:`\arg\min_n \sum_s \ell_s(\pi_n(x_s))`. The objective keeps that sum for every policy,
    so a round costs O(N) whatever t is; noise is projected on all policies in blocks ahead of
    time, sixteen draws at once. Ties go to the smallest n.

    Parameters
    ----------
    actions
        Integers [N, d] in 0..K-1; a list of N integers is a class without contexts (d = 1).
    n_actions
        K; by default one more than the largest action in the table.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 1], [1, 1], [1, 0]])
    >>> total = oracle.objective()
    >>> total.add(0, np.array([1.0, 0.0]))
    >>> best = total.leader()
    >>> best.index, best(0), best(1)
    (1, 1, 1)
    """

    def __init__(self, actions: ArrayLike, n_actions: int | None = None) -> None:
        self.actions = actions
        table = _as_table(actions)
        top = int(table.max())
        if n_actions is not None and check_integer(self, "n_actions", n_actions, 1) <= top:
            raise ParameterError(
                f"FinitePolicies has action {top} in its table, which does not fit "
                f"n_actions={n_actions}; actions are 0 to n_actions - 1."
            )
        self.n_actions: int = top + 1 if n_actions is None else int(n_actions)
        self.table = table
        padded = -(-table.shape[0] // WIDTH) * WIDTH
        small = np.min_scalar_type(top)
        # Transposed, so that one context's actions are contiguous; rows beyond N repeat policy 0.
        self._columns = np.zeros((table.shape[1], padded), dtype=small)
        self._columns[:, : table.shape[0]] = table.T
        self._columns[:, table.shape[0] :] = table[0][:, None]
        self._plan = lru_cache(maxsize=2)(self._make_plan)

    @property
    def n_policies(self) -> int:
        """N."""
        return int(self.table.shape[0])

    @property
    def contexts(self) -> range:
        """0..d-1."""
        return range(self.table.shape[1])

    def check_context(self, context: Any) -> int:
        """A context is an integer below d; None where d = 1."""
        return check_table_context(self, context, self.table.shape[1])

    def objective(self) -> FiniteObjective:
        """An empty total: one score for each policy."""
        return FiniteObjective(self)

    def policy(self, index: int) -> FinitePolicy:
        """Policy number `index` of the table."""
        return FinitePolicy(self, index)

    def noise(
        self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> FiniteNoise:
        """Fake outcomes projected on every policy."""
        return FiniteNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """log N for the number of policies that differ on these contexts."""
        return float(np.log(_distinct_rows(self.table[:, list(contexts)])))

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Whether policies that differ at all differ on these contexts."""
        return _distinct_rows(self.table[:, list(contexts)]) == _distinct_rows(self.table)

    def _make_plan(self, contexts: tuple[int, ...]) -> Plan:
        return make_plan(self._columns[list(contexts)], self.n_actions)


class FinitePolicy(Policy):
    """One row of a table of policies."""

    def __init__(self, oracle: FinitePolicies, index: int) -> None:
        self.oracle = oracle
        self.index = index

    def __call__(self, context: Any = None) -> int:
        return int(self.oracle.table[self.index, self.oracle.check_context(context)])

    def __repr__(self) -> str:
        return f"<policy {self.index} of {self.oracle.n_policies}>"


class FiniteObjective(Objective):
    """The total loss of every policy."""

    oracle: FinitePolicies

    def __init__(self, oracle: FinitePolicies) -> None:
        self.oracle = oracle
        self._columns = oracle._columns
        self.scores = np.zeros(self._columns.shape[1])
        self.scores[oracle.n_policies :] = np.inf

    def copy(self) -> FiniteObjective:
        """An independent copy of the scores."""
        twin = FiniteObjective(self.oracle)
        twin.scores[:] = self.scores
        return twin

    def add(self, context: int, losses: FloatArray) -> None:
        """Add each policy's loss to its score."""
        kernel.add(self.scores, losses, self._columns[context])

    def action(self, context: int, noise: Noise | None, draw: int, scale: float) -> int:
        """The leader's action, in one pass over the scores."""
        if scale == 0.0:
            return int(self._columns[context, kernel.plain_leader(self.scores)])
        block, row = _rows(noise, draw)
        return int(kernel.act(self.scores, block, row, scale, self._columns[context]))

    def settle(
        self, context: int, losses: FloatArray, noise: Noise | None, draw: int, scale: float
    ) -> int:
        """Add and lead in one compiled call."""
        if scale == 0.0:
            self.add(context, losses)
            return self.action(context, None, 0, 0.0)
        block, row = _rows(noise, draw)
        column = self._columns[context]
        return int(kernel.settle(self.scores, block, row, scale, column, losses))

    def leaders(self, noise: Noise | None, first: int, count: int, scale: float) -> list[Policy]:
        """One pass over the scores for each draw."""
        found: list[Policy] = []
        for draw in range(first, first + count):
            if scale == 0.0:
                index = kernel.plain_leader(self.scores)
            else:
                block, row = _rows(noise, draw)
                index = kernel.leader(self.scores, block[row], scale)
            found.append(FinitePolicy(self.oracle, int(index)))
        return found

    def minima(self, noise: Noise | None, first: int, count: int, scale: float) -> FloatArray:
        """The smallest perturbed score of each draw."""
        n = self.oracle.n_policies
        values = np.empty(count)
        for i in range(count):
            values[i] = self.scores[:n].min()
            if scale != 0.0:
                block, row = _rows(noise, first + i)
                values[i] = (self.scores[:n] + scale * block[row, :n]).min()
        return values


class FiniteNoise(LaplaceNoise):
    """Fake outcomes projected on every policy of a table."""

    def __init__(
        self,
        oracle: FinitePolicies,
        contexts: Sequence[Any],
        key: np.uint64,
        stream: int,
        memory: int,
    ) -> None:
        super().__init__(contexts, oracle.n_actions, key, stream)
        self._plan = oracle._plan(tuple(contexts))
        self.blocks = Blocks(self._fill, self._plan.codes.shape[0], memory)

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        kernel.fill_rows(
            self.key,
            self.stream,
            first,
            self.n_cells,
            self._plan.steps,
            self._plan.n_rows,
            self._plan.codes,
            block,
        )


def _rows(noise: Noise | None, draw: int) -> tuple[NDArray[np.float32], int]:
    assert isinstance(noise, FiniteNoise)
    row = noise.blocks.locate(draw)
    return noise.blocks.block, row


class Plan(NamedTuple):
    """How to turn raw noise on (context, element) cells into noise on policies.

    Contexts are taken in groups; for each group a table holds the noise of every combination of
    its contexts' actions, and a policy adds up one row of each table.
    """

    steps: tuple[NDArray[Any], ...]
    codes: NDArray[Any]
    n_rows: int


def make_plan(columns: NDArray[Any], n_actions: int) -> Plan:
    """The cheapest grouping for a table of actions, one row of `columns` for each context."""
    d, n_policies = columns.shape
    starts = np.arange(d * n_actions + 1)
    cells = np.arange(d * n_actions)
    first_entry = n_actions * np.arange(d + 1)
    group = _group_size(d, n_actions, n_policies)
    group_start = np.append(np.arange(0, d, group), d)
    rows = n_actions ** np.diff(group_start)
    row_start = np.concatenate([[0], np.cumsum(rows)])
    n_rows = int(row_start[-1])
    codes = np.empty((n_policies, len(rows)), np.uint16 if n_rows <= 2**16 else np.uint32)
    for g in range(len(rows)):
        code = np.zeros(n_policies, np.int64)
        for x in range(group_start[g], group_start[g + 1]):
            code = code * n_actions + columns[x]
        codes[:, g] = code + row_start[g]
    return Plan((starts, cells, first_entry, group_start, row_start), codes, n_rows)


def _group_size(d: int, n_actions: int, n_policies: int) -> int:
    """The group size with the fewest vector additions, twice as dear beyond the cache."""

    def cost(g: int) -> float:
        rows = -(-d // g) * n_actions**g
        dear = 2.0 if rows * WIDTH * 4 > _FIRST_LEVEL_CACHE else 1.0
        return dear * float(n_policies * -(-d // g) + rows)

    sizes = [g for g in range(1, min(d, 8) + 1) if g == 1 or n_actions**g <= 4096]
    return min(sizes, key=cost)


def _as_table(actions: ArrayLike) -> NDArray[Any]:
    table = np.asarray(actions)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or 0 in table.shape:
        raise ParameterError(
            "FinitePolicies needs a table of actions [N, d] with at least one policy and one "
            f"context; got an array of shape {np.shape(actions)}."
        )
    if not np.issubdtype(table.dtype, np.integer):
        raise InputTypeError(
            f"FinitePolicies needs integer actions; got a table of type {table.dtype}."
        )
    if table.min() < 0:
        raise ParameterError(f"Actions are 0 to K - 1; the table holds {table.min()}.")
    return table.copy()


def _distinct_rows(table: NDArray[Any]) -> int:
    rows = np.ascontiguousarray(table)
    return len(np.unique(rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))))


__all__ = ["FinitePolicies", "FinitePolicy"]
