"""Two tests for drift that have to agree."""

import math

import numpy as np

from hannan.core import LossError
from hannan.core.kept import MOST, expect, is_array
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.detectors import Bernstein
from hannan.kernels.drift import both_have_risen, watch


class Agreement(Stored):
    """Two tests as in `Bernstein`, on two streams; drift is what both have found lately.

    An alarm of one counts for as many rounds as were read until then. Both are in one compiled
    call, since they are asked in every round.
    """

    _fixed = frozenset({"_settings"})

    def __init__(self) -> None:
        test = Bernstein()
        self._settings = test.minimum, test.delta
        self._sums = np.zeros((2, test.longest + 1))
        self._spreads = np.zeros((2, 2))
        self._counts = np.zeros(5, dtype=np.int64)

    def _check_stored(self) -> None:
        expect(
            self,
            _spreads=bool((self._spreads[:, 1] >= 0.0).all()),
            _counts=is_array(self._counts, None, dtype=np.int64, low=0, high=MOST),
        )

    def update(self, first: float, second: float) -> bool:
        """Read one more number of each stream, in [0, 1]; whether there is drift."""
        values = first, second
        if not math.isfinite(first + second):
            raise _not_finite(values)
        return bool(
            both_have_risen(self._sums, self._spreads, self._counts, values, *self._settings)
        )

    def watch(
        self, totals: FloatArray, loss: float, expected: float, low: float, width: float
    ) -> bool:
        """Read how wrong a prediction was: see `DriftMonitor`, whose totals are updated here."""
        sums, spreads, counts = self._sums, self._spreads, self._counts
        found: int = watch(
            sums, spreads, counts, totals, loss, expected, low, width, *self._settings
        )
        if found < 0:
            raise _not_finite((loss, expected))
        return found > 0


def _not_finite(values: tuple[float, float]) -> LossError:
    return LossError(f"A test for drift reads finite numbers in [0, 1]; got {values}.")
