"""Tsallis-INF on a table of contexts."""

from __future__ import annotations

import math
from typing import Any

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
from hannan.core.kept import expect, is_array, is_number
from hannan.core.validation import (
    FloatArray,
    check_chosen_loss,
    check_loss_range,
    check_seed,
)
from hannan.kernels import tsallis as kernel
from hannan.kernels.noise import uniform
from hannan.learners.certificates import (
    SELECTED,
    SemiBanditCertificate,
    availability_notes,
    late_notes,
    selected,
)
from hannan.learners.floor import Floor
from hannan.learners.hint import AdvisedRound, Hint, NoHint, Trust
from hannan.learners.table_hint import hint_of
from hannan.perturbation import seed_key

_LARGEST = 1e12  # total of any action, in units of the largest loss
_STREAM = 5  # smaller ones belong to noise
_EARNED = Trust(3.0, prior=2.0, floor=0.25, share=0.9)


class TsallisINF(Learner):
    r"""Tsallis-INF, bandit feedback, one game for each context of a table.

    On context x the action is drawn from

    .. math:: w = \arg\min_w \langle w, \hat L_x \rangle - \frac4\eta \sum_k \sqrt{w_k} ,
              \qquad \eta = 2/\sqrt{W_x} ,

    :math:`\hat L_x` the estimated losses there so far and :math:`W_x` the number of visits, this
    one included. The law is known, so no resampling is needed. Regret is of order
    :math:`\sqrt{KT}` against any adversary, and of order :math:`\log T` where losses are drawn
    from a law that stays: nothing has to be known of which it is.

    Parameters
    ----------
    oracle
        `AllPolicies(d, K)`; d = 1 for plain arms.
    predictor
        Recommends actions and estimates losses, as in `ContextSemiBanditFTPL`.
    trust
        "earned", or a `Trust`.
    exploration
        The least probability of every available action, as in `ContextSemiBanditFTPL`.
    seed, loss_range
        As in `ContextSemiBanditFTPL`.

    Guarantee
    ---------
    Losses in [0, 1], immediate feedback, adaptive adversaries: pseudo-regret at most
    :math:`4\sqrt{dKT}`; with a predictor, however bad, at most
    :math:`S_T + 4.67\sqrt{dKW_T}` with :math:`S_T \le 3\sqrt{GT}` what its hints have measurably
    cost and :math:`W_T \le 10T` (`Trust.share`). With late feedback, whatever delays depend on, the
    certificate stays valid: what instability cost is measured. [zimmert2021]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.TsallisINF(hn.oracles.AllPolicies(1, 3), seed=0)
    >>> for t in range(300):
    ...     action = learner.act()
    ...     learner.update(0.2 if action == 1 else 0.8)
    >>> learner.best_policy()(0), learner.propensities().probabilities.round(2)
    (1, array([0.  , 0.94, 0.06]))

    References
    ----------
    [zimmert2021]
    """

    feedback = Feedback.SEMI
    oracle: Any
    _scores_actions = True  # type: ignore[assignment]
    _derived = frozenset({"_G"})

    class Round(AdvisedRound):
        """A round with the law it was drawn from."""

        law: FloatArray
        exact: bool | None = True
        weight: float = 1.0
        cost: float = 1.0  # 1/β, by which the variance of estimates grows
        scale: float = 1.0  # 1/η

        def check(self, n_actions: int | None, sets: bool) -> None:
            super().check(n_actions, sets)
            expect(
                self,
                law=is_array(self.law, n_actions, low=0.0),
                weight=is_number(self.weight, low=0.0),
                cost=is_number(self.cost, low=0.0),
                scale=is_number(self.scale, low=0.0) and self.scale > 0.0,
            )

        @property
        def inverse(self) -> FloatArray:
            """One over the probability of the action."""
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
        if not isinstance(oracle, Oracle) or not oracle.every_map:
            raise ParameterError(
                "TsallisINF plays on tables: give it AllPolicies(n_contexts, n_actions). For "
                f"{type(oracle).__name__} use ContextSemiBanditFTPL."
            )
        self.oracle = oracle
        self.predictor = predictor
        self.trust = trust
        self.exploration = exploration
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        low, high = self._range = check_loss_range(self, loss_range)
        if low < 0.0 or not math.isfinite(high):
            raise ParameterError(
                "TsallisINF needs losses in a range (low, high) with 0 <= low; got "
                f"loss_range={loss_range}."
            )
        believed = _EARNED if trust == "earned" else trust
        if (
            not isinstance(believed, Trust)
            or believed.budget is None
            or believed.baseline == "guess"
        ):
            raise ParameterError(
                f"TsallisINF needs trust='earned', or a Trust with hints; got {trust!r}."
            )
        self.hint = NoHint()
        self._floor = Floor(self, exploration, self.oracle.n_actions, 1)
        if predictor is not None:
            trust, kept = believed.filled(_EARNED), self._floor.kept
            self.hint = hint_of(predictor, trust, self.oracle.n_actions, (0.0, high), kept)
        self._G: float = self.oracle.complexity(oracle.contexts)
        self._key = seed_key(seed)
        self._past: Any = oracle.objective()
        self._W = np.zeros(len(oracle.contexts or ()))
        self._tops = np.zeros(len(self._W))  # largest 1/η at which an answered round was decided
        self._D = 0.0  # what instability has cost
        self._number = 0
        self._loss = 0.0

    def _check_stored(self) -> None:
        super()._check_stored()
        # Among totals that are too large the entropy would be lost in rounding.
        moderate = np.abs(self._past.totals).max() <= _LARGEST * self._range[1]
        expect(
            self,
            _W=is_array(self._W, None, low=0.0),
            _tops=is_array(self._tops, len(self._W), low=0.0),
            _past=bool(moderate),
        )

    def check_round(self, opened: Round) -> None:
        super().check_round(opened)
        self.hint.check(opened, weighed=True)

    def _prepare(self, opened: Round) -> None:
        """Hint and exploration: functions of the context and the past."""
        if self.hint.predictor is not None:
            self.hint.advise(opened, self._G, self._number + 1)
        if self.exploration:
            self._floor.raise_to(opened)

    def _act(self, opened: Round) -> None:
        """The hint, a draw from the law of the base, or any action to explore."""
        x, totals, values, advice = opened.context, self._past.totals, opened.values, opened.advice
        place, K = x, totals.shape[1]
        if opened.plays is not None:
            place, totals = 0, np.where(opened.plays == np.arange(K), totals[x], np.inf)[None, :]
        law = opened.law = np.empty(K)
        # Which late rounds are answered may depend on what was played. Then a baseline would bias
        # what is known of the others.
        covered = values is not None and self.hint.signed and not opened.late
        if covered:
            opened.baseline = np.empty(K)
        opened.action, opened.weight, opened.cost, opened.scale = kernel.decide(
            totals, place, self._W.item(x), values if covered else law, covered,
            -1 if advice is None else advice, opened.share, 1.0 - opened.explores, self._range[1],
            self._key, _STREAM, self._number, opened.baseline if covered else law, law,
        )  # fmt: skip
        if opened.explores:
            self._explore(opened)

    def _explore(self, opened: Round) -> None:
        """By the same random number, which may decide on any action now."""
        u, explores = float(uniform(self._key, _STREAM, self._number)), opened.explores
        chosen = opened.without_base(u, len(opened.law))
        if chosen is None:
            left = explores + (1.0 - explores) * opened.share
            chosen = int(kernel.choose(opened.law, (u - left) / (1.0 - left)))
        opened.action = chosen
        opened.weight = 1.0 / float(opened.mixed(opened.law)[chosen])

    def _played(self, opened: Round) -> None:
        self._number += 1
        self._W[opened.context] += opened.cost
        self.hint.played(opened)

    def _abandoned(self, opened: Round) -> None:
        self.hint.release(opened)

    def _update(self, opened: Round, loss: Any) -> None:
        """ℓ̂ = Q + (ℓ - Q)/q on the action, Q elsewhere."""
        one, baseline = self._one(loss), opened.baseline
        estimate = None if opened.plays is None else self._restricted_estimate(opened, one)
        self.hint.learn(opened, one)
        # From here on nothing can fail.
        if estimate is None:
            covered = baseline is not None
            self._D += kernel.learn(
                self._past.totals, opened.context, self._tops, opened.scale,
                baseline if covered else opened.law, covered, opened.law, opened.action,
                opened.weight, one, opened.late,
            )  # fmt: skip
        else:
            self._past.add(opened.context, estimate)
            self._tops[opened.context] = max(self._tops.item(opened.context), opened.scale)
        self.hint.charge(opened, one, opened.weight)
        if opened.explores:
            self._floor.charge(opened, one)
        self._loss += one

    def _restricted_estimate(self, opened: Round, loss: float) -> FloatArray:
        """Actions that are played alike share what is learned; nothing is said of such games."""
        baseline, alike = self._availability.shared(opened, opened.baseline, self._range)
        estimate = np.zeros(len(opened.law)) if baseline is None else baseline.copy()
        estimate[alike] += opened.weight * (loss - estimate.item(opened.action))
        return estimate

    # What is said -----------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """The best action of every context by the loss estimates so far."""
        best: Policy = self._past.leader()
        return best

    def certificate(self) -> SemiBanditCertificate:
        """Estimates of an upper bound on expected regret so far."""
        notes = [*self.hint.notes, *availability_notes(self._availability)]
        notes += late_notes(self._ledger)
        stability = comparator = variance = None
        if selected(self._ledger, self.hint):
            notes.append(SELECTED)
        elif not self._availability.by_score and not self._ledger.logged:
            K, B = self.oracle.n_actions, self._range[1]
            paid = self.hint.S + self._floor.price + self._ledger.unanswered * B
            # Entropy of a table at most, and nothing at its corners.
            stability = paid + self._D + 4.0 * (math.sqrt(K) - 1.0) * float(self._tops.sum())
            comparator = self._loss - float(self._past.minima()[0])
            comparator += self._ledger.unanswered * B
            if self._ledger.prompt:
                roots = float(np.sqrt(self._W).sum()) * math.sqrt(K)
                variance = paid + self._constant * B * roots
        return SemiBanditCertificate(
            rounds=self.rounds,
            loss=self._loss,
            stability_estimate=stability,
            variance_estimate=variance,
            comparator_estimate=comparator,
            notes=tuple(notes),
        )

    def regret_bound(self) -> float | None:
        """What theory promises for pseudo-regret so far, for any adversary."""
        if self._availability.by_score or not self._ledger.prompt:
            return None
        return self.worst_case(self.rounds, 0)

    def worst_case(
        self, rounds: int, restarts: int, total_delay: int = 0, unanswered: int = 0
    ) -> float | None:
        """For a game with restarts: roots of parts add up to no more than the root of all."""
        if total_delay:
            return None
        rounds += unanswered
        kept, B = self._floor.kept, self._range[1]
        size = self._past.totals.size * rounds * (restarts + 1) / kept
        explored = (1.0 - kept) * rounds
        if not isinstance(self.hint, Hint):
            return B * (self._constant * math.sqrt(size) + explored)
        trust = self.hint.trust
        assert trust.budget is not None
        assert trust.share is not None
        if trust.share == 1.0:
            return None
        hints = trust.budget * math.sqrt(self._G * rounds * (restarts + 1))
        base = self._constant * math.sqrt(size / (1.0 - trust.share))
        return B * (base + hints + explored)

    def _take_over(self, other: Any, n_actions: int, changes: dict[str, Any]) -> None:
        self._past = other._past.extended(self.oracle)
        self.hint = other.hint.extended(n_actions, self._floor.kept)
        self._floor.price = other._floor.price
        self._W, self._tops = other._W.copy(), other._tops.copy()
        self._D, self._loss = other._D, other._loss
        self._key, self._number = other._key, other._number

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """As `_update`, with weights no larger than those of Algorithm 3 may be."""
        one, visits = self._one(loss), self._W.item(context) + 1.0
        estimate = np.zeros(self.oracle.n_actions)
        most = max(2.0, math.sqrt(len(estimate) * visits))
        estimate[action] = min(1.0 / propensity, most) * one
        if self.hint.predictor is not None:
            self.hint.predictor.learn(context, action, one)
        # From here on nothing can fail.
        self._past.add(context, estimate)
        self._W[context] += 1.0

    @property
    def predictor_(self) -> Any:
        """The predictor at work, which has learned all that was seen, or None."""
        return self.hint.predictor

    def loss_suffered(self, action: Action, loss: Any) -> float:
        """What an action has cost."""
        return self._one(loss)

    # Parts ------------------------------------------------------------------------------------

    @property
    def _constant(self) -> float:
        return 4.0 if self.hint.predictor is None else 4.67

    def _law(self, opened: Round) -> FloatArray:
        if opened.law is None:  # found where the action is drawn, which changes the round alone
            self._act(opened)
        return opened.mixed(opened.law)

    def _replay(self, opened: Round, copies: int, rng: np.random.Generator) -> list[Action]:
        law = self._law(opened)
        return [int(kernel.choose(law, u)) for u in rng.random(copies)]

    def _total(self) -> Objective:
        past: Objective = self._past
        return past

    def _one(self, loss: Any) -> float:
        if isinstance(loss, float) and self._range[0] <= loss <= self._range[1]:
            return loss
        return check_chosen_loss(loss, self._range)
