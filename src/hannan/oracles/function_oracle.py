"""A user's own optimiser as an oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from hannan.core import (
    Action,
    ContextError,
    InputTypeError,
    LossError,
    Objective,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import check_comparable
from hannan.core.kept import are_places, expect, is_array
from hannan.core.oracle import Noise
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles._twin import twin
from hannan.perturbation import LaplaceNoise

Solve = Callable[[list[Any], FloatArray], Callable[[Any], Any]]


class FunctionOracle(Oracle):
    r"""Any optimiser: `solve(contexts, losses)` returns the best policy for these losses.

    Losses are summed for each distinct context before `solve` sees them, so the size of a call does
    not grow with the number of rounds: `contexts` is a list of distinct contexts and `losses` an
    array with a row of K totals for each. The totals are *signed*, because noise is. The policy
    returned is any callable from a context to an action, an int in 0..K-1 (or, with `max_chosen` >
    1, the chosen elements); ideally it minimises
    :math:`\sum_i \sum_{j \in \pi(x_i)} \mathrm{losses}[i, j]` over the class.

    Parameters
    ----------
    solve
        The optimiser. It must depend on its arguments only and break ties consistently.
    n_actions
        K. If None it is taken from the first loss vector; until then `solve` is called with empty
        arguments, so the first round is played without noise.
    max_chosen
        m, the largest number of elements an action chooses.
    n_policies
        N, if the class is finite and its size is known: sharpens `epsilon="theorem"`.

    Examples
    --------
    Thresholds on a line, by trying them all:

    >>> import hannan as hn
    >>> def solve(contexts, losses):
    ...     def cost(theta):
    ...         return sum(row[int(x >= theta)] for x, row in zip(contexts, losses))
    ...     best = min([0.0, 0.25, 0.5, 0.75, 1.0], key=cost)
    ...     return lambda x: int(x >= best)
    >>> learner = hn.ContextFTPL(
    ...     hn.oracles.FunctionOracle(solve, n_actions=2), contexts=[0.1, 0.4, 0.8], seed=0)
    >>> learner.act(0.8)
    1
    >>> learner.update([1.0, 0.0])
    """

    def __init__(
        self,
        solve: Solve,
        n_actions: int | None = None,
        max_chosen: int = 1,
        n_policies: int | None = None,
    ) -> None:
        if not callable(solve):
            raise InputTypeError(
                f"FunctionOracle needs a function solve(contexts, losses); got {solve!r}."
            )
        self.solve = solve
        self.n_actions = (
            None if n_actions is None else check_integer(self, "n_actions", n_actions, 1)
        )
        self.max_chosen = check_integer(self, "max_chosen", max_chosen, 1)
        self.antichain = self.max_chosen == 1
        self.n_policies = (
            None if n_policies is None else check_integer(self, "n_policies", n_policies, 1)
        )

    def check_context(self, context: Any) -> Hashable:
        try:
            hash(context)
        except TypeError:
            raise ContextError(
                "FunctionOracle sums losses by context, so contexts must be hashable; "
                f"got {context!r}. Use a tuple in place of a list or an array."
            ) from None
        return check_comparable(context)  # type: ignore[no-any-return]

    def objective(self) -> FunctionObjective:
        return FunctionObjective(self)

    def noise(
        self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> LaplaceNoise:
        if self.n_actions is None:
            raise ParameterError("FunctionOracle needs n_actions before noise can be drawn for it.")
        return LaplaceNoise(contexts, self.n_actions, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        """log N as given, else the bound K^d for single actions."""
        if self.n_policies is not None:
            return math.log(self.n_policies)
        if self.n_actions is None or self.max_chosen > 1:
            return None
        return len(contexts) * math.log(self.n_actions)


class UserPolicy(Policy):
    """A user's callable, its actions checked and brought into the standard form."""

    def __init__(self, function: Any, n_actions: int | None, max_chosen: int) -> None:
        if not callable(function):
            raise InputTypeError(
                f"solve(contexts, losses) must return a policy, a callable; got {function!r}."
            )
        self.function = function
        self.n_actions = n_actions
        self.max_chosen = max_chosen

    def __call__(self, context: Any = None) -> Action:
        action = self.function(context)
        chosen = np.unique(np.asarray(action))
        inside = (
            np.issubdtype(chosen.dtype, np.integer)
            and 0 < chosen.size <= self.max_chosen
            and chosen[0] >= 0
            and (self.n_actions is None or chosen[-1] < self.n_actions)
        )
        if not inside:
            raise ParameterError(
                f"The policy returned by solve plays {action!r} on context {context!r}; an action "
                f"is {'an integer' if self.max_chosen == 1 else 'a set of integers'} from 0 to "
                f"{'K' if self.n_actions is None else self.n_actions} - 1."
            )
        return int(chosen[0]) if self.max_chosen == 1 else chosen.astype(np.intp)

    def __repr__(self) -> str:
        return f"<policy {self.function!r}>"


