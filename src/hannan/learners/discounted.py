"""A learner that forgets: losses count less the longer ago they were."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Self

from hannan.bounds import Complexity
from hannan.core import Action, Learner, LossError, LossFunction, Oracle, ParameterError, Policy
from hannan.core.available import IntArray
from hannan.core.validation import FloatArray, check_probability, refuse
from hannan.learners.certificate import Certificate
from hannan.learners.context_ftpl import ContextFTPL

_HEAVIEST = 1e12  # weight of a round before all are measured from the present again
_LIGHTEST = 1e-17  # relative weight below which a round is lost in rounding


class Discounted(Learner):
    r"""Self-tuned `ContextFTPL` on discounted totals: a loss of k rounds ago counts γᵏ.

    Round T plays :math:`\pi_T(x_T)` with

    .. math:: \pi_T = \arg\min_{\pi \in \Pi} \sum_{t<T} \gamma^{T-t} \ell_t(\pi(x_t))
              + \frac{D}{G} \sum_{x \in X} \langle \pi(x), \zeta_x \rangle ,

    and D, what instability has cost so far, is discounted in the same way. This is the learner
    itself on the losses :math:`\gamma^{-t} \ell_t`, seen from round T: self-tuning asks for
    neither the range of the losses nor a horizon, so it may meet losses that grow for ever.

    Parameters
    ----------
    learner
        A `ContextFTPL` with epsilon="adaptive", fresh noise and no predictor. It is not played
        itself.
    discount
        γ in (0, 1]: about 1/(1 - γ) rounds are remembered. 1 forgets nothing.

    Guarantee
    ---------
    With an exact oracle, against adaptive adversaries, after *every* round T:

    .. math:: E \Bigl[ \sum_{t \le T} \gamma^{T-t} \ell_t(a_t) - \min_{\pi \in \Pi}
              \sum_{t \le T} \gamma^{T-t} \ell_t(\pi(x_t)) \Bigr] \le 2\,E[D_T]
              \le 2 B \sqrt{\frac{2 \kappa G}{1 - \gamma^2}} + 2 B ,

    B the width of the losses. Proof: `ContextFTPL`'s bound :math:`2\,E[D] \le
    2\sqrt{2\kappa G V} + 2R` holds for the losses :math:`\gamma^{-t} \ell_t`, whose squared widths
    sum to :math:`V \le B^2 \sum_{t \le T} \gamma^{-2t}`, and the largest width is
    :math:`R \le B \gamma^{-T}`; multiply by :math:`\gamma^T`. Which γ suits a world that changes is
    not known in advance: nothing is claimed for regret without discounts if γ < 1.
    [syrgkanis2016], [derooij2014]

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

    Eighty rounds ago counts for little.

    References
    ----------
    [syrgkanis2016], [derooij2014]
    """

    oracle: Oracle

    def __init__(self, learner: ContextFTPL, discount: float = 0.999) -> None:
        super().__init__()
        self.learner = self._check_learner(learner)
        self.discount = self._check_discount(discount)
        self.oracle = learner.oracle
        self._rate = -math.log(self.discount)
        kept = math.ceil(math.log(_LIGHTEST) / -self._rate) if self._rate else 0
        self._recent: deque[tuple[Any, FloatArray]] = deque(maxlen=kept)
        self._age = 0  # rounds since weights were last measured from the present
        self._inner = learner.clone(loss_range=None)
        self._inner._told_all = True  # of losses in units of their own
        self._inner._complexity = learner._complexity if learner._reservoir is None else None
        if learner._range[0] >= 0.0:
            self._inner._range = (0.0, math.inf)  # growth keeps the sign, and κ with it

    @property
    def loss_range(self) -> tuple[float, float] | None:
        """That of the learner."""
        return self.learner.loss_range

    def fresh(self, number: int) -> Self:
        """A new learner like this one, with nothing learned and randomness of its own."""
        return self.clone(learner=self.learner.fresh(number))

    def best_policy(self) -> Policy:
        """The best policy for the discounted losses so far."""
        return self._inner.best_policy()

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """What can be said about discounted regret so far, all numbers being discounted.

        Parameters
        ----------
        confidence
            Probability of the high-probability statement.
        """
        check_probability(self, "confidence", confidence)
        found = self._inner.certificate(confidence)
        unit = self.discount ** (self._age - 1) if self.rounds else 1.0
        values = ("loss", "realised_regret", "measured", "a_priori")
        scaled = {name: getattr(found, name) for name in values}
        scaled = {name: None if v is None else unit * v for name, v in scaled.items()}
        notes = found.notes
        if self._rate:
            notes += (
                f"losses and regrets are discounted: k rounds ago counts {self.discount:g}^k",
            )
        certain = None
        if found.measured is not None and math.isfinite(self._width) and confidence < 1.0:
            squares = math.sqrt(self._squared_weights() * -math.log1p(-confidence) / 2.0)
            certain = scaled["measured"] + self._width * squares
        return replace(found, **scaled, high_probability=certain, notes=notes)

    def regret_bound(self) -> float | None:
        """That of the learner if nothing is discounted; else nothing is promised."""
        return None if self._rate else self._inner.regret_bound()

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        return context  # the inner learner looks at it

    def _act(self, context: Any) -> Action:
        return self._act_inside(context, None)

    @property
    def _ordered(self) -> bool:
        return self._inner._ordered

    @property
    def _size(self) -> int | None:
        return self._inner._size

    def _act_among(self, context: Any, available: IntArray) -> int:
        return int(self._act_inside(context, available))

    def _act_inside(self, context: Any, available: IntArray | None) -> Action:
        if self._age * self._rate > math.log(_HEAVIEST):
            self._inner._check_context(context)  # while nothing has been changed
            self._renew()
        action = self._inner.act(context, available)
        self.oracle_calls = self._inner.oracle_calls
        return action

    def _substitute(self, context: Any, available: IntArray) -> int:
        return self._inner._substitute(self._inner._check_context(context), available)

    def _update_restricted(self, context: Any, action: Action, loss: Any, stands: IntArray) -> None:
        super()._update_restricted(context, action, loss, stands)
        self._inner._presence = self._presence  # what it looks for a substitute in

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        """What copies of this learner would play on a context now; weights in any unit will do."""
        return self._inner.would_play(context, copies, seed, available)

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        if isinstance(loss, LossFunction):
            raise LossError(f"Discounted takes a loss for each element; got {loss!r}.")
        losses, _, _ = self.learner._check_loss(loss)
        assert self._inner._open is not None
        checked = self._inner._open[0]
        self._inner.update(losses * self.discount**-self._age)
        self._recent.append((checked, losses.copy()))
        self._age += 1
        self.oracle_calls = self._inner.oracle_calls

    def _renew(self) -> None:
        """Measure all weights from the round to come, before they leave the range of floats."""
        factor = self.discount**self._age
        inner = self._inner
        inner._renew(self._discounted(), factor)
        inner._loss *= factor
        inner._stability *= factor
        inner._last_scale *= factor
        self._age = 0

    def _discounted(self) -> Iterator[tuple[Any, FloatArray]]:
        for ago, (context, losses) in zip(
            range(len(self._recent), 0, -1), self._recent, strict=True
        ):
            yield context, self.discount**ago * losses

    def _squared_weights(self) -> float:
        """The sum of γ^2k over the rounds so far."""
        if not self._rate:
            return float(self.rounds)
        return math.expm1(-2.0 * self._rate * self.rounds) / math.expm1(-2.0 * self._rate)

    @property
    def _width(self) -> float:
        return self.learner._width

    @property
    def _complexity(self) -> Complexity | None:
        return self._inner._complexity

    @_complexity.setter
    def _complexity(self, known: Complexity | None) -> None:
        self._inner._complexity = known

    @property
    def _reservoir(self) -> Any:
        return self._inner._reservoir

    def _check_learner(self, learner: Any) -> ContextFTPL:
        if not isinstance(learner, ContextFTPL):
            raise refuse(self, "learner", "a ContextFTPL", learner)
        wanted = {"epsilon": "adaptive", "noise": "fresh", "perturbation": "laplace"}
        wrong = [name for name, value in wanted.items() if getattr(learner, name) != value]
        if learner.predictor is not None:
            wrong.append("predictor")
        if wrong:
            raise ParameterError(
                "Discounted needs a ContextFTPL that tunes itself (epsilon='adaptive', "
                f"noise='fresh', perturbation='laplace', no predictor); here {wrong[0]}="
                f"{getattr(learner, wrong[0])!r}."
            )
        return learner

    def _check_discount(self, discount: Any) -> float:
        number = isinstance(discount, Real) and not isinstance(discount, bool)
        if not number or not 0.0 < float(discount) <= 1.0:
            raise refuse(self, "discount", "a number in (0, 1]", discount)
        return float(discount)
