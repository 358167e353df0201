"""Base of bandit learners on tables of contexts, with a known action distribution."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from hannan.core import (
    Action,
    Feedback,
    Learner,
    Objective,
    Oracle,
    ParameterError,
    Policy,
    Predictor,
)
from hannan.core.oracle import FullTable, extended
from hannan.core.rounds import n_actions_of
from hannan.core.state import Array, Count, NoiseKey, Number, Part, State
from hannan.core.validation import FloatArray, check_chosen_loss, check_seed
from hannan.kernels.drawing import choose, draw
from hannan.learners.certificates import SELECTED, availability_notes, late_notes, selected
from hannan.learners.floor import Floor
from hannan.learners.hint import TABLE, AdvisedRound, Hint, Trust, check_trust
from hannan.learners.shown_losses import check_nonnegative_range
from hannan.learners.statements import SemiBanditCertificate
from hannan.perturbation import seed_key

_LARGEST = 1e12  # total of any action, in units of the largest loss
_STREAM = 5  # smaller ones belong to noise
_NONE = np.empty(0, np.intp)


class KnownDistribution(Learner):
    r"""Base for learners that compute their action distribution, separately for each context.

    The distribution on context x is that of `_distribution(totals, eta)`: the minimiser of
    :math:`\langle w, \hat L_x \rangle + R(w)/\eta` for a convex R, with :math:`\hat L_x` the
    estimated total losses on x. This class handles rounds, hints, exploration, unavailable
    actions, logged decisions, added actions and the certificate. A subclass defines

    - `_distribution`;
    - `_rate`, the learning rate by the clock of a context: its number of visits, each multiplied
      by the factor by which hints and exploration increase the variance;
    - `_constant`, C such that pseudo-regret is at most :math:`C B \sqrt{K W}` at clock W, with
      losses in [0, B];
    - `_entropy`, the largest difference between two values of R;
    - `_weight`, if an estimate is not the loss divided by its propensity;
    - `_choice`, if a predictor's estimates serve as a baseline.

    Parameters
    ----------
    oracle, predictor, trust, exploration, seed, loss_range
        As in `TsallisINF`.
    """

    feedback = Feedback.BANDIT
    oracle: Any
    _scores_actions = True  # type: ignore[assignment]

    stored = State(
        hint=Part(),
        _floor=Part(),
        _key=NoiseKey(),
        _past=Part().where(  # with larger totals, rounding would hide the entropy
            lambda self, past: np.abs(past.totals).max() <= _LARGEST * self._range[1]
        ),
        _W=Array(low=0.0),
        _tops=Array(low=0.0),
        _D=Number(),
        _number=Count(),
        _loss=Number(),
    )

    class Round(AdvisedRound):
        """A round with its action distribution."""

        distribution: FloatArray
        exact: bool | None = True
        weight: float = 1.0
        cost: float = 1.0  # 1/β, the factor by which hints increase the variance of estimates
        scale: float = 1.0  # 1/η

        stored = State(
            distribution=Array(n_actions_of, low=0.0),
            weight=Number(low=0.0),
            cost=Number(low=0.0),
            scale=Number(low=0.0).where(lambda self, scale: scale > 0.0),
        )

        @property
        def inverse(self) -> FloatArray:
            """One over the propensity."""
            return np.array([self.weight])

    def __init__(
        self,
        oracle: Oracle,
        *,
        predictor: Predictor | None = None,
        trust: str | Trust = "earned",
        exploration: float = 0.0,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(oracle, FullTable):
            raise ParameterError(
                f"{name} needs a table, AllPolicies(n_contexts, n_actions); got "
                f"{type(oracle).__name__}. For this policy class use ContextSemiBanditFTPL."
            )
        self.oracle = oracle
        self.predictor = predictor
        self.trust = trust
        self.exploration = exploration
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_nonnegative_range(self, loss_range)
        believed = check_trust(self, trust, predictor, oracle, TABLE)
        if believed.budget is None or believed.baseline == "prediction":
            raise ParameterError(
                f"{name} needs trust='earned', or a Trust with hints; got {trust!r}."
            )
        K = self.oracle.n_actions
        self._floor = Floor(self, exploration, K, oracle)
        self.hint = Hint(predictor, believed, K, (0.0, self._range[1]), self._floor.kept)
        self._G: float = self.oracle.complexity(oracle.contexts)
        self._key = seed_key(seed)
        self._past: Any = oracle.objective()
        self._W = np.zeros(len(oracle.contexts or ()))  # the clock of each context
        self._tops = np.zeros(len(self._W))  # largest 1/η of the decisions with feedback
        self._D = 0.0  # instability cost, and bias of the estimates
        self._number = 0
        self._loss = 0.0

    # Methods of a subclass --------------------------------------------------------------------

    @abstractmethod
    def _distribution(self, totals: FloatArray, eta: float) -> FloatArray:
        """Return the action distribution for these totals; a total of inf means probability 0."""

    @abstractmethod
    def _rate(self, W: float) -> float:
        """Return η at the clock of a context, this round included."""

    @property
    @abstractmethod
    def _constant(self) -> float:
        """Constant C of the bound on pseudo-regret."""

    @property
    @abstractmethod
    def _entropy(self) -> float:
        """Largest difference between two values of R."""

    def _choice(self, opened: Round, totals: FloatArray, eta: float) -> FloatArray:
        """Return the distribution of the base learner's choice; may set the round's baseline."""
        return self._distribution(totals, eta)

    def _weight(self, opened: Round) -> float:
        """Return the weight of the loss in its estimate."""
        return opened.weight

    # The round ----------------------------------------------------------------------------------

    def _check_state(self) -> None:
        for opened in self._ledger.opened:
            assert isinstance(opened, self.Round)
            self.hint.check(opened, weighed=True)

    def _prepare(self, opened: Round) -> None:
        """Set hint, exploration and distribution: functions of the context and the past."""
        if self.hint.predictor is not None:
            self.hint.advise(opened, self._G, self._number + 1, True)
        if self.exploration:
            self._floor.raise_to(opened)
        x = opened.context
        totals = self._past.totals[x]
        if opened.plays is not None:
            totals = np.where(opened.plays == np.arange(len(totals)), totals, np.inf)
        opened.cost = 1.0 / ((1.0 - opened.share) * (1.0 - opened.explores))
        eta = self._rate(self._W.item(x) + opened.cost)
        opened.scale = 1.0 / eta
        opened.distribution = self._choice(opened, totals, eta)

    def _act(self, opened: Round) -> None:
        """Play the hint, a draw from the distribution, or any action to explore."""
        available = opened.choices(len(opened.distribution)) if opened.explores else _NONE
        opened.action, q, opened.explored = draw(
            opened.distribution, -1 if opened.advice is None else opened.advice, opened.share,
            opened.explores, available, self._key, _STREAM, self._number,
        )  # fmt: skip
        opened.weight = 1.0 / q

    def _played(self, opened: Round) -> None:
        self._number += 1
        self._W[opened.context] += opened.cost
        if self.hint.mixes:
            self.hint.played(opened)

    def _abandoned(self, opened: Round) -> None:
        self.hint.release(opened)

    def _update(self, opened: Round, loss: Any) -> None:
        """Add the estimate: Q on all actions, and the weighted residual ℓ - Q on the chosen one."""
        cost, action = check_chosen_loss(loss, self._range), opened.action
        baseline, alike = opened.baseline, action
        if opened.plays is not None:  # all actions with this substitute get the same estimate
            baseline, alike = self._availability.shared(opened, baseline, self._range)
        estimate = np.zeros(len(opened.distribution)) if baseline is None else baseline.copy()
        weight = self._weight(opened)
        residual = weight * (cost - estimate.item(action))
        estimate[alike] += residual
        if self.hint.predictor is not None:
            self.hint.predictor.learn(opened.context, action, cost)
        # From here on nothing can fail.
        x, totals = opened.context, self._past.totals[opened.context]
        scale = self._tops[x] = max(self._tops.item(x), opened.scale)
        if opened.late and baseline is not None and opened.plays is None:
            now = self._distribution(totals + baseline, 1.0 / scale)
            moved = zip(baseline, opened.distribution, now, strict=True)
            self._D += float(sum(guess * (p - q) for guess, p, q in moved))
        totals += estimate
        if residual != 0.0 and opened.plays is None:
            # Compare the action's probability at the decision with that given all losses now.
            p, now = opened.distribution.item(action), self._distribution(totals, 1.0 / scale)
            self._D += residual * (p - now.item(action)) + p * (opened.weight - weight) * cost
        if self.hint.mixes:
            self.hint.charge(opened, cost, opened.weight)
        if opened.explores:
            self._floor.charge(opened, cost)
        self._loss += cost

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """Learn as `_update` does, with weights capped as in Algorithm 3."""
        cost, visits = check_chosen_loss(loss, self._range), self._W.item(context) + 1.0
        estimate = np.zeros(self.oracle.n_actions)
        most = max(2.0, math.sqrt(len(estimate) * visits))
        estimate[action] = min(1.0 / propensity, most) * cost
        if self.hint.predictor is not None:
            self.hint.predictor.learn(context, action, cost)
        # From here on nothing can fail.
        self._past.add(context, estimate)
        self.hint.with_feedback += 1
        self._W[context] += 1.0

    # Statements ---------------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """Return the policy with the best action of each context by the loss estimates so far."""
        return self._past.leader()  # type: ignore[no-any-return]

    def certificate(self) -> SemiBanditCertificate:
        """Return estimates of an upper bound on the expected regret so far."""
        notes = [*self.hint.notes, *availability_notes(self._availability)]
        notes += late_notes(self._ledger)
        stability = comparator = variance = None
        if selected(self._ledger, self.hint):
            notes.append(SELECTED)
        elif not self._availability.by_score and not self._ledger.logged:
            K, B = self.oracle.n_actions, self._range[1]
            paid = self.hint.S + self.hint.unpaid + self._floor.price
            paid += self._ledger.without_feedback * B
            stability = paid + self._D + self._entropy * float(self._tops.sum())
            comparator = (
                self._loss - float(self._past.minima()[0]) + self._ledger.without_feedback * B
            )
            if self._ledger.immediate:
                roots = float(np.sqrt(self._W).sum()) * math.sqrt(K)
                variance = paid + self._constant * B * roots
        return SemiBanditCertificate.of(
            self.rounds,
            self._loss,
            notes,
            stability_estimate=stability,
            variance_estimate=variance,
            comparator_estimate=comparator,
        )

    def regret_bound(self) -> float | None:
        """Return a bound on the pseudo-regret so far, for any adversary; None if unknown."""
        if self._availability.by_score or not self._ledger.immediate:
            return None
        return self.worst_case(self.rounds, 0)

    def worst_case(
        self, rounds: int, restarts: int, total_delay: int = 0, without_feedback: int = 0
    ) -> float | None:
        """Return the bound over a run with `restarts` restarts: a sum of roots per segment."""
        if total_delay:
            return None
        rounds += without_feedback
        kept, B = self._floor.kept, self._range[1]
        size = self._past.totals.size * rounds * (restarts + 1) / kept
        explored = (1.0 - kept) * rounds
        if self.hint.predictor is None:
            return B * (self._constant * math.sqrt(size) + explored)
        trust = self.hint.trust
        assert trust.share is not None
        if trust.share == 1.0:
            return None
        hints = trust.limit(self._G * rounds, restarts + 1)
        base = self._constant * math.sqrt(size / (1.0 - trust.share))
        return B * (base + hints + explored)

    @property
    def predictor_(self) -> Any:
        """The copy of the predictor that has learned from all observed losses, or None."""
        return self.hint.predictor

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return check_chosen_loss(loss, self._range)

    # Parts ------------------------------------------------------------------------------------

    def _action_distribution(self, opened: Round) -> FloatArray:
        return opened.mixed(opened.distribution)

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        distribution = self._action_distribution(opened)
        return [choose(distribution, u) for u in rng.random(copies)]

    def _total(self) -> Objective:
        return self._past  # type: ignore[no-any-return]

    def _extended(self, n_actions: int, changes: dict[str, Any]) -> Self:
        twin = self.clone(**changes)
        twin._past = extended(self._past, twin.oracle)
        twin.hint = self.hint.extended(n_actions, twin._floor.kept)
        twin._floor.price = self._floor.price
        twin._W, twin._tops = self._W.copy(), self._tops.copy()
        twin._D, twin._loss = self._D, self._loss
        twin._key, twin._number = self._key, self._number
        return twin
