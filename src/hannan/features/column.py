"""Base classes of the columns that encode one value as a few numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from hannan.core.params import Parametrised
from hannan.core.state import State
from hannan.core.validation import refuse

News = list[tuple[Callable[[Any], Any], Any]]
"""Pending updates from a row: calls, each with its argument."""

Events = list[tuple[str, str | int]]
"""Events of a row: "missing", "new", "odd" or "there", each with the name of a column."""


class Column(Parametrised, ABC):
    """Base class of columns, which encode a value as `width` numbers and learn from values.

    `write` changes nothing, but encodes a value *as if it had been seen*: the written numbers
    already include the update that `see` then makes from the same value.
    """

    stored = State()

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of entries that encode a value. The width never changes."""

    @abstractmethod
    def labels(self, name: str) -> list[str]:
        """Return a label for each of the numbers, for a column with this name."""

    @abstractmethod
    def write(self, value: Any, out: list[float], at: int) -> bool:
        """Write the numbers into `out`, which holds zeros, from index `at` on.

        Returns True if the numbers encode the value completely. Returns False for a value of
        another kind, which is written like a missing value, and for a missing value without an
        indicator.
        """

    @abstractmethod
    def see(self, value: Any) -> bool:
        """Learn from a value, and return the same as `write`; other kinds have no effect."""

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write a value, and append the update that `see` would make to `news`."""
        news.append((self.see, value))
        return self.write(value, out, at)


class Reading(Column):
    """Base class of columns that only implement `read`.

    If `indicator` is True, the last number is 1 for a missing value.
    """

    stored = State()
    indicator: bool

    @property
    def width(self) -> int:
        """1, plus 1 for the indicator of missing values."""
        return 1 + self.indicator

    def labels(self, name: str) -> list[str]:
        """Return the name, and "name missing" if there is an indicator."""
        return [name, f"{name} missing"][: self.width]

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """Write the same numbers as `read`, and learn nothing."""
        return self.read(value, out, at, [])

    def see(self, value: Any) -> bool:
        """Learn the updates that `read` finds."""
        news: News = []
        known = self.read(value, [0.0] * self.width, 0, news)
        for learn, what in news:
            learn(what)
        return known

    @abstractmethod
    def read(self, value: Any, out: list[float], at: int, news: News) -> bool: ...


def check_flag(owner: object, name: str, value: Any) -> bool:
    """Return a boolean, or raise `ParameterError` for any other value."""
    if not isinstance(value, bool):
        raise refuse(owner, name, "True or False", value)
    return value
