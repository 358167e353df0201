r"""Use of a predictor under bandit feedback.

The predictor recommends an action, the *hint*. With probability p the learner plays the hint,
else it plays the action of its *base learner*. An unbiased estimate measures how much more the
hints cost than the base learner. The share p grows with the savings, and hints end when their
budget is spent. The predictor's estimates are a *baseline* in the loss estimates, but only where
the loss estimates stay stable.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hannan.core import Action, Oracle, ParameterError, Predictor
from hannan.core.predictor import adopt, check_advice, check_guess, extended_predictor
from hannan.core.rounds import Choice, IntArray, OpenRound, n_actions_of
from hannan.core.state import Array, Count, Flag, Number, Part, State, require
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, LossRange, check_positive, refuse
from hannan.kernels import losses as kernel
from hannan.kernels.sets import mark

_FLOAT64 = np.dtype(np.float64)
_LARGEST_RATIO = 100.0  # cap in a measurement of the hints' advantage, which only sets their share


@dataclass(frozen=True, slots=True)
class Trust(Stored):
    r"""Rule for how far a learner follows its predictor under bandit feedback.

    The learner plays hints with probability :math:`p = 1/(1 + e^{-2z})`. Here z is the hints'
    measured advantage over the base learner in standard errors, plus `prior`. For sets, z is at
    most 2 plus the advantage in recent rounds, and a negative z counts three times. The base
    learner keeps at least the share :math:`\phi/\sqrt{1 + \text{savings}}`. With fewer than four
    rounds with feedback per open round, p is smaller. The learner skips a hint if the measured cost
    S could exceed :math:`c \sqrt{G t}`. The guarantee holds for every rule; these constants
    determine how soon the learner follows a good predictor.

    For another rule, write a subclass with another method `wanted`. The budget and `share` limit
    its result, so guarantee, bound and certificate stay valid.

    Parameters
    ----------
    budget
        Constant c of the regret budget :math:`c \sqrt{G t}` for hints. Default 3. None disables
        hints.
    prior
        Initial advantage of the predictor, in standard errors. None (default, also for `floor` and
        `share`) uses the learner's preset, see `trust="earned"`.
    floor
        Constant φ in the smallest share of the base learner, from 0 to 1.
    share
        Upper limit on the share of hinted rounds, measured as 1 minus the harmonic mean of the
        base learner's shares. The bound on the instability cost grows with
        :math:`1/\sqrt{1 - share}`; with 1 there is no bound.
    baseline
        Prediction that is subtracted from losses before they are weighted. "covered" (default):
        the estimate of each action that is likely enough, which preserves guarantee and
        certificate. "prediction": the prediction everywhere, without a guarantee. None: nothing.
        With hints for sets always None, because residuals of both signs would couple elements.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle, mean = hn.oracles.AllPolicies(2, 3), hn.predictors.Mean()
    >>> learner = hn.ContextSemiBanditFTPL(oracle, predictor=mean, trust=hn.Trust(1.0), seed=0)
    >>> learner.act(0) in range(3)
    True

    A rule that follows hints in half of the rounds:

    >>> class Half(hn.Trust):
    ...     def wanted(self, record, n):
    ...         return 0.5
    >>> learner = hn.ContextSemiBanditFTPL(oracle, predictor=mean, trust=Half(), seed=0)
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
        if self.baseline not in (None, "covered", "prediction"):
            raise refuse(self, "baseline", "'covered', 'prediction' or None", self.baseline)
        if self.budget is None and self.baseline is None:
            raise ParameterError(
                "Trust needs budget=, baseline= or both; got None for both. Pass one of them."
            )
        if self.budget is None and self.baseline == "covered":
            raise ParameterError(
                'A Trust without hints (budget=None) cannot have baseline="covered". Pass '
                'baseline="prediction".'
            )

    @property
    def has_theorem(self) -> bool:
        """Whether the guarantee holds for exact classes."""
        return self.baseline != "prediction"

    def filled(self, preset: Trust) -> Self:
        """Return this rule with the preset's constants in place of None."""
        left = {name: getattr(preset, name) for name in _FILLED if getattr(self, name) is None}
        return replace(self, **left)

    def wanted(self, record: HintRecord, n: int) -> float:
        """Return the share of hints in round n, from 0 to 1, given the record so far."""
        if not record.with_feedback:
            return 0.0  # an untrained predictor recommends the first action
        prior: Any = self.prior
        floor: Any = self.floor
        z = prior - record.cost / math.sqrt(record.squares + 1.0)
        if record.recent_squares:  # sets: hints must pay off recently, too, or end soon
            z = min(z, _RECENT_PRIOR - record.recent / math.sqrt(record.recent_squares + 1.0))
            z *= _STEEP if z < 0.0 else 1.0
        earned = 1.0 / (1.0 + math.exp(-2.0 * min(max(z, -250.0), 15.0)))  # less than 1
        if record.waiting:
            # Without feedback the predictor's recommendation stays the same, so all open rounds
            # would get the same action. The base learner has a separate noise draw for each.
            earned *= min(record.with_feedback / (_ANSWERED * record.waiting), 1.0)
        saved = -record.cost if record.cost < 0.0 else 0.0
        most = 1.0 - floor / math.sqrt(1.0 + saved)
        return earned if earned < most else most

    def limit(self, G: float, n: int, top: float = 1.0) -> float:
        """Return the regret budget of hints for n rounds with losses up to `top`."""
        assert self.budget is not None
        return self.budget * top * math.sqrt(G * n)

    def probability(
        self, record: HintRecord, n: int, G: float, compares: bool, kept: float
    ) -> float | None:
        """Return the share `wanted` for round n, limited by budget and `share`.

        None if the budget excludes a hint. `compares`: whether S will compare the loss with
        estimates. `kept` is the smallest probability that exploration leaves to hints and base
        learner together.
        """
        share: Any = self.share
        limit = self.limit(G, n, record.top)
        if share == 1.0:  # no theorem, so nothing is reserved
            return self.wanted(record, n) if limit >= record.S else None
        left = kept * (limit - record.S - record.reserve) / record.top
        # The maximum of `_largest_step`; where it depends on the share, for a share of one half.
        m, spread = record.most_elements, record.spread
        if left < ((1.0 + 0.5 * spread) * m if compares else 1.0):
            return None
        room = n / (1.0 - share) - record.W  # so that W <= n / (1 - share)
        if compares:  # so that S stays within the budget in every case
            room = min(room, max(left - (spread - 1.0) * m, 2.0 * m) / m)
        most = 1.0 - 1.0 / room if room > 1.0 else 0.0
        wanted = self.wanted(record, n)
        return most if wanted > most else max(wanted, 0.0)


