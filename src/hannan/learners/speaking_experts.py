"""What a full-information learner can say of its play."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from hannan.core.validation import check_probability
from hannan.learners import promise
from hannan.learners.certificate import Certificate, came_and_went
from hannan.learners.forecast import Forecast
from hannan.learners.late_experts import LateExperts


class SpeakingExperts(LateExperts):
    """Statements about a game so far, from what was measured in play."""

    _forecast: Forecast | None
    _loss: float
    _stability: float
    _last_scale: float

    @property
    @abstractmethod
    def _width(self) -> float:
        """How much more than another an action can lose in a round, beyond what was guessed."""

    def certificate(self, confidence: float = 0.95) -> Certificate:
        """What can be said about regret so far.

        Parameters
        ----------
        confidence
            Probability of the high-probability statement.
        """
        check_probability(self, "confidence", confidence)
        regret = self._loss - float(self._history.plain().minima(None, 0, 1, 0.0)[0])
        known: dict[str, Any] = {
            "rounds": self.rounds,
            "loss": self._loss,
            "realised_regret": regret,
        }
        notes = []
        if not self._covered:
            notes.append("contexts were not known in advance: no theorem applies")
        if not self.oracle.exact:
            notes.append("the oracle is inexact: no theorem applies, true regret may be larger")
        if self.noise == "once":
            notes.append("noise drawn once: bounds need an oblivious adversary and a fixed ε")
        if self._delayed:
            notes.append("losses came late: no bound is kept for that")
        notes += came_and_went(self)
        if self._forecast is not None:
            known["prediction_error"] = self._forecast.squared_error
        covered = self._covered and self.oracle.exact and not self._delayed and not self._sorted
        if not covered or (self.noise == "once" and self._adaptive):
            return Certificate(**known, notes=tuple(notes))
        if self._playout is not None:
            notes.append("contexts must be fixed in advance or drawn from the pool given")
            return Certificate(**known, a_priori=self._playout_bound(), notes=tuple(notes))
        error = promise.error(self)
        measured = self._D + error if self._adaptive else None
        certain = None
        if measured is not None and math.isfinite(self._width) and confidence < 1.0:
            spread = math.sqrt(self.rounds * -math.log1p(-confidence) / 2.0)
            certain = measured + self._deviation * spread
        return Certificate(
            **known,
            measured=measured,
            a_priori=self._stability + error,
            high_probability=certain,
            confidence=confidence,
            theorem_5=promise.theorem_5(self),
            notes=tuple(notes),
        )

    @property
    def forecaster(self) -> Any:
        """The predictor at work, where there is one."""
        return None if self._forecast is None else self._forecast.predictor

    @property
    def _deviation(self) -> float:
        r"""The range of what a round adds to loss - D: :math:`Q(\pi_t) + (f-Q)(\hat\pi_t)`."""
        return self._width if self._forecast is None else 1.5 * self._width
