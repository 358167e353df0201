"""Rows as contexts: a mapping, a row of a frame or a sequence becomes an array of numbers."""

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
"""No array of features is longer."""

_ROOM = 64

Name = str | int
Declared = Column | str | Sequence[Any]
Read = Callable[[Any, list[float], int, News], bool]


class Features(Parametrised):
    """What is known before a decision, of any kind, as the array of numbers that learners take.

    A row is a mapping, a row of a frame, a named tuple, a sequence, a single value, or None for no
    features. `encode` makes an array of it and changes nothing; `see` learns from it: means and
    deviations of numbers, levels of categories. Ask `encode` first, then `see`, once for each row:
    what is encoded is the row as it will look once it has been seen.

    Columns are declared, or found from the first row: numbers, booleans, dates, lists and arrays of
    numbers, short text as categories, longer text as words. The width is fixed from then on.
    Levels of categories, missing values, and what comes later, in new columns or of another kind
    than at first, take the places kept for them as they appear, and share a few by a hash once
    all are taken. So a row of named values is never refused.

    Parameters
    ----------
    columns
        What each column is: a `Number`, `Category`, `Text`, `Date`, `Flag` or `Vector`, one of the
        first five words in small letters, or a list of levels. A value that cannot be read as
        declared is refused by `encode`; a column that a row lacks is missing. None finds the
        columns.
    places
        How many places there are for what has no number of its own. Where columns are declared None
        stands for 0, and other columns are ignored. Where they are found it stands for 8 for what
        is new and 8 for each category, less where `room` does not allow as many.
    room
        About how many numbers a row may take in all where columns are found: numbers and booleans
        take 1, dates 5 or 7, text 8, lists of numbers their length up to 256, and places the rest.
        The width is at most 512, and columns for which that is not enough take places.

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
        """Gather what each row needs."""
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

    # What is known of the columns ---------------------------------------------------------------

    @property
    def width(self) -> int:
        """How many numbers a row becomes; 0 before the columns are found."""
        return self._width + self._places.size

    @property
    def names(self) -> list[str]:
        """What each number is; a place that nothing has taken yet is "free 3"."""
        columns = zip(self._names, self._parts, strict=True)
        found = [label for name, part in columns for label in part.labels(_shown(name))]
        return found + self._places.labels()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column; "other" for those that came later."""
        columns = zip(self._names, self._parts, strict=True)
        found = {_shown(name): type(part).__name__ for name, part in columns}
        found |= {_shown(name): "Category" for name in self._categories}
        return found | {name: "other" for name in self._places.columns if name not in found}

    @property
    def rows(self) -> int:
        """How many rows were seen."""
        return self._rows

    @property
    def quality(self) -> Shares:
        """For each column the shares of rows in which it was missing, new or odd.

        Lately, over about the last 1,000 rows, and before, None without rows before. *New* is a
        level that first appeared lately or is too rare for a place of its own, *odd* a value of
        another kind than the column. A column that came later has the share of rows with it,
        "unknown", too.
        """
        return self._quality.shares(self._own, self._rows % BLOCK)

    def changes(self, rows: str = "rows") -> list[str]:
        """Return a sentence for each share of missing, new or odd values that has clearly grown.

        If rows are independent and alike, the probability that there ever is one is at most 1 %.

        Parameters
        ----------
        rows
            What rows are called there.

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
        """The columns that were declared, or had a value in the first row."""
        return [_shown(name) for name in self._known]

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
        """The array of a row, finite and new; nothing changes."""
        return self.read(row)[0]

    def see(self, row: Any = None) -> None:
        """Learn from a row; the first one finds the columns if they were not declared."""
        given = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            self.find([given])
        self._learn(given, *self._pass(given)[1:], self._rows)

    def read(self, row: Any = None) -> tuple[FloatArray, Callable[[], None]]:
        """The array of a row, and a call that learns from the row: `encode` and `see` in one pass.

        Nothing changes before that call, and it cannot fail.
        """
        given = row if type(row) is dict else cells_of(row)
        if not self._fixed_width:
            twin = self.clone().find([given])
            return twin.encode(given), partial(self.see, given)
        out, news, events = self._pass(given, self.columns is not None)
        x = np.empty(len(out))
        pack_into(self._format, x.data, 0, *out)  # several times as fast as np.array(out)
        return x, partial(self._learn, given, news, events, self._rows)

    def _pass(self, given: Cells, strict: bool = False) -> tuple[list[float], News, Events]:
        """The numbers of a row, its news, and what is wrong with it; `strict`: as declared."""
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
        if rows != self._rows:  # other rows were seen since, so that these are none any more
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
        """The names without a column, in an order that is always the same."""
        return sorted((_checked(name) for name in cells.keys() - self._known), key=_order)

    def _named(self, cells: Cells) -> dict[Any, Any]:
        """Refuse a row of another form; one without names is known by its places."""
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
                f"Features has seen rows that are {wanted}; got {got}. Give all rows in one form."
            )
        if sequence and len(cells) != length:
            raise ContextError(
                f"Features takes rows of {length} values; got {len(cells)}. Write None where a "
                "value is missing."
            )

    def _check_declared(self, name: Name, value: Any) -> None:
        """Refuse a value that cannot be read as declared."""
        if not is_missing(value):
            part = self._parts[self._names.index(name)]
            raise ContextError(
                f"Column {name!r} is declared as {part!r}; got {repr_of(value)}. Give None where "
                "it is not known, or declare a column that can hold it, such as Category()."
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
    raise ContextError(f"Names of features must be text or whole numbers; got {name!r:.80}.")


def _shown(name: Name) -> str:
    return name if isinstance(name, str) else f"x{name}"


def _order(name: Name) -> tuple[bool, Any]:
    return isinstance(name, str), name
