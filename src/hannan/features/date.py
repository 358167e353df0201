"""Dates: how late, and where in the week, the year and the day."""

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

# How long each is, what the first one is called, and which one a moment has.
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
    """A moment: its day as a running standardised number, and places on circles.

    Weekday, month and hour are the sine and cosine of their place, so that Sunday is next to
    Monday. A last number is 1 where the date is missing. Read from dates of Python, pandas and
    NumPy, and from ISO text; the clock is the one of the date itself, whatever its zone.

    Parameters
    ----------
    parts
        Some of "day", "weekday", "month" and "hour".
    format
        How text is to be read, such as "%d.%m.%Y"; None for ISO dates, "2024-02-29".
    indicator
        Whether there is the last number.

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
        """1 for the day, 2 for each circle, and 1 that says whether it is missing."""
        return self._dated + 2 * len(self._circles) + self.indicator

    def labels(self, name: str) -> list[str]:
        """Such as "when day", "when weekday sin" and "when missing"."""
        found = [f"{name} day"] if self._dated else []
        for part in self._named:
            found += [f"{name} {part} sin", f"{name} {part} cos"]
        return [*found, f"{name} missing"][: self.width]

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Both at once, of a date that is read once."""
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
