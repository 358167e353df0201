"""Follow the leader with noise on the future contexts, bandit feedback."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.bounds import Bound, playout_bandit
from hannan.core import Action, Feedback, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, available_in
from hannan.core.rounds import PropensityRecord
from hannan.core.state import Number, State
from hannan.core.validation import FloatArray, check_chosen_loss
from hannan.learners.certificates import availability_notes, feedback_notes
from hannan.learners.future import Playout, PlayoutRound
from hannan.learners.shown_losses import check_nonnegative_range
from hannan.learners.statements import SemiBanditCertificate


class PlayoutBandit(Playout):
    r"""Follow the leader with sparse noise on the known future contexts, bandit feedback.

    Let :math:`i_0` be the action of the leader under sparse noise ±M on the future contexts. The
    learner draws its action from :math:`q = (1 - K/M) e_{i_0} + 1/M`. So all probabilities are
    known and at least 1/M, and the loss estimate :math:`\hat\ell = \ell(a)/q(a)\, e_a` needs no
    resampling. A round takes one oracle call.

    Parameters
    ----------
    oracle
        The policy class with its optimiser; single actions only.
    contexts, horizon, seed
        As in `PlayoutFTPL`.
    epsilon
        The inverse 1/M of the noise size. None (default) uses the value of
        `bounds.playout_bandit`.
    loss_range
        Range (low, high) of the losses, with 0 <= low. Default (0, 1).

    Guarantee
    ---------
    With contexts fixed in advance or drawn independently from the pool, an exact oracle, and
    adaptive losses: `bounds.playout_bandit`. There is no theorem for delayed feedback.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.PlayoutBandit(hn.oracles.AllPolicies(1, 2), horizon=400, seed=0)
    >>> for t in range(400):
    ...     decision = learner.decide()
    ...     learner.update(0.1 if decision.action == 1 else 0.9, decision=decision)
    >>> learner.best_policy()(0), decision.propensity_error
    (1, 0.0)

    References
    ----------
    [cesabianchi2011]
    """

    feedback = Feedback.BANDIT

    class Round(PlayoutRound):
        """A round with one over the propensity, given its noise."""

        weight: float = 1.0

        stored = State(weight=Number(low=0.0))

        @property
        def inverse(self) -> FloatArray:
            return np.array([self.weight])

    def _size_and_rate(self) -> tuple[float, float | None]:
        high = check_nonnegative_range(self, self.loss_range)[1]
        if self.oracle.max_chosen > 1:
            raise ParameterError(
                "PlayoutBandit is only for single actions, but "
                f"{type(self.oracle).__name__} chooses up to {self.oracle.max_chosen} elements. "
                "Use ContextSemiBanditFTPL."
            )
        self._K = self.oracle.n_actions or 0
        M = 1.0 / (self._bound().epsilon if self.epsilon is None else self.epsilon)
        if self._K * high > M:
            raise ParameterError(
                f"The noise size 1/ε of PlayoutBandit must be at least {self._K} times (once for "
                f"each action) the largest loss {high:g}; got epsilon={self.epsilon!r}. Pass a "
                "smaller epsilon."
            )
        return M, self._K * high / M

    def _act(self, opened: Round) -> None:
        """Draw from the mixture of the leader's action and the uniform distribution."""
        distribution = self._action_distribution(opened)
        ends = np.cumsum(distribution)
        u = self._noise.uniform(*opened.place) * ends[-1]
        last = int(np.flatnonzero(distribution)[-1])
        opened.action = int(min(np.searchsorted(ends, u, side="right"), last))
        opened.weight = 1.0 / float(distribution[opened.action])
        opened.calls += 1

    def _action_distribution(self, opened: Round) -> FloatArray:
        """Return the probability of each action, given the noise of the round."""
        past, plays, rate = self._perturbed(opened), opened.plays, self._noise.rate
        assert rate is not None
        distribution = np.full(self._K, rate / self._K)
        if plays is not None and past.scored:
            some = available_in(plays)
            distribution[:] = 0.0
            distribution[some] = rate / len(some)
        elif plays is not None:
            distribution = np.bincount(plays, distribution, self._K)
        leader = past.action(opened.context, WITHOUT_NOISE, None, plays)
        distribution[leader] += 1.0 - rate
        return distribution

    def _update(self, opened: Round, loss: Any) -> None:
        """Add ℓ/q for the action, and for all actions whose substitute it is."""
        cost = check_chosen_loss(loss, self._range)
        plays, past = opened.plays, self._past
        estimate = np.zeros(self._K)
        estimate[opened.action if plays is None else plays == opened.action] = opened.weight * cost
        if plays is not None and past.scored:
            charged, guesses = self._availability.charges(opened, self._range)
            estimate = estimate if charged is None else np.where(charged, guesses, estimate)
        if estimate.any() or self.oracle.counts_rounds:
            past.add(opened.context, estimate)
        self._loss += cost

    def certificate(self) -> SemiBanditCertificate:
        """Return the statements on the pseudo-regret so far."""
        notes = [] if self.oracle.exact else ["the oracle is inexact: no theorem applies"]
        notes += availability_notes(self._availability)
        comparator = None
        if self.oracle.exact and not self._availability.by_score:
            notes.append("the contexts must be fixed in advance or drawn from the given pool")
            if self._ledger.immediate:
                comparator = self._loss - float(self._past.minima()[0])
        notes += feedback_notes(self._ledger)
        values = {"comparator_estimate": comparator, "a_priori": self.regret_bound()}
        return SemiBanditCertificate.of(self.rounds, self._loss, notes, **values)

    def regret_bound(self) -> float | None:
        """Return the bound for the whole run, which holds for a part: other losses may be 0."""
        return self._bound().value if self._has_bound else None

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return check_chosen_loss(loss, self._range)

    def _bound(self) -> Bound:
        size = self.oracle.log_size(self._points)
        if size is None:
            raise ParameterError(
                "The noise size of PlayoutBandit depends on the size of the policy class, which "
                f"{type(self.oracle).__name__} does not know. Pass epsilon=."
            )
        return playout_bandit(
            self._horizon,
            n_actions=self._K,
            log_size=max(size, math.log(2.0)),
            loss_bound=self._range[1],
        )

    def _propensity_record(self, opened: Round) -> PropensityRecord:
        return PropensityRecord(opened.inverse, 1.0 / opened.weight, 0.0)
