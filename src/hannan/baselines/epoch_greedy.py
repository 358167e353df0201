"""Uniform rounds to learn from, and in between the best policy by what they have shown."""

from __future__ import annotations

import copy
import math
import sys
from numbers import Real
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit
from hannan.baselines._known_law import KnownLaw
from hannan.core import Action, Objective, Oracle, ParameterError, Policy
from hannan.core.arrays import Contexts
from hannan.core.available import IntArray, standing_in
from hannan.core.learner import own_coins
from hannan.core.validation import FloatArray, check_seed, refuse


class EpochGreedy(KnownLaw, Bandit):
    r"""Explore in single rounds and follow the leader between them, ever longer; bandit feedback.

    An exploring round plays each of K actions with probability 1/K and adds :math:`K \ell` on the
    action played to the oracle's objective; nothing else ever enters it. After the n-th of them
    the objective's leader :math:`\hat\pi_n` is followed for

    .. math:: s_n = \max\Bigl(1, \Bigl\lfloor \sqrt{n / (2 K \log N)} \Bigr\rfloor\Bigr)

    rounds, losses scaled to [0, 1]. Why so long: the estimates
    :math:`Z_i(\pi) = K \ell_i(a_i) 1[\pi(x_i) = a_i] \ge 0` have mean
    :math:`L(\pi) = E\,\ell(\pi(x))` and :math:`E Z_i^2 \le K`. Since
    :math:`e^{-z} \le 1 - z + z^2/2` for z ≥ 0, :math:`L(\pi) - \bar Z(\pi)` is sub-Gaussian
    upwards with variance K/n, and as :math:`\bar Z(\hat\pi_n) \le \bar Z(\pi^*)`, which has mean
    :math:`L(\pi^*)`,

    .. math:: E\,L(\hat\pi_n) - L(\pi^*) \le E \max_\pi \bigl(L(\pi) - \bar Z(\pi)\bigr)
              \le \sqrt{2 K \log N / n}.

    So :math:`s_n` rounds of following cost at most 1 together, as much as the round that was
    spent on exploring.

    Parameters
    ----------
    oracle
        The policy class with its optimiser; single actions only.
    contexts
        Those that may arrive, where the oracle does not list its own; used to count policies.
    log_size
        log N. None asks the oracle, and takes 1 where it cannot tell; the guarantee is void then.
    seed
        Fixes the play; None takes fresh entropy.
    loss_range
        Range of the losses.

    Guarantee
    ---------
    Rounds drawn independently from one law, an exact oracle, losses in [0, 1]: expected loss at
    most :math:`2 + 2 (\tfrac92 K \log N)^{1/3} T^{2/3}` more than that of any fixed policy, for
    all T at once: with M exploring rounds it is at most 2M, and T is at least
    :math:`\sum_{n<M} \sqrt{n/(2 K \log N)}`. None against an adversary: when it explores is known
    in advance, and losses at other times teach it nothing. [langford2007]

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
    _scratch = frozenset({"_leader", "_spread"})

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
        if oracle.n_actions is None or oracle.max_chosen > 1:
            raise ParameterError(
                "EpochGreedy plays single actions uniformly; it needs an oracle with max_chosen=1 "
                f"and a known n_actions. Got {oracle!r}."
            )
        self.oracle = oracle
        self.contexts = contexts
        self.log_size = log_size
        self.seed = check_seed(self, seed)
        self.explored = 0
        self._K = oracle.n_actions
        self._total = oracle.objective()
        self._leader: Policy | None = None
        self._led = False  # whether the leader of the total has been found
        self._left = 0  # rounds of following that remain
        self._spread = 2.0 * self._K * self._log_size()
        self._rng = own_coins(seed)

    def best_policy(self) -> Policy:
        """The leader by what exploring rounds have shown."""
        return self._total.leader() if self._leader is None else self._leader

    def _act(self, context: Any) -> Action:
        if self._left == 0:
            return int(self._rng.integers(self._K))
        if self._leader is None:
            self._leader = self._total.leader()
            self._led = True
            self.oracle_calls += 1
        return self._leader(context)

    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        law = np.full(self._K, 1.0 / self._K)
        if self._left > 0:
            law = np.eye(self._K)[self.best_policy()(context)]
        if available is None:
            return law
        substitute = copy.copy(self)._substitute(context, available)  # a copy counts the call
        stands = standing_in(available, substitute, self._K)
        return np.asarray(np.bincount(stands, law, self._K), dtype=np.float64)

    def _restored(self) -> None:
        self._leader = self._total.leader() if self._led else None

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        cost = self._scaled(loss)
        if self._left > 0:
            self._left -= 1
            return
        estimate = np.zeros(self._K)
        estimate[action] = self._K * cost
        self._total.add(context, estimate)
        self._leader = None
        self._led = False
        self.explored += 1
        self._left = self._following(self.explored)

    def _past(self) -> Objective:
        return self._total

    def _following(self, n: int) -> int:
        """s_n, how long the n-th leader is followed."""
        if self._spread == 0.0:
            return sys.maxsize  # a single policy: nothing to learn
        return max(1, math.floor(math.sqrt(n / self._spread)))

    def _log_size(self) -> float:
        listed = self.oracle.contexts if self.contexts is None else self.contexts
        known = [] if listed is None else self.oracle.check_contexts(listed)
        if known:
            self._total.expect(known)
        if self.log_size is None:
            size = self.oracle.log_size(known) if known else None
            return 1.0 if size is None else size
        given = self.log_size
        if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= given < math.inf:
            raise refuse(self, "log_size", "a finite number >= 0", given)
        return float(given)
