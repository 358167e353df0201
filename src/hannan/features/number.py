"""Numbers, standardised by their running mean and deviation."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import Decimal
from math import copysign, sqrt
from numbers import Real
from typing import Any

import numpy as np

from hannan.core.state import Count, ListOf, State
from hannan.core.state import Number as Between
from hannan.core.validation import check_positive
from hannan.features._cells import is_missing
from hannan.features.column import News, Reading, check_flag

HUGE = 1e60
"""Larger numbers count as infinite, because sums of their squares could overflow."""

_CODE = re.compile(r"[+-]?0\d")  # digits that are a name: a postcode, an article number
_NUMBERS = (Real, Decimal, np.number, np.bool_)
_USUAL = 30.0  # deviations; a number beyond is an outlier, or the first of another scale
_ENOUGH = 32  # least number of values to detect outliers if most values are equal
_MOVED = 5.0  # distance, in deviations, with which an outlier counts
_LATELY = 64  # number of recent values that give the median and the deviation
_FEW = 8  # least number of values for a deviation
_NORMAL = 1.2816  # deviations that contain four fifths of normally distributed values


def as_number(value: Any) -> float:
    """Return a number, a time span in seconds, or the number in a text; NaN for other values.

    A single comma in a text is a decimal comma. If a text has commas and dots, the last of these
    marks is the decimal mark.

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
    except Exception:  # signalling NaN, a user's __float__
        return math.nan


def _number_in(text: str) -> float:
    text = text.strip()
    if "," in text:
        whole, mark, rest = text.rpartition("," if text.rfind(",") > text.rfind(".") else ".")
        if mark == "," and "," in whole and "." not in whole:  # several commas group thousands
            whole, rest = whole + rest, ""
        text = f"{whole.replace(',', '').replace('.', '')}.{rest}"
    if len(text) > 400 or "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def looks_like_number(value: Any) -> bool:
    """Return whether a value is a number or the text of a number, without leading zeros."""
    if isinstance(value, str) and _CODE.match(value.strip()) and value.strip().isdecimal():
        return False
    return not math.isnan(as_number(value))


class Number(Reading):
    r"""A number x, standardised to :math:`(x - m)/s` by the running mean m and deviation s.

    The mean m and the deviation s include x. The first value is encoded as 0. A missing value is
    encoded as the running mean, and a second number is then 1. Text is read as a number if it is
    one, with a decimal point or a decimal comma.

    Infinite numbers, and numbers beyond :math:`10^{60}`, are written as ±`clip` and do not change m
    and s. A number more than 30 deviations from the median of the last 64 numbers is an outlier. It
    counts in m and s as if it were 5 deviations away. The deviation used here is scaled so that
    four fifths of the 64 numbers lie within 1.28 deviations. During the first 64 numbers, each new
    number recomputes m and s, so an early outlier loses its effect, too. If more than a fifth of
    the last 64 numbers have a new scale, they no longer count as outliers.


    Parameters
    ----------
    standardise
        Whether to standardise. Default True. If False, numbers stay unchanged, and infinite numbers
        are encoded like missing values.
    clip
        Largest absolute value that is written, in deviations. A positive number, 10 by default.
    indicator
        Whether to add the second number, the indicator of missing values. Default True.

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
        _lately=ListOf(Between(-HUGE, HUGE), length=lambda self: min(self._count, _LATELY)),
    )

    def __init__(
        self, standardise: bool = True, clip: float = 10.0, indicator: bool = True
    ) -> None:
        self.standardise = check_flag(self, "standardise", standardise)
        self.clip = clip
        self.indicator = check_flag(self, "indicator", indicator)
        self._most = check_positive(self, "clip", clip)
        # A number within 5 deviations that include this number is within 11 deviations that do
        # not include it: it is not an outlier.
        self._near = min(5.0, self._most) if self.standardise else -1.0
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0
        self._lately: list[float] = []  # ring buffer

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write a number, standardised with this number included; append the update to `news`."""
        kind = type(value)
        if kind is float:
            x = value
        elif kind is int and -1_000_000 < value < 1_000_000:
            x = float(value)
        else:
            x = as_number(value)
        if not -HUGE <= x <= HUGE:
            return self._read_none(value, x, out, at)
        count = self._count + 1
        if count > _LATELY:
            off = x - self._mean
            step = off / count
            rest = off - step
            squares = self._squares + off * rest
            spread = sqrt(squares / count)
            z = rest / spread if spread > 0.0 else 0.0
            if -self._near <= z <= self._near:
                out[at] = z
                news.append((self._renew, (count, self._mean + step, squares, x)))
                return True
        out[at] = self._weighed(x, count, news)
        return True

    def _weighed(self, x: float, count: int, news: News) -> float:
        """Return the written value of a number that is among the first or may be an outlier."""
        past = self._lately
        middle, unit = _usual([*past, x])
        moments = self._count, self._mean, self._squares
        if count <= _LATELY:
            moments = 0, 0.0, 0.0
            for each in past:
                moments = _with(moments, each, middle, unit)
        after = _with(moments, x, middle, unit)
        news.append((self._renew, (*after, x)))
        if not self.standardise:
            return x
        before, (_, mean, squares) = moments[1], after
        # In this order, a number that is not an outlier gets the same bits as in `read`.
        off = x - before
        rest = off - off / count if abs(x - middle) <= _USUAL * unit else x - mean
        spread = sqrt(squares / count)
        z = rest / spread if spread > 0.0 else 0.0
        return max(-self._most, min(z, self._most))

    def _read_none(self, value: Any, x: float, out: list[float], at: int) -> bool:
        """Write an infinite or missing value, or a value that is not a number; learn nothing."""
        if x != x or not self.standardise:
            if not self.standardise:
                out[at] = self._mean
            if self.indicator:
                out[at + 1] = 1.0
            return self.indicator and is_missing(value)
        out[at] = self._most if x > 0.0 else -self._most
        return True

    def _renew(self, learned: tuple[int, float, float, float]) -> None:
        self._count, self._mean, self._squares, x = learned
        if self._count <= _LATELY:
            self._lately.append(x)
        else:
            self._lately[self._count % _LATELY] = x


def _usual(values: list[float]) -> tuple[float, float]:
    """Return the median of these values and their deviation; infinite if it cannot be estimated.

    >>> _usual([3.0, 4.0, 5.0, 4.0, 1e6, 5.0, 3.0, 4.0])
    (4.0, 0.780274656679151)
    """
    count = len(values)
    if count < _FEW:
        return 0.0, math.inf
    middle = sorted(values)[count // 2]
    spread = sorted(abs(x - middle) for x in values)[4 * (count - 1) // 5]
    return middle, spread / _NORMAL if spread > 0.0 else math.inf


def _with(
    moments: tuple[int, float, float], x: float, middle: float, unit: float
) -> tuple[int, float, float]:
    """Return count, mean and sum of squares after one more number, moved if it is an outlier."""
    count, mean, squares = moments
    count += 1
    off = x - mean
    if unit == math.inf:
        most = _USUAL * sqrt(squares / (count - 1)) if count > _ENOUGH else 0.0
        if 0.0 < most < abs(off):
            off = copysign(most, off)
    elif abs(x - middle) > _USUAL * unit:
        off = middle + copysign(_MOVED * unit, x - middle) - mean
    step = off / count
    return count, mean + step, squares + off * (off - step)
