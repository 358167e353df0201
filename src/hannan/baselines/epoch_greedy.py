"""Alternate between uniform exploration and the policy that is best on the explored rounds."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit
from hannan.core import Action, Objective, OpenRound, Oracle, ParameterError, Policy
from hannan.core.arrays import Contexts
from hannan.core.learner import learner_rng
from hannan.core.oracle import as_policies
from hannan.core.state import Count, Flag, Generator, Part, State
from hannan.core.validation import FloatArray, check_not_negative, check_seed


class EpochGreedy(Bandit):
    r"""Alternate exploring rounds with ever longer phases that follow the leader; bandit feedback.

    An exploring round plays each of K actions with probability 1/K. It adds :math:`K \ell` on the
    chosen action to the oracle's objective; other rounds add nothing. After the n-th exploring
    round the learner follows the objective's leader :math:`\hat\pi_n` for

    .. math:: s_n = \max\Bigl(1, \Bigl\lfloor \sqrt{n / (2 K \log N)} \Bigr\rfloor\Bigr)

    rounds, with losses scaled to [0, 1]. The expected loss of :math:`\hat\pi_n` exceeds that of the
    best policy by at most :math:`\sqrt{2 K \log N / n}` per round. So these rounds together cost at
    most 1, as much as the exploring round.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle), for single actions only.
    contexts
        Contexts that may arrive, used to count policies. Default: the contexts of the oracle.
    log_size
        Logarithm log N of the number of policies. None (default) queries the oracle. If the oracle
        does not know it, 1 is used, and the guarantee does not apply.
    seed, loss_range
        As in `Hedge`.

    Guarantee
    ---------
    Assume rounds drawn independently from one distribution, an exact oracle, and losses in [0, 1].
    Then the expected loss exceeds that of any fixed policy by at most :math:`2 + 2 (\tfrac92 K \log
    N)^{1/3} T^{2/3}`, for all T simultaneously. There is no guarantee against an adversary, who
    knows when the learner explores. [langford2007]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, 2), seed=0)
    >>> for _ in range(100):
    ...     action = learner.act()
    ...     learner.update(1.0 - action)
    >>> learner.best_policy()(0), learner.explored
    (1, 34)

    References
    ----------
    [langford2007]
    """

    oracle: Oracle

    stored = State(
        explored=Count(),
        _exploring=Count(),
        _estimates=Part(),
        _led=Flag(),
        _left=Count(),
        _rng=Generator(),
    )

    class Round(OpenRound):
        explores: bool = False

        stored = State(explores=Flag())

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        log_size: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        self.oracle = as_policies(self, oracle)
        if oracle.n_actions is None or oracle.max_chosen > 1:
            raise ParameterError(
                "EpochGreedy plays single actions uniformly; it needs an oracle with max_chosen=1 "
                f"and a known n_actions. Got {oracle!r}."
            )
        self.contexts = contexts
        self.log_size = log_size
        self.seed = check_seed(self, seed)
        self.explored = 0  # number of exploring rounds with feedback
        self._exploring = 0  # number of exploring rounds decided so far
        self._K = oracle.n_actions
        self._estimates = oracle.objective()
        self._leader: Policy | None = None
        self._led = False  # whether the leader of the estimates has been found
        self._left = 0  # number of rounds left in which the learner follows the leader
        self._spread = 2.0 * self._K * self._log_size()
        self._rng = learner_rng(seed)

    def best_policy(self) -> Policy:
        """Return the leader on the exploring rounds."""
        return self._estimates.leader() if self._leader is None else self._leader

    def _act(self, opened: Round) -> None:
        if self._left == 0:
            opened.explores = True
            opened.play(int(self._rng.integers(self._K)))
            return
        leader = self.best_policy()
        opened.play(leader(opened.context))
        opened.calls += not self._led
        self._leader, self._led = leader, True

    def _played(self, opened: Round) -> None:
        """Advance the schedule, which depends only on earlier decisions, not on feedback."""
        if opened.explores:
            self._exploring += 1
            self._left = self._following(self._exploring)
        else:
            self._left -= 1

    def _update(self, opened: Round, loss: Any) -> None:
        cost = self._scaled(loss)
        if not opened.explores:
            return
        estimate = np.zeros(self._K)
        estimate[opened.chosen] = self._K * cost
        self._estimates.add(opened.context, estimate)
        self._leader = None
        self._led = False
        self.explored += 1

    def _action_distribution(self, opened: Round) -> FloatArray:
        distribution = np.full(self._K, 1.0 / self._K)
        if self._left > 0:
            distribution = np.eye(self._K)[self.best_policy()(opened.context)]
        if opened.plays is None:
            return distribution
        return np.asarray(np.bincount(opened.plays, distribution, self._K), dtype=np.float64)

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        twin, actions = self._reseeded(rng), []  # a single copy, which finds the leader once
        for _ in range(copies):
            twin._act(opened)
            actions.append(opened.action)
        return actions

    def _total(self) -> Objective:
        return self._estimates

    def _restored(self) -> None:
        self._leader = self._estimates.leader() if self._led else None

    def _following(self, n: int) -> int:
        """Return s_n, the number of rounds that follow the n-th leader."""
        if self._spread == 0.0:
            return sys.maxsize  # a single policy: nothing to learn
        return max(1, math.floor(min(math.sqrt(n / self._spread), sys.maxsize)))

    def _log_size(self) -> float:
        listed = self.oracle.contexts if self.contexts is None else self.contexts
        known = [] if listed is None else self.oracle.check_contexts(listed)
        if known:
            self._estimates.prepare(known)
        if self.log_size is None:
            size = self.oracle.log_size(known) if known else None
            return 1.0 if size is None else size
        return check_not_negative(self, "log_size", self.log_size)
