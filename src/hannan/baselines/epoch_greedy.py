"""Uniform rounds to learn from, and in between the best policy by what they have shown."""

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
    r"""Explore in single rounds and follow the leader between them, ever longer; bandit feedback.

    An exploring round plays each of K actions with probability 1/K and adds :math:`K \ell` on the
    action played to the oracle's objective; nothing else ever enters it. After the n-th of them
    the objective's leader :math:`\hat\pi_n` is followed for

    .. math:: s_n = \max\Bigl(1, \Bigl\lfloor \sqrt{n / (2 K \log N)} \Bigr\rfloor\Bigr)

    rounds, losses scaled to [0, 1]. As :math:`\hat\pi_n` is expected to lose at most
    :math:`\sqrt{2 K \log N / n}` a round more than the best policy, these rounds cost at most 1
    together, as much as the round that was spent on exploring.

    Parameters
    ----------
    oracle
        The policy class with its optimiser; single actions only.
    contexts
        Those that may arrive, where the oracle does not list its own; used to count policies.
    log_size
        log N. None asks the oracle, and takes 1 where it cannot tell; the guarantee is void then.
    seed, loss_range
        As in `Hedge`.

    Guarantee
    ---------
    Rounds drawn independently from one distribution, an exact oracle, losses in [0, 1]: expected
    loss at
    most :math:`2 + 2 (\tfrac92 K \log N)^{1/3} T^{2/3}` more than that of any fixed policy, for
    all T at once. None against an adversary, who knows when it explores. [langford2007]

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
        self.explored = 0  # rounds that explored and have been learned
        self._exploring = 0  # those that have been decided
        self._K = oracle.n_actions
        self._estimates = oracle.objective()
        self._leader: Policy | None = None
        self._led = False  # whether the leader of the estimates has been found
        self._left = 0  # rounds of following that remain
        self._spread = 2.0 * self._K * self._log_size()
        self._rng = learner_rng(seed)

    def best_policy(self) -> Policy:
        """The leader by what exploring rounds have shown."""
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
        """Which rounds explore follows from the decisions before, whether or not answered."""
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
        twin, actions = self._reseeded(rng), []  # one, which finds the leader once
        for _ in range(copies):
            twin._act(opened)
            actions.append(opened.action)
        return actions

    def _total(self) -> Objective:
        return self._estimates

    def _restored(self) -> None:
        self._leader = self._estimates.leader() if self._led else None

    def _following(self, n: int) -> int:
        """s_n, how long the n-th leader is followed."""
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
