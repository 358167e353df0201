r"""A predictor at work under bandit feedback.

Its recommendation is a *hint*: with probability p the learner plays it, else it follows its own
leader, the *base*. What the hint costs more than the base is measured without bias, whatever is
played; p grows with what it saves, and hints end when their budget is spent. Its estimates are a
*baseline* inside the loss estimates, only where these stay stable.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hannan.core import Oracle, ParameterError, Predictor
from hannan.core.kept import expect, is_action, is_array, is_number
from hannan.core.predictor import adopt, check_advice, check_guess, extended_predictor
from hannan.core.rounds import IntArray, OpenRound
from hannan.core.state import Array, Count, Number, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, LossRange, check_positive, refuse
from hannan.kernels import hints as kernel

_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, slots=True)
class Trust(Stored):
    r"""How far a predictor is believed under bandit feedback.

    The share of hinted rounds is :math:`p = 1/(1 + e^{-2z})`, z the hint's measured advantage over
    the base in standard errors plus `prior`; the base keeps at least
    :math:`\phi/\sqrt{1 + \text{savings}}`. While rounds wait for their losses p is less, until
    four have been answered for each that is open. A hint is refused when its measured cost S
    could exceed :math:`c \sqrt{G t}`. No rule can break the guarantee; these numbers decide how
    soon a good predictor leads.

    Parameters
    ----------
    budget
        c; None for no hints at all.
    prior
        Standard errors of advantage that a predictor starts with. Like the next two, the preset of
        the learner where it is not given: see `trust="earned"`.
    floor
        φ.
    share
        The most that hints may have of the rounds, as 1 less the harmonic mean of the base's
        shares. The bound on what instability costs grows with :math:`1/\sqrt{1 - share}`: there
        is none with 1.
    baseline
        What is subtracted from losses before they are weighted: "covered" for the estimate where
        the action is likely enough, which keeps guarantee and certificate; "guess" for the guess
        everywhere, without guarantee; None for nothing.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle, guess = hn.oracles.AllPolicies(2, 3), hn.predictors.Mean()
    >>> learner = hn.ContextSemiBanditFTPL(oracle, predictor=guess, trust=hn.Trust(1.0), seed=0)
    >>> learner.act(0) in range(3)
    True
    """

    budget: float | None = 3.0
    prior: float | None = None
    floor: float | None = None
    share: float | None = None
    baseline: str | None = "covered"

    stored = State()

    def __post_init__(self) -> None:
        if self.budget is not None:
            check_positive(self, "budget", self.budget)
        if self.prior is not None and not math.isfinite(self.prior):
            raise refuse(self, "prior", "a finite number, or None", self.prior)
        for name in ("floor", "share"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise refuse(self, name, "a number from 0 to 1, or None", value)
        if self.baseline not in (None, "covered", "guess"):
            raise refuse(self, "baseline", "'covered', 'guess' or None", self.baseline)
        if self.budget is None and self.baseline is None:
            raise ParameterError("Trust needs a budget=, a baseline=, or both; got neither.")
        if self.budget is None and self.baseline == "covered":
            raise ParameterError('A Trust without hints (budget=None) takes baseline="guess".')

    @property
    def has_theorem(self) -> bool:
        """Whether the guarantee holds for exact classes."""
        return self.baseline != "guess"

    def filled(self, preset: Trust) -> Trust:
        """With the numbers of a preset where none were given."""
        left = {name: getattr(preset, name) for name in _FILLED if getattr(self, name) is None}
        return replace(self, **left)


_FILLED = ("prior", "floor", "share")
_EXACT = Trust(3.0, prior=0.0, floor=0.5, share=0.95)
# No theorem limits the share of hints where the oracle is inexact, and none protects it.
_INEXACT = Trust(3.0, prior=2.0, floor=0.1, share=1.0)


def check_suits(predictor: Any, oracle: Oracle) -> None:
    """Refuse a predictor for described actions where they are not, and the other way round."""
    known = getattr(predictor, "described", None)
    if known not in (None, oracle.described):
        suits = "described actions" if known else "actions that are the same in every round"
        raise ParameterError(
            f"predictor={type(predictor).__name__} is for {suits}, and "
            f"{type(oracle).__name__} is not: for described ones use predictors.Hybrid."
        )


def check_trust(owner: object, trust: Any, predictor: Any, oracle: Oracle) -> Trust:
    """The trust that a word names, or one given, completed by the preset for this oracle."""
    preset = _EXACT if oracle.exact else _INEXACT
    words = {"earned": preset, "baseline": Trust(None, baseline="guess").filled(preset)}
    if isinstance(trust, str) and trust in words:
        found = words[trust]
    elif isinstance(trust, Trust):
        found = trust.filled(preset)
    else:
        raise refuse(owner, "trust", "'earned', 'baseline', or a Trust", trust)
    if predictor is not None and found.budget is not None and oracle.max_chosen > 1:
        raise ParameterError(
            f"trust={trust!r} uses hints, which are for single actions; with sets of "
            "elements use trust='baseline'. docs/paper-notes.md, section 3.9, says why."
        )
    return found


class AdvisedRound(OpenRound):
    """A round in which a predictor may have a say."""

    advice: int | None = None  # what it recommends
    share: float = 0.0  # p, with which that is played, or else what the base chooses
    explores: float = 0.0  # with which any available action is played instead, all alike
    explored: bool = False  # whether it was
    refused: bool = False  # whether the budget of hints is spent
    alone: bool = True  # whether its loss comes before the next decision, so that S may use V
    reserved: float = 0.0  # the most that S can grow by it
    baseline: FloatArray | None = None  # Q, the part of V that is in the loss estimates
    law: FloatArray | None = None  # q0 of the base's choice, known or estimated
    exact: bool | None = None  # whether it is known, once it has been asked for
    _by_action = ("values", "baseline", "law")

    def check(self, n_actions: int | None, sets: bool) -> None:
        super().check(n_actions, sets)
        K, kinds = n_actions, (type(self.refused), type(self.alone), type(self.exact))
        expect(
            self,
            explores=is_number(self.explores, 0.0, 1.0 - 1e-16) and type(self.explored) is bool,
            advice=self.advice is None or is_action(self.advice, K, sets=False),
            share=is_number(self.share, 0.0, 0.0 if self.advice is None else 1.0 - 1e-16),
            exact=kinds in ((bool, bool, bool), (bool, bool, type(None))),
            reserved=is_number(self.reserved, low=0.0),
            baseline=self.baseline is None or is_array(self.baseline, K),
            law=self.law is None or is_array(self.law, K, low=0.0, high=1.0 + 1e-9),
        )

    def mixed(self, law: FloatArray) -> FloatArray:
        """The law of what is played, from that of the base's choice."""
        if self.share > 0.0:
            law = (1.0 - self.share) * law
            law[self.advice] += self.share
        if self.explores > 0.0:
            law = (1.0 - self.explores) * law
            some = self.choices(len(law))
            law[some] += self.explores / len(some)
        return law

    def likely(self, action: int, q: float, n_actions: int) -> float:
        """The same for one action that can be played, of which the base's choice has law q."""
        if self.share > 0.0:
            q = (1.0 - self.share) * q
            if action == self.advice:
                q += self.share
        if self.explores > 0.0:
            q = (1.0 - self.explores) * q + self.explores / self.count(n_actions)
        return q

    def odds_of_all(self) -> FloatArray | None:
        return self.mixed(self.law) if self.exact and self.law is not None else None

    @property
    def mixes(self) -> bool:
        """Whether others than the base may choose the action."""
        return self.share > 0.0 or self.explores > 0.0

    def without_base(self, u: float, n_actions: int) -> int | None:
        """What a number in [0, 1) decides on without asking the base, if anything."""
        if u < self.explores:
            some = self.choices(n_actions)
            self.explored = True
            return int(some[min(int(u / self.explores * len(some)), len(some) - 1)])
        return self.advice if u < self.explores + (1.0 - self.explores) * self.share else None

    def weighing(self, action: int, n_actions: int) -> tuple[float, float]:
        """(c, s) such that an action that the base chooses with probability x is played with
        probability s (c + (1 - c) x)."""
        own, base = self.share if action == self.advice else 0.0, 1.0 - self.share
        if self.explores == 0.0:
            return own, 1.0 if own else base
        kept = 1.0 - self.explores
        certain = self.explores / self.count(n_actions) + kept * own
        s = certain + kept * base
        return certain / s, s

    def choices(self, n_actions: int) -> IntArray:
        """The actions that are available."""
        return np.arange(n_actions) if self.plays is None else self.there

    def count(self, n_actions: int) -> int:
        """How many they are."""
        return n_actions if self.plays is None else len(self.there)


