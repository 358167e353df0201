"""Our learners as contextual bandit policies of river."""

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.adapters._numbers import Numbering
from hannan.adapters._rewards import Scale, check_bandit, count_actions, losses_of
from hannan.adapters._rows import Encoding, Rows
from hannan.adapters.river._models import load
from hannan.core import Decision, Learner, ParameterError
from hannan.core.validation import check_integer, refuse

ContextualPolicy: Any = load("bandit.base").ContextualPolicy


class RiverPolicy(ContextualPolicy):  # type: ignore[misc]
    r"""Plays a bandit learner as a policy of river: `pull(arms, context)`, `update(arm, …)`.

    Accepted by `bandit.evaluate`, which knows no contexts, by `bandit.evaluate_offline`, and by
    river's `clone`. Rewards in reward_range are mapped to the learner's loss_range, the largest
    to the smallest loss. Arms become actions 0, 1, … in order of appearance; the learner chooses
    among those offered. A reward answers the oldest pull that is open with its arm and context.
    Nothing is learned from one that answers none, as in the burn-in; it counts in `ranking`.

    Parameters
    ----------
    learner
        A learner of single actions from bandit feedback, such as `ContextSemiBanditFTPL`, which
        is cloned and never changed; clones with the same seed act alike.
    reward_range
        (r₀, r₁), where rewards lie.
    clip
        Whether rewards outside are moved to the nearer end; otherwise they are refused.
    features
        How the dictionary of a context becomes a row, as in `FromRiver`; other contexts stay.
    arms
        The arms in the order of actions, where it should not be that of appearance.
    pending
        How many pulls may wait for their rewards; the oldest is given up for a new one. More than
        one takes a learner with `decide`.
    reward_obj, reward_scaler, burn_in
        As in river: how `ranking` measures an arm, what is done to rewards before, not to those
        of the learner, and how often every arm is pulled first.

    Attributes
    ----------
    player
        The learner at work.
    unlearned
        How many rewards answered no open pull.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.LinearPolicies(n_actions=2), seed=0)
    >>> policy = hn.adapters.RiverPolicy(learner)
    >>> for t in range(500):
    ...     context = {"rain": t % 2}
    ...     arm = policy.pull(["walk", "drive"], context)
    ...     policy.update(arm, context, float((arm == "drive") == context["rain"]))
    >>> policy.current_learner.best_policy()([1.0]), policy.current_learner.best_policy()([0.0])
    (1, 0)
    """

    def __init__(
        self,
        learner: Learner,
        *,
        reward_range: tuple[float, float] = (0.0, 1.0),
        clip: bool = False,
        features: Encoding = None,
        arms: Sequence[Hashable] | None = None,
        pending: int = 1,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
    ) -> None:
        check_integer(self, "burn_in", burn_in, 0)
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.learner = learner
        self.reward_range = reward_range
        self.clip = clip
        self.features = features
        self.arms = arms
        self.pending = check_integer(self, "pending", pending, 1)
        check_bandit("RiverPolicy", learner)
        self._n_actions = count_actions(learner)
        if pending > 1 and learner.late is not None:
            raise ParameterError(f"pending={pending} takes a learner with decide(): {learner.late}")
        kinds = load("stats.base").Univariate, load("proba.base").Distribution
        if not isinstance(self.reward_obj, kinds):
            accepted = "a statistic or distribution of one number"
            raise refuse(self, "reward_obj", accepted, self.reward_obj)
        self._rewards_as_losses = Scale(self, reward_range)
        self._losses = losses_of(learner)
        self._rows = Rows(self, "features", features, strict=False)
        self._numbering = Numbering()
        if arms is not None:
            self._numbering.of(list(arms), self._n_actions)
            self._numbering.keep(arms)
        self._open: deque[_Pull] = deque()
        self._made: Any = None
        self.current_learner: Any = learner.clone()
        self.unlearned = 0

    def pull(self, arm_ids: Iterable[Hashable], context: Any = None) -> Any:
        """The arm to pull, one of those offered."""
        arms = list(arm_ids)
        if not arms:
            raise refuse(self, "arm_ids", "at least one arm", arms)
        self._numbering.of(arms, self._n_actions)
        self._made = None
        arm = super().pull(arms, context)
        self._numbering.keep(arms)
        self._rows.keep(context)
        self._open.append(_Pull(arm, context, self._made))
        while len(self._open) > self.pending:
            given_up = self._open.popleft().decision
            if isinstance(given_up, Decision):
                self.current_learner.forget(given_up)
        return arm

    def update(
        self, arm_id: Hashable, context: Any, *reward_args: Any, **reward_kwargs: Any
    ) -> None:
        """Learn the reward of an arm, a number; what comes with it is passed on to `reward_obj`.

        `update(arm, reward)` leaves out the context of its pull, as river does without contexts.
        """
        if not reward_args:
            context, reward_args = None, (context,)
        low, high = self._losses
        loss = low + (high - low) * self._rewards_as_losses.loss(reward_args[0], self.clip)
        answered = next((p for p in self._open if p.is_of(arm_id, context)), None)
        if answered is not None and answered.decision is not None:
            late = isinstance(answered.decision, Decision)
            self.current_learner.update(loss, **({"decision": answered.decision} if late else {}))
        else:
            self.unlearned += 1
        if answered is not None:
            self._open.remove(answered)
        super().update(arm_id, context, *reward_args, **reward_kwargs)

    def __repr__(self) -> str:
        # river draws a table of the arms, and cannot while there are none.
        table: str = super().__repr__() if self.ranking else f"RiverPolicy({self.learner!r})"
        return table

    def _pull(self, arm_ids: list[Any], context: Any) -> Any:
        actions = self._numbering.of(arm_ids)
        chosen = {"available": actions} if len(actions) < self._n_actions else {}
        row = self._rows(context)
        if self.pending > 1:
            self._made = self.current_learner.decide(row, **chosen)
            action = self._made.action
        else:
            self._made = action = self.current_learner.act(row, **chosen)
        return arm_ids[actions.index(action)]


@dataclass(eq=False)
class _Pull:
    """An arm that was pulled; the decision is None where the learner was not asked."""

    arm: Hashable
    context: Any
    decision: Decision | int | None

    def is_of(self, arm: Hashable, context: Any) -> bool:
        """Whether a reward of this arm on this context answers it."""
        if self.arm != arm:
            return False
        if isinstance(context, np.ndarray):
            return np.array_equal(self.context, context)
        return bool(self.context is context or self.context == context)
