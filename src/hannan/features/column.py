"""A column of values as a few numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from hannan.core.params import Parametrised
from hannan.core.state import State
from hannan.core.validation import refuse

News = list[tuple[Callable[[Any], Any], Any]]
"""What is to be learned from a row once it counts: calls, each with its argument."""

Events = list[tuple[str, str | int]]
"""What is wrong with a row: "missing", "new", "odd" or "there", each with the name of a column."""


class Column(Parametrised, ABC):
    """How the values of one column become `width` numbers, and what it learns from them.

    A value is read *as if it had been seen*: `write` changes nothing, and what `see` then learns
    from the same value is already counted in what was written.
    """

    stored = State()

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a value becomes; the same for ever."""

    @abstractmethod
    def labels(self, name: str) -> list[str]:
        """What to call these numbers where the column has this name."""

    @abstractmethod
    def write(self, value: Any, out: list[float], at: int) -> bool:
        """Write the numbers into `out`, where all is 0, from the place `at` on.

        True if they say all there is to say; False for a value of another kind, which is then
        written as if it were missing, or for a missing one that they cannot show.
        """

    @abstractmethod
    def see(self, value: Any) -> bool:
        """Learn from a value; one of another kind teaches nothing. Returns what `write` does."""

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """`write`, and `see` for later: what it would learn is added to the news."""
        news.append((self.see, value))
        return self.write(value, out, at)


class Reading(Column):
    """A column that says all in `read`; its last number, if it has an `indicator`, is 1 where a
    value is missing."""

    stored = State()
    indicator: bool

    @property
    def width(self) -> int:
        """1, and 1 that says whether it is missing."""
        return 1 + self.indicator

    def labels(self, name: str) -> list[str]:
        """The name, and "name missing"."""
        return [name, f"{name} missing"][: self.width]

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """Write what `read` does, and learn nothing."""
        return self.read(value, out, at, [])

    def see(self, value: Any) -> bool:
        """Learn what `read` finds."""
        news: News = []
        known = self.read(value, [0.0] * self.width, 0, news)
        for learn, what in news:
            learn(what)
        return known

    @abstractmethod
    def read(self, value: Any, out: list[float], at: int, news: News) -> bool: ...


def check_flag(owner: object, name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise refuse(owner, name, "True or False", value)
    return value