class NoHint(Stored):
    """No predictor: the leader alone decides, and losses are weighted as they are."""

    stored = State()

    def extended(self, n_actions: int, kept: float) -> Self:
        """With more actions, to which exploration leaves so much."""
        return self

    predictor: Any = None
    has_theorem = True  # whether no baseline can be too high unseen
    signed = False  # whether estimates may be negative
    mixes = False  # whether hints are played
    S = 0.0
    W = 0.0
    notes: tuple[str, ...] = ()

    def advise(self, opened: Any, G: float, n: int) -> None:
        """Nothing to say about round n."""

    def check(self, opened: AdvisedRound, weighed: bool) -> None:
        """Refuse a round, from a file, that lacks what is asked of one that has its weights."""

    def surprise(self, opened: Any, losses: Any) -> Any:
        """What the chosen elements cost beyond the baseline."""
        return losses if opened.baseline is None else losses - opened.baseline[opened.action]

    def played(self, opened: Any) -> None:
        """A round has been played."""

    def release(self, opened: Any) -> None:
        """Nothing was reserved for a round."""

    def learn(self, opened: Any, losses: Any) -> None:
        """Nothing to learn."""

    def charge(self, opened: Any, loss: Any, weight: Any) -> None:
        """Nothing was spent."""


class Hint(NoHint):
    r"""A predictor whose share of the rounds is earned.

    Attributes
    ----------
    S
        What hints have cost more than the base would have: unbiased, or too large on average where
        the law of the base is estimated by draws.
    W
        :math:`\sum 1/\beta`, β = 1 - p the share of the base: how much larger hints make the
        variance of loss estimates.
    hinted
        Rounds in which the hint had a share.
    refused
        Rounds in which it had none because the budget was spent.
    """

    stored = State(
        predictor=Part(),
        W=Number(low=0.0),
        hinted=Count(),
        refused=Count(),
        _reserve=Number(),
        _open=Count(),
        _answered=Count(),
        _measured=Array().where(lambda self, measured: measured[kernel.SQUARES] >= 1.0),
    )

    def __init__(
        self,
        predictor: Predictor,
        trust: Trust,
        n_actions: int,
        loss_range: LossRange,
        kept: float = 1.0,
    ) -> None:
        self.predictor: Any = adopt(predictor)
        if n_actions and hasattr(self.predictor, "prepare"):
            self.predictor.prepare(n_actions)
        self.trust = trust
        self.has_theorem = trust.has_theorem
        self.signed = trust.baseline == "covered"
        self._guesses = trust.baseline == "guess"
        self._lent = not getattr(predictor, "gives_away", False)
        self.mixes = trust.budget is not None
        terms = trust.budget or 0.0, trust.prior, trust.floor, trust.share
        self._terms = tuple(float(each or 0.0) for each in terms)
        self._ungoverned = trust.share == 1.0  # no theorem limits what a hint may do
        self.W = 0.0
        self.hinted = 0
        self.refused = 0
        self._reserve = 0.0  # what the hints of rounds without feedback yet may cost
        self._open = 0  # rounds without feedback yet
        self._answered = 0
        self._measured = np.array([0.0, 0.0, 1.0])  # see the kernel
        self._n_actions = n_actions
        self._low = min(loss_range[0], 0.0)  # what costs nothing
        self._top = loss_range[1] - self._low
        self._kept = kept  # the least that exploration leaves to hint and base

    def extended(self, n_actions: int, kept: float) -> Self:
        """With more actions, of which the predictor knows nothing."""
        twin = copy.copy(self)
        twin._kept = kept
        twin.predictor = extended_predictor(self.predictor, n_actions)
        twin._measured, twin._n_actions = self._measured.copy(), n_actions
        return twin

    @property
    def S(self) -> float:  # type: ignore[override]
        """What hints have cost more than the base would have."""
        return float(self._measured[kernel.S])

    @property
    def advantage(self) -> tuple[float, float]:
        """By how much less than the base the hint has cost, and the standard error of that."""
        _, cost, squares = self._measured.tolist()
        return -self._top * cost, self._top * math.sqrt(squares)

    def advise(self, opened: Any, G: float, n: int) -> None:
        """Hint, its share and the estimates of round n: functions of the context and the past."""
        if self.mixes:
            self._hint(opened, G, n)
        if self._guesses:
            K = self._n_actions or len(opened.context)
            self._take(opened, self._checked(self.predictor.predict(opened.context), K))

    def check(self, opened: AdvisedRound, weighed: bool) -> None:
        asked = opened.advice is not None and opened.values is not None
        known = opened.law is not None or not weighed
        expect(opened, values=asked or not self.mixes, law=known or not self.mixes)

    def _hint(self, opened: Any, G: float, n: int) -> None:
        context, predictor = opened.context, self.predictor
        K = self._n_actions or len(context)
        available = None if opened.plays is None else opened.available
        advise = getattr(predictor, "advise", None)
        if advise is not None:
            advice, values = advise(context, available)
            if type(advice) is not int or available is not None or not 0 <= advice < K:
                advice = check_advice(predictor, advice, available, K)
            opened.advice = advice
        else:
            values = getattr(predictor, "estimate", predictor.predict)(context)
            guess = self._checked(predictor.predict(context), K)
            some = np.arange(K) if available is None else available
            opened.advice = int(some[guess[some].argmin()])
        alone = opened.alone = self._ungoverned or not opened.late
        left = self._kept if self._n_actions else 1.0 - opened.explores  # as in `_left`
        given = (
            self._low, self._measured, self._terms, self._top, G, n,
            self.W, self._reserve, self._open, self._answered, alone, left,
        )  # fmt: skip
        share = math.nan
        if type(values) is np.ndarray and values.dtype == _FLOAT64 and values.shape == (K,):
            share = kernel.share(values, *given)
            if self._lent:
                values = values.copy()  # the predictor may use its own array again
        if share != share:
            values = self._checked(values, K)
            share = kernel.share(values, *given)
        opened.values = values
        if share < 0.0:
            opened.refused = True
        else:
            opened.share = share

    def _largest_step(self, opened: Any) -> float:
        """The most that S can grow in a round with a hint.

        Measured by its loss alone, a hint costs at most that loss. Measured against estimates its
        cost varies less but may be larger, which is too much to reserve for many open rounds.
        """
        share, most = opened.share, self._top
        if opened.alone:
            most *= share + max(share / (1.0 - share), 1.0)
        return most / (self._kept if self._n_actions else 1.0 - opened.explores)

    def _left(self, opened: Any) -> float:
        """The least that exploration leaves to hint and base: of all rounds, or of this one."""
        kept: float = self._kept if self._n_actions else 1.0 - opened.explores
        return kept

    def may_cover(self, scale: float, kappa: float) -> bool:
        """Whether any action can be likely enough for a baseline under noise of this scale."""
        if self.trust.baseline != "covered" or scale == 0.0:
            return False
        eps = kappa * self._top / scale
        return eps < 0.5 and 2.0 * eps * math.exp(eps) < 1.0

    def cover(self, opened: Any, law: FloatArray, scale: float, kappa: float, n: int) -> None:
        """Take the estimates as baseline where the action is likely enough; `law`: the base's.

        Then the weighted residual of an estimate that was too high is at most half of the noise,
        and what it hides of a good action adds up to 2 √T.
        """
        eps = kappa * self._top / scale
        likely = (1.0 - opened.share) * law
        likely[opened.advice] += opened.share
        seen = law.copy()
        seen[opened.advice] = likely[opened.advice]
        shift = math.exp(eps)
        covered = (self._left(opened) * likely >= 2.0 * eps * shift) & (
            seen >= shift * math.log(n + 1.0) / (2.0 * opened.limit)
        )
        self._take(opened, np.where(covered, opened.values, self._low))

    def _take(self, opened: Any, baseline: FloatArray) -> None:
        if baseline.any():
            opened.baseline = opened.replaced(baseline)

    def surprise(self, opened: Any, losses: Any) -> Any:
        """What the chosen elements cost beyond the baseline."""
        if opened.baseline is None:
            return losses
        found = losses - opened.baseline[opened.action]
        return found if self.signed else np.maximum(found, 0.0)

    def played(self, opened: Any) -> None:
        """Reserve what the hint of this round may cost until its loss is known."""
        if not self.mixes:
            return
        share = opened.share
        self.W += 1.0 / (1.0 - share)
        if opened.refused:
            self.refused += 1
        if share > 0.0:
            self.hinted += 1
            opened.reserved = self._largest_step(opened)
            self._reserve += opened.reserved
        self._open += 1

    def release(self, opened: Any) -> None:
        """Give back what was reserved for a round: its cost is known, or will never be."""
        if self.mixes:
            self._reserve -= opened.reserved
            self._open -= 1

    def learn(self, opened: Any, losses: Any) -> None:
        """Pass on what was seen."""
        self.predictor.learn(opened.context, opened.action, losses)

    def charge(self, opened: Any, loss: Any, weight: Any) -> None:
        """What the hint of a round has cost, from the law of the base at the time of decision."""
        if not self.mixes:
            return
        if not opened.explored:  # given that, hint and base have decided alone
            values = opened.values if self._low == 0.0 else opened.values - self._low
            known = opened.exact is True and opened.alone
            kernel.charge(
                self._measured, opened.law, values, opened.advice, opened.action, opened.share,
                float(loss) - self._low, float(weight), self._top, known, 1.0 - opened.explores,
            )  # fmt: skip
        self._reserve -= opened.reserved
        self._open -= 1
        self._answered += 1

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """How hints fared, in words."""
        if not self.mixes or not self.hinted + self.refused:
            return ()
        gain, error = self.advantage
        so_far = "saved" if self.S <= 0.0 else "cost"
        always = "saved" if gain >= 0.0 else "cost"
        said = (
            f"hints had a share in {self.hinted} of the rounds decided and {so_far} about "
            f"{abs(self.S):,.1f} compared with the learner's own choices; followed always they "
            f"would have {always} {abs(gain):,.1f} ± {error:,.1f}"
        )
        if not self.refused:
            return (said,)
        times = "1 round" if self.refused == 1 else f"{self.refused} rounds"
        return said, f"hints were refused in {times}, where they could have exceeded their budget"

    def _checked(self, guess: Any, n_actions: int) -> FloatArray:
        span = self._low, self._low + self._top
        return check_guess(self.predictor, guess, n_actions, span)
