"""Algorithm 2: contextual follow the perturbed leader."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from hannan.bounds import complete_information
from hannan.core import (
    Action,
    LossError,
    LossFunction,
    Objective,
    Oracle,
    ParameterError,
    Predictor,
)
from hannan.core.arrays import Contexts
from hannan.core.available import IntArray, awake
from hannan.core.policy import loss_of
from hannan.core.validation import check_choice, check_losses, check_positive
from hannan.learners import promise
from hannan.learners.forecast import TRUST, Forecast
from hannan.learners.speaking_experts import SpeakingExperts
from hannan.learners.substituted import restricted, settle


class ContextFTPL(SpeakingExperts):
    r"""Contextual follow the perturbed leader, full information (Algorithm 2).

    Each round draws a fake loss vector with independent Laplace(ε) coordinates for every context
    of a set X and plays :math:`a_t = \pi_t(x_t)` with

    .. math:: \pi_t = \arg\min_{\pi \in \Pi} \sum_{s<t} \ell_s(\pi(x_s))
              + \frac1\epsilon \sum_{x \in X} \langle \pi(x), \zeta_x \rangle .

    X is the set of contexts that may arrive (*transductive*, `contexts=`), or any set on which
    all policies differ (*small separator*, `separator=`): then every context may arrive.

    Parameters
    ----------
    oracle
        The policy class with its optimiser.
    contexts
        X in the transductive setting; by default the oracle's own contexts. For "playout" all
        contexts in the order they will arrive, repetitions included.
    separator
        X in the small-separator setting.
    pool
        Contexts like those that may arrive, for X without a theorem. Give one of the three.
        Feature classes need none: X is then a sample of the contexts seen so far. For "playout"
        a sample to draw the contexts to come from, with `horizon`.
    perturbation
        "laplace": the paper's noise, on X. "playout": Gaussian noise on the contexts still to
        come and none on the past, where their sequence, or the law they are drawn from, is known.
    epsilon
        "adaptive": self-tuned from what instability has cost so far, needs nothing else;
        "anytime": the schedule :math:`\epsilon_t \propto 1/\sqrt t`, from `loss_range`;
        "theorem": the paper's tuning, needs `horizon`; or a positive number, noise then having
        size 1/ε. Playout noise has a size of its own and leaves nothing to tune.
    horizon
        T, the number of rounds, for epsilon="theorem" and for "playout".
    predictor
        Guesses the losses :math:`Q_t` of each round before it is played: `predict(context)`
        returns K numbers and `learn(context, action, loss)` is told all losses afterwards. The
        leader is then taken with the guess counted as one more round, and regret is governed by
        :math:`\sum_t \|\ell_t - Q_t\|_*^2` in place of the size of the losses.
    trust
        "earned": guesses count only while they have been closer to the losses than none at all,
        so that a bad predictor costs little; "always": as in the paper.
    seed
        Fixes all randomness; None takes fresh entropy.
    eagerness
        Factor on G in self-tuning: ε = eagerness · G/D. By default what suits the class, 1 for
        most; e ≥ 1 costs the guarantee a factor (√e + 1/√e)/2 at most.
    loss_range
        Range (low, high) of each element's loss, or None to accept any finite loss.
    noise
        "fresh" draws anew in every round. "once" uses one draw for the whole game: the same
        expected loss against an *oblivious* adversary, and no guarantee at all against one that
        reacts to what is played.
    noise_memory
        Bytes of noise made ready ahead of time. It never changes what is played.

    Guarantee
    ---------
    With epsilon="adaptive", fresh noise and an exact oracle, against adaptive adversaries:
    expected regret at most :math:`2\,E[D_T] \le 2\sqrt{2\kappa G V} + 2R`, with D_T measured on
    the way and reported by `certificate`; with a predictor V sums the squared ranges of
    :math:`\ell_t - Q_t` (Theorem 5). With epsilon="theorem": `bounds.complete_information`.
    With "playout", contexts fixed in advance or independent draws from the pool:
    `bounds.playout`, :math:`\sqrt{2\pi T \log N}` for single actions.
    [syrgkanis2016, Theorems 2 and 5], [cesabianchi2011]
    Where actions come and go all of it holds against policies whose missing actions are replaced
    as the learner's own; but with classes that score actions (`AllPolicies`) only if what is there
    depends on the context alone. [kanade2014]

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.ContextFTPL(oracle, seed=0)
    >>> for t in range(100):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1])
    >>> learner.act(0), learner.best_policy()(0)
    (1, 1)

    Losses that are like the previous ones:

    >>> guess = hn.predictors.Last()
    >>> optimist = hn.ContextFTPL(oracle, predictor=guess, seed=0)
    >>> for t in range(100):
    ...     action = optimist.act(0)
    ...     optimist.update([0.01 * t, 1.0 - 0.01 * t])
    >>> round(optimist.certificate().prediction_error, 2)
    1.01

    References
    ----------
    [syrgkanis2016], [cesabianchi2011], [kanade2014]
    """

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
        predictor: Predictor | None = None,
        trust: str = "earned",
        eagerness: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        noise: str = "fresh",
        noise_memory: int = 2**26,
    ) -> None:
        self.predictor = predictor
        self._forecast: Forecast | None = None
        self.trust = check_choice(self, "trust", trust, TRUST)
        self.eagerness = None if eagerness is None else check_positive(self, "eagerness", eagerness)
        self._eager = oracle.eagerness if eagerness is None else eagerness
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
        if predictor is not None:
            self._forecast = self._make_forecast(predictor)
        self._loss = 0.0
        self._stability = 0.0
        self._last_scale = 0.0

    def _first_total(self) -> Objective:
        if self._playout is None and isinstance(self.epsilon, str) and self.epsilon == "adaptive":
            return self.oracle.start(self._perturbed, self._width)
        return super()._first_total()

    def _act(self, context: Any) -> Action:
        total = self._prospect(context)
        action = total.action(context, self._fakes, self._draw, self._scale)
        self.oracle_calls += 1
        return action

    def _act_among(self, context: Any, available: IntArray) -> int:
        total = self._prospect(context, self._stand_ins(context, available))
        action = total.action(context, self._fakes, self._draw, self._scale)
        self.oracle_calls += 1
        return int(action)

    def _cost(self, action: Action, loss: Any) -> float:
        return loss_of(self._check_loss(loss)[0], action)

    def _prospect(self, context: Any, stands: IntArray | None = None) -> Objective:
        if self._anytime and self._open is None:
            self._widen(self._kappa * self._width**2 * (1 + self._pending))
        if self._playout is not None:  # all the noise there is: `_scale` stays 0
            total = self._history.perturbed(*self._playout.noise.fakes(self.rounds))
            return restricted(total, context, stands)
        guess = None if self._forecast is None else self._forecast.look_ahead(context)
        total = self._history if guess is None else self._history.tilted(context, guess)
        return restricted(total, context, stands)

    def _twin(self, coins: np.random.Generator) -> Self:
        twin = super()._twin(coins)
        twin._forecast = copy.copy(self._forecast)  # its guess belongs to the open round
        return twin

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        unsized = self._sized is None
        try:
            self._learn(context, action, loss)
        except BaseException:
            if unsized:  # a refused loss vector does not say how many actions there are
                self._sized = self._complexity = self._fakes = None
            raise

    def _learn(self, context: Any, action: Action, loss: Any) -> None:
        losses, lowest, highest = self._check_loss(loss)
        low, high = lowest, highest
        suffered = unforeseen = loss_of(losses, action)
        there = None if self._stands is None else awake(self._stands)
        if self._forecast is not None:
            if self._stands is not None and self._ordered:
                self._forecast.replace(self._stands)
            low, high = self._forecast.surprises(losses, low, high)
            unforeseen = self._forecast.surprise(losses, action)
        sized = self._sized
        if sized is None:
            self._learn_size(len(losses))
        try:
            instability = self._settle(context, losses, unforeseen, low)
        except BaseException:
            self._sized = sized
            raise
        if self._forecast is not None:
            self._forecast.learn(context, losses, lowest, highest, there)
        self._loss += suffered
        self._stability += self._stability_bound(low, high)
        self._last_scale = self._scale
        self._tune(instability)
        self._see(context)

    def _advance(self) -> None:
        if self.noise == "fresh":
            super()._advance()

    def _settle(self, context: Any, losses: Any, unforeseen: float, low: float) -> float:
        r"""Add the round; what it cost not to have known it, where that is measured.

        That is :math:`(f_t - Q_t)(\pi_t) - (f_t - Q_t)(\hat\pi_t)`, never negative but for
        rounding in the totals.
        """
        if not self._adaptive:
            self._history.add(context, losses)
            return 0.0
        if unforeseen > low and self._perturbed:
            # Instability may show, and then G is asked for. If the oracle fails at that, it must
            # be now, while nothing has been changed.
            _ = self.complexity
        draw, stands = (self._fakes, self._draw, self._scale), self._stands
        foreseeing = settle(self._history, context, losses, draw, stands)
        self.oracle_calls += 1
        if self._forecast is not None:
            return unforeseen - self._forecast.surprise(losses, foreseeing)
        return unforeseen - loss_of(losses, foreseeing)

    def regret_bound(self) -> float | None:
        """What theory promises for expected regret so far, for any adversary; None if nothing."""
        return promise.experts(self)

    def _worst_case(self, rounds: int, restarts: int) -> float | None:
        return promise.experts_worst_case(self, rounds, restarts)

    def _check_loss(self, loss: Any) -> tuple[Any, float, float]:
        """The loss in the form the oracle takes, and the range to bound instability with."""
        functions = self.oracle.takes_functions
        losses: Any
        if isinstance(loss, LossFunction):
            if not functions:
                raise LossError(
                    f"{type(self.oracle).__name__} takes a loss for each element, not a loss "
                    f"function; got {loss!r}."
                )
            if loss.n_actions != self._n_actions:
                raise LossError(
                    f"The loss function is on {loss.n_actions} elements; the oracle has "
                    f"{self._n_actions}."
                )
            losses, (low, high) = loss, loss.extremes()
        else:
            losses, low, high = check_losses(loss, self._n_actions, self._range)
            m = self.oracle.max_chosen
            if m > 1:
                low, high = m * min(low, 0.0), m * max(high, 0.0)
        if functions:
            slack = 1e-9 * max(1.0, abs(low), abs(high))
            if low < self._range[0] - slack or high > self._range[1] + slack:
                raise LossError(
                    f"The loss of a set must lie in loss_range={self._range}; this one may range "
                    f"from {low:g} to {high:g}. Pass the range of the losses of whole sets as "
                    "loss_range=(low, high)."
                )
        return losses, low, high

    @property
    def _n_actions(self) -> int | None:
        return None if self._sized is None else self._sized.n_actions

    def _stability_bound(self, low: float, high: float) -> float:
        r"""An upper bound on what instability can cost in a round with losses in [low, high].

        By the shift lemma it is at most :math:`\min(v, \epsilon\kappa v^2)`; κ and v go together.
        """
        kappa, v = self._kappa, high - low
        return kappa * v * v / self._scale if kappa * v < self._scale else v

    @property
    def _width(self) -> float:
        """How much more than another an action can lose in a round, beyond what was guessed."""
        low, high = self._range
        guesses = 1.0 if self._forecast is None else 2.0
        if self.oracle.max_chosen == 1 or self.oracle.takes_functions:
            return guesses * (high - low)
        return guesses * self.oracle.max_chosen * (max(high, 0.0) - min(low, 0.0))

    @property
    def _nonnegative(self) -> bool:
        linear = not self.oracle.takes_functions and self.predictor is None
        return linear and self._range[0] >= 0.0

    def _theorem_epsilon(self) -> float:
        assert self.horizon is not None
        low, high = self._range
        m = self.oracle.max_chosen
        functions = self.oracle.takes_functions
        optimistic = self.predictor is not None
        largest = high - low if optimistic else max(abs(low), abs(high))
        return complete_information(
            self.horizon,
            d=len(self._perturbed),
            n_actions=self.oracle.n_actions or 1,
            log_size=self._log_size(),
            m=m,
            loss_bound=largest / (m if functions else 1),
            setting=self._setting,
            nonnegative=self._nonnegative,
        ).epsilon

    def _make_forecast(self, predictor: Predictor) -> Forecast:
        if self._playout is not None:
            raise ParameterError("perturbation='playout' takes no predictor=.")
        forecast = Forecast(predictor, self._range, self.oracle.max_chosen, self.trust)
        if self._n_actions is not None:
            forecast.prepare(self._n_actions)
        return forecast