_RECENT_PRIOR = 2.0  # initial recent advantage of the predictor, in standard errors
_STEEP = 3.0  # factor of a negative advantage of hints for sets
_FEW = 30  # rounds with feedback, below which the measured advantage is mostly noise
_FILLED = ("prior", "floor", "share")
_ANSWERED = 4.0  # rounds with feedback per open round from which hints get their full share
EXACT = Trust(3.0, prior=0.0, floor=0.5, share=0.95)
# With an inexact oracle no theorem applies, so nothing limits the share of hints.
INEXACT = Trust(3.0, prior=2.0, floor=0.1, share=1.0)
TABLE = Trust(3.0, prior=2.0, floor=0.1, share=0.97)  # for a known action distribution
# For sets, estimates are compared with losses but never a baseline: residuals of both signs would
# couple all elements of a set.
SETS = Trust(3.0, prior=0.5, floor=0.25, share=0.97, baseline=None)
INEXACT_SETS = Trust(3.0, prior=2.0, floor=0.02, share=1.0, baseline=None)


class HintRecord(Stored):
    r"""Measured cost of the hints in a run so far.

    Attributes
    ----------
    top
        Largest loss minus the lowest.
    S
        Estimated cost of the hints, compared with the base learner. It is unbiased; if draws
        estimate the base learner's distribution, it is too large on average.
    most_elements
        Largest number of elements of an action, m.
    spread
        Largest difference in the sum of estimates between two sets, in units of m times `top`.
    cost, squares
        Estimated extra cost of following the hint in every round, in units of the largest loss,
        and the sum of the squares of its terms.
    recent, recent_squares
        `cost` and `squares` for sets, multiplied by 0.99 in every round; 0 for single actions.
    W
        :math:`\sum 1/\beta`, where β = 1 - p is the share of the base learner: the factor by which
        hints increase the variance of loss estimates, summed over rounds.
    reserve
        Largest possible cost of the hints in rounds without feedback.
    unpaid
        Charge for rounds without feedback beyond the largest loss of each, because S already
        includes a comparison with estimates.
    waiting, with_feedback
        Numbers of rounds without and with feedback; logged decisions count as rounds with
        feedback.
    """

    most_elements: int = 1
    spread: float = 1.0

    stored = State(
        S=Number(),
        cost=Number(),
        squares=Number(low=1.0),
        recent=Number(),
        recent_squares=Number(low=0.0),
        W=Number(low=0.0),
        reserve=Number(),
        unpaid=Number(),
        waiting=Count(),
        with_feedback=Count(),
    )

    def __init__(self, top: float) -> None:
        self.top = top
        self.S = 0.0
        self.cost = 0.0
        self.squares = 1.0
        self.recent = 0.0
        self.recent_squares = 0.0
        self.W = 0.0
        self.reserve = 0.0
        self.unpaid = 0.0
        self.waiting = 0
        self.with_feedback = 0


