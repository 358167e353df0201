"""What weights over listed policies have in common."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._known_law import KnownLaw
from hannan.core import Action, Feedback, LateLearner, Oracle, ParameterError
from hannan.core.available import IntArray, standing_in
from hannan.core.learner import own_coins
from hannan.core.policy import loss_of
from hannan.core.validation import (
    FloatArray,
    check_loss_range,
    check_losses,
    check_positive,
    check_seed,
    refuse,
)
from hannan.oracles import FinitePolicies

_CHOSEN = "the chosen action's"
_PART = 4096  # policies whose weights are summed before one part of them is searched


class ListedPolicies(KnownLaw, LateLearner):
    """A table of policies with a running total for each."""

    oracle: FinitePolicies
    _scratch = frozenset({"oracle", "_columns", "_weights"})

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        learning_rate: float | None,
        seed: int | None,
        loss_range: tuple[float, float],
    ) -> None:
        super().__init__()
        self.actions = actions
        self.learning_rate = (
            None if learning_rate is None else check_positive(self, "learning_rate", learning_rate)
        )
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        if loss_range is None:
            raise refuse(self, "loss_range", "a pair (low, high)", loss_range)
        self._range = check_loss_range(self, loss_range)
        self.oracle = self._listed(actions)
        self._width = _width(self.oracle, *self._range)
        self._columns = np.ascontiguousarray(self.oracle.table.T, dtype=np.intp)
        self._totals = np.zeros(self.oracle.n_policies)
        self._weights = np.empty(self.oracle.n_policies)
        self._rng = own_coins(seed)

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        """What copies of this learner would play on a context now: drawn from the same weights."""
        coins = self._coins(copies, seed)
        context = self._check_context(context)
        there = None if available is None else self._check_available(available)
        ends = self._would_weigh(context).cumsum()
        targets = coins.random(copies) * ends[-1]
        followed = [_first_above(ends, target) for target in targets]
        return [self.oracle.action(code) for code in self._codes(context, there)[followed]]

    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        sets = self.oracle.sets
        codes = self.oracle.n_actions if sets is None else len(sets)
        mass = np.bincount(self._codes(context, available), self._would_weigh(context), codes)
        law = mass / mass.sum()
        return np.asarray(law if sets is None else law @ sets)

    def _would_weigh(self, context: Any) -> FloatArray:
        """The weights of `_weigh`, but that nothing changes."""
        twin = copy.copy(self)
        twin._totals = self._totals.copy()  # they may be measured from a new least one
        return twin._weigh(context)

    def _codes(self, context: Any, available: IntArray | None) -> IntArray:
        """What is played for each policy."""
        column: IntArray = self._columns[context]
        if available is None:
            return column
        substitute = self._substitute(context, available)
        return standing_in(available, substitute, self.oracle.n_actions)[column]

    def _act(self, context: Any) -> Action:
        return self._follow(context, self._weigh(context))

    def _listed(self, actions: Any) -> FinitePolicies:
        if isinstance(actions, FinitePolicies):
            return actions
        if isinstance(actions, Oracle):
            who, what = type(self).__name__, type(actions).__name__
            raise ParameterError(
                f"{who} keeps a weight for each policy, so it needs policies that are listed; "
                f"{what} is an optimiser over policies it does not list. Give a table of actions, "
                "or FinitePolicies(table); FinitePolicies.routes(paths) lists the paths of a graph."
            )
        return FinitePolicies(actions)

    def _cost(self, action: Action, loss: Any) -> float:
        if self.feedback is Feedback.FULL:
            return loss_of(check_losses(loss, self.oracle.n_actions, self._range)[0], action)
        return float(check_losses(np.atleast_1d(loss), 1, self._range, _CHOSEN)[0][0])

    @abstractmethod
    def _weigh(self, context: Any) -> FloatArray:
        """The weight of each policy, in a place that is used again."""

    def _charge(self, context: Any, losses: FloatArray) -> FloatArray:
        """The loss of each policy, in a place that is used again."""
        by_code = self.oracle.losses_by_code(losses)
        # The column was checked with the table; "clip" spares NumPy a buffer.
        by_code.take(self._columns[context], out=self._weights, mode="clip")
        return self._weights

    def _follow(self, context: Any, weights: FloatArray) -> Action:
        """The action of a policy chosen in proportion to its weight; overwrites `weights`."""
        return self.oracle.action(self._columns[context, _choose(weights, self._rng.random())])


class Mixture(ListedPolicies):
    """Weights that are known before the context is, and change with the losses alone."""

    _mixture: FloatArray

    def _weigh(self, context: Any) -> FloatArray:
        np.copyto(self._weights, self._mixture)
        return self._weights

    def _checked_charge(self, context: Any, loss: Any) -> FloatArray:
        losses, _, _ = check_losses(loss, self.oracle.n_actions, self._range)
        return self._charge(context, losses)


def _width(oracle: FinitePolicies, low: float, high: float) -> float:
    """How much more than another a policy can lose in a round."""
    sizes = np.ones(1) if oracle.sets is None else oracle.sets.sum(axis=1)
    fewest, most = float(sizes.min()), float(sizes.max())
    return max(fewest * high, most * high) - min(fewest * low, most * low)


def _choose(weights: FloatArray, u: float) -> int:
    """An index with probability proportional to its weight; `weights` may be overwritten.

    Long arrays are summed in parts first, since a sum runs several times as fast as a running
    sum; only the part that u falls into is then walked through.
    """
    if weights.shape[0] <= 2 * _PART:
        weights.cumsum(out=weights)
        return _first_above(weights, u * float(weights[-1]))
    ends = np.add.reduceat(weights, np.arange(0, weights.shape[0], _PART)).cumsum()
    target = u * float(ends[-1])
    part = _first_above(ends, target)
    start = part * _PART
    before = float(ends[part - 1]) if part else 0.0
    return start + _first_above(weights[start : start + _PART].cumsum(), target - before)


def _first_above(ends: FloatArray, target: float) -> int:
    # Rounding may leave the target above the last end.
    return int(min(ends.searchsorted(target, side="right"), ends.shape[0] - 1))
