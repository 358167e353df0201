"""Base class of objects that files can hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from hannan.core.errors import DamagedFileError

if TYPE_CHECKING:
    from hannan.core.state import Kind


NO_STATE: Mapping[str, Kind | None] = MappingProxyType({})
"""Declaration of classes whose objects never change: subclasses need not repeat it."""


class Stored:
    """Base class of objects that `save` can store: constructor parameters plus learned state.

    Loading makes a new object from the parameters and sets the attributes that its class lists in
    `stored`, each checked against its kind: see `hannan.core.state`. The constructor or `_restored`
    rebuilds everything else (tables, noise, caches).
    """

    __slots__ = ()
    stored: ClassVar[Mapping[str, Kind | None]] = MappingProxyType({})
    """State in files besides the parameters: the kind of each attribute. A class adds to the lists
    of its bases, or removes an attribute by None."""
    room_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that determine how many values the constructor allocates: the sum of the products,
    each with blanks between its factors. A product "a b unless c" counts if c is None."""
    _is_value: ClassVar[bool] = False
    """Whether objects never change and are equal by content, so that files need not record which
    ones are the same object."""
    _trusted_package: ClassVar[str | None] = None
    """Package that reads part of the file itself, so that the caller must trust the file."""
    _unstorable: ClassVar[str | None] = None
    """Reason why no file can hold the object, or None."""

    def _params_to_store(self) -> dict[str, Any]:
        """Return a mapping from the names of the constructor parameters to their values.

        For a frozen dataclass, return all fields; for any other dataclass, the fields without a
        default.
        """
        if not dataclasses.is_dataclass(self):
            return {}
        frozen: bool = self.__dataclass_params__.frozen  # type: ignore[attr-defined]
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if frozen or field.default is field.default_factory is dataclasses.MISSING
        }

    @classmethod
    def _rebuild(cls, **params: Any) -> Self:
        """Make a new object from its parameters."""
        return cls(**params)

    def _state(self) -> dict[str, Any]:
        """Return the declared attributes, without parameters and class defaults."""
        given, own = self._params_to_store(), getattr(self, "__dict__", ())
        always = needed(type(self))
        return {
            name: getattr(self, name)
            for name in declared(type(self))
            if name not in given and (name in own or name in always)
        }

    def _check_state(self) -> None:
        """Raise a `DamagedFileError` for invalid state that the declared kinds cannot detect."""

    def _restored(self) -> None:
        """Rebuild everything that follows from the loaded state."""

    def _resumed(self, mark: bytes, tail: bytes, path: str) -> None:
        """Read the rest of a file after this object; `mark` is the end of the part before."""
        if tail:
            raise DamagedFileError(f"{path} is damaged: its lengths do not add up.")


def _declared(kind: type) -> dict[str, Kind]:
    """Return the kinds that a class and its bases store: bases first, `last` kinds at the end."""
    listed: dict[str, Kind | None] = {}
    for base in reversed(kind.__mro__):
        listed |= vars(base).get("stored", {})
    kinds = [(name, each) for name, each in listed.items() if each is not None]
    return dict(sorted(kinds, key=lambda item: item[1].last))


# Annotated, because mypy treats a class as unhashable if its instances define a hash.
declared: Callable[[type], dict[str, Kind]] = cache(_declared)


def _needed(kind: type) -> frozenset[str]:
    """Return the declared attributes without a class default, which every object therefore has."""
    return frozenset(
        name
        for name in declared(kind)
        if not hasattr(kind, name) or hasattr(type(getattr(kind, name)), "__get__")
    )


needed: Callable[[type], frozenset[str]] = cache(_needed)


def silent_class(thing: Stored) -> type | None:
    """Return the external class that adds attributes without declaring its stored state.

    A class that has a constructor, or defaults that the object has replaced, must list in `stored`
    the state that files hold.
    """
    if any(vars(base).get("stored") is NO_STATE for base in type(thing).__mro__):
        return None
    if dataclasses.is_dataclass(thing):
        return None
    own = getattr(thing, "__dict__", {}).keys() - declared(type(thing)).keys()
    for base in type(thing).__mro__:
        if base.__module__.startswith("hannan."):
            return None
        members = {*vars(base), *getattr(base, "__annotations__", ())}
        if "stored" not in vars(base) and ("__init__" in vars(base) or members & own):
            return base
    return None
