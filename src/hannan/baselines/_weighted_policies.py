"""Base class of learners that sample one of N listed policies by weights."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Action, Learner, OpenRound, Oracle, ParameterError
from hannan.core.learner import learner_rng
from hannan.core.policy import loss_of
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Generator, State
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_losses,
    check_positive,
    check_seed,
)
from hannan.oracles import FinitePolicies

_PART = 4096  # number of policies in a part: `choose` sums each part, then searches one part


class WeightedPolicies(Learner):
    """Base class of learners that follow a policy with probability proportional to its weight.

    `_totals` holds one number for each policy, from which a subclass computes the weights. `_width`
    is the largest difference between the losses of two policies in a round. `_scratch` is an array
    of N numbers; every call that says so overwrites it.

    Parameters
    ----------
    actions, seed, loss_range
        As in `Hedge`.
    """

    oracle: FinitePolicies

    stored = State(_totals=Array(), _rng=Generator())

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        seed: int | None,
        loss_range: LossRange,
        learning_rate: float | None = None,
    ) -> None:
        super().__init__()
        self.actions = actions
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        low, high = self._range = check_bounded_range(self, loss_range)
        self.oracle = self._listed(actions)
        N, sets = self.oracle.n_policies, self.oracle.sets
        sizes = np.ones(1) if sets is None else sets.sum(axis=1)
        fewest, most = float(sizes.min()), float(sizes.max())
        self._width = max(fewest * high, most * high) - min(fewest * low, most * low)
        self._log_size = math.log(N)
        self._columns = np.ascontiguousarray(self.oracle.table.T, dtype=np.intp)
        self._scratch: FloatArray = np.empty(N)
        self._totals = np.zeros(N)
        self._rng = learner_rng(seed)
        self.learning_rate = learning_rate
        if learning_rate is not None:
            self.learning_rate = check_positive(self, "learning_rate", learning_rate)

    @abstractmethod
    def _weights(self, opened: Any) -> FloatArray:
        """Return the weights of all policies in a round, in any scale, without side effects."""

    def _act(self, opened: OpenRound) -> None:
        place = choose(self._weights(opened), self._rng.random(), self._scratch)
        opened.play(self.oracle.action(self._columns[opened.context, place]))

    def _action_distribution(self, opened: OpenRound) -> FloatArray:
        mass = self._mass(self._played_by_all(opened), self._weights(opened))
        distribution, sets = mass / mass.sum(), self.oracle.sets
        return np.asarray(distribution if sets is None else distribution @ sets)

    def _replay(self, opened: OpenRound, copies: int, rng: np.random.Generator) -> list[Action]:
        ends = self._weights(opened).cumsum()
        targets = rng.random(copies) * ends[-1]
        codes = self._played_by_all(opened)[[_first_above(ends, target) for target in targets]]
        return [self.oracle.action(code) for code in codes]

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._check(loss)[0], action)

    def _check(self, loss: Any) -> tuple[FloatArray, float, float]:
        """Return the losses of all elements, with their minimum and maximum."""
        return check_losses(loss, self.oracle.n_actions, self._range)

    def _charge(self, context: int, losses: FloatArray) -> FloatArray:
        """Return the loss of each policy in a context, in `_scratch`."""
        by_code = self.oracle.losses_by_code(losses)
        # The column was checked with the table; "clip" spares NumPy a buffer.
        by_code.take(self._columns[context], out=self._scratch, mode="clip")
        return self._scratch

    def _mass(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        """Return for each action, or each set, the total weight of the policies that play it."""
        sets = self.oracle.sets
        size = self.oracle.n_actions if sets is None else len(sets)
        return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)

    def _played_by_all(self, opened: OpenRound) -> IntArray:
        """Return the action of each policy in a round."""
        column: IntArray = self._columns[opened.context]
        return column if opened.plays is None else opened.plays[column]

    def _listed(self, actions: Any) -> FinitePolicies:
        if isinstance(actions, Oracle) and not isinstance(actions, FinitePolicies):
            raise ParameterError(
                f"{type(self).__name__} stores a weight for each policy, so it needs a list of "
                f"policies; {type(actions).__name__} is an optimiser that does not list its "
                "policies. Pass a table of actions, or FinitePolicies(table); "
                "FinitePolicies.routes(paths) lists the paths of a graph."
            )
        return actions if isinstance(actions, FinitePolicies) else FinitePolicies(actions)


def choose(weights: FloatArray, u: float, scratch: FloatArray) -> int:
    """Return an index with probability proportional to its weight, given `u` uniform on [0, 1).

    This overwrites `scratch`, which may be the weights. Long arrays are summed in parts first,
    which is several times faster than a running sum.
    """
    if weights.shape[0] <= 2 * _PART:
        weights.cumsum(out=scratch)
        return _first_above(scratch, u * float(scratch[-1]))
    ends = np.add.reduceat(weights, np.arange(0, weights.shape[0], _PART)).cumsum()
    target = u * float(ends[-1])
    part = _first_above(ends, target)
    start = part * _PART
    before = float(ends[part - 1]) if part else 0.0
    return start + _first_above(weights[start : start + _PART].cumsum(), target - before)


def _first_above(ends: FloatArray, target: float) -> int:
    # By rounding, the target may exceed the last end.
    return int(min(ends.searchsorted(target, side="right"), ends.shape[0] - 1))
