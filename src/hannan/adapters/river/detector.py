"""Drift detectors of river."""

import math
from collections import deque
from typing import Any

from hannan.adapters.river._models import check_seeded, is_finite, load
from hannan.core import LossError
from hannan.core.validation import check_integer, refuse
from hannan.detectors import Detector


class RiverDetector(Detector):
    r"""A drift detector of river that reports only rising values, for `Restarting`.

    river's detectors report any change. After a change, `RiverDetector` compares the mean of the
    last values with the mean of all older ones since the last change,

    .. math:: \frac1r \sum_{i > n-r} e_i > \frac1{n-r} \sum_{i \le n-r} e_i ,
              \qquad r = \min(\text{recent}, \lfloor n/2 \rfloor),

    and raises an alarm only in this case. After any change the detector is reset.

    Parameters
    ----------
    detector
        Detector such as `river.drift.PageHinkley()`; it is cloned and never changed. A random
        detector (`KSWIN`) needs its `seed`.
    recent
        Number of values that count as the last ones, >= 1. Default 30. A good value is the number
        of values that the detector needs to detect a change.
    threshold
        Threshold for the detectors of `river.drift.binary`, which read booleans: they read whether
        a value is above the threshold. Default 0.5.

    Examples
    --------
    >>> import hannan as hn
    >>> from river import drift
    >>> detector = hn.adapters.RiverDetector(drift.PageHinkley())
    >>> rising = [0.1, 0.0] * 100 + [0.9, 0.8] * 100
    >>> next(t for t, value in enumerate(rising) if detector.update(value))
    274
    >>> detector.reset()
    >>> any(detector.update(1.0 - value) for value in rising)
    False

    References
    ----------
    [bifet2007]
    """

    _unstorable = "it contains a detector of river, which only pickle can store"

    def __init__(self, detector: Any, recent: int = 30, threshold: float = 0.5) -> None:
        base = load("base")
        self._binary = isinstance(detector, base.BinaryDriftDetector)
        if not self._binary and not isinstance(detector, base.DriftDetector):
            raise refuse(self, "detector", "an instance of a drift detector of river", detector)
        check_seeded(self, "detector", detector)
        self.detector = detector
        self.recent = check_integer(self, "recent", recent, 1)
        if not is_finite(threshold):
            raise refuse(self, "threshold", "a finite number", threshold)
        self.threshold = threshold
        self._inner = detector.clone()
        self._last: deque[float] = deque(maxlen=recent)
        self._older = (0, 0.0)  # number and sum of the older values

    def update(self, value: float) -> bool:
        """Read a number; return whether there is a change to higher values."""
        value = float(value)
        if not math.isfinite(value):
            raise LossError(f"RiverDetector needs finite numbers; got {value}.")
        if len(self._last) == self.recent:
            count, total = self._older
            self._older = count + 1, total + self._last[0]
        self._last.append(value)
        self._inner.update(value > self.threshold if self._binary else value)
        if not self._inner.drift_detected:
            return False
        (count, total), last = self._older, list(self._last)
        early = max(0, (len(last) - count + 1) // 2)
        older, recent = total + sum(last[:early]), last[early:]
        self.reset()
        return bool(recent) and sum(recent) * (count + early) > older * len(recent)

    def __repr__(self) -> str:
        return f"RiverDetector(<{self.detector}>, recent={self.recent})"
