"""Two tests for drift that have to agree."""

import math

import numpy as np

from hannan.core import LossError
from hannan.core.state import MOST, Array, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.detectors import Bernstein
from hannan.kernels import drift as kernel


def _could_be(numbers: FloatArray) -> bool:
    """Whether two tests could have left these numbers."""
    counts = numbers[kernel.COUNTS : kernel.SPREADS]
    spreads = numbers[kernel.SPREADS : kernel.SUMS]
    return bool(
        np.array_equal(numbers[: kernel.TOTALS], Agreement().numbers[: kernel.TOTALS])
        and (numbers[kernel.TOTALS : kernel.COUNTS] >= 1.0).all()
        and ((counts >= 0.0) & (counts <= MOST) & (counts % 1.0 == 0.0)).all()
        and (spreads[1::2] >= 0.0).all()
    )


class Agreement(Stored):
    """Two tests as in `Bernstein`, on two streams; drift is what both have found lately.

    An alarm of one counts for as many rounds as were read until then. The streams are errors of
    predictions, as in `DriftMonitor`: less the variance that explains them, and as they are.
    """

    stored = State(numbers=Array().where(lambda self, numbers: _could_be(numbers)))

    def __init__(self) -> None:
        test = Bernstein()
        self.numbers = np.zeros(kernel.SUMS + 2 * (test.longest + 1))
        self.numbers[: kernel.COUNTS] = test.minimum, test.delta, 1.0, 1.0

    def update(self, first: float, second: float) -> bool:
        """Read one more number of each stream, in [0, 1]; whether there is drift."""
        if not math.isfinite(first + second):
            raise not_finite(first, second)
        return bool(kernel.both_have_risen(self.numbers, first, second))

    def weigh(self, square: float, variance: float) -> bool:
        """The same of its squared error, and of the variance of a 0/1 loss with that mean."""
        found: int = kernel.weigh(self.numbers, square, variance)
        if found < 0:
            raise not_finite(square, variance)
        return found > 0


def not_finite(*values: float) -> LossError:
    """What to say of errors that cannot be compared."""
    return LossError(f"A test for drift reads finite numbers in [0, 1]; got {values}.")
