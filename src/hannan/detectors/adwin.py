"""ADWIN, from river."""

from __future__ import annotations

import importlib
from typing import Any

from hannan.core.errors import MissingPackageError
from hannan.detectors._detector import Detector


class Adwin(Detector):
    r"""Adaptive windows, as implemented by river (`pip install 'hannan[drift]'`).

    Keeps a window of recent values and cuts off its older part whenever the means of the two
    parts differ by more than a Bernstein bound. Only a cut after which the mean is higher is an
    alarm: errors that fall are no reason to forget what made them fall. A learner with this
    detector can be pickled, not saved.

    Parameters
    ----------
    delta
        Confidence of each cut.
    clock
        Cuts are looked for once in so many values.
    max_buckets
        Buckets of each size before two of them are merged.
    min_window_length
        Shortest part that is compared.
    grace_period
        Values to read before the first comparison.

    Examples
    --------
    >>> import hannan as hn
    >>> detector = hn.detectors.Adwin()
    >>> stream = [0.1, 0.0] * 100 + [0.9, 0.8] * 100
    >>> next(t for t, value in enumerate(stream) if detector.update(value))
    223

    References
    ----------
    [bifet2007]
    """

    _unstorable = "river's ADWIN cannot be taken apart; detectors.Bernstein can be saved"

    def __init__(
        self,
        delta: float = 0.002,
        *,
        clock: int = 32,
        max_buckets: int = 5,
        min_window_length: int = 5,
        grace_period: int = 10,
    ) -> None:
        self.delta = delta
        self.clock = clock
        self.max_buckets = max_buckets
        self.min_window_length = min_window_length
        self.grace_period = grace_period
        self._window = _river().ADWIN(**self.params)

    def update(self, value: float) -> bool:
        """Read one more number; whether older ones were cut off because they were lower."""
        before = self._window.estimation
        self._window.update(float(value))
        # After a cut river starts an empty window by itself, when the next value comes.
        return bool(self._window.drift_detected and self._window.estimation > before)


def _river() -> Any:
    try:
        return importlib.import_module("river.drift")
    except ImportError as error:
        raise MissingPackageError(
            "hannan.detectors.Adwin needs river, which is not installed. Get it with "
            "pip install 'hannan[drift]', or use hannan.detectors.Bernstein, which needs nothing."
        ) from error
