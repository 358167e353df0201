"""Certificates and regret bounds of learners, computed from sums over the rounds so far.

Some bounds are sums over rounds of the possible cost of each round, given the past. They hold at
stopping times, so such bounds of the segments between restarts add up. The worst case of
self-tuning is not such a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hannan.bounds import hinted, predictable, self_tuned, semi_bandit
from hannan.core import Objective
from hannan.core.availability import Availability
from hannan.core.oracle import losses_alone, preference_of
from hannan.core.rounds import Ledger
from hannan.core.state import Count, Flag, Number, State
from hannan.core.stored import Stored
from hannan.learners.floor import Floor
from hannan.learners.hint import Hint
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.prediction import Prediction
from hannan.learners.statements import Certificate, SemiBanditCertificate
from hannan.learners.step_size import Anytime, SelfTuned, StepSize

_OPTIMUM_UNKNOWN = (
    "the best policy in hindsight is unknown for this policy class: `hn.play` compares with the "
    "best policy that several fits find"
)
_UNKNOWN = "contexts were not known in advance: no theorem applies"
_INEXACT = "the oracle is inexact: no theorem applies, and the true regret may be larger"
SELECTED = (
    "a round of act() has no feedback, and the learner compares losses with a predictor's "
    "estimates: there is no guarantee, because missing feedback may depend on the action"
)


def availability_notes(sets: Availability, closed: bool = False) -> list[str]:
    """Return notes on the meaning of regret if actions or elements were sometimes unavailable."""
    if closed and sets.restricted:
        outside = (
            f"in {_counted(sets.outside, 'round')} the policy class had no available set, and the "
            "learner played an available set outside the class: the comparison is inexact"
        )
        return [
            "in some rounds elements were unavailable, and the learner played the best set of "
            "available ones: no theorem applies; a policy that uses an unavailable element is "
            "charged its loss when available",
            *([outside] if sets.outside else []),
        ]
    how = ""
    if sets.by_score:
        how = ", and the learner played the best-scored available action: no theorem applies"
    charged = "a policy that chooses an unavailable action is charged the loss of its substitute"
    return [f"some actions were unavailable{how}; {charged}"] if sets.restricted else []


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def late_notes(ledger: Ledger) -> list[str]:
    """Return notes on delayed, missing and logged feedback, and on added actions."""
    notes = []
    if ledger.delayed:
        pairs = _counted(ledger.total_delay, "pair") if ledger.total_delay else "no pair"
        notes.append(f"feedback was delayed: {pairs} of rounds overlapped")
    if ledger.logged:
        notes.append(
            f"the learner learned from {_counted(ledger.logged, 'logged decision')} of another "
            "system: there is no statement on regret"
        )
    if ledger.added:
        notes.append(
            "actions were added: before its addition, an added action counts as having the loss "
            "of the best other action"
        )
    if ledger.without_feedback:
        verb = "has" if ledger.without_feedback == 1 else "have"
        notes.append(
            f"{_counted(ledger.without_feedback, 'round')} {verb} no feedback: each counts at the "
            "largest possible loss"
        )
    return notes


def feedback_notes(ledger: Ledger) -> list[str]:
    """Return notes on delayed and missing feedback for learners without a theorem for these."""
    notes = ["feedback was delayed: no theorem applies"] if ledger.delayed else []
    if ledger.abandoned:
        verb = "has" if ledger.abandoned == 1 else "have"
        notes.append(
            f"{_counted(ledger.abandoned, 'abandoned round')} {verb} no feedback: missing feedback "
            "may depend on the action, so no theorem applies to the other rounds"
        )
    return notes


def realised_regret(loss: float, total: Objective) -> tuple[float | None, list[str]]:
    """Return loss minus the best policy's loss, or a note if the best policy is unknown."""
    regret = loss - float(losses_alone(total).minima()[0])
    return (None, [_OPTIMUM_UNKNOWN]) if math.isnan(regret) else (regret, [])


def realised(
    rounds: int, loss: float, total: Objective, sets: Availability, *notes: str, **others: Any
) -> Certificate:
    """Return a certificate with the regret realised so far and the given other statements."""
    if not total.oracle.exact:
        notes += (_INEXACT,)
    regret, unknown = realised_regret(loss, total)
    notes += (*unknown, *availability_notes(sets, total.oracle.chooses_sets))
    return Certificate.of(rounds, loss, notes, realised_regret=regret, **others)


