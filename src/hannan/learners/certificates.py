"""What can be said about regret so far.

Bounds that are sums over rounds of what each may cost, given the past, hold at stopping times, so
those of restarted games add up. The worst case of self-tuning is no such sum.
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
from hannan.core.state import Flag, Number, State
from hannan.core.stored import Stored
from hannan.learners.floor import Floor
from hannan.learners.hint import Hint
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.prediction import Prediction
from hannan.learners.statements import Certificate, SemiBanditCertificate
from hannan.learners.step_size import Anytime, SelfTuned, StepSize

_OPTIMUM_UNKNOWN = (
    "the best policy in hindsight is not known for this class: `hn.play` compares with the best "
    "that several fits find"
)
_UNKNOWN = "contexts were not known in advance: no theorem applies"
_INEXACT = "the oracle is inexact: no theorem applies, true regret may be larger"
SELECTED = (
    "a round of act() has no loss, and losses were compared with estimates of a predictor: if the "
    "environment chooses what it answers, nothing holds"
)


def availability_notes(sets: Availability, closed: bool = False) -> list[str]:
    """What regret means where not all actions were always available, or elements of sets closed."""
    if closed and sets.restricted:
        return [
            "elements were closed in some rounds, and the best set of the others was played: no "
            "theorem applies, and a closed element is charged what it costs when it is open"
        ]
    how = ": a policy whose action was not is charged its substitute"
    if sets.by_score:
        how = (
            ", and the best-scored of those available was played: no theorem applies, and a policy "
            "whose action was not available is charged its substitute"
        )
    return ["actions were not always available" + how] if sets.restricted else []


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def late_notes(ledger: Ledger) -> list[str]:
    """What statements count of rounds whose losses were late, or have not come."""
    notes = []
    if ledger.delayed:
        pairs = _counted(ledger.total_delay, "pair")
        notes.append(f"feedback was late: {pairs} of rounds overlapped")
    if ledger.logged:
        verb = "was" if ledger.logged == 1 else "were"
        notes.append(
            f"{_counted(ledger.logged, 'decision')} of others {verb} "
            "learned: nothing is said about regret, as no statement holds what was known from them"
        )
    if ledger.added:
        notes.append(
            "actions were added: regret against them is as if the best of the others had been "
            "played before they came"
        )
    if ledger.without_feedback:
        notes.append(
            f"{_counted(ledger.without_feedback, 'round')} {'has' if ledger.without_feedback == 1 else 'have'} "
            "no loss yet, or never will: each is counted with the most that it can cost"
        )
    return notes


def feedback_notes(ledger: Ledger) -> list[str]:
    """What is wrong with feedback that was not given at once and in every round."""
    notes = ["feedback was delayed: nothing is proved for that"] if ledger.delayed else []
    if ledger.abandoned:
        notes.append(
            f"{ledger.abandoned} rounds were never answered: which ones may depend on what "
            "was played, so nothing is said about the others"
        )
    return notes


def realised_regret(loss: float, total: Objective) -> tuple[float | None, list[str]]:
    """Loss minus that of the best policy, or a note where nobody can find that one."""
    regret = loss - float(losses_alone(total).minima()[0])
    return (None, [_OPTIMUM_UNKNOWN]) if math.isnan(regret) else (regret, [])


def realised(
    rounds: int, loss: float, total: Objective, sets: Availability, *notes: str, **others: Any
) -> Certificate:
    """A certificate with the regret realised so far, and other statements by name."""
    if not total.oracle.exact:
        notes += (_INEXACT,)
    regret, unknown = realised_regret(loss, total)
    notes += (*unknown, *availability_notes(sets, total.oracle.chooses_sets))
    return Certificate.of(rounds, loss, notes, realised_regret=regret, **others)


@dataclass(slots=True)
class Account(Stored):
    """Sums over the rounds learned so far."""

    loss: float = 0.0
    stability: float = 0.0  # what instability can have cost, by ranges of losses or variances
    truncation: float = 0.0  # what limiting the resampling may have cost
    scheduled: float = 0.0  # what the anytime schedule allows instability to cost
    ranges: float = 0.0  # of the losses of rounds, added up
    top: float = 0.0  # the largest 1/ε at which a round that has been answered was decided
    out_of_order: bool = False  # whether one was answered after one decided at a larger 1/ε

    stored = State(
        loss=Number(),
        stability=Number(),
        truncation=Number(),
        scheduled=Number(),
        ranges=Number(),
        top=Number(),
        out_of_order=Flag(),
    )

    def learned(self, loss: float, scale: float, stability: float, width: float) -> None:
        """Add a round that was decided at this 1/ε, where the losses of all actions are shown."""
        self.loss += loss
        self.out_of_order = self.out_of_order or scale < self.top
        self.top = max(self.top, scale)
        self.stability += stability
        self.ranges += width

    def rescale(self, factor: float) -> None:
        """Losses are measured in another unit from now on."""
        for name in ("loss", "stability", "ranges", "top"):
            setattr(self, name, factor * getattr(self, name))


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that statements about a game are made from."""

    rounds: int
    account: Account
    leader: PerturbedLeader
    step: StepSize
    ledger: Ledger
    sets: Availability
    width: float
    """How much more than another an action can lose in a round, beyond what was guessed."""
    largest: float
    """The same, of the loss itself: what a round without an answer is counted with."""
    fresh: bool = True  # whether noise was drawn anew in every round

    @property
    def has_theorem(self) -> bool:
        """Whether a theorem speaks of the game at all, whatever the adversary does."""
        leader, mixed = self.leader, self.sets.by_score or self.ledger.logged
        return leader.X.has_theorem and leader.oracle.exact and not mixed

    def obstacles(self) -> list[str]:
        """Why theorems do not apply, in words."""
        notes = [] if self.leader.X.has_theorem else [_UNKNOWN]
        return notes if self.leader.oracle.exact else [*notes, _INEXACT]

    @property
    def error(self) -> float:
        """G/ε at the smallest ε, with three standard errors where G is an estimate."""
        scale = self.account.top
        return scale * self.leader.complexity().upper if scale else 0.0

    @property
    def lost(self) -> float:
        """What rounds without an answer may have cost."""
        return self.charge(self.ledger.without_feedback)

    def charge(self, unanswered: int) -> float:
        """What so many rounds without an answer may cost."""
        return unanswered * self.largest if unanswered else 0.0

    def share(self, eager: float) -> float:
        """(1 + Ĝ/G)/2 for ε = G/D and an upper estimate Ĝ: the factor on 2D in D + Ĝ/ε."""
        return 0.5 * (1.0 + self.leader.complexity().upper / eager)

    def self_tuned(self, rounds: int, restarts: int, **options: Any) -> float:
        """The worst case of self-tuning where all losses are shown; 0 for a single policy."""
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
    """What a sum of so many steps stays below with this probability; None if nothing is known."""
    if math.isinf(width) or confidence == 1.0:
        return None
    record = -math.log1p(-confidence) if sides == 1 else math.log(sides / (1.0 - confidence))
    return mean + width * math.sqrt(steps * record / 2.0)


