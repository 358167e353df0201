"""A Bernstein test of recent values against older ones."""

import math

import numpy as np

from hannan.core.errors import LossError
from hannan.core.state import Array, Count, State
from hannan.core.validation import check_integer, refuse
from hannan.detectors._detector import Detector
from hannan.kernels.drift import has_risen


class Bernstein(Detector):
    r"""Compares the last 8, 16, 32, … values with all older ones.

    With n values since the last alarm, a window of the last w, their variance V and
    :math:`1/m = 1/w + 1/(n-w)`, there is an alarm as soon as for some window

    .. math:: \bar e_{\text{recent}} - \bar e_{\text{older}} >
              \sqrt{2 V \lambda / m} + \frac{2\lambda}{3m},
              \qquad \lambda = \log\frac{2 \log(n+2)}{\delta} .

    This is the cut of ADWIN for windows of doubling length, looked at from one side only: values
    that fall are no drift. Memory is `longest` numbers, time is logarithmic in it.

    For independent values of one distribution on [0, 1] with known variance, Bernstein's
    inequality makes
    a false alarm at a given value less likely than 0.73 δ, so that fewer than 0.73 δ T are to be
    expected in T values. With the empirical variance this is an approximation, and a cautious
    one: at the default δ, none of 1,000 runs of 5,000 coin flips ended in an alarm. Errors of a
    learner are neither independent nor of one distribution; on them the test is a heuristic.

    Parameters
    ----------
    delta
        δ, in (0, 1).
    minimum
        Values to read before the first test.
    longest
        No window is longer than this.

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
        """Read one more number, in [0, 1]; whether the recent ones lie too high."""
        value = float(value)
        if not math.isfinite(value):
            raise LossError(f"Bernstein reads finite numbers in [0, 1]; got {value}.")
        self._n += 1
        held = self._sums, 0, len(self._sums), self._spread, 0
        drift = has_risen(*held, self._n, value, self.minimum, self.delta)
        if drift:
            self.reset()
        return bool(drift)
