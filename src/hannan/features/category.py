"""Categories as one-hot arrays, with shared places for other levels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from hannan.core.state import Numbered, State, Text
from hannan.core.validation import check_integer, refuse
from hannan.features._cells import is_missing, level_of, stable_hash
from hannan.features.column import Column, News

_MOST = 512


class Category(Column):
    """A categorical column: 1 in the place of the value's level, 0 in all other places.

    Levels with the same text are one level: 3, 3.0 and "3". A missing value has its own place.
    `buckets` further places are shared, by a hash that is the same on every machine. Two kinds of
    levels use the shared places: undeclared levels, and levels found after `room` levels are taken.

    Parameters
    ----------
    levels
        List of all levels (hashable, at most 511, none missing, each once). None (default) adds
        levels in their order of appearance.
    room
        Maximum number of levels to find without `levels`, from 0 to 511. Default 12.
    buckets
        Number of places that all other levels share, from 1 to 511. Default 1.

    Examples
    --------
    >>> from hannan.features import Category, Features
    >>> features = Features({"plan": Category(["free", "pro"])})
    >>> features.names
    ['plan=free', 'plan=pro', 'plan missing', 'plan other']
    >>> for plan in ("pro", None, "platinum"):
    ...     print(features.encode({"plan": plan}))
    [0. 1. 0. 0.]
    [0. 0. 1. 0.]
    [0. 0. 0. 1.]
    """

    stored = State(
        _places=Numbered(Text().where(lambda self, key: level_of(key) == key), most="_size").where(
            lambda self, places: (
                self.levels is None or [*places] == [level_of(level) for level in self.levels]
            )
        ),
    )

    def __init__(
        self, levels: Sequence[Hashable] | None = None, room: int = 12, buckets: int = 1
    ) -> None:
        self.levels = levels
        self.room = room
        self.buckets = buckets
        self._size = check_integer(self, "room", room, 0, _MOST)
        check_integer(self, "buckets", buckets, 1, _MOST)
        self._places: dict[str, int] = {}
        if levels is not None:
            self._places = _places(self, levels)
            self._size = len(self._places)

    @property
    def width(self) -> int:
        """Number of levels, plus 1 for the missing value, plus the number of buckets."""
        return self._size + 1 + self.buckets

    def labels(self, name: str) -> list[str]:
        """Return the labels, such as "plan=free", "plan missing" and "plan other"."""
        found = [f"{name}={level}" for level in self._places]
        found += [f"{name}=?{place}" for place in range(len(found), self._size)]
        others = [f" {i}" for i in range(self.buckets)] if self.buckets > 1 else [""]
        return [*found, f"{name} missing", *(f"{name} other{i}" for i in others)]

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """Write 1 in the place of the level."""
        return self.read(value, out, at, [])

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write the level and append the update to `news`; a level with a place needs no update."""
        place = self._places.get(value) if type(value) is str else None
        if place is not None:
            out[at + place] = 1.0
            return True
        news.append((self.see, value))
        if value is None or not _can_be(value):
            out[at + self._size] = 1.0
            return is_missing(value)
        level = level_of(value)
        place = self._places.get(level)
        if place is None:
            if is_missing(value):
                place = self._size
            elif len(self._places) < self._size:
                place = len(self._places)  # as after `see`
            else:
                place = self._size + 1 + stable_hash(level) % self.buckets
        out[at + place] = 1.0
        return True

    def see(self, value: Any) -> bool:
        """Assign the next place to a new level."""
        places = self._places
        if type(value) is str and value in places:
            return True
        known = _can_be(value)
        missing = is_missing(value)
        if len(places) < self._size and known and not missing:
            places.setdefault(level_of(value), len(places))
        return known or missing


def _can_be(value: Any) -> bool:
    """Return whether a value can be a level: hashable, and a single value."""
    return isinstance(value, Hashable) and not isinstance(value, type | frozenset)


def _places(owner: Category, levels: Any) -> dict[str, int]:
    accepted = f"a list of up to {_MOST - 1} levels, none of them missing, each once"
    try:
        given = None if isinstance(levels, str) else list(levels)
    except TypeError:
        given = None
    if given is None or len(given) >= _MOST or not all(map(_can_be, given)):
        raise refuse(owner, "levels", accepted, levels)
    found = {level_of(level): i for i, level in enumerate(given)}
    if len(found) != len(given) or None in given or "" in found:
        raise refuse(owner, "levels", accepted, levels)
    return found
