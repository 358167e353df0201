"""Problems without contexts whose actions are sets of elements."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, ContextError, InfeasibleError, Oracle, Policy
from hannan.core.arrays import as_array, as_list, missing
from hannan.core.availability import substitution
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, refuse
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_rows
from hannan.oracles._totals import Resample, Solved, solve_then_add
from hannan.perturbation import Blocks, LaplaceNoise

T = TypeVar("T")
Elements = NDArray[np.intp]
Resampling = tuple[Resample, tuple[Any, ...]]


class SetOracle(Oracle):
    """Feasible sets of K elements, with an optimiser for any signed costs of the elements.

    A subclass calls `_set_size` in its constructor and implements `_solve`. If every action is one
    element, actions are ints; otherwise they are sorted arrays, which may be empty.

    An element with infinite cost is unavailable and is never chosen. If no feasible set is left, a
    solver raises `InfeasibleError`; where all sets have the same size it may return a smaller one.
    """

    closes = True
    n_actions: int
    rank: int
    """Largest number of elements in an action."""
    least: int
    """Smallest number of elements in an action."""
    _fuller = "a class without the empty set"

    def _set_size(self, n_actions: int, rank: int, antichain: bool) -> None:
        self.n_actions = n_actions
        self.rank = rank
        self.antichain = antichain
        self.least = rank if antichain else 0
        self._single = rank == 1 and antichain
        # An int cannot represent the empty set. So if the empty set is feasible, actions are
        # arrays, and learners must not treat them as choices of exactly one element.
        self.max_chosen = 1 if self._single else max(2, rank)

    @property
    def empty_remedy(self) -> str | None:
        """The change that excludes the empty set, if it is an action of a class with others."""
        return None if self.least or not self.rank else self._fuller

    @property
    def contexts(self) -> tuple[None]:
        return (None,)

    def check_context(self, context: Any) -> None:
        if context is not None:
            raise ContextError(
                f"{type(self).__name__} has no contexts: call act() or act(None); got {context!r}. "
                "To choose a separate set on each context, use PerContext."
            )

    def separates(self, contexts: Sequence[Any]) -> bool:
        return len(contexts) > 0

    def actions_among(self, context: Any, elements: Elements) -> Elements:
        found = elements[self._are_actions[elements]] if elements.size else elements
        if not found.size:
            self._leader_among(elements)  # raises an error that names the elements
        return found

    @cached_property
    def _are_actions(self) -> NDArray[np.bool_]:
        """Whether each element is an action, if actions are single elements."""
        found = np.zeros(self.n_actions, dtype=bool)
        for element in range(self.n_actions):
            with contextlib.suppress(InfeasibleError):
                found[self._leader_among(np.array([element]))] = True
        return found

    def _leader_among(self, elements: Elements) -> Action:
        plays = substitution(elements, -1, self.n_actions)
        return self.objective().action(None, WITHOUT_NOISE, None, plays)

    def objective(self) -> SetObjective:
        return SetObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return SetNoise(contexts, self.n_actions, key, stream, memory)

    def interval_minima(
        self, contexts: Sequence[Any], losses: FloatArray, cuts: NDArray[np.intp]
    ) -> FloatArray:
        """Compute the minima from prefix sums, all intervals with the same start in one call."""
        prefix = prefix_sums(losses, cuts)
        values = np.zeros((len(cuts), len(cuts)))
        for i in range(len(cuts) - 1):
            costs = prefix[i + 1 :] - prefix[i]
            values[i, i + 1 :] = (costs * self._solve_many(costs)).sum(axis=1)
        return values

    def action(self, chosen: Elements) -> Action:
        """Convert the chosen elements to an action of the learner."""
        return int(chosen[0]) if self._single else chosen

    def infeasible(self, costs: FloatArray) -> InfeasibleError:
        """Make the error for costs at which no feasible action is available."""
        shut = np.flatnonzero(np.isinf(costs))
        more = f", … ({len(shut)} of them)" if len(shut) > 8 else ""
        shown = ", ".join(map(str, shut[:8].tolist())) + more
        return InfeasibleError(
            f"{type(self).__name__} has no feasible action without the elements "
            f"{shown}, which are not available."
        )

    _names: Sequence[Any] | None = None
    """Names of the elements, if they have names."""

    def named(self, action: Action) -> list[Any]:
        """Return the names of the chosen elements, or their numbers if they have no names."""
        numbers = self._elements_of(action)
        return numbers if self._names is None else [self._names[j] for j in numbers]

    def _elements_of(self, action: Any) -> list[int]:
        """Check an action, and return the numbers of its elements, distinct and in any order."""
        try:
            found = np.atleast_1d(as_array(action))
        except (TypeError, ValueError):
            found = np.empty((0, 0))
        n = self.n_actions
        if found.ndim == 1 and (not found.size or found.dtype.kind in "iu"):
            numbers: list[int] = found.tolist()
            if len(set(numbers)) == len(numbers) and all(0 <= j < n for j in numbers):
                return numbers
        raise refuse(self, "action", f"distinct elements, integers from 0 to {n - 1}", action)

    def _resampling(self, costs: FloatArray) -> Resampling | None:
        """Return a kernel like `kernels.subsets.resample`, or None, and its arguments between the
        scale and the elements."""
        return None

    @abstractmethod
    def _solve(self, costs: FloatArray) -> Elements:
        """Return the sorted elements of the best set for these costs."""

    def _solve_many(self, costs: FloatArray) -> NDArray[np.bool_]:
        """Return whether each element is in the best set, for each row of costs."""
        inclusion = np.zeros(costs.shape, dtype=bool)
        for row, mask in zip(costs, inclusion, strict=True):
            mask[self._solve(row)] = True
        return inclusion


class SetPolicy(Policy):
    """Policy that always chooses the same elements."""

    def __init__(self, oracle: SetOracle, chosen: Elements) -> None:
        self.oracle = oracle
        self.chosen = chosen
        """The elements, sorted."""

    def __call__(self, context: Any = None) -> Action:
        self.oracle.check_context(context)
        return self.oracle.action(self.chosen.copy())

    @property
    def names(self) -> list[Any]:
        """Names of the elements, or their numbers if they have no names."""
        return self.oracle.named(self.chosen)

    def __repr__(self) -> str:
        return f"<policy {self.chosen.tolist()}>"


class SetNoise(LaplaceNoise):
    """Fake losses of the elements on each context, drawn in blocks."""

    def __init__(
        self, contexts: Sequence[Any], n_actions: int, key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, n_actions, key, stream)
        self._width = self.n_cells
        padded = -(-self._width // WIDTH) * WIDTH
        self.blocks = Blocks(self._fill, max(WIDTH, padded), memory)

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        fill_rows(self.key, self.stream, first, block)

    def row(self, draw: int) -> NDArray[np.float32]:
        """Return one draw; it is valid until the next call."""
        at = self.blocks.locate(draw)
        return self.blocks.block[at, : self._width]


class SetObjective(Solved):
    """Total loss of every element."""

    oracle: SetOracle

    stored = State(totals=Array())

    def __init__(self, oracle: SetOracle) -> None:
        self.oracle = oracle
        self.totals = np.zeros(oracle.n_actions)
        self.scored = oracle.max_chosen > 1  # single actions have substitutes

    def add(self, context: None, losses: FloatArray) -> None:
        self.totals += losses

    def action(
        self, context: None, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if self._replaces(available):
            return super().action(context, draw, plus, available)
        oracle, costs = self.oracle, self._costs(plus, available)
        chosen = self._choose(costs, draw)
        if available is not None and len(chosen) < oracle.least:
            chosen = self._other_choice(costs, plus, available)
        return oracle.action(chosen)

    def _other_choice(self, costs: FloatArray, plus: Plus, available: Any) -> Elements:
        """Return a choice outside the class if it has no available set; by default, raise."""
        raise self.oracle.infeasible(costs)

    settle = solve_then_add

    def chosen(
        self, context: None, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        """Go through the draws of a block of noise together."""
        if self._replaces(available):
            return super().chosen(context, draw, count, plus, available)
        inclusion = np.zeros((count, self.oracle.n_actions), dtype=bool)
        if draw.scale == 0.0 or available is not None:
            # The existence of a feasible set does not depend on the noise.
            action = self.action(context, draw, plus, available)
        if draw.scale == 0.0:
            inclusion[:, action] = True
            return inclusion
        costs, done = self._costs(plus, available), 0
        for block, start, stop in blocks_of(draw).spans(draw.number, count):
            part = inclusion[done : done + stop - start]
            self._choose_rows(costs, block, start, draw.scale, part)
            done += len(part)
        return inclusion

    def _resampler(
        self, context: Any, elements: Elements, draw: Draw, plus: Plus, available: Available
    ) -> tuple[Resample, Blocks] | None:
        costs = self._costs(plus, available)
        resampling = self.oracle._resampling(costs)
        if resampling is None or self._replaces(available):
            return None
        kernel, own = resampling

        def resample(block: Any, start: int, stop: int, *counts: Any) -> tuple[int, int]:
            return kernel(costs, block, start, stop, draw.scale, *own, elements, *counts)

        return resample, blocks_of(draw)

    def _replaces(self, available: Available) -> bool:
        """Return whether unavailable elements have substitutes."""
        return available is not None and not self.scored and bool((available >= 0).all())

    def _costs(self, plus: Plus, available: Available) -> FloatArray:
        """Return the totals with one more round, infinite for unavailable elements."""
        totals = self.totals if plus is None else self.totals + plus
        return totals if available is None else np.where(available >= 0, totals, np.inf)

    def _choose(self, costs: FloatArray, draw: Draw) -> Elements:
        """Return the best set under one draw."""
        return self._best(_perturbed(costs, draw))

    def _choose_rows(
        self, costs: FloatArray, block: Any, start: int, scale: float, part: NDArray[np.bool_]
    ) -> None:
        """Write whether each element is in the best set under each row of a block from `start`."""
        rows = block[start : start + len(part), : len(costs)]
        part[:] = self.oracle._solve_many(costs + scale * rows.astype(np.float64))

    def _best(self, costs: FloatArray) -> Elements:
        return self.oracle._solve(costs)

    def _solve(self, draw: Draw) -> tuple[SetPolicy, float]:
        costs = _perturbed(self.totals, draw)
        policy = self._policy(costs)
        return policy, costs[policy.chosen].sum()

    def _policy(self, costs: FloatArray) -> SetPolicy:
        return SetPolicy(self.oracle, self._best(costs))


def _perturbed(totals: FloatArray, draw: Draw) -> FloatArray:
    noise, number, scale = draw
    if scale == 0.0:
        return totals
    assert isinstance(noise, SetNoise)
    return totals + np.multiply(noise.row(number), scale, dtype=np.float64)


def blocks_of(draw: Draw) -> Blocks:
    """Return the blocks that hold the noise of a draw."""
    noise: Any = draw.noise
    return noise.blocks  # type: ignore[no-any-return]


def prefix_sums(losses: FloatArray, cuts: NDArray[np.intp]) -> FloatArray:
    """Sum all rows before each cut."""
    return np.concatenate([np.zeros((1, losses.shape[1])), np.cumsum(losses, axis=0)])[cuts]


def check_flag(owner: object, name: str, value: Any) -> bool:
    """Check that a parameter is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(owner, name, "True or False", value)
    return bool(value)


def optional(check: Callable[..., T], owner: object, name: str, value: Any, *more: Any) -> T | None:
    """Check a parameter unless its value is None."""
    return None if value is None else check(owner, name, value, *more)


def check_labels(owner: object, labels: Any, n: int, name: str = "labels") -> list[Any] | None:
    """Check that `labels` holds a different name for each of n elements, or is None."""
    if labels is None:
        return None
    try:
        found = as_list(labels)
        different = len(set(found))
    except TypeError:
        raise refuse(owner, name, f"{n} different names, any hashables", labels) from None
    if isinstance(labels, str) or len(found) != n or different != n or any(map(missing, found)):
        raise refuse(owner, name, f"{n} different names", labels)
    return found
