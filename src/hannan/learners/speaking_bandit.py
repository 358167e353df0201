"""What a semi-bandit learner can say of its play, and the settings it refuses."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core import Objective, ParameterError
from hannan.core.propensities import Propensities
from hannan.core.validation import FloatArray, check_integer
from hannan.learners.advice import Advice
from hannan.learners.certificate import SemiBanditCertificate, came_and_went
from hannan.learners.playout_bandit import PlayoutBandit
from hannan.learners.tickets import Ticket

_PROPENSITY_STREAM = 2


class SpeakingBandit(PlayoutBandit):
    """Statements about a game so far, from what was measured in play."""

    _advice: Advice | None
    _loss: float
    _truncation: float
    _variance: float
    _last_scale: float
    _start: float

    @abstractmethod
    def _advise(self, context: Any, n: int) -> tuple[FloatArray | None, FloatArray | None]:
        """The predictor's hint and baseline for round n."""

    @abstractmethod
    def _played(self, ticket: Ticket) -> Objective:
        """The totals whose perturbed leader is played."""

    @property
    def forecaster(self) -> Any:
        """The predictor at work, which has learned all that was seen, or None."""
        return None if self._advice is None else self._advice.predictor

    def propensities(
        self, context: Any = None, draws: int = 1000, available: Any = None
    ) -> Propensities:
        """The probability of each element to be chosen on a context now.

        Exact where the oracle can compute it; else from `draws` draws of a stream of their own,
        so that asking never changes what is played.
        """
        context = self._check_context(context)
        check_integer(self, "draws", draws, 2)
        there = None if available is None else self._check_available(available)
        ahead = copy.copy(self)  # where ε is set for the round to come, as `act` would set it
        stands = ahead._stand_ins(context, there)
        if self._playout is not None:
            law = self._law_played_out(context, self._clock, stands)
            return Propensities(law, np.zeros(self._K), 0)
        played, scale = ahead._prospect(context, stands), ahead._scale
        if scale == 0.0:
            q = played.chosen(context, None, 0, 1, 0.0)[0].astype(np.float64)
            return Propensities(q, np.zeros(self._K), 0)
        exact = played.law(context, self._fakes, scale)
        if exact is not None:
            return Propensities(exact, np.zeros(self._K), 0)
        own = self.oracle.noise(self._perturbed, self._key, _PROPENSITY_STREAM, self.noise_memory)
        first = self._decided * draws
        q = played.chosen(context, own, first, draws, scale).mean(axis=0)
        return Propensities(q, np.sqrt(q * (1.0 - q) / draws), draws)

    def certificate(self) -> SemiBanditCertificate:
        """Estimates of an upper bound on expected regret so far; see `SemiBanditCertificate`."""
        known: dict[str, Any] = {
            "rounds": self.rounds,
            "loss": self._loss,
            "truncation": self._truncation,
        }
        notes = []
        advice = self._advice
        if not self._covered:
            notes.append("contexts were not known in advance: no theorem applies")
        if not self.oracle.exact:
            notes.append("the oracle is inexact: no theorem applies")
        if advice is not None and advice.trust != "strict":
            notes.append("a baseline may over-predict, which nobody can observe: estimates void")
        if self._sorted:
            notes += came_and_went(self)
        if notes:
            return SemiBanditCertificate(**known, notes=tuple(notes))
        notes += came_and_went(self)
        comparator = self._loss - float(self._history.minima(None, 0, 1, 0.0)[0])
        if self._playout is not None:
            notes.append("contexts must be fixed in advance or drawn from the pool given")
            if self._delayed:
                notes.append("feedback was delayed: nothing is proved then")
            elif isinstance(self.epsilon, str):
                known["a_priori"] = self._playout_bound(self._log_size()).value
            return SemiBanditCertificate(
                **known, comparator_estimate=comparator, notes=tuple(notes)
            )
        error = self._last_scale * self._estimate().upper if self._last_scale else 0.0
        stability = variance = None
        if self._delayed and not self._anytime:
            notes.append("feedback was delayed: only epsilon='anytime' is analysed then")
        else:
            if self._adaptive:
                S = 0.0 if advice is None else advice.S
                stability = S + self._D - self._start + error + self._truncation
            if advice is None and not self._delayed:
                variance = self._variance + error + self._truncation
        return SemiBanditCertificate(
            **known,
            stability_estimate=stability,
            variance_estimate=variance,
            comparator_estimate=comparator,
            notes=tuple(notes),
        )


def check_setting(learner: Any) -> None:
    """Refuse what no theorem and no algorithm allows with semi-bandit feedback."""
    low = learner._range[0]
    if low < 0.0 or not math.isfinite(learner._range[1]):
        raise ParameterError(
            f"ContextSemiBanditFTPL needs losses in a range (low, high) with 0 <= low; got "
            f"loss_range={learner.loss_range}. The theorem needs non-negative losses: add a "
            "constant to each element's loss so that none is negative."
        )
    if learner.noise == "once":
        raise ParameterError(
            "noise='once' is not possible with semi-bandit feedback: loss estimates depend on "
            "past noise. Use noise='fresh'."
        )
    if learner.oracle.n_actions is None:
        raise ParameterError(
            "ContextSemiBanditFTPL needs the number of actions: give "
            f"{type(learner.oracle).__name__} its n_actions=."
        )
    if learner.predictor is not None and learner._playout is not None:
        raise ParameterError("perturbation='playout' takes no predictor=.")
    if (
        learner.predictor is not None
        and learner.trust != "baseline"
        and learner.oracle.max_chosen > 1
    ):
        raise ParameterError(
            f"trust={learner.trust!r} uses hints, which are for single actions; with sets of "
            "elements use trust='baseline'."
        )
