"""Boolean columns."""

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
    """Return True or False for a boolean, for 1 or 0, and for words; None for any other value.

    >>> [as_flag(value) for value in (True, 0, "Yes", "off", "maybe", 2)]
    [True, False, True, False, None, None]
    """
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower()) if len(value) < 16 else None
    number = as_number(value)
    return bool(number) if number in (0.0, 1.0) else None


class Flag(Reading):
    """A boolean: 1 or 0, and a second number that is 1 for a missing value.

    `Flag` reads booleans, 1 and 0, and the words true, false, yes, no, y, n, t, f, on and off.

    Parameters
    ----------
    indicator
        Whether to add the second number, the indicator of missing values. Default True.

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
        """Write the flag; there is nothing to learn."""
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
