"""Dates as a standardised day number and points on circles for weekday, month and hour."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from hannan.core.state import Part, State
from hannan.core.validation import refuse
from hannan.features._cells import as_date, is_missing
from hannan.features.column import News, Reading, check_flag
from hannan.features.number import Number

# Length of each period, number of its first part, and the function that finds the part of a date.
_PERIODS: dict[str, tuple[int, int, Callable[[datetime], int]]] = {
    "weekday": (7, 0, datetime.weekday),
    "month": (12, 1, attrgetter("month")),
    "hour": (24, 0, attrgetter("hour")),
}
_CIRCLES = {
    name: {
        first + i: (math.sin(2 * math.pi * i / n), math.cos(2 * math.pi * i / n)) for i in range(n)
    }
    for name, (n, first, _) in _PERIODS.items()
}


class Date(Reading):
    """A date or time: a running standardised day number, and points on circles.

    Weekday, month and hour are encoded as the sine and cosine of their place on a circle, so that
    Sunday is next to Monday. The last number is 1 for a missing date. `Date` reads dates of Python,
    pandas and NumPy, and ISO text. It uses the date's own clock and ignores the time zone.

    Parameters
    ----------
    parts
        Parts to encode: some of "day", "weekday", "month" and "hour". Default: all four.
    format
        `strptime` format of text, such as "%d.%m.%Y". None (default) reads ISO dates such as
        "2024-02-29".
    indicator
        Whether to add the last number, the indicator of missing dates. Default True.

    Examples
    --------
    >>> from hannan.features import Date, Features
    >>> features = Features({"when": Date(["day", "weekday"])})
    >>> for when in ("2024-01-01", "2024-01-02T09:30", None):
    ...     print(features.encode({"when": when}).round(2) + 0.0)
    ...     features.see({"when": when})
    [0. 0. 1. 0.]
    [1.   0.78 0.62 0.  ]
    [0. 0. 0. 1.]
    """

    stored = State(_day=Part())

    def __init__(
        self,
        parts: Sequence[str] = ("day", "weekday", "month", "hour"),
        format: str | None = None,
        indicator: bool = True,
    ) -> None:
        self.parts = parts
        self.format = format
        self.indicator = check_flag(self, "indicator", indicator)
        known = ("day", *_PERIODS)
        given = list(parts) if isinstance(parts, list | tuple) else []
        once = len(set(map(str, given))) == len(given)
        if not given or not once or not all(part in known for part in given):
            raise refuse(self, "parts", f"some of {known}, each once", parts)
        if format is not None and not isinstance(format, str):
            raise refuse(self, "format", 'text such as "%d.%m.%Y", or None', format)
        self._day = Number(indicator=False)
        self._dated = "day" in given
        self._named = [name for name in _PERIODS if name in given]
        self._circles = [(_PERIODS[name][2], _CIRCLES[name]) for name in self._named]

    @property
    def width(self) -> int:
        """1 for the day, 2 for each circle, and 1 for the indicator of missing dates."""
        return self._dated + 2 * len(self._circles) + self.indicator

    def labels(self, name: str) -> list[str]:
        """Return the labels, such as "when day", "when weekday sin" and "when missing"."""
        found = [f"{name} day"] if self._dated else []
        for part in self._named:
            found += [f"{name} {part} sin", f"{name} {part} cos"]
        return [*found, f"{name} missing"][: self.width]

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write a date and append the update to `news`; the date is parsed once."""
        moment = None if value is None else as_date(value, self.format)
        if moment is None:
            if self.indicator:
                out[at + self.width - 1] = 1.0
            return self.indicator and is_missing(value)
        day = moment.toordinal() + moment.hour / 24.0
        if self._dated:
            self._day.read(day, out, at, news)
            at += 1
        else:
            news.append((self._day.see, day))
        for place, circle in self._circles:
            out[at], out[at + 1] = circle[place(moment)]
            at += 2
        return True
