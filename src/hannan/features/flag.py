"""Booleans."""

from __future__ import annotations

from typing import Any

from hannan.features._cells import is_missing
from hannan.features.column import News, Reading, check_flag
from hannan.features.number import as_number

_FLAGS = {
    **dict.fromkeys(("true", "yes", "y", "t", "on", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "n", "f", "off", "0", "0.0"), False),
}


def as_flag(value: Any) -> bool | None:
    """True or False, also as 1 or 0 and as words; None for anything else.

    >>> [as_flag(value) for value in (True, 0, "Yes", "off", "maybe", 2)]
    [True, False, True, False, None, None]
    """
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower()) if len(value) < 16 else None
    number = as_number(value)
    return bool(number) if number in (0.0, 1.0) else None


class Flag(Reading):
    """True or False: 1 or 0, and a second number that is 1 where it is missing.

    Read from booleans, 1 and 0, and the words true, false, yes, no, y, n, t, f, on and off.

    Parameters
    ----------
    indicator
        Whether there is the second number.

    Examples
    --------
    >>> from hannan.features import Features, Flag
    >>> features = Features({"vip": Flag()})
    >>> [features.encode({"vip": value}).tolist() for value in (True, "no", None)]
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, indicator: bool = True) -> None:
        self.indicator = check_flag(self, "indicator", indicator)

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """What is written; there are no news."""
        if value is True:
            out[at] = 1.0
            return True
        if value is False:
            return True
        flag = as_flag(value)
        if flag is None:
            if self.indicator:
                out[at + 1] = 1.0
            return self.indicator and is_missing(value)
        out[at] = float(flag)
        return True
