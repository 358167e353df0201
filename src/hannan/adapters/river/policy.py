"""Hannan's learners as contextual bandit policies of river."""

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.adapters._numbers import Numbering
from hannan.adapters._rewards import Scale, check_bandit, count_actions, losses_of
from hannan.adapters._rows import Encoding, RowEncoder
from hannan.adapters.river._models import load
from hannan.core import Decision, Learner, ParameterError
from hannan.core.validation import check_integer, refuse

ContextualPolicy: Any = load("bandit.base").ContextualPolicy


class RiverPolicy(ContextualPolicy):  # type: ignore[misc]
    r"""A bandit learner as a policy of river: `pull(arms, context)`, `update(arm, …)`.

    It works with `bandit.evaluate` (without contexts), with `bandit.evaluate_offline`, and with
    river's `clone`. Rewards in reward_range are mapped to the learner's loss_range, the largest
    reward to the smallest loss. Arms become actions 0, 1, … in order of appearance, and the learner
    chooses among the offered ones. A reward is assigned to the oldest open pull with its arm and
    context. A reward without an open pull, as in the burn-in, is not learned; it counts only in
    `ranking`.

    Parameters
    ----------
    learner
        A learner with bandit feedback and single actions, such as `ContextSemiBanditFTPL`. It is
        cloned and never changed; clones with the same seed choose the same actions.
    reward_range
        Range (r₀, r₁) of the rewards. Default (0, 1).
    clip
        Whether to clip rewards to the range. If False (default), a reward outside raises
        `LossError`.
    features
        Conversion of a context dictionary to a feature vector, as in `FromRiver`. Other contexts
        stay unchanged.
    arms
        Arms in the order of actions. Default: in order of appearance.
    pending
        Maximum number of open pulls. Default 1. A further pull abandons the oldest open one. More
        than one requires a learner with `decide`.
    reward_obj, reward_scaler, burn_in
        As in river: the statistic of an arm in `ranking`, the scaler of rewards (not applied to the
        learner's rewards), and the number of initial pulls of every arm.

    Attributes
    ----------
    current_learner
        The learner in use.
    unlearned
        Number of rewards without an open pull.

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
            raise ParameterError(f"pending={pending} needs a learner with decide(): {learner.late}")
        kinds = load("stats.base").Univariate, load("proba.base").Distribution
        if not isinstance(self.reward_obj, kinds):
            accepted = "a statistic or distribution of one number"
            raise refuse(self, "reward_obj", accepted, self.reward_obj)
        self._rewards_as_losses = Scale(self, reward_range)
        self._losses = losses_of(learner)
        self._rows = RowEncoder(self, "features", features, strict=False)
        self._numbering = Numbering()
        if arms is not None:
            self._numbering.of(list(arms), self._n_actions)
            self._numbering.keep(arms)
        self._open: deque[_Pull] = deque()
        self._made: Any = None
        self.current_learner: Any = learner.clone()
        self.unlearned = 0

    def pull(self, arm_ids: Iterable[Hashable], context: Any = None) -> Any:
        """Return the arm to pull, one of the offered arms."""
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
        """Learn from the reward of an arm, a number; further arguments are passed to `reward_obj`.

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
        # river's table of the arms fails without arms.
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
    """A pulled arm, with the learner's decision (None if the learner did not choose the arm)."""

    arm: Hashable
    context: Any
    decision: Decision | int | None

    def is_of(self, arm: Hashable, context: Any) -> bool:
        """Return whether a reward of this arm and context belongs to this pull."""
        if self.arm != arm:
            return False
        if isinstance(context, np.ndarray):
            return np.array_equal(self.context, context)
        return bool(self.context is context or self.context == context)
