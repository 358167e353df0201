"""Your own optimiser as an oracle."""

from __future__ import annotations

import copy
import inspect
import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus, with_round
from hannan.core.policy import loss_of
from hannan.core.state import Array, Context, Numbered, Part, State
from hannan.core.validation import FloatArray, check_integer, check_positive
from hannan.oracles._combinatorial import check_flag, optional
from hannan.oracles._totals import Rows, Total, solve_then_add
from hannan.perturbation import LaplaceNoise

Solve = Callable[..., Any]

_KEPT = 16  # number of recent policies that replace a call out of time


class FunctionOracle(Oracle):
    r"""Your own optimiser: `solve(contexts, losses)` returns the best policy for these losses.

    Losses are summed for each distinct context before the call of `solve`, so the size of a call
    does not grow with the number of rounds. `contexts` is a list of distinct contexts, and `losses`
    an array with a row of K totals for each. The totals are *signed*, because noise is signed.

    `solve` returns a policy, which is any callable from a context to an action. An action is an int
    in 0..K-1, or with `max_chosen` > 1 the chosen elements, perhaps none. Ideally the policy
    minimises :math:`\sum_i \sum_{j \in \pi(x_i)} \mathrm{losses}[i, j]` over the class.

    A function of one argument, `solve(losses)`, is a problem without contexts: it takes the K
    totals and returns the action itself.

    For the option `available=` of `act`, write `solve(losses, available)` or `solve(contexts,
    losses, available)`: the argument of this name gets K booleans, the elements that actions may
    contain in this round (on all contexts). If no action is left, raise `InfeasibleError`.

    Parameters
    ----------
    solve
        Optimiser. It must depend only on its arguments and break ties consistently.
    n_actions
        Number K of elements. Default: None, for the length of the first loss vector. Until then
        `solve` gets empty arguments, so the first round is played without noise.
    max_chosen
        Largest number m of elements in an action. Default: 1.
    n_policies
        Number N of policies, if it is known and finite. It sharpens `epsilon="theorem"`.
        Default: None.
    exact
        Whether policies are true minimisers. Set False for heuristics and for solvers that stop at
        a gap: certificates then say that no theorem applies. Default: True.
    equal_size
        Whether all actions choose equally many elements. Default: True if `max_chosen` is 1.
    shift
        Whether the solver needs losses that are not negative, such as Dijkstra's algorithm. Then
        all losses of a context increase by one amount, so that the smallest is 0. If actions differ
        in size, the shift favours small actions, so the class is exact only with `equal_size`.
        Default: False.
    time_limit
        Time limit in seconds, passed to the solver as `solve(…, time_limit=…)`. The solver may
        return None if it found nothing in time. Then the best of its most recent policies is
        played. Runs depend on the machine, and the class is not exact. Default: None.

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

    The cheapest two of the elements that are available today:

    >>> def solve(losses, available):
    ...     return np.argsort(np.where(available, losses, np.inf), kind="stable")[:2]
    >>> pairs = hn.oracles.FunctionOracle(solve, n_actions=4, max_chosen=2)
    >>> hn.ContextFTPL(pairs, seed=0).act(available=[1, 2, 3])
    array([1, 2])
    """

    to_close = "Let your solver take the available elements: solve(…, available)."

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
        self._alone, self.closes = _arguments(solve, timed=self.time_limit is not None)
        # In the class and not in the total: feasible policies of one total are feasible for all.
        # Only calls that run out of time read them.
        self._last: deque[UserPolicy] = deque(maxlen=_KEPT)
        self._size: int | None = None  # size of the first action, if all have equal sizes

    @property
    def contexts(self) -> tuple[None] | None:
        """Only the context None if `solve` takes no contexts; otherwise unknown."""
        return (None,) if self._alone else None

    def check_context(self, context: Any) -> Hashable:
        if self._alone and context is not None:
            raise ContextError(
                f"solve(losses) takes no contexts: call act() or act(None); got {context!r}. For "
                "a problem with contexts define solve(contexts, losses)."
            )
        try:
            hash(context)
        except TypeError:
            raise ContextError(
                "FunctionOracle sums losses by context, so contexts must be hashable; "
                f"got {context!r}. Use a tuple instead of a list or an array."
            ) from None
        return check_comparable(context)  # type: ignore[no-any-return]

    def objective(self) -> FunctionObjective:
        return FunctionObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        if self.n_actions is None:
            raise ParameterError("FunctionOracle needs n_actions before noise can be drawn for it.")
        return LaplaceNoise(contexts, self.n_actions, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        """Return log N if N is given; otherwise the bound log K^d for single actions."""
        if self.n_policies is not None:
            return math.log(self.n_policies)
        if self.n_actions is None or self.max_chosen > 1:
            return None
        return len(contexts) * math.log(self.n_actions)

    def policy(
        self, contexts: list[Any], losses: FloatArray, today: Today | None = None
    ) -> UserPolicy:
        """Call the solver for totals [d, K], which it may change; return its policy."""
        given = losses
        if self.shift and losses.size:
            given = losses - np.minimum(losses.min(axis=1, keepdims=True), 0.0)
        limits: dict[str, Any] = {}
        if self.time_limit is not None:
            limits["time_limit"] = self.time_limit
        if self.closes:
            everything = np.ones(losses.shape[1], dtype=bool)
            limits["available"] = everything if today is None else today.is_open.copy()
        kept = losses.copy(), list(contexts)
        if self._alone:
            row = given[0].copy() if len(given) else np.zeros(losses.shape[1])
            action = self.solve(row, **limits)
            if action is None and self.time_limit is None:
                raise InputTypeError(
                    "solve(losses) must return the numbers of the chosen elements, [] for none; "
                    "got None. For a solver that may run out of time pass time_limit=."
                )
            found = None if action is None else _Always(copy.copy(action))
        else:
            found = self.solve(contexts, given, **limits)
        if found is None and self.time_limit is not None:
            return self._best_known(*kept, today)
        policy = UserPolicy(found, kept[0].shape[1] or None, self.max_chosen)
        if self._alone and self.equal_size and self.max_chosen > 1 and today is None:
            self._check_size(policy(None))
        if self.time_limit is not None:
            self._last.append(policy)
        return policy

    def _check_size(self, action: Any) -> None:
        """Raise `ParameterError` for an action of another size if `equal_size` is True."""
        size = len(action)
        self._size = size if self._size is None else self._size
        if size != self._size:
            raise ParameterError(
                f"equal_size=True requires actions with equally many elements; solve chose "
                f"{self._size} elements before and {size} now. Leave equal_size out."
            )

    def _best_known(
        self, losses: FloatArray, contexts: list[Any], today: Today | None
    ) -> UserPolicy:
        """Return the best of the most recent policies."""
        known = [policy for policy in self._last if today is None or today.allows(policy)]
        if not known:
            raise InfeasibleError(
                f"solve found no action in time_limit={self.time_limit} seconds, in this call or "
                "before. Increase time_limit, or let solve return any feasible action."
            )
        return min(known, key=lambda policy: _value(policy, contexts, losses))


class Today(NamedTuple):
    """Context of a round, and the available elements."""

    context: Any
    is_open: NDArray[np.bool_]

    def allows(self, policy: Policy) -> bool:
        """Return whether the action of a policy is available."""
        return bool(self.is_open[policy(self.context)].all())

    def play(self, policy: Policy) -> Action:
        """Return the action of a policy; raise `ParameterError` if it is not available."""
        action = policy(self.context)
        if not self.allows(policy):
            shut = [k for k in np.atleast_1d(action).tolist() if not self.is_open[k]]
            raise ParameterError(
                f"solve chose {action!r}, but {shut} are not available in this round. An action "
                "may contain only elements k with available[k]: add this constraint to solve."
            )
        return action


class _Always:
    """Policy with one action on every context."""

    def __init__(self, action: Any) -> None:
        self.action = action

    def __call__(self, context: Any = None) -> Any:
        return self.action

    def __repr__(self) -> str:
        return f"always {self.action!r}"


class UserPolicy(Policy):
    """Policy of a user's callable, with checks of its actions."""

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
                f"must be {what} from 0 to {last}. If your solver returns a vector x of zeros and "
                "ones, return np.flatnonzero(x > 0.5)."
            )
        return int(chosen[0]) if self.max_chosen == 1 else chosen.astype(np.intp)

    def __repr__(self) -> str:
        return f"<policy {self.function!r}>"


