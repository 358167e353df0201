"""What of an object a file keeps."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self


class Stored:
    """Something that a file can hold: what makes it anew, and what it has learned since.

    Loading makes an object anew and lays over it what was learned. So what follows from the rest
    (tables, noise, scratch space) is named in `_scratch`, is not kept, and is there again; all
    other attributes are kept. Arrays keep the shape that those of a new object have, but for
    those named in `_growing`.
    """

    __slots__ = ()
    _scratch: ClassVar[frozenset[str]] = frozenset()
    _growing: ClassVar[frozenset[str]] = frozenset()
    _vouched: ClassVar[str | None] = None
    """A package that reads part of the file itself, so that the caller must trust the file."""
    _unstorable: ClassVar[str | None] = None
    """Why no file can hold it, where that is so."""

    def _makings(self) -> dict[str, Any]:
        """What makes the object anew, by name."""
        if dataclasses.is_dataclass(self):
            return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {}

    @classmethod
    def _anew(cls, **makings: Any) -> Self:
        """A new object from its makings."""
        return cls(**makings)

    def _learned(self) -> dict[str, Any]:
        """All else that is to be kept, by name."""
        left_out = self._scratch_names() | self._makings().keys()
        kept = getattr(self, "__dict__", {})
        return {name: value for name, value in kept.items() if name not in left_out}

    def _restored(self) -> None:
        """Called once what was learned has been laid over a new object."""

    @classmethod
    def _scratch_names(cls) -> frozenset[str]:
        return _named(cls, "_scratch")

    @classmethod
    def _growing_names(cls) -> frozenset[str]:
        return _named(cls, "_growing")


def _named(made: type, attribute: str) -> frozenset[str]:
    """The names that a class and all it is made from list."""
    found = (vars(base).get(attribute, frozenset()) for base in made.__mro__)
    return frozenset().union(*found)