@dataclass(slots=True)
class Account(Stored):
    """Sums over the rounds with feedback so far."""

    loss: float = 0.0
    stability: float = 0.0  # bound on the instability cost, from loss ranges or variances
    truncation: float = 0.0  # bound on the cost of truncating the resampling
    scheduled: float = 0.0  # instability cost that the anytime schedule allows
    ranges: float = 0.0  # sum of the rounds' loss ranges
    top: float = 0.0  # largest 1/ε among the decisions with feedback
    out_of_order: bool = False  # whether feedback came after that of a decision at a larger 1/ε
    missing: int = 0  # losses of chosen elements that were missing
    unseen: float = 0.0  # bound on their cost
    clipped: int = 0  # losses that were moved into the range

    stored = State(
        missing=Count(),
        unseen=Number(),
        clipped=Count(),
        loss=Number(),
        stability=Number(),
        truncation=Number(),
        scheduled=Number(),
        ranges=Number(),
        top=Number(),
        out_of_order=Flag(),
    )

    def learned(self, loss: float, scale: float, stability: float, width: float) -> None:
        """Add a round of full information that was decided at this 1/ε."""
        self.loss += loss
        self.out_of_order = self.out_of_order or scale < self.top
        self.top = max(self.top, scale)
        self.stability += stability
        self.ranges += width

    def rescale(self, factor: float) -> None:
        """Convert the sums to another unit of losses."""
        for name in ("loss", "stability", "ranges", "top"):
            setattr(self, name, factor * getattr(self, name))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything from which the statements about a run are computed."""

    rounds: int
    account: Account
    leader: PerturbedLeader
    step: StepSize
    ledger: Ledger
    sets: Availability
    width: float
    """Largest difference, between two actions in a round, of loss minus prediction."""
    largest: float
    """Largest difference between two losses in a round: the charge without feedback."""
    fresh: bool = True  # whether every round has a new noise draw

    @property
    def has_theorem(self) -> bool:
        """Whether a theorem applies to the run, for any adversary."""
        leader, mixed = self.leader, self.sets.by_score or self.ledger.logged
        return leader.X.has_theorem and leader.oracle.exact and not mixed

    def obstacles(self) -> list[str]:
        """Return notes on why no theorem applies."""
        notes = [] if self.leader.X.has_theorem else [_UNKNOWN]
        return notes if self.leader.oracle.exact else [*notes, _INEXACT]

    @property
    def error(self) -> float:
        """G/ε at the smallest ε, with three standard errors added if G is an estimate."""
        scale = self.account.top
        return scale * self.leader.complexity().upper if scale else 0.0

    @property
    def lost(self) -> float:
        """Bound on the cost of the rounds without feedback, and of missing losses of elements."""
        return self.charge(self.ledger.without_feedback) + self.account.unseen

    def charge(self, without_feedback: int) -> float:
        """Return a bound on the cost of this number of rounds without feedback."""
        return without_feedback * self.largest if without_feedback else 0.0

    def share(self, eager: float) -> float:
        """Return (1 + Ĝ/G)/2 for ε = G/D and an upper estimate Ĝ: D + Ĝ/ε is 2D times that."""
        return 0.5 * (1.0 + self.leader.complexity().upper / eager)

    def self_tuned(self, rounds: int, restarts: int, **options: Any) -> float:
        """Return the worst case of self-tuning, full information; 0 for a single policy."""
        leader, G = self.leader, self.leader.complexity().value
        if G <= 0.0:
            return 0.0
        assert isinstance(self.step, SelfTuned)
        eager = self.step.factor * G
        options |= {**leader.sizes, "nonnegative": leader.nonnegative, "complexity": eager}
        losses = (0.0, self.width / leader.oracle.max_chosen)
        bound = self_tuned(rounds, loss_range=losses, restarts=restarts, **options)
        return self.share(eager) * bound.value


def likely_bound(
    mean: float, width: float, steps: float, confidence: float, sides: int = 1
) -> float | None:
    """Return a bound that a sum of `steps` steps exceeds with probability 1 - `confidence`.

    None if the width is infinite or the confidence is 1.
    """
    if math.isinf(width) or confidence == 1.0:
        return None
    record = -math.log1p(-confidence) if sides == 1 else math.log(sides / (1.0 - confidence))
    return mean + width * math.sqrt(steps * record / 2.0)


# Full information ---------------------------------------------------------------------------


def full_information(game: Evidence, prediction: Prediction, confidence: float) -> Certificate:
    """Return the certificate of a run with full information."""
    account, leader, step = game.account, game.leader, game.step
    notes = [] if leader.X.has_theorem else [_UNKNOWN]
    if not game.fresh:
        notes.append("noise was drawn once: the bounds need an oblivious adversary and a fixed ε")
    prompt = game.ledger.immediate
    notes += late_notes(game.ledger)
    measured = a_priori = certain = printed = None
    valid = game.fresh or (prompt and not isinstance(step, SelfTuned))
    if game.has_theorem and valid and game.lost < math.inf:
        error = game.error + preference_of(leader.total) + game.lost
        if prompt or prediction.predictor is None:
            a_priori = account.stability + error
        printed = _theorem_5(leader, prediction) if prompt else None
        measured = step.D + error if isinstance(step, SelfTuned) else None
        if measured is not None:
            # A round adds Q(π_t) + (f - Q)(π̂_t) to loss - D: the width of f alone, or 3/2 of both.
            # With delay, f(a) - f(a') is a martingale in the order of decisions, with steps of two
            # widths. f(b) is one in the order of arrivals; its steps are one width without Q.
            prompt_or_late = (1.0, 3.0) if prediction.predictor is None else (1.5, 2.5)
            width, sides = prompt_or_late[not prompt] * game.width, 1 if prompt else 2
            decided = game.rounds + (0 if prompt else game.ledger.without_feedback)
            certain = likely_bound(measured, width, decided, confidence, sides)
    return realised(
        game.rounds,
        account.loss,
        leader.total,
        game.sets,
        *notes,
        measured=measured,
        a_priori=a_priori,
        high_probability=certain,
        confidence=confidence,
        prediction_error=prediction.squared_error,
        theorem_5=printed,
    )


def full_information_bound(game: Evidence, prediction: Prediction) -> float | None:
    """Return a bound on the expected regret so far, or None if no theorem applies."""
    if not game.has_theorem or not game.fresh:
        return None
    guessed = prediction.predictor is not None and not game.ledger.immediate
    if guessed or game.lost == math.inf:
        return None
    if game.rounds == 0:
        return game.lost
    late = game.ledger.total_delay, game.ledger.without_feedback
    worst = full_information_worst_case(game, prediction, game.rounds, 0, *late)
    if worst is not None:
        return worst
    return game.account.stability + game.error + preference_of(game.leader.total) + game.lost


def full_information_worst_case(
    game: Evidence,
    prediction: Prediction,
    rounds: int,
    restarts: int,
    total_delay: int,
    without_feedback: int,
) -> float | None:
    """Return the worst case of self-tuning; None without a loss range or with a predictor."""
    leader, step = game.leader, game.step
    known = math.isfinite(game.width) and prediction.predictor is None
    if not isinstance(step, SelfTuned) or not known:
        return None
    if leader.n_actions is None:
        return math.inf  # K may be unknown before the first round
    if leader.complexity().value <= 0.0:
        return game.charge(without_feedback)
    out_of_order = game.account.out_of_order or restarts > 0
    bound = game.self_tuned(rounds, restarts, total_delay=total_delay, out_of_order=out_of_order)
    preference = (restarts + 1) * preference_of(leader.total)
    return bound + preference + game.charge(without_feedback)


def _theorem_5(leader: PerturbedLeader, prediction: Prediction) -> float | None:
    """Return the bound of Theorem 5 as printed, for the observed errors and the best ε."""
    if prediction.squared_error is None or leader.n_actions is None:
        return None
    log_size = leader.oracle.log_size(leader.X.points)
    if log_size is None or log_size < math.log(2.0):
        return None
    return predictable(
        prediction.squared_error,
        d=len(leader.X.points),
        n_actions=leader.oracle.n_actions or 1,
        log_size=log_size,
        m=leader.oracle.max_chosen,
        setting=leader.X.setting,
    ).value


# Semi-bandit feedback -----------------------------------------------------------------------


def semi_bandit_certificate(
    game: Evidence, hint: Hint, start: float, exploration: float
) -> SemiBanditCertificate:
    """Return the certificate of a run with semi-bandit feedback.

    `start` is the initial value of D, and `exploration` the estimated cost of exploration.
    """
    account, step, ledger = game.account, game.step, game.ledger
    notes = game.obstacles()
    if not hint.has_theorem:
        notes.append("the predictor may over-predict unobserved losses: the estimates do not hold")
    closed = availability_notes(game.sets, game.leader.oracle.chooses_sets)
    notes += [*hint.notes, *closed, *late_notes(ledger), *_reading_notes(account)]
    stability = variance = comparator = None
    if game.has_theorem and hint.has_theorem and selected(ledger, hint):
        notes.append(SELECTED)
    elif game.has_theorem and hint.has_theorem:
        comparator = account.loss - float(game.leader.total.minima()[0]) + game.lost
        extra = game.error + account.truncation + exploration + game.lost
        if isinstance(step, SelfTuned):
            stability = hint.S + hint.unpaid + step.D - start + extra
        if ledger.immediate and hint.predictor is None:
            variance = account.stability + extra
    return SemiBanditCertificate.of(
        game.rounds,
        account.loss,
        notes,
        stability_estimate=stability,
        variance_estimate=variance,
        comparator_estimate=comparator,
        truncation=account.truncation,
    )


def _reading_notes(account: Account) -> list[str]:
    """Return notes on missing and clipped losses."""
    notes = []
    if account.missing:
        lost = "1 loss" if account.missing == 1 else f"{account.missing} losses"
        notes.append(f"{lost} of chosen elements missing: each counts at the largest possible loss")
    if account.clipped:
        moved = "1 loss was" if account.clipped == 1 else f"{account.clipped} losses were"
        notes.append(f"{moved} outside of loss_range and clipped: the statements are about these")
    return notes


def selected(ledger: Ledger, hint: Hint) -> bool:
    """Return whether a round of `act` has no feedback while a predictor's estimates count.

    In rounds of `act` the cost of hints is measured against these estimates, and some are
    subtracted from the losses. Missing feedback may depend on the action.
    """
    return hint.predictor is not None and (ledger.dropped > 0 or ledger.current is not None)


def semi_bandit_bound(game: Evidence, hint: Hint, plan: SemiBanditPlan) -> float | None:
    """Return a bound on the pseudo-regret so far, or None if no theorem applies."""
    step, account = game.step, game.account
    if not game.has_theorem or not hint.has_theorem or selected(game.ledger, hint):
        return None
    if game.rounds == 0:
        return game.lost
    if isinstance(step, SelfTuned):
        late = game.ledger.total_delay, game.ledger.without_feedback
        return semi_bandit_worst_case(game, hint, plan, game.rounds, 0, *late)
    if hint.predictor is not None or game.ledger.abandoned:
        return None
    if game.ledger.delayed and not (isinstance(step, Anytime) and plan.proved_late):
        return None
    G, scale = game.leader.complexity(), step.scale
    if G.value <= 0.0:
        return 0.0
    extra = (
        account.truncation
        + plan.floor.most(game.rounds + game.ledger.without_feedback, game.largest)
        + game.lost
    )
    if isinstance(step, Anytime):
        return account.scheduled + scale * G.upper + extra
    terms = semi_bandit(
        game.rounds,
        **game.leader.sizes,
        loss_bound=plan.loss_bound,
        second_moment=plan.second_moment / plan.floor.kept,
        complexity=G,
        epsilon=1.0 / scale,
        form="sharp",
    ).terms
    return terms["stability"] + terms["error"] + extra


def semi_bandit_worst_case(
    game: Evidence,
    hint: Hint,
    plan: SemiBanditPlan,
    rounds: int,
    restarts: int,
    total_delay: int,
    without_feedback: int,
) -> float | None:
    """Return the worst case of self-tuning, with or without hints; None if none is known."""
    leader, step = game.leader, game.step
    sets_late = hint.predictor is not None and leader.oracle.chooses_sets
    if not isinstance(step, SelfTuned) or (total_delay and (sets_late or not plan.proved_late)):
        return None
    G, lost = leader.complexity(), game.charge(without_feedback) + hint.unpaid
    lost += game.account.unseen
    if G.value <= 0.0:
        return lost
    rounds += without_feedback  # truncation and hints count in all rounds decided
    lost += plan.floor.most(rounds, game.largest)
    eager, sizes = step.factor * G.value, leader.sizes
    share = game.share(eager)
    options: dict[str, Any] = {
        "loss_bound": plan.loss_bound,
        "max_resamples": plan.limit,
        "restarts": restarts,
        "total_delay": total_delay,
        "out_of_order": game.account.out_of_order or restarts > 0,
        "reacting": True,
    }
    if hint.predictor is None:
        moment = plan.second_moment / plan.floor.kept
        options |= {**sizes, "feedback": "semi-bandit", "second_moment": moment}
        terms = self_tuned(rounds, **options, complexity=eager).terms
        return share * terms["instability"] + terms["truncation"] + lost
    trust = hint.trust
    if trust.budget is None or trust.share in (None, 1.0):
        return None
    options |= {
        **sizes,
        "budget": trust.budget,
        "share": 1.0 - (1.0 - trust.share) * plan.floor.kept,
        "known_distribution": plan.second_moment == 1.0,
    }
    terms = hinted(rounds, **options, start=plan.start, complexity=G.value).terms
    unrest = hinted(rounds, **options, complexity=eager).terms["instability"]
    most = max(1.0, 2.0 * share - 1.0)
    return terms["hints"] + share * unrest + most * terms["start"] + terms["truncation"] + lost


@dataclass(frozen=True, slots=True)
class SemiBanditPlan:
    """Constants of a semi-bandit learner that are fixed before the run."""

    loss_bound: float  # largest loss of an element, minus the lowest loss if that is negative
    second_moment: float
    limit: int | None  # L, or None if it grows with the rounds
    start: float  # the initial value of D
    floor: Floor
    proved_late: bool = True  # whether bounds are known for delayed feedback