class FunctionObjective(Total):
    """Sum of the losses of each distinct context."""

    oracle: FunctionOracle
    draws_in_batches = False

    stored = State(_rows=Part())

    def __init__(self, oracle: FunctionOracle) -> None:
        self.oracle = oracle
        self.scored = oracle.closes
        self._rows = ContextRows(oracle.n_actions or 0)

    @property
    def n_actions(self) -> int:
        """Number K of elements, from the losses so far."""
        return self._rows.width

    def add(self, context: Hashable, losses: FloatArray) -> None:
        if self._rows.width not in (0, len(losses)):
            raise LossError(
                f"The losses so far had {self._rows.width} entries, one for each element; got "
                f"{len(losses)}."
            )
        self._rows.add(context, losses)

    def action(
        self, context: Hashable, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if available is None or not self.scored:
            return super().action(context, draw, plus, available)
        total: Any = self if plus is None else with_round(self, context, plus)
        today = Today(context, available == np.arange(len(available)))
        contexts, losses = total._problem(draw)
        return today.play(self.oracle.policy(contexts, losses, today))

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
    """Totals of any contexts; the first losses set K if it is unknown."""

    stored = State(
        _room=Array(None, lambda self: self.oracle.n_actions and self.oracle.n_actions + 1),
        index=Numbered(Context(), most=lambda self: len(self._room)),
    )

    @property
    def width(self) -> int:
        """Number K of elements, 0 before it is known."""
        return int(self._room.shape[1]) - 1

    def add(self, context: Hashable, losses: FloatArray) -> bool:
        if not self.width:
            self._room = np.zeros((len(self._room), len(losses) + 1))
        return super().add(context, losses)


def _value(policy: Policy, contexts: Sequence[Any], losses: FloatArray) -> float:
    """Return the total loss of a policy."""
    return sum(loss_of(row, policy(x)) for x, row in zip(contexts, losses, strict=True))


def _arguments(solve: Any, timed: bool) -> tuple[bool, bool]:
    """Return whether a function takes only losses, and whether it takes `available`.

    `time_limit` and `available` do not count as arguments.
    """
    try:
        parameters = inspect.signature(solve).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False, False
    if timed and not any(p.name == "time_limit" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise ParameterError(
            "With time_limit= FunctionOracle calls solve(…, time_limit=seconds). Add this argument "
            "to your function."
        )
    options = "time_limit", "available"
    others = [p for p in parameters if p.name not in options and p.kind is not p.VAR_KEYWORD]
    places = [p for p in others if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in others if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    any_number = any(p.kind is p.VAR_POSITIONAL for p in others)
    if len(needed) > 2 or not (places or any_number) or len(needed) > len(places):
        raise InputTypeError(
            "FunctionOracle calls solve(losses) or solve(contexts, losses); this function needs "
            f"{', '.join(needed) or 'no arguments'}. functools.partial sets other arguments."
        )
    closes = any(p.name == "available" for p in parameters)
    return not any_number and (len(needed) == 1 or len(places) == 1), closes
