"""Learners that follow one of N listed policies, drawn by weights."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._policy_table import PolicyTable
from hannan.core import Action, Learner, OpenRound
from hannan.core.learner import learner_rng
from hannan.core.policy import loss_of
from hannan.core.state import Array, Generator, State
from hannan.core.validation import FloatArray, LossRange, check_seed
from hannan.oracles import FinitePolicies


class WeightedPolicies(Learner):
    """Follow a policy with probability proportional to its weight.

    `_totals` holds one number for each policy, from which a subclass computes the weights.

    Parameters
    ----------
    actions, seed, loss_range
        As in `Hedge`.
    """

    oracle: FinitePolicies

    stored = State(_totals=Array(), _rng=Generator())

    def __init__(
        self, actions: ArrayLike | FinitePolicies, seed: int | None, loss_range: LossRange
    ) -> None:
        super().__init__()
        self.actions = actions
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._policies = PolicyTable(actions, loss_range, self)
        self.oracle = self._policies.oracle
        self._totals = np.zeros(len(self._policies))
        self._rng = learner_rng(seed)

    @abstractmethod
    def _weights(self, opened: Any) -> FloatArray:
        """Return the weights of all policies in a round, in any scale; nothing changes."""

    def _act(self, opened: OpenRound) -> None:
        weights = self._weights(opened)
        opened.play(self._policies.follow(opened.context, weights, self._rng.random()))

    def _law(self, opened: OpenRound) -> FloatArray:
        return self._policies.law(opened, self._weights(opened))

    def _replay(self, opened: OpenRound, copies: int, rng: np.random.Generator) -> list[Action]:
        return self._policies.replay(opened, self._weights(opened), copies, rng)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._policies.check(loss)[0], action)
