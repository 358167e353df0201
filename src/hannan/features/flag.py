"""Booleans."""

from __future__ import annotations

from typing import Any

from hannan.features._cells import as_flag, is_missing
from hannan.features.column import Column, News, check_flag


class Flag(Column):
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

    @property
    def width(self) -> int:
        """1, and 1 that says whether it is missing."""
        return 1 + self.indicator

    def labels(self, name: str) -> list[str]:
        """The name, and "name missing"."""
        return [name, f"{name} missing"][: self.width]

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """1 or 0, or 0 and 1."""
        return self.read(value, out, at, [])

    def see(self, value: Any) -> bool:
        """Nothing is learned."""
        return self.read(value, [0.0, 0.0], 0, [])

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
