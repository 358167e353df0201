"""Numbers, standardised as they come."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import Decimal
from math import copysign, sqrt
from numbers import Real
from typing import Any

import numpy as np

from hannan.core.state import Count, State
from hannan.core.state import Number as Between
from hannan.core.validation import check_positive
from hannan.features._cells import is_missing
from hannan.features.column import News, Reading, check_flag

HUGE = 1e60
"""Numbers beyond are as good as infinite: sums of their squares could not be kept."""

_CODE = re.compile(r"[+-]?0\d")  # of digits that are a name: a postcode, an article number
_NUMBERS = (Real, Decimal, np.number, np.bool_)
_USUAL = 30.0  # deviations; further away is an accident, or the beginning of another scale
_ENOUGH = 32  # values that tell what is usual


def as_number(value: Any) -> float:
    """A number, a span of time in seconds, or the text of a number; NaN for anything else.

    In text one comma is a decimal comma; of commas and dots the last is the decimal mark.

    >>> [as_number(value) for value in (3, "3,5", "1.234,5", "1,234,567.5", True, "three")]
    [3.0, 3.5, 1234.5, 1234567.5, 1.0, nan]
    """
    if type(value) is int and -1_000_000 < value < 1_000_000:  # the usual case
        return float(value)
    if isinstance(value, str):
        return _number_in(value)
    if value is None:
        return math.nan
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not isinstance(value, _NUMBERS) or isinstance(value, np.timedelta64 | np.complexfloating):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, bool(value > 0) - 0.5)  # type: ignore[operator]
    except Exception:  # signalling NaN, what others write in __float__
        return math.nan


def _number_in(text: str) -> float:
    text = text.strip()
    if "," in text:
        whole, mark, rest = text.rpartition("," if text.rfind(",") > text.rfind(".") else ".")
        if mark == "," and "," in whole and "." not in whole:  # several: they group thousands
            whole, rest = whole + rest, ""
        text = f"{whole.replace(',', '').replace('.', '')}.{rest}"
    if len(text) > 400 or "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def looks_like_number(value: Any) -> bool:
    """Whether it is a number or the text of one, without the leading zeros of a code."""
    if isinstance(value, str) and _CODE.match(value.strip()) and value.strip().isdecimal():
        return False
    return not math.isnan(as_number(value))


class Number(Reading):
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

    stored = State(
        _count=Count(),
        _mean=Between(
            lambda self: -HUGE if self._count else 0.0, lambda self: HUGE if self._count else 0.0
        ),
        _squares=Between(0.0, lambda self: HUGE**2 if self._count else 0.0),
    )

    def __init__(
        self, standardise: bool = True, clip: float = 10.0, indicator: bool = True
    ) -> None:
        self.standardise = check_flag(self, "standardise", standardise)
        self.clip = clip
        self.indicator = check_flag(self, "indicator", indicator)
        self._most = check_positive(self, "clip", clip)
        # Within 5 deviations that have counted a number it is within 11 of those that have not:
        # there is nothing unusual about it.
        self._near = min(5.0, self._most) if self.standardise else -1.0
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Both at once: the deviation that is written has counted the number already."""
        x = value if type(value) is float else as_number(value)
        if not -HUGE <= x <= HUGE:
            return self._read_none(value, x, out, at)
        count, mean, squares = self._count + 1, self._mean, self._squares
        off = x - mean
        step = off / count
        rest = off - step
        with_it = squares + off * rest
        spread = sqrt(with_it / count)
        z = rest / spread if spread > 0.0 else 0.0
        near = self._near
        if -near <= z <= near:
            out[at] = z
        else:
            out[at] = max(-self._most, min(z, self._most)) if self.standardise else x
            usual = _USUAL * sqrt(squares / (count - 1)) if count > _ENOUGH else 0.0
            if 0.0 < usual < abs(off):
                off = copysign(usual, off)
                step = off / count
                with_it = squares + off * (off - step)
        news.append((self._renew, (count, mean + step, with_it)))
        return True

    def _read_none(self, value: Any, x: float, out: list[float], at: int) -> bool:
        """Of what is infinite, missing or no number; it teaches nothing."""
        if x != x or not self.standardise:
            if not self.standardise:
                out[at] = self._mean
            if self.indicator:
                out[at + 1] = 1.0
            return self.indicator and is_missing(value)
        out[at] = self._most if x > 0.0 else -self._most
        return True

    def _renew(self, moments: tuple[int, float, float]) -> None:
        self._count, self._mean, self._squares = moments
