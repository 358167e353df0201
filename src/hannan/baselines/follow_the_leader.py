"""The leader without noise."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from hannan.core import Action, LateLearner, Objective, Oracle, Policy
from hannan.core.available import IntArray
from hannan.core.policy import loss_of
from hannan.core.validation import check_loss_range, check_losses


class FollowTheLeader(LateLearner):
    r"""Play what the best policy so far would do.

    Optimal when losses are drawn independently from one law; an adversary that knows the rule
    makes it lose in every round.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    loss_range
        Range of the losses, or None to accept any finite ones.

    Guarantee
    ---------
    None against an adversary: regret can grow like T.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2))
    >>> learner.act()
    0
    >>> learner.update([1.0, 0.0])
    >>> learner.act()
    1

    References
    ----------
    [hannan1957]
    """

    oracle: Oracle

    def __init__(
        self, oracle: Oracle, *, loss_range: tuple[float, float] | None = (0.0, 1.0)
    ) -> None:
        super().__init__()
        self.oracle = oracle
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._history = oracle.objective()

    def _act(self, context: Any) -> Action:
        action = self._history.action(context, None, 0, 0.0)
        self.oracle_calls += 1
        return action

    @property
    def _ordered(self) -> bool:
        return self._history.scored

    def _act_among(self, context: Any, available: IntArray) -> int:
        action = self._history.among(context, available).action(context, None, 0, 0.0)
        self.oracle_calls += 1
        return int(action)

    def _past(self) -> Objective:
        return self._history

    def _twin(self, coins: np.random.Generator) -> Self:
        return copy.copy(self)

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        self._history.add(context, check_losses(loss, self.oracle.n_actions, self._range)[0])

    def _cost(self, action: Action, loss: Any) -> float:
        return loss_of(check_losses(loss, self.oracle.n_actions, self._range)[0], action)

    def best_policy(self) -> Policy:
        """The leader."""
        return self._history.leader()
