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
from hannan.learners.certificates import (
    SemiBanditCertificate,
    availability_notes,
    feedback_notes,
)
from hannan.learners.hint import AdvisedRound, Hint, NoHint, Trust
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
    seed, loss_range
        As in `ContextSemiBanditFTPL`.

    Guarantee
    ---------
    Losses in [0, 1], immediate feedback, adaptive adversaries: pseudo-regret at most
    :math:`4\sqrt{dKT}`; with a predictor, however bad, at most
    :math:`S_T + 4.67\sqrt{dKW_T}` with :math:`S_T \le 3\sqrt{GT}` what its hints have measurably
    cost and :math:`W_T \le 10T` (`Trust.share`). Nothing is proved for late feedback.
    [zimmert2021]

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
        weight: float = 1.0
        cost: float = 1.0  # 1/β, by which the variance of estimates grows

        def check(self, n_actions: int | None, sets: bool) -> None:
            super().check(n_actions, sets)
            expect(
                self,
                law=is_array(self.law, n_actions, low=0.0),
                weight=is_number(self.weight, low=0.0),
                cost=is_number(self.cost, low=0.0),
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
        if predictor is not None:
            trust = believed.filled(_EARNED)
            self.hint = Hint(predictor, trust, self.oracle.n_actions, high)
        self._G: float = self.oracle.complexity(oracle.contexts)
        self._key = seed_key(seed)
        self._past: Any = oracle.objective()
        self._W = np.zeros(len(oracle.contexts or ()))
        self._number = 0
        self._loss = 0.0

    def _check_stored(self) -> None:
        super()._check_stored()
        # Among totals that are too large the entropy would be lost in rounding.
        moderate = np.abs(self._past.totals).max() <= _LARGEST * self._range[1]
        expect(self, _W=is_array(self._W, None, low=0.0), _past=bool(moderate))

    def check_round(self, opened: Round) -> None:
        super().check_round(opened)
        self.hint.check(opened, weighed=True)

    def _prepare(self, opened: Round) -> None:
        """Hint, baseline and the law of the base: functions of the context and the past."""
        x, top, hint = opened.context, self._range[1], self.hint
        row = self._past.totals[x]
        if opened.plays is not None:
            row = np.where(opened.plays == np.arange(len(row)), row, np.inf)
        if hint.predictor is not None:
            hint.advise(opened, self._G, self._number + 1)
        share = opened.share
        cost = opened.cost = 1.0 / (1.0 - share)
        eta = 2.0 / (top * math.sqrt(self._W.item(x) + cost))
        law = opened.law = np.empty(len(row))
        opened.exact = True
        if opened.values is None or not hint.signed:
            kernel.law(row, eta, law)
            return
        Q = opened.baseline = np.empty(len(row))
        kernel.capped_law(row, opened.values, _known(opened.advice), share, eta, top, Q, law)

    def _act(self, opened: Round) -> None:
        """The hint, or a draw from the law of the base."""
        advice, share = _known(opened.advice), opened.share
        opened.action, opened.weight = kernel.play(
            opened.law, advice, share, self._key, _STREAM, self._number
        )

    def _played(self, opened: Round) -> None:
        self._number += 1
        self._W[opened.context] += opened.cost
        self.hint.played(opened)

    def _abandoned(self, opened: Round) -> None:
        self.hint.release(opened)

    def _update(self, opened: Round, loss: Any) -> None:
        """ℓ̂ = Q + (ℓ - Q)/q on the action, Q elsewhere."""
        one = self._one(loss)
        baseline, alike = self._availability.shared(opened, opened.baseline, self._range)
        estimate = np.zeros(self.oracle.n_actions) if baseline is None else baseline.copy()
        estimate[alike] += opened.weight * (one - estimate[opened.action])
        self.hint.learn(opened, one)
        # From here on nothing can fail.
        self._past.add(opened.context, estimate)
        self.hint.charge(opened, one, opened.weight)
        self._loss += one

    # What is said -----------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """The best action of every context by the loss estimates so far."""
        best: Policy = self._past.leader()
        return best

    def certificate(self) -> SemiBanditCertificate:
        """Estimates of an upper bound on expected regret so far."""
        notes = [*self.hint.notes, *availability_notes(self._availability)]
        comparator = variance = None
        notes += feedback_notes(self._ledger)
        if self._ledger.prompt and not self._availability.by_score:
            comparator = self._loss - float(self._past.minima(None, 0, 1, 0.0)[0])
            roots = float(np.sqrt(self._W).sum()) * math.sqrt(self.oracle.n_actions)
            variance = self.hint.S + self._constant * self._range[1] * roots
        return SemiBanditCertificate(
            rounds=self.rounds,
            loss=self._loss,
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
        size = self._past.totals.size * rounds * (restarts + 1)
        if not isinstance(self.hint, Hint):
            return self._range[1] * self._constant * math.sqrt(size)
        trust = self.hint.trust
        assert trust.budget is not None
        assert trust.share is not None
        if trust.share == 1.0:
            return None
        hints = trust.budget * math.sqrt(self._G * rounds * (restarts + 1))
        base = self._constant * math.sqrt(size / (1.0 - trust.share))
        return self._range[1] * (base + hints)

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


def _known(advice: int | None) -> int:
    """As kernels take it: -1 for none."""
    return -1 if advice is None else advice
