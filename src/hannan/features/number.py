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

from hannan.core.state import Count, ListOf, State
from hannan.core.state import Number as Between
from hannan.core.validation import check_positive
from hannan.features._cells import is_missing
from hannan.features.column import News, Reading, check_flag

HUGE = 1e60
"""Numbers beyond are as good as infinite: sums of their squares could not be kept."""

_CODE = re.compile(r"[+-]?0\d")  # of digits that are a name: a postcode, an article number
_NUMBERS = (Real, Decimal, np.number, np.bool_)
_USUAL = 30.0  # deviations; further away is an accident, or the beginning of another scale
_ENOUGH = 32  # values that tell what is usual where most of them are the same
_MOVED = 5.0  # deviations that an accident counts as
_LATELY = 64  # the last values, whose middle and spread tell what is usual
_FEW = 8  # fewer do not
_NORMAL = 1.2816  # deviations within which four in five lie


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
    A number that lies more than 30 deviations from the median of the last 64 counts in m and s as
    if it were 5 away; by these deviations four in five of the 64 lie within 1.28. The first 64 are
    weighed again with each that comes, so that an accident among the very first is forgotten,
    too. A new scale is learned once more than a fifth of the last 64 have it.

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
        _lately=ListOf(Between(-HUGE, HUGE), length=lambda self: min(self._count, _LATELY)),
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
        self._lately: list[float] = []  # a ring

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Both at once: the deviation that is written has counted the number already."""
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
        """Return what is written for a number that may be far off, or among the first."""
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
        # In this order: what is never far off is written as by the running formula, bit for bit.
        off = x - before
        rest = off - off / count if abs(x - middle) <= _USUAL * unit else x - mean
        spread = sqrt(squares / count)
        z = rest / spread if spread > 0.0 else 0.0
        return max(-self._most, min(z, self._most))

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

    def _renew(self, learned: tuple[int, float, float, float]) -> None:
        self._count, self._mean, self._squares, x = learned
        if self._count <= _LATELY:
            self._lately.append(x)
        else:
            self._lately[self._count % _LATELY] = x


def _usual(values: list[float]) -> tuple[float, float]:
    """Return the median of these values and their deviation, infinite if they do not tell it.

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
    """Return count, mean and sum of squares with one more number, an accident moved."""
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
