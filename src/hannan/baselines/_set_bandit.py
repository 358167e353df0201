"""Base class of baselines with semi-bandit feedback."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from hannan.core import Action, Feedback, Learner, Objective, OpenRound, Oracle, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, fixed_actions
from hannan.core.state import Array, Count, DictOf, Key, State
from hannan.core.stored import Stored
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_chosen_loss,
    check_losses,
    refuse,
)
from hannan.perturbation import seed_key


class SetBandit(Learner):
    """Base class of learners that play the best set for one value per element.

    Values are for losses scaled to [0, 1]. A subclass computes them from the past, the context and,
    if `_random`, from `_generator()`: random numbers that a failed call does not use up.
    """

    feedback = Feedback.BANDIT
    restricts_sets = True
    oracle: Oracle
    _random = False

    stored = State(_noise_key=Count(2**64), _draws=Count())

    def __init__(self, oracle: Oracle, loss_range: LossRange, seed: int | None = 0) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        if oracle.n_actions is None:
            raise ParameterError(
                f"{type(self).__name__} needs the number of actions: pass n_actions= to "
                f"{type(oracle).__name__}."
            )
        self.loss_range = loss_range
        self._range = check_bounded_range(self, loss_range)
        self._empty = oracle.objective()
        self._noise_key = int(seed_key(seed))
        self._draws = 0

    @abstractmethod
    def _values(self, context: Any) -> FloatArray:
        """Return the values of all elements in the next round; the smallest sum is played."""

    @abstractmethod
    def _learn(self, context: Any, action: Action, losses: Any) -> None:
        """Learn from scaled losses of the chosen elements; change nothing on an error."""

    def _act(self, opened: OpenRound) -> None:
        low, high = self._range
        values = low + (high - low) * self._values(opened.context)
        plays = opened.plays if self._scores_actions else None
        opened.play(self._empty.action(opened.context, WITHOUT_NOISE, values, plays))
        opened.calls += 1

    def _played(self, opened: OpenRound) -> None:
        self._draws += 1

    def _update(self, opened: OpenRound, loss: Any) -> None:
        low, high = self._range
        losses = self._checked_losses(opened.action, loss)
        self._learn(opened.context, opened.action, (losses - low) / (high - low))

    def _action_distribution(self, opened: OpenRound) -> FloatArray | None:
        if self._random:
            return None
        asked = copy.copy(opened)
        self._act(asked)
        distribution = np.zeros(self.actions_on(opened.context) or 0)
        distribution[asked.action] = 1.0
        return distribution

    def _generator(self) -> np.random.Generator:
        """Return the random numbers of the next round: a function of the seed and its number."""
        bits = np.random.Philox(key=self._noise_key, counter=[0, 0, 0, self._draws])
        return np.random.Generator(bits)

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._noise_key = int(rng.integers(2**64, dtype=np.uint64))
        return twin

    def _total(self) -> Objective:
        return self._empty

    @property
    def _scores_actions(self) -> bool:
        return self._empty.scored

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return float(np.sum(self._checked_losses(action, loss)))

    def _checked_losses(self, action: Action, loss: Any) -> Any:
        """Return the loss of an action, or one for each element of a set."""
        if isinstance(action, int):
            return check_chosen_loss(loss, self._range)
        return check_losses(loss, len(action), self._range, "one for each chosen element")[0]


class ElementTable(Stored):
    """Sum of the losses, their number and the sum of squared errors of each element.

    There is one table per context, or one for all contexts if they are `shared`.
    """

    stored = State(_rows=DictOf(Key(), Array(3, "n_actions", low=0.0)))

    def __init__(self, learner: SetBandit, shared: bool) -> None:
        if not isinstance(shared, bool):
            raise refuse(learner, "shared", "True or False", shared)
        self.n_actions = learner.oracle.n_actions
        self._oracle = None if shared else learner.oracle
        self._rows: dict[Hashable, FloatArray] = {}

    def _key(self, context: Any) -> Hashable:
        return None if self._oracle is None else self._oracle.key(context)

    def row(self, context: Any) -> FloatArray:
        """Return the table of a context, [3, K]; do not modify it."""
        known = self._rows.get(self._key(context))
        return np.zeros((3, self.n_actions or 0)) if known is None else known

    def learn(self, context: Any, action: Action, losses: Any) -> None:
        """Add losses of chosen elements, each with its squared error before it was counted."""
        row = self._rows.setdefault(self._key(context), self.row(context))
        total, count = row[0, action], row[1, action]
        errors = losses - total / np.maximum(count, 1.0)
        row[2, action] += errors * errors * count / (count + 1.0)
        row[0, action] += losses
        row[1, action] += 1.0