# Full information ---------------------------------------------------------------------------


def full_information(game: Evidence, prediction: Prediction, confidence: float) -> Certificate:
    """The certificate of a game in which all losses are shown."""
    account, leader, step = game.account, game.leader, game.step
    notes = [] if leader.X.has_theorem else [_UNKNOWN]
    if not game.fresh:
        notes.append("noise drawn once: bounds need an oblivious adversary and a fixed ε")
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
            # Late, f(a) - f(a') is a martingale in the order of decisions, with steps of two
            # widths, and f(b) in that of arrivals, with steps of one, where nothing is guessed.
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
    """A bound on expected regret so far."""
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
    unanswered: int,
) -> float | None:
    """That of self-tuning, where the range of the losses is known and none is foreseen."""
    leader, step = game.leader, game.step
    known = math.isfinite(game.width) and prediction.predictor is None
    if not isinstance(step, SelfTuned) or not known:
        return None
    if leader.n_actions is None:
        return math.inf  # before the first round K need not be known
    if leader.complexity().value <= 0.0:
        return game.charge(unanswered)
    out_of_order = game.account.out_of_order or restarts > 0
    bound = game.self_tuned(rounds, restarts, total_delay=total_delay, out_of_order=out_of_order)
    preference = (restarts + 1) * preference_of(leader.total)
    return bound + preference + game.charge(unanswered)


def _theorem_5(leader: PerturbedLeader, prediction: Prediction) -> float | None:
    """Theorem 5 as printed, with the errors observed and the best ε for them."""
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
    """The certificate of a game in which only chosen elements' losses are shown.

    `start` is what D began with, and `exploration` what that has cost.
    """
    account, step, ledger = game.account, game.step, game.ledger
    notes = game.obstacles()
    if not hint.has_theorem:
        notes.append("a baseline may over-predict, which nobody can observe: estimates void")
    closed = availability_notes(game.sets, game.leader.oracle.chooses_sets)
    notes += [*hint.notes, *closed, *late_notes(ledger)]
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


def selected(ledger: Ledger, hint: Hint) -> bool:
    """Whether a round has no loss in which estimates of a predictor count.

    Those of `act`: what its hints cost is measured against the estimates, and some are subtracted
    from its losses. Which rounds have none may depend on what was played.
    """
    return hint.predictor is not None and (ledger.dropped > 0 or ledger.current is not None)


def semi_bandit_bound(game: Evidence, hint: Hint, plan: SemiBanditPlan) -> float | None:
    """A bound on pseudo-regret so far."""
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
        + plan.exploration(game.rounds + game.ledger.without_feedback)
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
    unanswered: int,
) -> float | None:
    """That of self-tuning, with hints or without."""
    leader, step = game.leader, game.step
    if not isinstance(step, SelfTuned) or (total_delay and not plan.proved_late):
        return None
    G, lost = leader.complexity(), game.charge(unanswered) + hint.unpaid
    if G.value <= 0.0:
        return lost
    rounds += unanswered  # weights are truncated, and hints have a share, in all that were decided
    lost += plan.exploration(rounds)
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
    del sizes["m"], sizes["antichain"]
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
    """What a semi-bandit learner has fixed in advance."""

    loss_bound: float  # of an element, beyond the lowest where that is negative
    second_moment: float
    limit: int | None  # L, or None where it grows with the rounds
    start: float  # what D began with
    floor: Floor
    proved_late: bool = True  # whether bounds are known for losses that come late

    def exploration(self, rounds: int) -> float:
        """What exploration may cost in so many rounds."""
        return rounds * (1.0 - self.floor.kept) * self.loss_bound