def check_suits(predictor: Any, oracle: Oracle) -> None:
    """Raise `ParameterError` if predictor and oracle disagree on actions with features."""
    known = getattr(predictor, "takes_items", None)
    if known not in (None, oracle.takes_items):
        kinds = "fixed actions", "actions with features"
        raise ParameterError(
            f"predictor={type(predictor).__name__} is for {kinds[bool(known)]}, but "
            f"{type(oracle).__name__} is for {kinds[not known]}. For actions with features, use "
            "predictors.Hybrid."
        )


def check_trust(
    owner: object, trust: Any, predictor: Any, oracle: Oracle, preset: Trust | None = None
) -> Trust:
    """Return the `Trust` for a preset name or a `Trust`, completed by the oracle's preset."""
    if preset is None:
        sets, single = (SETS, INEXACT_SETS), (EXACT, INEXACT)
        preset = (sets if oracle.chooses_sets else single)[not oracle.exact]
    words = {"earned": preset, "baseline": Trust(None, baseline="prediction").filled(preset)}
    if isinstance(trust, str) and trust in words:
        found = words[trust]
    elif isinstance(trust, Trust):
        found = trust.filled(preset)
    else:
        raise refuse(owner, "trust", "'earned', 'baseline', or a Trust", trust)
    hints = predictor is not None and found.budget is not None
    if hints and oracle.takes_functions:
        raise ParameterError(
            f"trust={trust!r} uses hints, which need losses that are sums over elements; the "
            f"losses of {type(oracle).__name__} are functions of whole sets. Pass "
            "trust='baseline'."
        )
    if hints and oracle.chooses_sets:
        if found.baseline == "prediction":
            raise ParameterError(
                'With sets of elements, a Trust has hints or baseline="prediction", not both. '
                "Pass trust='earned' or trust='baseline'."
            )
        return replace(found, baseline=None)
    return found


class AdvisedRound(OpenRound):
    """A round of a learner with a predictor."""

    advice: Action | None = None  # the hint: the action that the predictor recommends
    share: float = 0.0  # p, the probability of the hint; else the base learner chooses
    explores: float = 0.0  # probability of exploring: a uniformly random available action
    each: float = 0.0  # the part of `explores` for each available action
    explored: bool = False  # whether the action came from exploring
    current: IntArray | None = None  # the set that exploration plays; sets
    refused: bool = False  # whether the spent budget excluded the hint
    compares: bool = True  # whether S compares its loss with the estimates V
    split: bool = False  # whether S includes the part of V since the decision
    reserved: float = 0.0  # largest possible increase of S by this round
    unpaid: float = 0.0  # charge beyond the largest loss while it has no feedback
    baseline: FloatArray | None = None  # Q, the part of V in the loss estimates
    distribution: FloatArray | None = None  # q0 of the base learner, known or estimated
    exact: bool | None = None  # whether `distribution` is known; None before it is computed
    ratio: FloatArray | None = None  # q0/q of each chosen element, or a draw with this mean; sets
    gap: float = 0.0  # V(h) minus the base learner's V, or a draw with this mean; sets
    _by_action = ("values", "baseline", "distribution")
    _hit: Any = None

    stored = State(
        advice=Choice() | None,
        share=Number(0.0, lambda self: 0.0 if self.advice is None else 1.0 - 1e-16),
        explores=Number(0.0, 1.0 - 1e-16),
        each=Number(0.0, lambda self: self.explores),
        explored=Flag(),
        current=Choice() | None,
        refused=Flag(),
        compares=Flag(),
        split=Flag(),
        reserved=Number(low=0.0),
        unpaid=Number(low=0.0),
        baseline=Array(n_actions_of) | None,
        distribution=Array(n_actions_of, low=0.0, high=1.0 + 1e-9) | None,
        exact=Flag() | None,
        ratio=Array(lambda self: np.size(self.action), low=0.0) | None,
        gap=Number(),
    )

    def mixed(self, distribution: FloatArray) -> FloatArray:
        """Return the action distribution, given the distribution of the base learner's choice."""
        if self.share > 0.0:
            distribution = (1.0 - self.share) * distribution
            distribution[self.advice] += self.share
        if self.explores > 0.0:
            explored = self.current if self.current is not None else self.choices(len(distribution))
            distribution = (1.0 - self.explores) * distribution
            distribution[explored] += self.each
        return distribution

    def likely(self, action: int, q: float) -> float:
        """Return the probability of one action, given its probability q by the base learner."""
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
        """Whether a hint or exploration may choose the action."""
        return self.share > 0.0 or self.explores > 0.0

    @property
    def hit(self) -> Any:
        """Whether each chosen element is in the hint; computed once. Do not modify."""
        if self._hit is None:
            self._hit = np.zeros(np.size(self.action), dtype=bool)
            if self.advice is not None:
                mark(self.action, self.advice, self._hit)
        return self._hit

    def without_base(self, u: float, n_actions: int) -> Action | None:
        """Return the action of exploration or hint for u in [0, 1), or None for the base."""
        if u < self.explores:
            self.explored = True
            if self.current is not None:
                return np.array(self.current)
            some = self.choices(n_actions)
            return int(some[min(int(u / self.explores * len(some)), len(some) - 1)])
        if u >= self.explores + (1.0 - self.explores) * self.share:
            return None
        return self.advice if type(self.advice) is int else np.array(self.advice)

    def weighing(self, action: int) -> tuple[float, float]:
        """Return (c, s): the action's probability is s (c + (1 - c) x), x that of the base."""
        own, base = self.share if action == self.advice else 0.0, 1.0 - self.share
        if self.explores == 0.0:
            return own, 1.0 if own else base
        kept = 1.0 - self.explores
        certain = self.each + kept * own
        s = certain + kept * base
        return certain / s, s

    @property
    def hit_by_exploring(self) -> Any:
        """Whether each chosen element is in the set that exploration plays. Do not modify."""
        if self.current is None:
            return self.hit  # does not matter, as nothing explores
        found = np.empty(np.size(self.action), dtype=bool)
        mark(self.action, self.current, found)
        return found

    def choices(self, n_actions: int) -> IntArray:
        """Return the available actions."""
        return np.arange(n_actions) if self.plays is None else self.available_indices


