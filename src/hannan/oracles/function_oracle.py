"""A user's own optimiser as an oracle."""

from __future__ import annotations

import copy
import inspect
import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from hannan.core import (
    Action,
    ContextError,
    InfeasibleError,
    InputTypeError,
    LossError,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import check_comparable
from hannan.core.oracle import WITHOUT_NOISE, Draw, Noise
from hannan.core.policy import loss_of
from hannan.core.state import Array, Context, Numbered, Part, State
from hannan.core.validation import FloatArray, check_integer, check_positive
from hannan.oracles._combinatorial import check_flag, optional
from hannan.oracles._totals import Rows, Total, solve_then_add
from hannan.perturbation import LaplaceNoise

Solve = Callable[..., Any]

_KEPT = 16  # policies found last, for calls that run out of time


class FunctionOracle(Oracle):
    r"""Any optimiser: `solve(contexts, losses)` returns the best policy for these losses.

    Losses are summed for each distinct context before `solve` sees them, so the size of a call does
    not grow with the number of rounds: `contexts` is a list of distinct contexts and `losses` an
    array with a row of K totals for each. The totals are *signed*, because noise is. The policy
    returned is any callable from a context to an action, an int in 0..K-1 (or, with `max_chosen` >
    1, the chosen elements, none perhaps); ideally it minimises
    :math:`\sum_i \sum_{j \in \pi(x_i)} \mathrm{losses}[i, j]` over the class.

    A function of one argument, `solve(losses)`, is a problem without contexts: it is given the K
    totals and returns the action itself.

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
    exact
        Whether policies are true minimisers. Say False of heuristics and of solvers that stop at a
        gap: certificates then say that no theorem applies.
    equal_size
        Whether all actions choose equally many elements, by default where `max_chosen` is 1.
    shift
        Whether the solver cannot take negative numbers, as Dijkstra's rule: losses of a context are
        then all increased by the same amount, so that the smallest is 0. Where actions differ in
        size that favours small ones, so the class is exact only with `equal_size`.
    time_limit
        Seconds, given to the solver as `solve(…, time_limit=…)`. It may return None if it found
        nothing in time; then the best of the policies that it found last is played. Runs depend on
        the machine, and the class is not exact.

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

    Without contexts, any set of elements that cost less than nothing, of the first two at most one:

    >>> def solve(losses):
    ...     first = int(losses[1] < losses[0])
    ...     return [k for k in (first, 2, 3) if losses[k] < 0.0]
    >>> total = hn.oracles.FunctionOracle(solve, n_actions=4, max_chosen=3).objective()
    >>> total.add(None, np.array([-1.0, -2.0, 0.5, -0.1]))
    >>> total.leader()()
    array([1, 3])
    """

    def __init__(
        self,
        solve: Solve,
        n_actions: int | None = None,
        max_chosen: int = 1,
        n_policies: int | None = None,
        *,
        exact: bool = True,
        equal_size: bool | None = None,
        shift: bool = False,
        time_limit: float | None = None,
    ) -> None:
        if not callable(solve):
            raise InputTypeError(
                f"FunctionOracle needs a function solve(contexts, losses); got {solve!r}."
            )
        self.solve = solve
        self.n_actions = optional(check_integer, self, "n_actions", n_actions, 1)
        self.max_chosen = check_integer(self, "max_chosen", max_chosen, 1)
        self.n_policies = optional(check_integer, self, "n_policies", n_policies, 1)
        self.equal_size = optional(check_flag, self, "equal_size", equal_size)
        self.antichain = self.max_chosen == 1 if equal_size is None else bool(equal_size)
        self.shift = check_flag(self, "shift", shift)
        self.time_limit = optional(check_positive, self, "time_limit", time_limit)
        approximate = self.time_limit is not None or (self.shift and not self.antichain)
        self.exact = check_flag(self, "exact", exact) and not approximate  # type: ignore[misc]
        self._alone = _takes_losses_only(solve, timed=self.time_limit is not None)
        # Not in the total: what is feasible belongs to the class, so that what was found for one
        # total may be played for another. Only calls that run out of time read it.
        self._last: deque[UserPolicy] = deque(maxlen=_KEPT)
        self._size: int | None = None  # of the first action, where all are said to have one

    @property
    def contexts(self) -> tuple[None] | None:
        """None alone, where `solve` takes no contexts; else they are not listed."""
        return (None,) if self._alone else None

    def check_context(self, context: Any) -> Hashable:
        if self._alone and context is not None:
            raise ContextError(
                f"solve(losses) takes no contexts: call act() or act(None); got {context!r}. For "
                "a problem with contexts write solve(contexts, losses)."
            )
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

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
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

    def policy(self, contexts: list[Any], losses: FloatArray) -> UserPolicy:
        """What the solver finds for these totals, [d, K]; it may change its arguments."""
        given = losses
        if self.shift and losses.size:
            given = losses - np.minimum(losses.min(axis=1, keepdims=True), 0.0)
        limits = {} if self.time_limit is None else {"time_limit": self.time_limit}
        kept = losses.copy(), list(contexts)
        if self._alone:
            row = given[0].copy() if len(given) else np.zeros(losses.shape[1])
            action = self.solve(row, **limits)
            if action is None and self.time_limit is None:
                raise InputTypeError(
                    "solve(losses) must return the numbers of the chosen elements, [] for none; "
                    "got None. For a solver that may run out of time give time_limit=."
                )
            found = None if action is None else _Always(copy.copy(action))
        else:
            found = self.solve(contexts, given, **limits)
        if found is None and self.time_limit is not None:
            return self._best_known(*kept)
        policy = UserPolicy(found, kept[0].shape[1] or None, self.max_chosen)
        if self._alone and self.equal_size and self.max_chosen > 1:
            self._check_size(policy(None))
        if self.time_limit is not None:
            self._last.append(policy)
        return policy

    def _check_size(self, action: Any) -> None:
        """Refuse a second size: the shift and the certificate rely on there being one."""
        size = len(action)
        self._size = size if self._size is None else self._size
        if size != self._size:
            raise ParameterError(
                f"equal_size=True says that all actions choose equally many elements; solve chose "
                f"{self._size} of them, and now {size}. Leave equal_size out."
            )

    def _best_known(self, losses: FloatArray, contexts: list[Any]) -> UserPolicy:
        """The best of the policies found last."""
        if not self._last:
            raise InfeasibleError(
                f"solve found no action in time_limit={self.time_limit} seconds, and none before. "
                "Give it more time, or let it return any feasible one."
            )
        return min(self._last, key=lambda policy: _value(policy, contexts, losses))


class _Always:
    """The same action on every context."""

    def __init__(self, action: Any) -> None:
        self.action = action

    def __call__(self, context: Any = None) -> Any:
        return self.action

    def __repr__(self) -> str:
        return f"always {self.action!r}"


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
        try:
            given = np.asarray(list(action) if isinstance(action, set | frozenset) else action)
            chosen = np.unique(given)
        except (TypeError, ValueError):  # ragged, or of several kinds
            given, chosen = np.array(np.nan), np.array([np.nan])
        if given.size == 0 and self.max_chosen > 1:
            return np.empty(0, np.intp)
        inside = (
            np.issubdtype(chosen.dtype, np.integer)
            and 0 < chosen.size <= self.max_chosen
            and chosen.size == given.size
            and chosen[0] >= 0
            and (self.n_actions is None or chosen[-1] < self.n_actions)
        )
        if not inside:
            what = "an integer"
            if self.max_chosen > 1:
                what = (
                    f"a set of at most max_chosen={self.max_chosen} integers, without repetition,"
                )
            last = "K - 1" if self.n_actions is None else self.n_actions - 1
            raise ParameterError(
                f"The policy returned by solve plays {action!r} on context {context!r}; an action "
                f"is {what} from 0 to {last}: the numbers of what is chosen. Of a vector x of "
                "zeros and ones they are np.flatnonzero(x > 0.5)."
            )
        return int(chosen[0]) if self.max_chosen == 1 else chosen.astype(np.intp)

    def __repr__(self) -> str:
        return f"<policy {self.function!r}>"


class FunctionObjective(Total):
    """The sum of the losses of each distinct context."""

    oracle: FunctionOracle
    draws_in_batches = False

    stored = State(_rows=Part())

    def __init__(self, oracle: FunctionOracle) -> None:
        self.oracle = oracle
        self._rows = ContextRows(oracle.n_actions or 0)

    @property
    def n_actions(self) -> int:
        """K, from the losses seen."""
        return self._rows.width

    def add(self, context: Hashable, losses: FloatArray) -> None:
        if self._rows.width not in (0, len(losses)):
            raise LossError(
                f"The losses so far had {self._rows.width} entries, one for each action; got "
                f"{len(losses)}."
            )
        self._rows.add(context, losses)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        problems = (self._problem(draw.later(i)) for i in range(count))
        return [self.oracle.policy(*problem) for problem in problems]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        values = np.empty(count)
        for i in range(count):
            contexts, losses = self._problem(draw.later(i))
            policy = self.oracle.policy(list(contexts), losses.copy())
            values[i] = _value(policy, contexts, losses)
        return values

    settle = solve_then_add

    def _problem(self, draw: Draw) -> tuple[list[Any], FloatArray]:
        noise, number, scale = draw
        rows: list[int] = []
        if noise is not None and scale != 0.0:
            rows = [self._rows.place(x) for x in noise.contexts]
        losses = self._rows.totals
        if rows:
            losses[rows] += scale * noise.unit(number)  # type: ignore[union-attr]
        return list(self._rows.index), losses


class ContextRows(Rows):
    """Totals of any contexts; K is that of the first losses where it is not known."""

    stored = State(
        _room=Array(None, lambda self: self.oracle.n_actions and self.oracle.n_actions + 1),
        index=Numbered(Context(), most=lambda self: len(self._room)),
    )

    @property
    def width(self) -> int:
        """K, 0 before it is known."""
        return int(self._room.shape[1]) - 1

    def add(self, context: Hashable, losses: FloatArray) -> bool:
        if not self.width:
            self._room = np.zeros((len(self._room), len(losses) + 1))
        return super().add(context, losses)


def _value(policy: Policy, contexts: Sequence[Any], losses: FloatArray) -> float:
    """The total loss of a policy."""
    return sum(loss_of(row, policy(x)) for x, row in zip(contexts, losses, strict=True))


def _takes_losses_only(solve: Any, timed: bool) -> bool:
    """Whether a function has one argument, a time limit apart; it must have one or two."""
    try:
        parameters = inspect.signature(solve).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not tell
        return False
    if timed and not any(p.name == "time_limit" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise ParameterError(
            "With time_limit= FunctionOracle calls solve(…, time_limit=seconds): give your "
            "function that argument."
        )
    others = [p for p in parameters if p.name != "time_limit" and p.kind is not p.VAR_KEYWORD]
    places = [p for p in others if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in others if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    any_number = any(p.kind is p.VAR_POSITIONAL for p in others)
    if len(needed) > 2 or not (places or any_number) or len(needed) > len(places):
        raise InputTypeError(
            "FunctionOracle calls solve(losses) or solve(contexts, losses); this function needs "
            f"{', '.join(needed) or 'no arguments'}. functools.partial sets other arguments."
        )
    return not any_number and (len(needed) == 1 or len(places) == 1)
