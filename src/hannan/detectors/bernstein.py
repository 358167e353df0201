"""A Bernstein test of recent values against older ones."""

import math

import numpy as np

from hannan.core.errors import LossError
from hannan.core.state import Array, Count, State
from hannan.core.validation import check_integer, refuse
from hannan.detectors._detector import Detector
from hannan.kernels.drift import has_risen


class Bernstein(Detector):
    r"""Detect a rise by Bernstein tests of the last 8, 16, 32, … values against all older ones.

    Let n be the number of values since the last alarm, and V their variance. For a window of the
    last w values let :math:`1/m = 1/w + 1/(n-w)`. There is an alarm as soon as for some window

    .. math:: \bar e_{\text{recent}} - \bar e_{\text{older}} >
              \sqrt{2 V \lambda / m} + \frac{2\lambda}{3m},
              \qquad \lambda = \log\frac{2 \log(n+2)}{\delta} .

    This is the cut of ADWIN for windows of doubling length, one-sided: falling values are not
    drift. Memory is `longest` numbers; time is logarithmic in `longest`.

    For independent values of one distribution on [0, 1] with known variance, Bernstein's inequality
    bounds the probability of a false alarm at a given value by 0.73 δ. So fewer than 0.73 δ T false
    alarms are expected in T values. With the empirical variance this is an approximation, and a
    cautious one: at the default δ, none of 1,000 runs of 5,000 fair random bits ended in an alarm.
    Errors of a learner are neither independent nor identically distributed. For them the test is a
    heuristic.

    Parameters
    ----------
    delta
        Level δ of the test, in (0, 1). Default 0.001. A smaller δ gives fewer false alarms and
        later detection.
    minimum
        Number of values to read before the first test, >= 1. Default 40.
    longest
        Maximum length of a window, >= 8. Default 8192.

    Examples
    --------
    >>> import hannan as hn
    >>> detector = hn.detectors.Bernstein()
    >>> stream = [0.1, 0.0] * 100 + [0.9, 0.8] * 100
    >>> next(t for t, value in enumerate(stream) if detector.update(value))
    212

    References
    ----------
    [bifet2007]
    """

    stored = State(
        _sums=Array(),
        _spread=Array().where(lambda self, spread: spread[1] >= 0.0),
        _n=Count(),
    )
    room_for = ("longest",)

    def __init__(self, delta: float = 1e-3, minimum: int = 40, longest: int = 8192) -> None:
        if not 0.0 < delta < 1.0:
            raise refuse(self, "delta", "a number in (0, 1)", delta)
        self.delta = delta
        self.minimum = check_integer(self, "minimum", minimum, 1)
        self.longest = check_integer(self, "longest", longest, 8)
        self._sums = np.zeros(longest + 1)
        self._spread = np.zeros(2)
        self._n = 0

    def update(self, value: float) -> bool:
        """Read a number in [0, 1]; return whether the recent numbers are too high."""
        value = float(value)
        if not math.isfinite(value):
            raise LossError(f"Bernstein needs finite numbers in [0, 1]; got {value}.")
        self._n += 1
        held = self._sums, 0, len(self._sums), self._spread, 0
        drift = has_risen(*held, self._n, value, self.minimum, self.delta, 1.0)
        if drift:
            self.reset()
        return bool(drift)