class Hint(HintRecord):
    """A predictor, the rule for its share of the rounds, and the record of its hints.

    Without a predictor the base learner makes all decisions.

    Attributes
    ----------
    trust
        Rule for the share of hints.
    hinted
        Number of rounds in which the hint had a positive probability.
    refused
        Number of rounds without a hint because the budget was spent.
    has_theorem
        Whether the guarantee holds: no baseline is too high without being observed.
    signed
        Whether loss estimates may be negative.
    mixes
        Whether the learner plays hints.
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
        self._low = min(loss_range[0], 0.0)  # the loss that counts as 0
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
        self._guesses = there and trust.baseline == "prediction"
        self._advises = hasattr(predictor, "advise")
        # Estimates need no check if the class that defines `advise` declares them sound.
        authors = [kind for kind in type(predictor).__mro__ if "advise" in vars(kind)]
        sound = bool(authors) and getattr(authors[0], "sound", False)
        self._sound = sound and self._low == 0.0 and self.top >= 1.0
        self.hinted = 0
        self.refused = 0
        self._n_actions = n_actions
        self._kept = kept  # smallest probability that exploration leaves to hint and base learner

    def extended(self, n_actions: int, kept: float) -> Self:
        """Return a copy with more actions, which are new to the predictor."""
        twin = copy.copy(self)
        twin._kept = kept
        if self.predictor is not None:
            twin.predictor = extended_predictor(self.predictor, n_actions)
        twin._n_actions = n_actions
        return twin

    @property
    def advantage(self) -> tuple[float, float]:
        """Estimated total savings of always following the hint, and their standard error."""
        return -self.top * self.cost, self.top * math.sqrt(self.squares)

    def advise(self, opened: Any, G: float, n: int, known: bool) -> None:
        """Set hint, its share and the estimates of round n: functions of context and past.

        `known`: whether the distribution of the base learner's choice will be known at the
        decision.
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
        # With delay, a round is compared with estimates only if their part can be added at the
        # decision, because missing feedback may depend on the action. Without a theorem, always.
        compares = opened.compares = known or not opened.late or trust.share == 1.0
        kept = self._kept if self._n_actions else 1.0 - opened.explores
        share = trust.probability(self, n, G, compares, kept)
        if share is None:
            opened.refused = True
        else:
            opened.share = share

    def check(self, opened: AdvisedRound, weighed: bool) -> None:
        """Check that a loaded round has the estimates and the distribution that it needs."""
        asked = opened.advice is not None and opened.values is not None
        known = opened.distribution is not None or not weighed
        require(opened, values=asked or not self.mixes, distribution=known or not self.mixes)

    def _least(self, context: Any, available: IntArray | None, K: int) -> tuple[int, Any]:
        """Return the action with the smallest prediction, and the estimates of all actions."""
        predictor = self.predictor
        values = getattr(predictor, "estimate", predictor.predict)(context)
        guess = self._checked(predictor.predict(context), K)
        some = np.arange(K) if available is None else available
        return int(some[guess[some].argmin()]), values

    def _largest_step(self, opened: Any) -> float:
        """Return the largest possible increase of S by a decided round with a hint.

        Measured by its loss alone, a hint costs at most this loss. Compared with estimates, its
        cost varies less but may be larger; less so if S includes their part already.
        """
        share, most = opened.share, self.top
        record = share / (1.0 - share)
        if opened.split and opened.action != opened.advice:
            most = record * (opened.values.item(opened.action) - self._low)
        elif opened.compares and not opened.split:
            most *= share + max(record, 1.0)
        return most / (self._kept if self._n_actions else 1.0 - opened.explores)

    def may_cover(self, scale: float, kappa: float) -> bool:
        """Return whether an action can be likely enough for a baseline under this noise scale."""
        if not self.signed or scale == 0.0:
            return False
        eps = kappa * self.top / scale
        return eps < 0.5 and 2.0 * eps * math.exp(eps) < 1.0

    def cover(
        self, opened: Any, distribution: FloatArray, scale: float, kappa: float, n: int
    ) -> None:
        """Set the baseline to the estimates of all actions that are likely enough, else 0.

        `distribution` is that of the base learner's choice. The weighted residual of an estimate
        that is too high is then at most half of the noise, and the bias for a good action adds
        up to 2 √T.
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
        """Return the losses of the chosen elements minus their baseline."""
        if opened.baseline is None:
            return losses
        found = losses - opened.baseline[opened.action]
        return found if self.signed else np.maximum(found, 0.0)

    def played(self, opened: Any) -> None:
        """Reserve the largest possible cost of this round's hint until its loss is known.

        If q0 is known already, add p (V(h) - <q0, V>) to S now.
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

    def unseen(self, opened: Any, missing: Any) -> float:
        """Return a bound on the cost of the missing losses of a set's elements."""
        return self.top * float(missing.sum())

    def truncation(self, opened: Any, K: int) -> float:
        """Return a bound on the cost of truncating the resampling of a round, as L is finite."""
        cost: float = self.top * K / (math.e * opened.limit)
        return cost

    def release(self, opened: Any) -> None:
        """Cancel the reserve of an abandoned round, whose cost will never be known."""
        if self.mixes:
            self.reserve -= opened.reserved
            self.waiting -= 1

    def charge(self, opened: Any, loss: Any, weight: Any, missing: Any = None) -> None:
        """Add the cost of a round's hint to S, given its loss and importance weight.

        Uses the base learner's distribution at the decision. If draws estimate it, the base
        learner's ratio is too small on average. The cost is then overstated, which is safe only
        if losses are not compared with estimates.
        """
        share = opened.share
        self.reserve -= opened.reserved
        self.unpaid -= opened.unpaid
        self.waiting -= 1
        self.with_feedback += 1
        if opened.explored:  # only rounds decided by hint or base learner count
            return
        values = opened.values if self._low == 0.0 else opened.values - self._low
        expected, ratio, value = kernel.price(
            opened.distribution, values, opened.advice, opened.action, share
        )
        cost = loss - self._low
        if share > 0.0:
            # Exploration leaves only a part of such rounds, so each has a larger weight.
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

    _compared = "the base learner alone"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the results of the hints; their advantage from 30 rounds with feedback."""
        if not self.mixes:
            return ()
        notes = []
        if self.hinted + self.refused and self.with_feedback >= _FEW:
            gain, error = self.advantage
            so_far = "reduced" if self.S <= 0.0 else "increased"
            always = "reduced" if gain >= 0.0 else "increased"
            notes.append(
                f"the predictor took part in {self.hinted} of the rounds decided and {so_far} the "
                f"total loss by about {abs(self.S):,.1f} compared with {self._compared}; "
                f"following it in every round would have {always} the total loss by "
                f"{abs(gain):,.1f} ± {error:,.1f}"
            )
        if self.refused:
            times = "1 round" if self.refused == 1 else f"{self.refused} rounds"
            notes.append(
                f"the predictor was left out in {times} because its regret budget was spent"
            )
        return tuple(notes)

    def _checked(self, guess: Any, n_actions: int) -> FloatArray:
        span = self._low, self._low + self.top
        return check_guess(self.predictor, guess, n_actions, span)
