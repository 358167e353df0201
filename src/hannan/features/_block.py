"""A few numbers for whatever has no column of its own."""

from __future__ import annotations

import math
from typing import Any

from hannan.core.kept import expect, same
from hannan.core.params import Parametrised
from hannan.features._cells import (
    as_date,
    as_number,
    is_missing,
    level_of,
    looks_like_date,
    looks_like_number,
    scatter,
    words_of,
)
from hannan.features.number import Number

_TRACKED = 64  # columns of numbers whose means are known
_WORDS = 20  # that are read of a text


class Block(Parametrised):
    """Values scattered over `size` numbers by the names of their columns and what they are.

    Numbers and dates are standardised as they come, in up to 64 columns; in others they are
    squeezed. All else counts as words.
    """

    _varying = frozenset({"_numbers"})

    def _check_stored(self) -> None:
        numbers, new = self._numbers, Number(indicator=False)
        kept = type(numbers) is dict and len(numbers) <= (_TRACKED if self.size else 0)
        expect(
            self,
            _numbers=kept
            and all(type(name) is str for name in numbers)
            and all(type(each) is Number and same(each, new) for each in numbers.values()),
        )

    def __init__(self, size: int) -> None:
        self.size = size
        self._numbers: dict[str, Number] = {}

    def labels(self) -> list[str]:
        """What to call the numbers."""
        return [f"other {i}" for i in range(self.size)]

    def write(self, name: str, value: Any, out: list[float], at: int) -> None:
        """Add what a value says to the numbers from the place `at` on."""
        if not self.size:
            return
        x = _measured(value)
        if not math.isnan(x):
            scatter(name, self._standardised(name, x), out, at, self.size)
        elif is_missing(value):
            scatter(f"{name}=", 1.0, out, at, self.size)
        else:
            words = words_of(value)[:_WORDS]
            if isinstance(value, str) and len(words) < 4:
                words = [level_of(value)]
            for word in words:
                scatter(f"{name}={word}", 1.0 / math.sqrt(len(words)), out, at, self.size)

    def _standardised(self, name: str, x: float) -> float:
        number = self._numbers.get(name)
        if number is None:
            if len(self._numbers) >= _TRACKED:
                return max(-10.0, min(10.0, math.asinh(x)))
            number = Number(indicator=False)
        found = [0.0]
        number.write(x, found, 0)
        return found[0]

    def see(self, name: str, value: Any) -> None:
        """Renew the mean and the deviation of a column of numbers."""
        x = _measured(value)
        if math.isnan(x) or not self.size:
            return
        if name not in self._numbers and len(self._numbers) < _TRACKED:
            self._numbers[name] = Number(indicator=False)
        if name in self._numbers:
            self._numbers[name].see(x)


def _measured(value: Any) -> float:
    """A number, or the day of a date; NaN for anything else."""
    if looks_like_number(value):
        return as_number(value)
    moment = as_date(value) if looks_like_date(value) else None
    return math.nan if moment is None else float(moment.toordinal())
