"""Names of actions."""

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
    """Check the name of an action: a line of text, or a number such as a price."""
    found = as_scalar(value)
    word = isinstance(found, str) and found.strip() != "" and "\n" not in found
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if not word and not (number and math.isfinite(found)):
        fix = "." if not isinstance(found, Decimal | Fraction) else f": give {float(found)!r}."
        raise InputTypeError(
            "The name of an action must be a line of text or a finite number; got "
            f"{value!r:.100}{fix}"
        )
    return found  # type: ignore[no-any-return]


class Names(Stored):
    """Names of all actions, in the order of their addition, and of the retired ones.

    Parameters
    ----------
    given
        All names.
    retired
        Names of the actions that are never chosen again.
    """

    stored = State(retired=ListOf(Key().where(lambda self, name: name in self.all)))

    def __init__(self, given: Any, retired: Iterable[Any] = ()) -> None:
        unordered = isinstance(given, str | bytes | Mapping | set | frozenset)
        if unordered or not isinstance(given, Iterable):
            raise InputTypeError(
                "actions= must be a list of names in a fixed order, such as ['red', 'green']; got "
                f"{given!r:.100}."
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
        """Find the actions that are not retired."""
        gone = set(self.retired)
        if len(gone) == len(self.all):
            raise ParameterError("All actions would be retired. Keep at least one action.")
        left = [i for i, name in enumerate(self.all) if name not in gone]
        self.here = left if gone else None

    def __len__(self) -> int:
        return len(self.all)

    def place(self, name: Any) -> int:
        """Return the index of an action."""
        scalar = as_scalar(name)
        if isinstance(scalar, str | int | float) and scalar in self._places:
            return self._places[scalar]
        by_text = {str(each): each for each in self.all}
        close = [by_text[each] for each in difflib.get_close_matches(str(name), by_text, n=1)]
        kind = "" if close and isinstance(close[0], str) else "the number "
        hint = f"; did you mean {kind}{close[0]!r}?" if close else "."
        known = ", ".join(map(repr, self.all[:20]))
        raise ParameterError(f"Unknown action {name!r:.100}{hint} Actions: {known}.")

    def numbers(self, available: Any) -> list[int]:
        """Return the sorted indices of the named actions."""
        if isinstance(available, str | bytes) or not isinstance(available, Iterable):
            raise InputTypeError(
                f"available= must be a list of names of actions; got {available!r:.100}."
            )
        return sorted({self.place(each) for each in available})

    def playable(self, numbers: list[int]) -> list[int] | None:
        """Return the given actions without the retired ones; None if these are all actions."""
        left = numbers if self.here is None else [n for n in numbers if n in self.here]
        if not left:
            names = [self.all[number] for number in numbers]
            raise ParameterError(
                f"available={names!r:.100} leaves no action to choose."
                + (f" Retired: {', '.join(map(repr, self.retired))}." if self.retired else "")
            )
        return None if len(left) == len(self.all) else left

    def with_new(self, name: Name) -> Names:
        """Return the names with one more action; a retired action becomes active again."""
        if name not in self._places:
            return type(self)([*self.all, name], self.retired)
        if name not in self.retired:
            raise ParameterError(f"There already is an action {name!r}. Choose another name.")
        return type(self)(self.all, [each for each in self.retired if each != name])

    def without(self, name: Any) -> Names:
        """Return the names with one action retired."""
        gone = self.all[self.place(name)]
        if gone in self.retired:
            raise ParameterError(f"The action {gone!r} is already retired.")
        return type(self)(self.all, [*self.retired, gone])
