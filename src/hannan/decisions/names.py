"""Actions by name."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_scalar
from hannan.core.state import Key, ListOf, State
from hannan.core.stored import Stored

Name = str | int | float


def as_name(value: Any) -> Name:
    """A name for an action: words, or a number such as a price."""
    found = as_scalar(value)
    word = isinstance(found, str) and found.strip() != "" and "\n" not in found
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if not word and not (number and math.isfinite(found)):
        fix = "." if not isinstance(found, Decimal | Fraction) else f": give {float(found)!r}."
        raise InputTypeError(
            f"An action has a name, a line of text or a finite number; got {value!r:.100}{fix}"
        )
    return found  # type: ignore[no-any-return]


class Names(Stored):
    """The names of actions, in the order in which they came, and which of them are retired.

    Parameters
    ----------
    given
        The names.
    retired
        Those that are never played any more.
    """

    stored = State(retired=ListOf(Key().where(lambda self, name: name in self.all)))

    def __init__(self, given: Any, retired: Iterable[Any] = ()) -> None:
        unordered = isinstance(given, str | bytes | Mapping | set | frozenset)
        if unordered or not isinstance(given, Iterable):
            raise InputTypeError(
                "actions= is a list of names, such as ['red', 'green'], in an order that numbers "
                f"them; got {given!r:.100}."
            )
        self.all: tuple[Name, ...] = tuple(as_name(each) for each in given)
        if not self.all:
            raise ParameterError("actions= must name at least one action; got none.")
        self._places = {name: i for i, name in enumerate(self.all)}
        if len(self._places) < len(self.all):
            twice = next(n for i, n in enumerate(self.all) if self._places[n] != i)
            raise ParameterError(f"actions= names {twice!r} twice.")
        self.retired: list[Name] = [self.all[self.place(each)] for each in retired]
        self._restored()

    def _restored(self) -> None:
        """Find who is still here."""
        gone = set(self.retired)
        if len(gone) == len(self.all):
            raise ParameterError("All actions would be retired, and none left to play.")
        left = [i for i, name in enumerate(self.all) if name not in gone]
        self.here = left if gone else None

    def __len__(self) -> int:
        return len(self.all)

    def place(self, name: Any) -> int:
        """The number of an action."""
        scalar = as_scalar(name)
        if isinstance(scalar, str | int | float) and scalar in self._places:
            return self._places[scalar]
        by_text = {str(each): each for each in self.all}
        close = [by_text[each] for each in difflib.get_close_matches(str(name), by_text, n=1)]
        kind = "" if close and isinstance(close[0], str) else "the number "
        hint = f"; did you mean {kind}{close[0]!r}?" if close else "."
        known = ", ".join(map(repr, self.all[:20]))
        raise ParameterError(f"There is no action {name!r:.100}{hint} There are {known}.")

    def numbers(self, available: Any) -> list[int]:
        """Return the numbers of some actions, sorted."""
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise InputTypeError(
                f"available= is a list of names of actions; got {available!r:.100}."
            )
        return sorted({self.place(each) for each in available})

    def playable(self, numbers: list[int]) -> list[int] | None:
        """Return those of some actions that are not retired; None if all actions are left."""
        left = numbers if self.here is None else [n for n in numbers if n in self.here]
        if not left:
            names = [self.all[number] for number in numbers]
            raise ParameterError(
                f"available={names!r:.100} leaves no action that can be played."
                + (f" Retired: {', '.join(map(repr, self.retired))}." if self.retired else "")
            )
        return None if len(left) == len(self.all) else left

    def with_new(self, name: Name) -> Names:
        """With one more; one that was retired comes back."""
        if name not in self._places:
            return Names([*self.all, name], self.retired)
        if name not in self.retired:
            raise ParameterError(f"There is an action {name!r} already.")
        return Names(self.all, [each for each in self.retired if each != name])

    def without(self, name: Any) -> Names:
        """With one retired."""
        gone = self.all[self.place(name)]
        if gone in self.retired:
            raise ParameterError(f"The action {gone!r} is retired already.")
        return Names(self.all, [*self.retired, gone])
