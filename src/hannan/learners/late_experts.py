"""Full information that comes late."""

from __future__ import annotations

from typing import Any

from hannan.core import Decision, LateLearner, ParameterError
from hannan.core.available import IntArray
from hannan.learners.playout_experts import PlayoutExperts


class LateExperts(PlayoutExperts, LateLearner):
    """A full-information learner that may have many rounds open, where its noise is not measured.

    Self-tuning settles a round under the noise it was played with and the losses before it, and
    means nothing if other losses came in between.
    """

    predictor: Any

    def _decide(self, context: Any, available: IntArray | None = None) -> Decision:
        if self._adaptive or self._playout is not None or self.predictor is not None:
            raise ParameterError(
                f"{type(self).__name__} cannot learn late with epsilon='adaptive', which measures "
                "each round under the noise it was played with, nor with perturbation='playout' "
                "or a predictor. Use epsilon='anytime' or a number."
            )
        return super()._decide(context, available)
