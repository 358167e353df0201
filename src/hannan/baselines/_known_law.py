"""What learners that know the probability of each action have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core import Learner
from hannan.core.available import IntArray
from hannan.core.propensities import Propensities
from hannan.core.validation import FloatArray, check_integer


class KnownLaw(Learner):
    """The law of the next action has a formula."""

    def propensities(
        self, context: Any = None, draws: int = 1000, available: Any = None
    ) -> Propensities:
        """The probability of each element to be chosen on a context now: exact, without draws."""
        checked = self._check_context(context)
        check_integer(self, "draws", draws, 2)  # as where it is needed
        there = None if available is None else self._check_available(available)
        law = self._chances(checked, there)
        return Propensities(law, np.zeros(len(law)), 0)

    @abstractmethod
    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        """The probability of each of K elements, where all are there or only these."""
