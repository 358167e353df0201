"""Numbers, standardised as they come."""

from __future__ import annotations

import math
from typing import Any

from hannan.core.kept import expect, is_number
from hannan.core.validation import check_positive
from hannan.features._cells import HUGE, as_number, is_missing
from hannan.features.column import Column, check_flag

_USUAL = 30.0  # deviations; further away is an accident, or the beginning of another scale
_ENOUGH = 32  # values that tell what is usual


class Number(Column):
    r"""A number: :math:`(x - m)/s` with the mean m and the deviation s of all values up to x.

    The first value is 0. Where one is missing the running mean takes its place, and a second number
    is 1. Text is read as a number where it is one, with a decimal point or a decimal comma.

    Infinite numbers, and those beyond :math:`10^{60}`, are written as ±`clip` and teach nothing.
    One that is further than 30 deviations from the mean teaches as if it were 30 away, so that an
    accident is soon forgotten, while a new scale is learned within a few rows.

    Parameters
    ----------
    standardise
        Whether to standardise; if not, numbers are taken as they are, and infinite ones are none.
    clip
        The most deviations that are written.
    indicator
        Whether there is the second number.

    Examples
    --------
    >>> from hannan.features import Features, Number
    >>> features = Features({"age": Number()})
    >>> for age in (20, 40, "NA", 30):
    ...     print(features.encode({"age": age}))
    ...     features.see({"age": age})
    [0. 0.]
    [1. 0.]
    [0. 1.]
    [0. 0.]
    """

    def _check_stored(self) -> None:
        empty = self._count > 0 or (self._mean, self._squares) == (0.0, 0.0)
        expect(
            self,
            _mean=empty and is_number(self._mean, -HUGE, HUGE),
            _squares=empty and is_number(self._squares, 0.0),
        )

    def __init__(
        self, standardise: bool = True, clip: float = 10.0, indicator: bool = True
    ) -> None:
        self.standardise = check_flag(self, "standardise", standardise)
        self.clip = clip
        self.indicator = check_flag(self, "indicator", indicator)
        self._most = check_positive(self, "clip", clip)
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0

    _derived = frozenset({"_most"})

    @property
    def width(self) -> int:
        """1, and 1 that says whether it is missing."""
        return 1 + self.indicator

    def labels(self, name: str) -> list[str]:
        """The name, and "name missing"."""
        return [name, f"{name} missing"][: self.width]

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """The number, or the mean and 1."""
        x = value if type(value) is float else as_number(value)
        if -HUGE <= x <= HUGE:
            if not self.standardise:
                out[at] = x
                return True
            count = self._count + 1
            off = x - self._mean
            rest = off - off / count
            spread = math.sqrt((self._squares + off * rest) / count)
            if spread > 0.0:
                z = rest / spread
                most = self._most
                out[at] = most if z > most else -most if z < -most else z
            return True
        if x != x or not self.standardise:
            if not self.standardise:
                out[at] = self._mean
            if self.indicator:
                out[at + 1] = 1.0
            return self.indicator and is_missing(value)
        out[at] = self._most if x > 0.0 else -self._most
        return True

    def see(self, value: Any) -> bool:
        """Renew mean and deviation."""
        x = value if type(value) is float else as_number(value)
        if not -HUGE <= x <= HUGE:
            return (x == x and self.standardise) or (self.indicator and is_missing(value))
        off = x - self._mean
        if self._count >= _ENOUGH:
            usual = _USUAL * math.sqrt(self._squares / self._count)
            if 0.0 < usual < abs(off):
                off = math.copysign(usual, off)
        self._count += 1
        step = off / self._count
        self._mean += step
        self._squares += off * (off - step)
        return True
