"""Encode rows (mappings, rows of a frame, sequences) as arrays, the contexts of learners."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from struct import pack_into
from typing import Any, Self

import numpy as np

from hannan.core.errors import ContextError, InputTypeError
from hannan.core.params import Parametrised
from hannan.core.state import Count, Flag, ListOf, Object, Part, State, Text, require, same
from hannan.core.storage import save
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.features._cells import is_missing, repr_of
from hannan.features._found import FOUND, WORDS, laid_out
from hannan.features._places import Cell, Places
from hannan.features._quality import BLOCK, MOST_LATE, OTHERS, Quality, Shares
from hannan.features._rows import Cells, cells_of
from hannan.features.category import Category
from hannan.features.column import Column, Events, News

MOST = 512
"""Maximum width of an encoded row."""

_ROOM = 64

Name = str | int
Declared = Column | str | Sequence[Any]
Read = Callable[[Any, list[float], int, News], bool]


class Features(Parametrised):
    """Encode rows of mixed values as arrays of numbers, the contexts that learners take.

    A row is a mapping, a row of a frame, a named tuple, a sequence, a single value, or None for no
    features. `encode` returns the array of a row and changes nothing. `see` learns from a row:
    means and deviations of numbers, levels of categories. For each row, call `encode` first, then
    `see`: `encode` already includes the update that `see` makes from the same row.

    You declare the columns, or `Features` infers them from the first row. It recognises numbers,
    booleans, dates, lists and arrays of numbers, categories (short text), and words (longer text).
    The width is then fixed. Some places are reserved for levels of categories, missing values, new
    columns, and values of another kind than the first ones. They take these places as they appear,
    and share the last ones by a hash when all others are taken. So `Features` with inferred columns
    accepts every row of named values.

    Parameters
    ----------
    columns
        Mapping from names to kinds of columns. A kind is a `Number`, `Category`, `Text`, `Date`,
        `Flag` or `Vector`, one of the words "number", "category", "text", "date" and "flag", or a
        list of levels. `encode` raises `ContextError` for a value that does not fit the declared
        kind. A column that a row lacks is missing. None (default) infers the columns.
    places
        Number of places for levels, missing values and later columns, from 0 to 512. Default None.
        With declared columns, None means 0, and other columns are ignored. With inferred columns,
        None means 8 places for new columns and values, and 8 for each category, fewer if `room` is
        too small.
    room
        Approximate width of a row if columns are inferred, from 1 to 512. Default 64. Numbers and
        booleans take 1, dates 5 or 7, text 8, lists of numbers their length up to 256; places take
        the rest. The width is at most 512. Columns that do not fit take places.

    Examples
    --------
    >>> from hannan.features import Features
    >>> features = Features()
    >>> row = {"age": 31, "plan": "free", "vip": False, "city": None}
    >>> x = features.encode(row)
    >>> features.see(row)
    >>> features.width == len(x), features.kinds
    (True, {'age': 'Number', 'vip': 'Flag', 'plan': 'Category', 'city': 'other'})
    >>> features.encode({"age": "unknown", "city": "Rome", "shoes": 43}).shape == x.shape
    True

    With declared columns:

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

    stored = State(
        _names=ListOf(Text() | Count()),
        _parts=ListOf(Object(Column), length=lambda self: len(self._names)),
        _categories=ListOf(Text() | Count()),
        _places=Object(Places),
        _quality=Part(),
        _sequence=Flag() | None,
        _length=Count(),
        _rows=Count(),
        _fixed_width=Flag(),
    )

    def __init__(
        self,
        columns: Mapping[str, Declared] | None = None,
        places: int | None = None,
        room: int = _ROOM,
    ) -> None:
        self.columns = columns
        self.places = None if places is None else check_integer(self, "places", places, 0, MOST + 1)
        self.room = check_integer(self, "room", room, 1, MOST + 1)
        self._names: list[Name] = []
        self._parts: list[Column] = []
        self._categories: list[Name] = []
        self._places = Places(0)
        self._quality = Quality()
        self._sequence: bool | None = None
        self._length = 0
        self._rows = 0
        self._fixed_width = columns is not None
        if columns is not None:
            self._names, self._parts = _declared(self, columns)
            self._places = Places(places or 0, places or 0)
            taken = sum(part.width for part in self._parts) + self._places.size
            if taken > MOST:
                raise refuse(self, "columns", f"columns of at most {MOST} numbers in all", taken)
        self._restored()

    def _check_state(self) -> None:
        names, parts, fresh = self._names, self._parts, self.clone()
        known = [*names, *self._categories]
        require(
            self,
            names=len({*known}) == len(known) <= 2 * MOST,
            parts=sum(part.width for part in parts) <= MOST,
            places=self._places.size <= MOST,
            length=(self._length > 0) == (self._sequence is True),
        )
        if self.columns is not None:
            whole = [names, parts, self._places, self._categories]
            usual = [fresh._names, fresh._parts, fresh._places, []]
            require(self, columns=same(whole, usual), length=self._length in (0, len(names)))
        else:
            levels = [_shown(name) for name in self._categories]
            require(
                self,
                parts=all(type(part) in FOUND for part in parts),
                names=self._fixed_width or not known,
                places=list(self._places.levels) == levels,
                length=not self._sequence
                or all(isinstance(n, int) and n < self._length for n in known),
            )

    def _restored(self) -> None:
        """Compute the encoding plan that `encode` follows for each row."""
        self._plan: list[tuple[Name, Read, int, int, slice]] = []
        at = 0
        for name, part in zip(self._names, self._parts, strict=True):
            labels, end = part.labels(_shown(name)), at + part.width
            hole = f"{_shown(name)} missing"
            gap = at + labels.index(hole) if hole in labels else -1
            shared = slice(end - part.buckets, end) if isinstance(part, Category) else slice(0)
            self._plan.append((name, part.read, at, gap, shared))
            at = end
        self._width = at
        self._format = f"{at + self._places.size}d"
        self._known = dict.fromkeys([*self._names, *self._categories])
        self._listed = [(name, _shown(name)) for name in self._categories]

    # Columns ------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Number of entries that encode a row; 0 before the columns are known."""
        return self._width + self._places.size

    @property
    def names(self) -> list[str]:
        """Label of each number; a free place is called "free 3"."""
        columns = zip(self._names, self._parts, strict=True)
        found = [label for name, part in columns for label in part.labels(_shown(name))]
        return found + self._places.labels()

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column; "other" for columns that appeared later."""
        columns = zip(self._names, self._parts, strict=True)
        found = {_shown(name): type(part).__name__ for name, part in columns}
        found |= {_shown(name): "Category" for name in self._categories}
        return found | {name: "other" for name in self._places.columns if name not in found}

    @property
    def rows(self) -> int:
        """Number of rows seen."""
        return self._rows

    @property
    def quality(self) -> Shares:
        """For each column, the shares of rows in which its value was missing, new or odd.

        There is a share for about the last 1,000 rows, and a share for the rows before (None
        without earlier rows). A *new* value is a level that first appeared recently or is too rare
        for a place. An *odd* value is of another kind than the column. A column that appeared later
        also has an entry "unknown", the share of rows that contain the column.
        """
        return self._quality.shares(self._own, self._rows % BLOCK)

    def changes(self, rows: str = "rows") -> list[str]:
        """Return a sentence for each share of missing, new or odd values that has clearly grown.

        If rows are independent and identically distributed, the probability of ever returning a
        sentence is at most 1 %.

        Parameters
        ----------
        rows
            Noun for the rows in these sentences. Default "rows".

        >>> features = Features()
        >>> for t in range(400):
        ...     features.see({"age": 20 + t % 50} if t < 300 else {"agee": 30})
        >>> for sentence in features.changes():
        ...     print(sentence)
        age: missing in 50 % of the last 200 rows, before in 0 %
        agee: a column never seen before, in 50 % of the last 200 rows, before in 0 %
        """
        return self._quality.notes(self._own, rows)

    @property
    def _own(self) -> list[str]:
        """Names of the columns that were declared, or inferred from a value."""
        return [_shown(name) for name in self._known]

    def find(self, rows: Iterable[Any]) -> Self:
        """Infer the columns from several rows instead of the first one only.

        `find` fixes the kinds of columns and the width, and learns nothing else. If columns were
        declared or inferred before, they stay unchanged.

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
        if not sequence:  # independent of the order of the keys
            values = {name: values[name] for name in sorted(values, key=_order)}
        layout = laid_out(values, self.room, self.places, MOST)
        self._names, self._parts = list(layout.parts), list(layout.parts.values())
        self._categories = layout.categories
        levels = [_shown(name) for name in layout.categories]
        self._places = Places(layout.places, layout.each, levels)
        self._sequence, self._length, self._fixed_width = sequence, length, True
        self._restored()
        return self

    # Rows ---------------------------------------------------------------------------------------

    def encode(self, row: Any = None) -> FloatArray:
        """Return the array of a row, finite and newly allocated, without learning from the row."""
        return self.read(row)[0]

    def see(self, row: Any = None) -> None:
        """Learn from a row; the first row determines the columns if you did not declare them."""
        given = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            self.find([given])
        self._learn(given, *self._pass(given)[1:], self._rows)

    def read(self, row: Any = None) -> tuple[FloatArray, Callable[[], None]]:
        """Return the array of a row, and a call that learns from the row.

        This does the work of `encode` and `see` in one pass. Nothing changes before that call, and
        the call cannot fail.

        """
        given = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            twin = self.clone().find([given])
            return twin.encode(given), partial(self.see, given)
        out, news, events = self._pass(given, self.columns is not None)
        x = np.empty(len(out))
        pack_into(self._format, x.data, 0, *out)  # several times faster than np.array(out)
        return x, partial(self._learn, given, news, events, self._rows)

    def _pass(self, given: Cells, strict: bool = False) -> tuple[list[float], News, Events]:
        """Return the numbers, updates and events of a row; if `strict`, check declared kinds."""
        cells = given if type(given) is dict and not self._sequence else self._named(given)
        known = cells.keys() <= self._known.keys()
        more = () if known else self._new(cells)
        out = [0.0] * (self._width + self._places.size)
        news: News = []
        get = cells.get
        left: list[Cell] = []
        events: Events = []
        for name, read, at, gap, shared in self._plan:
            value = get(name)
            if not read(value, out, at, news):
                left.append((_shown(name), value))
                if strict:
                    self._check_declared(name, value)
                events.append(("missing" if value is None or is_missing(value) else "odd", name))
            elif gap >= 0 and out[gap] == 1.0:
                events.append(("missing", name))
            elif 1.0 in out[shared]:
                events.append(("new", name))
        for name in more:
            left.append((_shown(name), cells[name]))
            if not is_missing(cells[name]):
                events.append(("there", name))
        self._places.read(cells, self._listed, left, out, self._width, news, events)
        return out, news, events

    def _learn(self, given: Cells, news: News, events: Events, rows: int) -> None:
        if rows != self._rows:  # these updates are outdated: other rows were seen since
            return self.see(given)
        for learn, what in news:
            learn(what)
        if self._sequence is None and given:
            self._sequence = type(given) is list
            self._length = len(given) if self._sequence else 0
        tally = self._quality.current
        for kind, name in events:
            names = tally.setdefault(kind, {})
            shown = name if isinstance(name, str) else f"x{name}"
            if kind == "there" and shown not in names and len(names) >= MOST_LATE:
                shown = OTHERS
            names[shown] = names.get(shown, 0) + 1
        self._rows += 1
        if self._rows % BLOCK == 0:
            self._quality.turn()
            self._places.turn()
        return None

    def _new(self, cells: dict[Any, Any]) -> Iterable[Name]:
        """Return the names that have no column, in a fixed order."""
        return sorted((_checked(name) for name in cells.keys() - self._known), key=_order)

    def _named(self, cells: Cells) -> dict[Any, Any]:
        """Return the cells by column; raise `ContextError` for a row of another form."""
        if type(cells) is dict:
            if cells:
                self._check_form(cells, True, self._length)
            return cells
        length = len(self._names) if self._sequence is None else self._length
        listed = self._sequence is not False
        if not listed or len(cells) != length:
            self._check_form(cells, listed, length)
        if self.columns is not None:
            return dict(zip(self._names, cells, strict=True))
        return dict(enumerate(cells))

    def _check_form(self, cells: Cells, sequence: bool, length: int) -> None:
        if (type(cells) is list) is not sequence:
            wanted, got = ("sequences", "a mapping") if sequence else ("mappings", "a sequence")
            raise ContextError(
                f"Got {got}, but the earlier rows were {wanted}. Pass all rows in one form."
            )
        if sequence and len(cells) != length:
            raise ContextError(
                f"A row must have {length} values; got {len(cells)}. Pass None for a missing value."
            )

    def _check_declared(self, name: Name, value: Any) -> None:
        """Raise `ContextError` for a value that does not fit the declared column."""
        if not is_missing(value):
            part = self._parts[self._names.index(name)]
            raise ContextError(
                f"Column {name!r} is declared as {part!r}; got {repr_of(value)}. Pass None for an "
                "unknown value, or declare a column that accepts this value, such as Category()."
            )

    # Copies and files -----------------------------------------------------------------------------

    def copy(self) -> Self:
        """Return an independent copy with the same learned state."""
        return copy.deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything to one file; `hannan.load(path)` restores it with identical results."""
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
        if isinstance(given, str) and given in WORDS:
            part = WORDS[given]()
        elif isinstance(given, list | tuple):
            part = Category(given)
        if part is None:
            accepted = f"a column such as Number(), a list of levels, or one of {tuple(WORDS)}"
            raise refuse(owner, f"columns[{name!r}]", accepted, given)
        parts.append(part)
    return [_checked(name) for name in columns], parts


def _checked(name: Any) -> Name:
    if isinstance(name, str):
        return str(name)
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return int(name)
    raise ContextError(f"Names of features must be strings or integers; got {name!r:.80}.")


def _shown(name: Name) -> str:
    return name if isinstance(name, str) else f"x{name}"


def _order(name: Name) -> tuple[bool, Any]:
    return isinstance(name, str), name
