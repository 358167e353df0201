"""Algorithm 3: contextual follow the perturbed leader with semi-bandit feedback."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.bounds import Bound, semi_bandit
from hannan.core import Action, Feedback, Objective, Oracle, Predictor
from hannan.core.arrays import Contexts
from hannan.core.available import IntArray
from hannan.core.presence import Presence
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_integer,
    check_losses,
    check_positive,
)
from hannan.learners import promise
from hannan.learners.advice import PRESETS, Advice
from hannan.learners.measuring_bandit import MeasuringBandit
from hannan.learners.resampling import (
    MODES,
    drawn_weights,
    exact_weights,
    no_law,
    second_moment,
)
from hannan.learners.speaking_bandit import check_setting
from hannan.learners.substituted import restricted
from hannan.learners.tickets import Ticket


class ContextSemiBanditFTPL(MeasuringBandit):
    r"""Contextual follow the perturbed leader, semi-bandit feedback (Algorithm 3).

    Plays :math:`a_t = \pi_t(x_t)` as `ContextFTPL` does, but sees only the losses of the chosen
    elements (of the one chosen action: a *bandit*). The others are completed by geometric
    resampling: for a chosen element j, fresh noise is drawn until the perturbed leader chooses j
    again on :math:`x_t`, L times at most; the number of draws J is nearly unbiased for 1/q, q
    the probability of choosing j, and

    .. math:: \hat\ell_t(j) = J_t(j)\, \ell_t(j) \text{ for } j \in a_t, \quad 0 \text{ otherwise}

    enters the totals. One stream of draws serves all chosen elements, an element with loss zero
    needs none, and L - 1 draws suffice.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts, separator, pool
        The perturbed contexts X, as in `ContextFTPL`.
    perturbation
        "laplace": the paper's noise, on X. "playout": sparse noise ±M on the contexts still to
        come, where their sequence, or the law they are drawn from, is known. The leader is then
        played with probability 1 - K/M and each action with 1/M besides, so weights are exact:
        one oracle call a round, no resampling. For single actions; M = 1/ε.
    epsilon
        "adaptive": self-tuned from instability measured with an independent extra draw;
        "anytime": the schedule :math:`\epsilon_t \propto 1/\sqrt t`, which also pays for
        delayed feedback; "theorem": the paper's, needs `horizon`; or a positive number.
    horizon
        T, for epsilon="theorem" and for the cap L.
    max_resamples
        L; by default :math:`\lceil\sqrt{KT}\rceil`, with the number of the round in place of T
        where no horizon is given.
    resampling
        "shared": one success, one stream; "separate": a stream for each element, as printed;
        "rao-blackwell": draws until `successes` successes, the same mean with less variance;
        "exact": that mean itself, where the oracle can compute q; "auto": exact if it can, else
        rao-blackwell.
    successes
        r, for "rao-blackwell".
    eagerness
        Factor on G in self-tuning: ε = eagerness · G/D. By default 2 without a predictor, else 1.
    predictor
        Guesses the losses before each round: `predict(context)` returns K numbers and
        `learn(context, action, loss)` is told what was seen.
    trust
        How far a predictor is believed. "strict": its guess is a hint that decides what is
        played while a measured budget lasts; loss estimates stay plain, so guarantee and
        certificate stay valid. "balanced": hint, and a low baseline inside the estimates.
        "baseline": no hint, the guess is the baseline. Hints need single actions.
    residual
        "clipped" or "signed": what a baseline that was too high does to the estimate. Signed
        estimates are less biased and often better, but an adaptive adversary can force linear
        regret on them. Balanced trust is always signed.
    hint_strength
        How many times the whole history a hint counts; by default 30 (strict) or 10.
    seed, loss_range, noise_memory
        As in `ContextFTPL`; losses must not be negative.
    noise
        "fresh" only: loss estimates depend on past noise, so it cannot be used again.

    Guarantee
    ---------
    With an exact oracle, losses in [0, 1] and immediate feedback, against adaptive adversaries,
    pseudo-regret is at most :math:`2 E[D_T] + \sum_t K/(eL_t)` when self-tuned; with
    epsilon="theorem" `bounds.semi_bandit`; with "playout" and contexts fixed in advance or drawn
    from the pool `bounds.playout_bandit`. Where actions come and go, as for `ContextFTPL`.
    [syrgkanis2016, Theorem 3]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> for t in range(200):
    ...     action = learner.act(t % 2)
    ...     learner.update(0.1 if action == 2 else 0.9)
    >>> learner.best_policy()(0)
    2

    Feedback that comes later, out of order or never:

    >>> first, second = learner.decide_many([0, 1])
    >>> learner.update(0.9, decision=second)
    >>> learner.forget(first)

    References
    ----------
    [syrgkanis2016], [neu2016]
    """

    feedback = Feedback.SEMI
    _scratch = frozenset({"_theorem"})

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        separator: Contexts | None = None,
        *,
        pool: Contexts | None = None,
        perturbation: str = "laplace",
        epsilon: float | str = "adaptive",
        horizon: int | None = None,
        max_resamples: int | None = None,
        resampling: str = "auto",
        successes: int = 2,
        eagerness: float | None = None,
        predictor: Predictor | None = None,
        trust: str = "strict",
        residual: str = "clipped",
        hint_strength: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        noise: str = "fresh",
        noise_memory: int = 2**26,
    ) -> None:
        self.max_resamples = (
            None
            if max_resamples is None
            else check_integer(self, "max_resamples", max_resamples, 1)
        )
        self._theorem: Bound | None = None
        super().__init__(
            oracle,
            contexts,
            separator,
            pool,
            perturbation,
            epsilon,
            horizon,
            seed,
            loss_range,
            noise,
            noise_memory,
        )
        self.resampling = check_choice(self, "resampling", resampling, MODES)
        self.successes = check_integer(self, "successes", successes, 1)
        self.eagerness = None if eagerness is None else check_positive(self, "eagerness", eagerness)
        self.predictor = predictor
        self.trust = check_choice(self, "trust", trust, PRESETS)
        self.residual = check_choice(self, "residual", residual, ("clipped", "signed"))
        self.hint_strength = (
            None if hint_strength is None else check_positive(self, "hint_strength", hint_strength)
        )
        check_setting(self)
        self._r = successes if resampling in ("auto", "rao-blackwell") else 1
        self._exact = resampling == "exact"
        if self._exact:
            self._check_law()
        self._eager = self.eagerness or (2.0 if predictor is None else 1.0)
        self._signed = residual == "signed" or trust == "balanced"
        self._advice: Advice | None = None
        self._open_tickets()
        self._loss = 0.0
        self._truncation = 0.0
        self._variance = 0.0
        self._unrest = 0.0
        self._last_scale = 0.0
        self._start = 0.0
        if predictor is not None:
            K, top = self._K, self._range[1]
            self._advice = Advice(predictor, trust, hint_strength, K, top, oracle.key)
            if self._advice.hints and self._adaptive:
                self._start = top
                self._tune(self._start)

    # The round, as in Algorithm 3 ---------------------------------------------------------

    def _choose(self, context: Any, pending: int, available: IntArray | None = None) -> Ticket:
        """Draw the perturbed leader of the loss estimates so far and note the state."""
        stands = self._stand_ins(context, available)
        if self._playout is not None:
            return self._choose_played_out(context, pending, stands)
        ticket = self._next_ticket(context, pending, stands)
        ticket.action = self._played(ticket).action(context, self._fakes, self._draw, self._scale)
        self._draw += 1
        self.oracle_calls += 1
        self._decided += 1
        self._delayed |= pending > 0
        return ticket

    def _next_ticket(self, context: Any, pending: int, stands: IntArray | None) -> Ticket:
        """The round to come, before its action is drawn."""
        n = self._decided + 1
        hint, baseline = self._advise(context, n)
        if stands is not None:
            hint = None if hint is None else hint[stands]
            baseline = None if baseline is None else baseline[stands]
        if self._anytime:
            m = self.oracle.max_chosen
            spread = m * (self._moment * self._K + m * pending)
            self._widen(self._kappa * spread * self._range[1] ** 2)
            self._unrest += self._drift(pending)
        return Ticket(context, -1, self._limit(n), self._scale, hint, baseline, stands=stands)

    def _prospect(self, context: Any, stands: IntArray | None = None) -> Objective:
        return self._played(self._next_ticket(context, len(self._tickets), stands))

    def _played(self, ticket: Ticket) -> Objective:
        """The totals whose perturbed leader is played: with the hint or the baseline included."""
        tilt = ticket.baseline if ticket.hint is None else ticket.hint
        total = self._history if tilt is None else self._history.tilted(ticket.context, tilt)
        return restricted(total, ticket.context, ticket.stands)

    def _learn(self, ticket: Ticket, losses: Any) -> None:
        """Complete the losses to an estimate of all of them, and add it to the totals."""
        context, action = ticket.context, ticket.action
        surprise = losses
        if ticket.baseline is not None:
            surprise = losses - ticket.baseline[action]
            if not self._signed:
                surprise = np.maximum(surprise, 0.0)
        surprised = np.any(surprise) if isinstance(surprise, np.ndarray) else surprise != 0.0
        if surprised and ticket.weights is None:
            self._weigh(ticket, surprise)
        if ticket.stands is not None and self._ordered:
            self._charge_those_away(ticket)
        if surprised:
            residual = np.zeros(self._K)
            residual[self._alike(ticket)] = ticket.weights * surprise
            self._absorb(ticket, residual)
            self._variance += self._variance_of(ticket, surprise)
        elif ticket.baseline is not None:
            self._history.add(context, ticket.baseline)
        else:
            self._history.observe(context)
        if self._advice is not None:
            self._advice.learn(context, action, losses)
        self._note(ticket, losses)
        self._loss += _total(losses)
        self._last_scale = ticket.scale
        self._see(context)
        if ticket.limit:
            self._truncation += self._range[1] * self._K / (math.e * ticket.limit)

    def _alike(self, ticket: Ticket) -> Any:
        """The action, with those it stood in for: all of them get its estimate."""
        if ticket.stands is None:
            return ticket.action
        return np.flatnonzero(ticket.stands == ticket.action)

    def _charge_those_away(self, ticket: Ticket) -> None:
        """Actions that were not there cost what they do when they are, where that is known."""
        assert ticket.stands is not None
        away, guesses = self._guesses(ticket.context, ticket.stands)
        if away is not None:
            base = np.zeros(self._K) if ticket.baseline is None else ticket.baseline
            ticket.baseline = np.where(away, guesses, base)
            ticket.stands = np.where(away, -1, ticket.stands)  # nothing stands in for them

    def _note(self, ticket: Ticket, losses: Any) -> None:
        """Remember what actions cost when they are there, once some were not."""
        if ticket.stands is not None:
            self._sorted += self._ordered
            self._presence = self._presence or Presence(self._K)
        if self._presence is not None:
            self._presence.learn(ticket.context, ticket.action, losses)

    def _weigh(self, ticket: Ticket, needed: Any = None) -> None:
        """Draw the weights W of the chosen elements, with mean (1 - (1-q)^L)/q.

        Elements for which `needed` is zero are left out; their weight is of no use.
        """
        context, action, scale = ticket.context, ticket.action, ticket.scale
        if scale == 0.0:
            ticket.weights = 1.0 if isinstance(action, int) else np.ones(len(action))
            return
        played = self._played(ticket)
        if self.resampling in ("auto", "exact"):
            found = exact_weights(played, context, action, self._fakes, scale, ticket.limit)
            self._exact = found is not None
            if found is not None:
                ticket.weights = found
                return
            if self.resampling == "exact":
                raise no_law(self.oracle)
        ticket.weights, used = drawn_weights(
            played,
            context,
            action,
            self._fakes,
            self._draw,
            scale,
            ticket.limit,
            self._r,
            separate=self.resampling == "separate",
            needed=needed,
        )
        self._draw += used
        self.oracle_calls += used

    def regret_bound(self) -> float | None:
        """What theory promises for pseudo-regret so far, for any adversary; None if nothing."""
        return promise.bandit(self)

    def _worst_case(self, rounds: int, restarts: int) -> float | None:
        return promise.bandit_worst_case(self, rounds, restarts)

    # Parts --------------------------------------------------------------------------------

    @property
    def _nonnegative(self) -> bool:
        return True

    @property
    def _moment(self) -> float:
        return second_moment(self._r, self._exact)

    def _advise(self, context: Any, n: int) -> tuple[FloatArray | None, FloatArray | None]:
        """The predictor's hint and baseline for round n."""
        advice = self._advice
        if advice is None:
            return None, None
        hint = None
        if advice.hints:
            weight = self._history.hint_weight(context, advice.strength)
            hint = advice.hint(context, self._G, n, weight)
        return hint, advice.baseline(context)

    def _limit(self, n: int) -> int:
        if self.max_resamples is not None:
            return self.max_resamples
        if self._theorem is not None:
            assert self._theorem.max_resamples is not None
            return self._theorem.max_resamples
        limit = math.ceil(math.sqrt(self._K * (self.horizon or n)))
        if self._advice is not None and self._advice.trust == "balanced":
            return max(20, min(math.ceil(self._scale / self._range[1]), limit))
        return max(2, limit)

    def _drift(self, pending: int) -> float:
        """What instability may cost in a round with others open, to whose actions all may react."""
        m = self.oracle.max_chosen
        worst = self._kappa * m * self._K * (self._moment + pending) * self._range[1] ** 2
        return worst / self._scale if self._scale else 0.0

    def _variance_of(self, ticket: Ticket, losses: Any) -> float:
        """What instability may cost in this round, on average over the weights."""
        if ticket.scale == 0.0:
            return _total(losses)
        total = _total(ticket.weights * losses * losses)
        return self._moment * self._kappa * self.oracle.max_chosen * total / ticket.scale

    def _check_loss(self, action: Action, loss: Any) -> Any:
        if not isinstance(action, int):
            return check_losses(loss, len(action), self._range, "one for each chosen element")[0]
        low, high = self._range
        if isinstance(loss, float) and low <= loss <= high:
            return loss
        one = check_losses(np.ravel(loss), 1, self._range, "the chosen action's loss")[0]
        return float(one[0])

    def _check_law(self) -> None:
        """Refuse resampling="exact" before any round, where that is possible."""
        if self._perturbed:
            self._make_fakes()
            if self._history.law(self._perturbed[0], self._fakes, 1.0) is None:
                raise no_law(self.oracle)

    def _theorem_epsilon(self) -> float:
        assert self.horizon is not None
        self._theorem = semi_bandit(
            self.horizon,
            d=len(self._perturbed),
            n_actions=self._K,
            log_size=self._log_size(),
            m=self.oracle.max_chosen,
            loss_bound=self._range[1],
            max_resamples=self.max_resamples,
            setting=self._setting,
        )
        return self._theorem.epsilon


def _total(values: Any) -> float:
    """The sum of an array, or a number itself."""
    return float(values) if isinstance(values, float) else float(values.sum())
