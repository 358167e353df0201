"""A column that has had no value yet."""

from __future__ import annotations

from typing import Any

from hannan.core.kept import expect
from hannan.features._cells import is_missing
from hannan.features._found import KINDS, LATER, narrow
from hannan.features.column import Column


class Later(Column):
    """Six numbers, kept for whatever kind the first value of the column turns out to be."""

    _varying = frozenset({"_inside"})

    def _check_stored(self) -> None:
        inside = self._inside
        expect(self, _inside=inside is None or (type(inside) in KINDS and inside.width <= LATER))

    def __init__(self) -> None:
        self._inside: Column | None = None

    @property
    def width(self) -> int:
        """6."""
        return LATER

    @property
    def inside(self) -> Column | None:
        """The kind that it turned out to be."""
        return self._inside

    def labels(self, name: str) -> list[str]:
        """Those of the kind, and "name unused" for what it leaves."""
        found = [] if self._inside is None else self._inside.labels(name)
        return found + [f"{name} unused"] * (LATER - len(found))

    def write(self, value: Any, out: list[float], at: int) -> bool:
        """As the kind does."""
        inside = self._inside
        if inside is None:
            if is_missing(value):
                return True
            inside = narrow(value)
        return inside.write(value, out, at)

    def see(self, value: Any) -> None:
        """The first value decides."""
        if self._inside is None:
            if is_missing(value):
                return
            self._inside = narrow(value)
        self._inside.see(value)
