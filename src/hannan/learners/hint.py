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
from hannan.core.predictor import adopt, check_advice, check_guess, extended_predictor
from hannan.core.rounds import Choice, IntArray, OpenRound, n_actions_of
from hannan.core.state import Array, Count, Flag, Number, Part, State, require
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, LossRange, check_positive, refuse
from hannan.kernels import losses as kernel

_FLOAT64 = np.dtype(np.float64)
_LARGEST_RATIO = 100.0  # of one measurement of the hint's advantage, which only steers its share


@dataclass(frozen=True, slots=True)
class Trust(Stored):
    r"""How far a predictor is believed under bandit feedback.

    The share of hinted rounds is :math:`p = 1/(1 + e^{-2z})`, z the hint's measured advantage over
    the base in standard errors plus `prior`; the base keeps at least
    :math:`\phi/\sqrt{1 + \text{savings}}`. While rounds wait for their losses p is less, until
    four have been answered for each that is open. A hint is refused when its measured cost S
    could exceed :math:`c \sqrt{G t}`. No rule can break the guarantee; these numbers decide how
    soon a good predictor leads.

    Another rule is a subclass with another `wanted`: what it returns is limited by the budget and
    by `share`, so that guarantee, bound and certificate stay valid.

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

    A rule that follows hints in half of the rounds:

    >>> class Half(hn.Trust):
    ...     def wanted(self, record, n):
    ...         return 0.5
    >>> learner = hn.ContextSemiBanditFTPL(oracle, predictor=guess, trust=Half(), seed=0)
    >>> round(learner.decide(0).propensity, 3)
    0.667
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

    def filled(self, preset: Trust) -> Self:
        """With the numbers of a preset where none were given."""
        left = {name: getattr(preset, name) for name in _FILLED if getattr(self, name) is None}
        return replace(self, **left)

    def wanted(self, record: HintRecord, n: int) -> float:
        """Return the share of hints in round n that they have earned so far, from 0 to 1."""
        if not record.answered:
            return 0.0  # a predictor that was shown nothing recommends what is listed first
        prior: Any = self.prior
        floor: Any = self.floor
        z = prior - record.cost / math.sqrt(record.squares + 1.0)
        earned = 1.0 / (1.0 + math.exp(-2.0 * min(max(z, -250.0), 15.0)))  # less than 1
        if record.waiting:
            # Until it learns more a predictor recommends the same: rounds that are open together
            # would all explore alike. The base has a random draw for each of them.
            earned *= min(record.answered / (_ANSWERED * record.waiting), 1.0)
        saved = -record.cost if record.cost < 0.0 else 0.0
        most = 1.0 - floor / math.sqrt(1.0 + saved)
        return earned if earned < most else most

    def limit(self, G: float, n: int, top: float = 1.0) -> float:
        """Return the most that hints may cost in n rounds with losses up to `top`."""
        assert self.budget is not None
        return self.budget * top * math.sqrt(G * n)

    def probability(
        self, record: HintRecord, n: int, G: float, compares: bool, kept: float
    ) -> float | None:
        """Return what is wanted for round n as far as the theorem allows; None if refused.

        `compares`: whether S will compare the loss with estimates. `kept` is the least that
        exploration leaves to hint and base.
        """
        share: Any = self.share
        limit = self.limit(G, n, record.top)
        if share == 1.0:  # no theorem: nothing has to be reserved
            return self.wanted(record, n) if limit >= record.S else None
        left = kept * (limit - record.S - record.reserve) / record.top
        # At most what `_largest_step` will be, for a share of one half where it depends on that.
        if left < (1.5 if compares else 1.0):
            return None
        room = n / (1.0 - share) - record.W  # so that W <= n / (1 - share)
        if compares and left < room:  # so that S stays within the budget whatever happens
            room = min(room, max(left, 2.0))
        most = 1.0 - 1.0 / room if room > 1.0 else 0.0
        wanted = self.wanted(record, n)
        return most if wanted > most else max(wanted, 0.0)


_FEW = 30  # answered rounds, below which the measured advantage is noise
_FILLED = ("prior", "floor", "share")
_ANSWERED = 4.0  # rounds for each open one, from which on hints get all that they have earned
EXACT = Trust(3.0, prior=0.0, floor=0.5, share=0.95)
# No theorem limits the share of hints where the oracle is inexact, and none protects it.
INEXACT = Trust(3.0, prior=2.0, floor=0.1, share=1.0)
TABLE = Trust(3.0, prior=2.0, floor=0.1, share=0.97)  # where the action distribution is known


class HintRecord(Stored):
    r"""What feedback has shown of the hints of a game so far.

    Attributes
    ----------
    top
        The largest loss, counted from the lowest.
    S
        What hints have cost more than the base would have: unbiased, or too large on average where
        the distribution of the base is estimated by draws.
    cost, squares
        What hints would have cost more if always followed, in units of the largest loss, and the
        sum of squares of its parts.
    W
        :math:`\sum 1/\beta`, β = 1 - p the share of the base: how much larger hints make the
        variance of loss estimates.
    reserve
        What the hints of rounds without feedback may cost.
    unpaid
        What rounds without feedback are charged beyond the largest loss of each, because S has
        compared them with estimates already.
    waiting, answered
        Numbers of rounds without and with feedback; logged decisions have it.
    """

    stored = State(
        S=Number(),
        cost=Number(),
        squares=Number(low=1.0),
        W=Number(low=0.0),
        reserve=Number(),
        unpaid=Number(),
        waiting=Count(),
        answered=Count(),
    )

    def __init__(self, top: float) -> None:
        self.top = top
        self.S = 0.0
        self.cost = 0.0
        self.squares = 1.0
        self.W = 0.0
        self.reserve = 0.0
        self.unpaid = 0.0
        self.waiting = 0
        self.answered = 0


def check_suits(predictor: Any, oracle: Oracle) -> None:
    """Refuse a predictor for described actions where they are not, and the other way round."""
    known = getattr(predictor, "takes_items", None)
    if known not in (None, oracle.takes_items):
        suits = "described actions" if known else "actions that are the same in every round"
        raise ParameterError(
            f"predictor={type(predictor).__name__} is for {suits}, and "
            f"{type(oracle).__name__} is not: for described ones use predictors.Hybrid."
        )


def check_trust(
    owner: object, trust: Any, predictor: Any, oracle: Oracle, preset: Trust | None = None
) -> Trust:
    """The trust that a word names, or one given, completed by the preset for this oracle."""
    if preset is None:
        preset = EXACT if oracle.exact else INEXACT
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
            "elements use trust='baseline'. docs/explanation/paper-notes.md, section 3.9, says why."
        )
    return found


class AdvisedRound(OpenRound):
    """A round in which a predictor may have a say."""

    advice: int | None = None  # what it recommends
    share: float = 0.0  # p, with which that is played, or else what the base chooses
    explores: float = 0.0  # with which any available action is played instead, all alike
    each: float = 0.0  # the part of that for one of these actions
    explored: bool = False  # whether it was
    refused: bool = False  # whether the budget of hints is spent
    compares: bool = True  # whether S compares its loss with the estimates V
    split: bool = False  # whether S has had the part of V since the decision
    reserved: float = 0.0  # the most that S can grow by it
    unpaid: float = 0.0  # what it is charged beyond the largest loss while it has no loss
    baseline: FloatArray | None = None  # Q, the part of V that is in the loss estimates
    distribution: FloatArray | None = None  # q0 of the base's choice, known or estimated
    exact: bool | None = None  # whether it is known, once it has been asked for
    _by_action = ("values", "baseline", "distribution")

    stored = State(
        advice=Choice(single=True) | None,
        share=Number(0.0, lambda self: 0.0 if self.advice is None else 1.0 - 1e-16),
        explores=Number(0.0, 1.0 - 1e-16),
        each=Number(0.0, lambda self: self.explores),
        explored=Flag(),
        refused=Flag(),
        compares=Flag(),
        split=Flag(),
        reserved=Number(low=0.0),
        unpaid=Number(low=0.0),
        baseline=Array(n_actions_of) | None,
        distribution=Array(n_actions_of, low=0.0, high=1.0 + 1e-9) | None,
        exact=Flag() | None,
    )

    def mixed(self, distribution: FloatArray) -> FloatArray:
        """The distribution of what is played, from that of the base's choice."""
        if self.share > 0.0:
            distribution = (1.0 - self.share) * distribution
            distribution[self.advice] += self.share
        if self.explores > 0.0:
            distribution = (1.0 - self.explores) * distribution
            distribution[self.choices(len(distribution))] += self.each
        return distribution

    def likely(self, action: int, q: float) -> float:
        """The same for one action that can be played, of which the base's choice has distribution q."""
        if self.share > 0.0:
            q = (1.0 - self.share) * q
            if action == self.advice:
                q += self.share
        if self.explores > 0.0:
            q = (1.0 - self.explores) * q + self.each
        return q

    def action_distribution(self) -> FloatArray | None:
        return (
            self.mixed(self.distribution) if self.exact and self.distribution is not None else None
        )

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

    def weighing(self, action: int) -> tuple[float, float]:
        """(c, s) such that an action that the base chooses with probability x is played with
        probability s (c + (1 - c) x)."""
        own, base = self.share if action == self.advice else 0.0, 1.0 - self.share
        if self.explores == 0.0:
            return own, 1.0 if own else base
        kept = 1.0 - self.explores
        certain = self.each + kept * own
        s = certain + kept * base
        return certain / s, s

    def choices(self, n_actions: int) -> IntArray:
        """The actions that are available."""
        return np.arange(n_actions) if self.plays is None else self.available_indices


