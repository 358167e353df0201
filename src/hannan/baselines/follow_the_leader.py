"""Follow the leader, without noise."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from hannan.core import Action, Learner, Objective, OpenRound, Oracle, Policy
from hannan.core.oracle import WITHOUT_NOISE, fixed_actions
from hannan.core.policy import loss_of
from hannan.core.rounds import IntArray, PropensityRecord
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray, check_loss_range, check_losses


class FollowTheLeader(Learner):
    r"""Play the action of the best policy on all past losses.

    This is optimal if losses are drawn independently from one distribution. An adversary that knows
    the rule makes the learner lose in every round.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle).
    loss_range
        Range (low, high) of the losses, (0, 1) by default. None accepts any finite losses.

    Guarantee
    ---------
    There is no guarantee against an adversary: regret can grow like T.

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

    stored = State(_history=Part())

    def __init__(
        self, oracle: Oracle, *, loss_range: tuple[float, float] | None = (0.0, 1.0)
    ) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._history = oracle.objective()

    def best_policy(self) -> Policy:
        """Return the leader."""
        return self._history.leader()

    def _act(self, opened: OpenRound) -> None:
        plays = self._available(opened)
        opened.play(self._history.action(opened.context, WITHOUT_NOISE, None, plays))
        opened.calls += 1

    def _update(self, opened: OpenRound, loss: Any) -> None:
        self._history.add(opened.context, self._check(loss))

    def _action_distribution(self, opened: OpenRound) -> FloatArray:
        plays = self._available(opened)
        chosen = self._history.chosen(opened.context, WITHOUT_NOISE, 1, None, plays)[0]
        distribution: FloatArray = chosen.astype(np.float64)
        if opened.plays is None:
            return distribution
        return np.asarray(
            np.bincount(opened.plays, distribution, len(distribution)), dtype=np.float64
        )

    def _propensity_record(self, opened: OpenRound) -> PropensityRecord:
        if isinstance(opened.action, int):
            return PropensityRecord(opened.inverse, 1.0, 0.0)
        size = len(opened.action)
        return PropensityRecord(opened.inverse, np.ones(size), np.zeros(size))

    def _replay(self, opened: OpenRound, copies: int, rng: np.random.Generator) -> list[Action]:
        self._act(opened)  # this changes only the round
        return [copy.copy(opened.action) for _ in range(copies)]

    def _available(self, opened: OpenRound) -> IntArray | None:
        """Return the available actions if actions have scores."""
        return opened.plays if self._history.scored else None

    def _total(self) -> Objective:
        return self._history

    @property
    def _scores_actions(self) -> bool:
        return self._history.scored

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._check(loss), action)

    def _check(self, loss: Any) -> FloatArray:
        return check_losses(loss, self.oracle.n_actions, self._range)[0]
