"""A perturbed leader with discounted losses: older losses count less."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from hannan.core import Action, Learner, LossError, LossFunction, Objective, Oracle, ParameterError
from hannan.core.oracle import loss_spread
from hannan.core.policy import Policy
from hannan.core.rounds import OpenRound
from hannan.core.state import (
    MOST,
    Array,
    Context,
    Count,
    DequeOf,
    Object,
    Part,
    State,
    TupleOf,
    require,
)
from hannan.core.validation import FloatArray, check_loss_range, check_probability, refuse
from hannan.learners.certificates import late_notes, likely_bound
from hannan.learners.context_ftpl import ContextFTPL
from hannan.learners.shown_losses import check_full_losses
from hannan.learners.statements import Certificate
from hannan.learners.step_size import SelfTuned

_HEAVIEST = 1e12  # largest weight of a round; then all weights are rescaled to the next round
_LIGHTEST = 1e-17  # relative weight below which a round is lost in rounding


class Discounted(Learner):
    r"""Self-tuned `ContextFTPL` on discounted losses: a loss k rounds ago has weight γᵏ.

    In round T the learner plays :math:`\pi_T(x_T)` with

    .. math:: \pi_T = \arg\min_{\pi \in \Pi} \sum_{t<T} \gamma^{T-t} \ell_t(\pi(x_t))
              + \frac{D}{G} \sum_{x \in X} \langle \pi(x), \zeta_x \rangle ,

    and D, the instability cost so far, is discounted in the same way. This is `ContextFTPL` on the
    losses :math:`\gamma^{-t} \ell_t`, in units of round T. Self-tuning needs neither the range of
    the losses nor a horizon, so these losses may grow without limit.

    Parameters
    ----------
    learner
        A `ContextFTPL` with epsilon="adaptive", noise="fresh" and no predictor. `Discounted`
        plays a copy of it; the original stays unchanged.
    discount
        Discount factor γ in (0, 1]. Default 0.999. The learner remembers about 1/(1 - γ) rounds;
        with 1, all rounds count fully.

    Guarantee
    ---------
    With an exact oracle, against adaptive adversaries, after *every* round T:

    .. math:: E \Bigl[ \sum_{t \le T} \gamma^{T-t} \ell_t(a_t) - \min_{\pi \in \Pi}
              \sum_{t \le T} \gamma^{T-t} \ell_t(\pi(x_t)) \Bigr] \le 2\,E[D_T]
              \le 2 B \sqrt{\frac{2 \kappa G}{1 - \gamma^2}} + 2 B ,

    B the width of the losses: the bound of `ContextFTPL` for :math:`\gamma^{-t} \ell_t`, times
    :math:`\gamma^T`. If γ < 1, there is no bound on the regret without discounts.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 0], [0, 1], [1, 1]])
    >>> learner = hn.Discounted(hn.ContextFTPL(oracle, seed=0), discount=0.9)
    >>> for t in range(100):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1] if t < 80 else [0.1, 0.9])
    >>> learner.best_policy()(0)
    0

    The last 20 rounds outweigh the 80 rounds before them.

    References
    ----------
    [syrgkanis2016], [derooij2014]
    """

    oracle: Oracle

    stored = State(
        _inner=Part(),
        _age=Count(),
        _recent=DequeOf(TupleOf(Context(), Array("action_count"), Count(low=-MOST))).where(
            lambda self, recent: all(abs(age) <= self._most + self._age for _, _, age in recent)
        ),
        _own_calls=Count(),
    )

    class Round(OpenRound):
        inner: Any = None  # the round of the inner learner
        age: int = 0  # number of decisions since weights were last rescaled

        stored = State(
            inner=Object(OpenRound).where(lambda self, inner: type(inner) is self._inner.Round),
            age=Count(below=lambda self: self._age + 1, low=-MOST),
        )

    def _check_state(self) -> None:
        most = math.log(_HEAVIEST) + self._rate * len(self._ledger.opened)
        require(self, age=self._age * self._rate <= most)

    def __init__(self, learner: ContextFTPL, discount: float = 0.999) -> None:
        super().__init__()
        self.learner = self._check_learner(learner)
        number = isinstance(discount, Real) and not isinstance(discount, bool)
        if not number or not 0.0 < float(discount) <= 1.0:
            raise refuse(self, "discount", "a number in (0, 1]", discount)
        self.discount = float(discount)
        self.oracle = learner.oracle
        self._range = check_loss_range(self, learner.loss_range)
        self._rate = -math.log(self.discount)
        self._recent: deque[tuple[Any, FloatArray, int]] = deque(maxlen=self._most)
        self._age = 0  # number of decisions since weights were last rescaled
        self._inner = learner.inside_discounts()
        self._own_calls = 0  # for substitutes of unavailable actions

    @property
    def _most(self) -> int:
        """Number of recent rounds with a weight that matters."""
        return math.ceil(math.log(_LIGHTEST) / -self._rate) if self._rate else 0

    @property
    def loss_range(self) -> tuple[float, float] | None:
        """Loss range of the learner."""
        return self.learner.loss_range

    def best_policy(self) -> Policy:
        """Return the best policy for the discounted losses so far."""
        return self._inner.best_policy()

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """Return the statements on the discounted regret so far; all numbers are discounted."""
        check_probability(self, "confidence", confidence)
        unit = self.discount ** (self._age - 1) if self.rounds else 1.0
        scaled = self._inner.certificate(confidence).scaled(unit)
        note = f"losses and regrets are discounted: a loss k rounds ago counts {self.discount:g}^k"
        width, weights, certain = loss_spread(self.oracle, *self._range), float(self.rounds), None
        if self._rate:  # the sum of γ^2k over the rounds so far
            weights = math.expm1(-2.0 * self._rate * self.rounds) / math.expm1(-2.0 * self._rate)
        ledger, measured = self._ledger, scaled.measured
        if measured is not None and ledger.immediate:
            certain = likely_bound(measured, width, weights, confidence)
        scaled = scaled.changed(high_probability=certain)
        if ledger.without_feedback:  # the inner learner does not know rounds without feedback
            scaled = scaled.charged(ledger.without_feedback * width)
        notes = (*scaled.notes, note) if self._rate else scaled.notes
        return replace(scaled, notes=(*notes, *late_notes(ledger)))

    def regret_bound(self) -> float | None:
        """Return the inner learner's bound if γ = 1, else None."""
        found = None if self._rate else self._inner.regret_bound()
        without_feedback = self._ledger.without_feedback
        if found is None or not without_feedback:
            return found
        width = loss_spread(self.oracle, *self._range)
        return found + without_feedback * width if math.isfinite(width) else None

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self._inner.check_context(context, ahead)

    def _act(self, opened: Round) -> None:
        """Let the inner learner act; for it losses grow instead of the past being discounted."""
        opened.age = self._age
        opened.inner = self._inner.begin(opened.context, opened.plays, opened.late)
        opened.chosen, opened.action = opened.inner.chosen, opened.inner.action

    def _played(self, opened: Round) -> None:
        self._inner.commit(opened.inner, recorded=False)
        self._age += 1
        self._count_calls(opened)

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the inner learner learn from the loss times γ^-t, t the time of the decision."""
        if isinstance(loss, LossFunction):
            raise LossError(
                f"Discounted needs a loss for each element, not a loss function; got {loss!r}."
            )
        losses = check_full_losses(self.oracle, loss, self.action_count, self._range)[0]
        opened.inner.late = opened.late  # this may have changed since the decision
        if opened.age * self._rate > 2.0 * math.log(_HEAVIEST):
            self._renew()
        grown = losses * self.discount**-opened.age
        self._inner.close(opened.inner, grown, recorded=False)
        self._recent.append((opened.context, losses.copy(), opened.age))
        self._count_calls(opened)
        if self._age * self._rate > math.log(_HEAVIEST):
            self._renew()

    def _renew(self) -> None:
        """Rescale all weights to the next round, before they leave the range of floats."""
        factor = self.discount**self._age
        self._inner.renew(self._discounted(), factor)
        waiting: list[Any] = list(self._ledger.opened)
        for opened in waiting:
            self._inner.rescale_round(opened.inner, factor)
            opened.age -= self._age
        self._age = 0

    def _action_distribution(self, opened: Round) -> FloatArray | None:
        return self._inner._action_distribution(self._prepared(opened))

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        return self._inner._replay(self._prepared(opened), copies, rng)

    def _prepared(self, opened: Round) -> Any:
        """Return the inner learner's round for questions about its action."""
        inner = self._inner.Round(opened.context)
        inner.plays = opened.plays
        self._inner._prepare(inner)
        return inner

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.learner.loss_suffered(action, loss)

    def _total(self) -> Objective:
        return self._inner._total()

    @property
    def _scores_actions(self) -> bool:
        return self._inner._scores_actions

    @property
    def action_count(self) -> int | None:
        return self._inner.action_count

    def _count_calls(self, opened: Round) -> None:
        self._own_calls, opened.calls = self._own_calls + opened.calls, 0
        self.oracle_calls = self._own_calls + self._inner.oracle_calls

    def _discounted(self) -> Iterator[tuple[Any, FloatArray]]:
        kept, self._recent = self._recent, deque(maxlen=self._most)
        for context, losses, age in kept:
            self._recent.append((context, losses, age - self._age))
            yield context, self.discount ** (self._age - age) * losses

    def share_complexity(self, other: Discounted) -> None:
        """Take G of the policy class from another learner, if it is known."""
        self._inner.share_complexity(other._inner)

    def _check_learner(self, learner: Any) -> ContextFTPL:
        if not isinstance(learner, ContextFTPL):
            raise refuse(self, "learner", "a ContextFTPL", learner)
        suitable = {
            "epsilon": learner.epsilon == "adaptive" or isinstance(learner.epsilon, SelfTuned),
            "noise": learner.noise == "fresh",
            "predictor": learner.predictor is None,
        }
        for name, suits in suitable.items():
            if not suits:
                raise ParameterError(
                    "Discounted needs a ContextFTPL with epsilon='adaptive', noise='fresh' and no "
                    f"predictor; got {name}={getattr(learner, name)!r}."
                )
        return learner
