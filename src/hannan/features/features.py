"""Rows as contexts: a mapping, a row of a frame or a sequence becomes an array of numbers."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from hannan.core.errors import ContextError, InputTypeError
from hannan.core.kept import expect, is_count, same
from hannan.core.params import Parametrised
from hannan.core.storage import save
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.features._block import Block
from hannan.features._cells import is_missing
from hannan.features._found import KINDS, WORDS, preset
from hannan.features._later import Later
from hannan.features._layout import laid_out
from hannan.features._rows import Cells, cells_of
from hannan.features.category import Category
from hannan.features.column import Column

MOST = 512
"""No array of features is longer."""

_SPARE = 8
_ROOM = 72

Name = str | int
Declared = Column | str | Sequence[Any]


class Features(Parametrised):
    """What is known before a decision, of any kind, as the array of numbers that learners take.

    A row is a mapping, a row of a frame, a named tuple, a sequence, a single value, or None for no
    features. `encode` makes an array of it and changes nothing; `see` learns from it: means and
    deviations of numbers, levels of categories. Ask `encode` first, then `see`, once for each row:
    what is encoded is the row as it will look once it has been seen.

    Columns are declared, or found from the first row: numbers, booleans, dates, short text as
    categories, longer text as words. The width is fixed from then on. What comes later, in new
    columns or of another kind than at first, is hashed into a few numbers kept for it, so a row
    of named values is never refused. Missing values of every kind are features like others.

    Parameters
    ----------
    columns
        What each column is: a `Number`, `Category`, `Text`, `Date` or `Flag`, one of these words
        in small letters, or a list of levels. A value that cannot be read as declared is refused
        by `encode`; a column that a row lacks is missing. None finds the columns.
    hashed
        How many numbers are kept for all other columns, which are ignored if it is 0. None stands
        for 8 where columns are found and 0 where they are declared.
    room
        About how many numbers found columns may take in all: numbers and booleans take 2, dates 6
        or 8, and text and categories share the rest, 6 to 20 each. The width is at most 512, and
        columns for which that is not enough are hashed.

    Examples
    --------
    >>> from hannan.features import Features
    >>> features = Features()
    >>> row = {"age": 31, "plan": "free", "vip": False, "city": None}
    >>> x = features.encode(row)
    >>> features.see(row)
    >>> features.width == len(x), features.kinds
    (True, {'age': 'Number', 'city': 'not known yet', 'plan': 'Category', 'vip': 'Flag'})
    >>> features.encode({"age": "unknown", "city": "Rome", "shoes": 43}).shape == x.shape
    True

    Declared:

    >>> features = Features({"age": "number", "plan": ["free", "pro"]})
    >>> features.names
    ['age', 'age missing', 'plan=free', 'plan=pro', 'plan missing', 'plan other']
    >>> features.encode({"plan": "pro"})
    array([0., 1., 0., 1., 0., 0.])
    >>> features.encode({"age": "old"})
    Traceback (most recent call last):
    ...
    hannan.core.errors.ContextError: Column 'age' is declared as Number(); got 'old'. ...
    """

    _derived = frozenset({"_known", "_learning", "_plan", "_width"})
    _varying = frozenset({"_names", "_parts", "_sequence", "_length"})

    def _check_stored(self) -> None:
        names, parts, sequence = self._names, self._parts, self._sequence
        listed = type(names) is list and type(parts) is list and len(names) == len(parts)
        listed = listed and all(type(name) in (str, int) for name in names)
        if self.columns is None:
            fits = listed and all(type(part) in (*KINDS, Later) for part in parts)
            fits = fits and (self._fixed_width or not parts)
        else:
            fresh = self.clone()
            fits = listed and names == fresh._names and same(parts, fresh._parts)
        expect(
            self,
            _names=listed and len({*names}) == len(names),
            _parts=fits and sum(part.width for part in parts) + self._block.size <= 2 * MOST,
            _sequence=sequence in (None, True, False) and type(sequence) is not int,
            _length=is_count(self._length)
            and (self._length > 0) == (sequence is True)
            and (self.columns is None or self._length in (0, len(names))),
        )
        if sequence and self.columns is None:
            expect(self, _names=names == list(range(len(names))) and len(names) <= self._length)

    def __init__(
        self,
        columns: Mapping[str, Declared] | None = None,
        hashed: int | None = None,
        room: int = _ROOM,
    ) -> None:
        self.columns = columns
        self.hashed = hashed
        self.room = room
        spare = _SPARE if columns is None else 0
        if hashed is not None:
            spare = check_integer(self, "hashed", hashed, 0, MOST + 1)
        check_integer(self, "room", room, 1, MOST + 1)
        self._names: list[Name] = []
        self._parts: list[Column] = []
        self._sequence: bool | None = None
        self._length = 0
        self._rows = 0
        self._fixed_width = columns is not None
        if columns is not None:
            self._names, self._parts = _declared(self, columns)
            taken = sum(part.width for part in self._parts) + spare
            if taken > MOST:
                raise refuse(self, "columns", f"columns of at most {MOST} numbers in all", taken)
        self._block = Block(spare)
        self._restored()

    def _restored(self) -> None:
        """Gather what each row needs."""
        self._plan: list[tuple[Name, Column, int]] = []
        at = 0
        for name, part in zip(self._names, self._parts, strict=True):
            self._plan.append((name, part, at))
            at += part.width
        self._width = at
        self._known = dict.fromkeys(self._names)
        self._learning = [(name, part) for name, part, _ in self._plan if part.learns]

    # What is known of the columns ---------------------------------------------------------------

    @property
    def width(self) -> int:
        """How many numbers a row becomes; 0 before the columns are found."""
        return self._width + self._block.size if self._fixed_width else 0

    @property
    def names(self) -> list[str]:
        """What each number is; a place kept for what is still to be found is "plan=?3"."""
        found = [label for name, part, _ in self._plan for label in part.labels(_shown(name))]
        return found + self._block.labels() if self._fixed_width else []

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        found: dict[str, str] = {}
        for name, part, _ in self._plan:
            kind = part.inside if isinstance(part, Later) else part
            found[_shown(name)] = "not known yet" if kind is None else type(kind).__name__
        return found

    @property
    def rows(self) -> int:
        """How many rows were seen."""
        return self._rows

    def find(self, rows: Iterable[Any]) -> Self:
        """Fix the columns by several rows instead of the first one alone.

        Kinds and width are fixed, nothing else is learned. Columns that were declared, or found
        before, stay as they are.

        >>> Features().find([{"code": 7}, {"code": "B"}]).kinds
        {'code': 'Category'}
        """
        if self._fixed_width:
            return self
        sequence: bool | None = None
        values: dict[Name, list[Any]] = {}
        length = 0
        for row in rows:
            cells = cells_of(row)
            if not cells:
                continue
            listed = isinstance(cells, list)
            if sequence is None:
                sequence, length = listed, len(cells) if listed else 0
            self._check_form(cells, sequence, length)
            for name, value in enumerate(cells) if isinstance(cells, list) else cells.items():
                found = values.setdefault(_checked(name), [])
                if not is_missing(value):
                    found.append(value)
        if not sequence:  # whatever the order of the keys
            values = {name: values[name] for name in sorted(values, key=_order)}
        parts = laid_out(values, self.room, self._block.size, MOST)
        self._names, self._parts = list(values)[: len(parts)], parts
        self._sequence, self._length, self._fixed_width = sequence, length, True
        self._restored()
        return self

    # Rows ---------------------------------------------------------------------------------------

    def encode(self, row: Any = None) -> FloatArray:
        """The array of a row, finite and new; nothing changes."""
        cells = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            return self.clone().find([cells]).encode(cells)
        others = self._check(cells)
        out = [0.0] * (self._width + self._block.size)
        if type(cells) is dict:
            get = cells.get
            for name, part, at in self._plan:
                value = get(name)
                if not part.write(value, out, at):
                    self._left_over(name, part, value, out)
        else:
            for (name, part, at), value in zip(self._plan, cells, strict=False):
                if not part.write(value, out, at):
                    self._left_over(name, part, value, out)
        for name in others:
            self._block.write(_shown(name), cells[name], out, self._width)
        return np.array(out)

    def see(self, row: Any = None) -> None:
        """Learn from a row; the first one finds the columns if they were not declared."""
        cells = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            self.find([cells])
        others = self._check(cells)
        if type(cells) is dict:
            get = cells.get
            for name, part in self._learning:
                part.see(get(name))
        else:
            for (_, part, _), value in zip(self._plan, cells, strict=False):
                part.see(value)
        for name in others:
            self._block.see(_shown(name), cells[name])
        if self._sequence is None and cells:
            self._sequence = type(cells) is list
            self._length = len(cells) if self._sequence else 0
        self._rows += 1

    def _check(self, cells: Cells) -> Iterable[Any]:
        """Refuse a row of another form; the names of what has no column of its own."""
        if type(cells) is dict:
            if self._sequence and cells:
                self._check_form(cells, True, self._length)
            if not self._block.size or cells.keys() <= self._known.keys():
                return ()
            return sorted((_checked(name) for name in cells.keys() - self._known), key=_order)
        length = len(self._names) if self._sequence is None else self._length
        listed = self._sequence is not False
        if not listed or len(cells) != length:
            self._check_form(cells, listed, length)
        return range(len(self._names), length)

    def _check_form(self, cells: Cells, sequence: bool, length: int) -> None:
        if (type(cells) is list) is not sequence:
            wanted, got = ("sequences", "a mapping") if sequence else ("mappings", "a sequence")
            raise ContextError(
                f"Features has seen rows that are {wanted}; got {got}. Give all rows in one form."
            )
        if sequence and len(cells) != length:
            raise ContextError(
                f"Features takes rows of {length} values; got {len(cells)}. Write None where a "
                "value is missing."
            )

    def _left_over(self, name: Name, part: Column, value: Any, out: list[float]) -> None:
        """What a column could not say of a value."""
        if self.columns is None:
            self._block.write(_shown(name), value, out, self._width)
        elif not is_missing(value):
            raise ContextError(
                f"Column {name!r} is declared as {part!r}; got {value!r:.80}. Give None where it "
                "is not known, or declare a column that can hold it, such as Category()."
            )

    # Copies and files -----------------------------------------------------------------------------

    def copy(self) -> Self:
        """Another one, which has learned the same."""
        return copy.deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file: `hannan.load(path)` goes on bit for bit."""
        save(self, path)


def _declared(owner: Features, columns: Any) -> tuple[list[Name], list[Column]]:
    if not isinstance(columns, Mapping):
        raise refuse(owner, "columns", "a mapping from names to kinds, or None", columns)
    parts: list[Column] = []
    for name, given in columns.items():
        if isinstance(given, type):
            raise InputTypeError(
                f"Column {name!r} needs an instance, {given.__name__}(); got the class itself."
            )
        part = given.clone() if isinstance(given, Column) else None
        if isinstance(given, str):
            part = preset(given)
        elif isinstance(given, list | tuple):
            part = Category(given)
        if part is None:
            accepted = f"a column such as Number(), a list of levels, or one of {WORDS}"
            raise refuse(owner, f"columns[{name!r}]", accepted, given)
        parts.append(part)
    return [_checked(name) for name in columns], parts


def _checked(name: Any) -> Name:
    if isinstance(name, str):
        return str(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return int(name)
    raise ContextError(f"Names of features must be text or whole numbers; got {name!r:.80}.")


def _shown(name: Name) -> str:
    return name if isinstance(name, str) else f"x{name}"


def _order(name: Name) -> tuple[bool, Any]:
    return isinstance(name, str), name