class FunctionObjective(Objective):
    """The sum of the losses of each distinct context."""

    oracle: FunctionOracle
    draws_in_batches = False
    _growing = frozenset({"_totals"})
    _varying = frozenset({"_rows"})

    def __init__(self, oracle: FunctionOracle) -> None:
        self.oracle = oracle
        self._rows: dict[Hashable, int] = {}
        self._totals: FloatArray = np.zeros((0, oracle.n_actions or 0))

    def _check_stored(self) -> None:
        known = are_places(self._rows) and all(map(self.oracle.holds, self._rows))
        expect(
            self,
            _rows=known and len(self._rows) <= len(self._totals),
            _totals=is_array(self._totals, None, self.oracle.n_actions),
        )

    @property
    def n_actions(self) -> int:
        """K, from the losses seen."""
        return int(self._totals.shape[1])

    def copy(self) -> FunctionObjective:
        return twin(self, "_rows", "_totals")

    def add(self, context: Hashable, losses: FloatArray) -> None:
        if self._totals.shape[1] != losses.shape[0]:
            if self._totals.shape[1]:
                raise LossError(
                    f"The losses so far had {self._totals.shape[1]} entries, one for each action; "
                    f"got {losses.shape[0]}."
                )
            self._totals = np.zeros((self._totals.shape[0], losses.shape[0]))
        row = self._row(context)  # may reallocate the totals, so it comes first
        self._totals[row] += losses

    def leaders(self, noise: Noise | None, first: int, count: int, scale: float) -> list[Policy]:
        return [
            self._solve(*self._problem(noise, draw, scale)) for draw in range(first, first + count)
        ]

    def minima(self, noise: Noise | None, first: int, count: int, scale: float) -> FloatArray:
        values = np.empty(count)
        for i in range(count):
            contexts, losses = self._problem(noise, first + i, scale)
            policy = self._solve(list(contexts), losses.copy())
            values[i] = sum(
                loss_of(row, policy(x)) for x, row in zip(contexts, losses, strict=True)
            )
        return values

    def settle(
        self, context: Hashable, losses: FloatArray, noise: Noise | None, draw: int, scale: float
    ) -> Action:
        """Solve first and add afterwards: if the user's solver fails, nothing has changed."""
        after = self.copy()
        after.add(context, losses)
        action = after.action(context, noise, draw, scale)
        self.add(context, losses)
        return action

    def _solve(self, contexts: list[Any], losses: FloatArray) -> UserPolicy:
        found = self.oracle.solve(contexts, losses)
        return UserPolicy(found, losses.shape[1] or None, self.oracle.max_chosen)

    def _problem(
        self, noise: Noise | None, draw: int, scale: float
    ) -> tuple[list[Any], FloatArray]:
        rows: list[int] = []
        if noise is not None and scale != 0.0:
            rows = [self._row(x) for x in noise.contexts]
        losses = self._totals[: len(self._rows)].copy()
        if rows:
            losses[rows] += scale * noise.unit(draw)  # type: ignore[union-attr]
        return list(self._rows), losses

    def _row(self, context: Hashable) -> int:
        row = self._rows.setdefault(context, len(self._rows))
        if row >= self._totals.shape[0]:
            more = np.zeros((max(8, 2 * self._totals.shape[0]), self._totals.shape[1]))
            more[: self._totals.shape[0]] = self._totals
            self._totals = more
        return row