class Hint(HintRecord):
    """A predictor whose share of the rounds is earned; without a predictor the base decides.

    Attributes
    ----------
    trust
        The rule behind that share.
    hinted
        Rounds in which the hint had a share.
    refused
        Rounds in which it had none because the budget was spent.
    has_theorem
        Whether no baseline can be too high unseen.
    signed
        Whether estimates may be negative.
    mixes
        Whether hints are played.
    """

    stored = State(predictor=Part(), hinted=Count(), refused=Count())

    def __init__(
        self,
        predictor: Predictor | None,
        trust: Trust,
        n_actions: int,
        loss_range: LossRange,
        kept: float = 1.0,
    ) -> None:
        self._low = min(loss_range[0], 0.0)  # what costs nothing
        super().__init__(loss_range[1] - self._low)
        there = predictor is not None
        working: Any = None if predictor is None else adopt(predictor)
        self.predictor = working
        if n_actions and hasattr(self.predictor, "prepare"):
            self.predictor.prepare(n_actions)
        self.trust = trust
        self.has_theorem = trust.has_theorem or not there
        self.signed = there and trust.baseline == "covered"
        self.mixes = there and trust.budget is not None
        self._guesses = there and trust.baseline == "guess"
        self._advises = hasattr(predictor, "advise")
        # Estimates are as sound as the class promises that wrote `advise`.
        authors = [kind for kind in type(predictor).__mro__ if "advise" in vars(kind)]
        sound = bool(authors) and getattr(authors[0], "sound", False)
        self._sound = sound and self._low == 0.0 and self.top >= 1.0
        self.hinted = 0
        self.refused = 0
        self._n_actions = n_actions
        self._kept = kept  # the least that exploration leaves to hint and base

    def extended(self, n_actions: int, kept: float) -> Self:
        """With more actions, of which the predictor knows nothing."""
        twin = copy.copy(self)
        twin._kept = kept
        if self.predictor is not None:
            twin.predictor = extended_predictor(self.predictor, n_actions)
        twin._n_actions = n_actions
        return twin

    @property
    def advantage(self) -> tuple[float, float]:
        """By how much less than the base the hint has cost, and the standard error of that."""
        return -self.top * self.cost, self.top * math.sqrt(self.squares)

    def advise(self, opened: Any, G: float, n: int, known: bool) -> None:
        """Hint, its share and the estimates of round n: functions of the context and the past.

        `known`: whether the distribution of the base's choice will be known when the round is
        decided.
        """
        context, predictor, trust = opened.context, self.predictor, self.trust
        K = self._n_actions or len(context)
        if self._guesses:
            self._take(opened, self._checked(predictor.predict(context), K))
        if not self.mixes:
            return
        available = None if opened.plays is None else opened.available
        if self._advises:
            advice, values = predictor.advise(context, available)
            if type(advice) is not int or available is not None or not 0 <= advice < K:
                advice = check_advice(predictor, advice, available, K)
        else:
            advice, values = self._least(context, available, K)
        opened.advice = advice
        opened.values = values if self._sound else self._checked(values, K)
        # A late round is compared with estimates if their part can be added at the decision: which
        # rounds are answered may depend on what was played. Without a theorem all of them are.
        compares = opened.compares = known or not opened.late or trust.share == 1.0
        kept = self._kept if self._n_actions else 1.0 - opened.explores
        share = trust.probability(self, n, G, compares, kept)
        if share is None:
            opened.refused = True
        else:
            opened.share = share

    def check(self, opened: AdvisedRound, weighed: bool) -> None:
        asked = opened.advice is not None and opened.values is not None
        known = opened.distribution is not None or not weighed
        require(opened, values=asked or not self.mixes, distribution=known or not self.mixes)

    def _least(self, context: Any, available: IntArray | None, K: int) -> tuple[int, Any]:
        """Return the action of the least guess, and estimates, of a predictor without advice."""
        predictor = self.predictor
        values = getattr(predictor, "estimate", predictor.predict)(context)
        guess = self._checked(predictor.predict(context), K)
        some = np.arange(K) if available is None else available
        return int(some[guess[some].argmin()]), values

    def _largest_step(self, opened: Any) -> float:
        """The most that S can still grow by a round with a hint, once it is decided.

        Measured by its loss alone, a hint costs at most that loss. Measured against estimates its
        cost varies less but may be larger; less so where their part is in S already.
        """
        share, most = opened.share, self.top
        record = share / (1.0 - share)
        if opened.split and opened.action != opened.advice:
            most = record * (opened.values.item(opened.action) - self._low)
        elif opened.compares and not opened.split:
            most *= share + max(record, 1.0)
        return most / (self._kept if self._n_actions else 1.0 - opened.explores)

    def may_cover(self, scale: float, kappa: float) -> bool:
        """Whether any action can be likely enough for a baseline under noise of this scale."""
        if not self.signed or scale == 0.0:
            return False
        eps = kappa * self.top / scale
        return eps < 0.5 and 2.0 * eps * math.exp(eps) < 1.0

    def cover(
        self, opened: Any, distribution: FloatArray, scale: float, kappa: float, n: int
    ) -> None:
        """Take the estimates as baseline where the action is likely enough; `distribution`: the base's.

        Then the weighted residual of an estimate that was too high is at most half of the noise,
        and what it hides of a good action adds up to 2 √T.
        """
        eps = kappa * self.top / scale
        likely = (1.0 - opened.share) * distribution
        likely[opened.advice] += opened.share
        seen = distribution.copy()
        seen[opened.advice] = likely[opened.advice]
        shift = math.exp(eps)
        kept = self._kept if self._n_actions else 1.0 - opened.explores
        covered = (kept * likely >= 2.0 * eps * shift) & (
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
        """Reserve what the hint of this round may cost until its loss is known.

        Where q0 is known already, p (V(h) - <q0, V>) enters S at once.
        """
        share = opened.share
        self.W += 1.0 / (1.0 - share)
        if opened.refused:
            self.refused += 1
        if share > 0.0:
            self.hinted += 1
            opened.split = bool(opened.exact)
            opened.compares &= opened.split or not opened.late or self.trust.share == 1.0
            opened.reserved = self._largest_step(opened)
            self.reserve += opened.reserved
            if opened.split:
                values = opened.values
                self.S += share * (
                    values.item(opened.advice) - float(opened.distribution.dot(values))
                )
                if opened.action != opened.advice and not opened.explored:
                    opened.unpaid = opened.reserved
                    self.unpaid += opened.unpaid
        self.waiting += 1

    def release(self, opened: Any) -> None:
        """Give back what was reserved for a round: its cost will never be known."""
        if self.mixes:
            self.reserve -= opened.reserved
            self.waiting -= 1

    def charge(self, opened: Any, loss: Any, weight: Any) -> None:
        """Add what the hint of a round has cost, by the distribution of the base when it was decided.

        Where that distribution is estimated the base's ratio is too small on average, so that the
        cost is
        overstated: safe, but only if losses are not compared with estimates of them.
        """
        share = opened.share
        self.reserve -= opened.reserved
        self.unpaid -= opened.unpaid
        self.waiting -= 1
        self.answered += 1
        if opened.explored:  # given that it did not, hint and base have decided alone
            return
        values = opened.values if self._low == 0.0 else opened.values - self._low
        expected, ratio, value = kernel.price(
            opened.distribution, values, opened.advice, opened.action, share
        )
        cost = loss - self._low
        if share > 0.0:
            # Exploration leaves only a part of such rounds, so that each counts for more.
            kept, against = 1.0 - opened.explores, (1.0 - ratio) * cost
            if opened.exact is True and opened.compares:
                against = (1.0 - ratio) * (cost - value)
                against += 0.0 if opened.split else share * expected
            self.S += against / kept
        factor = weight - ratio if opened.action == opened.advice else -ratio
        if abs(factor) > _LARGEST_RATIO:
            factor = math.copysign(_LARGEST_RATIO, factor)
        gap = (expected + factor * (cost - value)) / self.top
        self.cost += gap
        self.squares += gap * gap

    @property
    def notes(self) -> tuple[str, ...]:
        """How hints fared, in words; their advantage only once it is more than noise."""
        if not self.mixes:
            return ()
        notes = []
        if self.hinted + self.refused and self.answered >= _FEW:
            gain, error = self.advantage
            so_far = "saved" if self.S <= 0.0 else "cost"
            always = "saved" if gain >= 0.0 else "cost"
            notes.append(
                f"hints had a share in {self.hinted} of the rounds decided and {so_far} about "
                f"{abs(self.S):,.1f} compared with the learner's own choices; always following "
                f"them would have {always} {abs(gain):,.1f} ± {error:,.1f}"
            )
        if self.refused:
            times = "1 round" if self.refused == 1 else f"{self.refused} rounds"
            notes.append(
                f"hints were refused in {times}, where they could have exceeded their budget"
            )
        return tuple(notes)

    def _checked(self, guess: Any, n_actions: int) -> FloatArray:
        span = self._low, self._low + self.top
        return check_guess(self.predictor, guess, n_actions, span)
