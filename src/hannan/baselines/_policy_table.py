"""Listed policies: what weights over them have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Action, OpenRound, Oracle, ParameterError
from hannan.core.rounds import IntArray
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_losses,
    check_positive,
)
from hannan.oracles import FinitePolicies

_PART = 4096  # policies whose weights are summed before one part of them is searched


class PolicyTable:
    """N listed policies: what each of them plays and loses, and the law of following one.

    `width` is how much more than another a policy can lose in a round, and `scratch` are N
    numbers, overwritten by every call that says so. `owner` is named in errors.
    """

    def __init__(
        self, actions: ArrayLike | FinitePolicies, loss_range: LossRange, owner: object
    ) -> None:
        self.range = check_bounded_range(owner, loss_range)
        self.oracle = _listed(actions, owner)
        self.width = _width(self.oracle, *self.range)
        self.log_size = math.log(self.oracle.n_policies)
        self.scratch: FloatArray = np.empty(self.oracle.n_policies)
        self._columns = np.ascontiguousarray(self.oracle.table.T, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.scratch)

    def check(self, loss: Any) -> tuple[FloatArray, float, float]:
        """The losses of all elements, with their smallest and largest."""
        return check_losses(loss, self.oracle.n_actions, self.range)

    def charge(self, context: int, losses: FloatArray) -> FloatArray:
        """The loss of each policy on a context, in `scratch`."""
        by_code = self.oracle.losses_by_code(losses)
        # The column was checked with the table; "clip" spares NumPy a buffer.
        by_code.take(self._columns[context], out=self.scratch, mode="clip")
        return self.scratch

    def by_action(self, context: int, weights: FloatArray) -> FloatArray:
        """The weight of all policies that play each action, or each set, on a context."""
        return self._mass(self._columns[context], weights)

    def follow(self, context: int, weights: FloatArray, u: float) -> Action:
        """What a policy plays that is chosen in proportion to its weight; overwrites `scratch`.

        `u` is uniform on [0, 1).
        """
        place = _choose(weights, u, self.scratch)
        return self.oracle.action(self._columns[context, place])

    def law(self, opened: OpenRound, weights: FloatArray) -> FloatArray:
        """The probability of each element in a round that follows one policy by its weight."""
        mass = self._mass(self._played(opened), weights)
        law = mass / mass.sum()
        sets = self.oracle.sets
        return np.asarray(law if sets is None else law @ sets)

    def replay(
        self, opened: OpenRound, weights: FloatArray, copies: int, rng: np.random.Generator
    ) -> list[Action]:
        """What is played in a round that follows one policy by its weight, several times."""
        ends = weights.cumsum()
        targets = rng.random(copies) * ends[-1]
        codes = self._played(opened)[[_first_above(ends, target) for target in targets]]
        return [self.oracle.action(code) for code in codes]

    def _mass(self, codes: IntArray, weights: FloatArray) -> FloatArray:
        sets = self.oracle.sets
        size = self.oracle.n_actions if sets is None else len(sets)
        return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)

    def _played(self, opened: OpenRound) -> IntArray:
        """What is played for each policy in a round."""
        column: IntArray = self._columns[opened.context]
        return column if opened.plays is None else opened.plays[column]


def check_rate(owner: object, given: Any) -> float | None:
    """A learning rate, or None for the anytime one."""
    return None if given is None else check_positive(owner, "learning_rate", given)


def _listed(actions: Any, owner: object) -> FinitePolicies:
    if isinstance(actions, FinitePolicies):
        return actions
    if isinstance(actions, Oracle):
        who = owner if isinstance(owner, str) else type(owner).__name__
        raise ParameterError(
            f"{who} keeps a weight for each policy, so it needs policies that are listed; "
            f"{type(actions).__name__} is an optimiser over policies it does not list. Give a "
            "table of actions, or FinitePolicies(table); FinitePolicies.routes(paths) lists the "
            "paths of a graph."
        )
    return FinitePolicies(actions)


def _width(oracle: FinitePolicies, low: float, high: float) -> float:
    sizes = np.ones(1) if oracle.sets is None else oracle.sets.sum(axis=1)
    fewest, most = float(sizes.min()), float(sizes.max())
    return max(fewest * high, most * high) - min(fewest * low, most * low)


def _choose(weights: FloatArray, u: float, scratch: FloatArray) -> int:
    """An index with probability proportional to its weight; `scratch` may be the weights.

    Long arrays are summed in parts first, which is several times as fast as a running sum.
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
    # Rounding may leave the target above the last end.
    return int(min(ends.searchsorted(target, side="right"), ends.shape[0] - 1))
