"""What of an object a file keeps."""

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
"""What a class stores whose objects never change: its subclasses need not say so again."""


class Stored:
    """An object that a file can hold: its parameters, and what it has learned since.

    Loading makes a new object from the parameters and lays over it the attributes that its class
    lists in `stored`, each checked against its kind: see `hannan.core.state`. All else (tables,
    noise, caches) the constructor or `_restored` makes again.
    """

    __slots__ = ()
    stored: ClassVar[Mapping[str, Kind | None]] = MappingProxyType({})
    """What files hold beside the parameters, by name: a class adds to what its bases list, or takes
    an attribute off the list by None."""
    room_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how many things the constructor makes room for: their products, each
    with blanks between the names, are added up. A product "a b unless c" counts where c is None."""
    _is_value: ClassVar[bool] = False
    """Whether it never changes and equals others like it, so that no file says which are the same
    object."""
    _trusted_package: ClassVar[str | None] = None
    """A package that reads part of the file itself, so that the caller must trust the file."""
    _unstorable: ClassVar[str | None] = None
    """Why no file can hold it, where that is so."""

    def _params_to_store(self) -> dict[str, Any]:
        """Return the parameters of the constructor, by name.

        All fields of a frozen dataclass; of one that changes, those without a default.
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
        """Return the declared attributes by name, without parameters and defaults of the class."""
        given, own = self._params_to_store(), getattr(self, "__dict__", ())
        always = needed(type(self))
        return {
            name: getattr(self, name)
            for name in declared(type(self))
            if name not in given and (name in own or name in always)
        }

    def _check_state(self) -> None:
        """Refuse state that declared kinds cannot tell from what a learner leaves."""

    def _restored(self) -> None:
        """Make again what follows from the state, once that has been loaded."""

    def _resumed(self, mark: bytes, tail: bytes, path: str) -> None:
        """Read what a file goes on with after this object; `mark` ends what is before."""
        if tail:
            raise DamagedFileError(f"{path} is damaged: its lengths do not add up.")


def _declared(kind: type) -> dict[str, Kind]:
    """What a class and its bases store: those of the bases first, but for what comes last."""
    listed: dict[str, Kind | None] = {}
    for base in reversed(kind.__mro__):
        listed |= vars(base).get("stored", {})
    kinds = [(name, each) for name, each in listed.items() if each is not None]
    return dict(sorted(kinds, key=lambda item: item[1].last))


# Typed anew: to mypy a class is not hashable where its instances say how they are.
declared: Callable[[type], dict[str, Kind]] = cache(_declared)


def _needed(kind: type) -> frozenset[str]:
    """The declared attributes for which a class has no default, which every object thus has."""
    return frozenset(
        name
        for name in declared(kind)
        if not hasattr(kind, name) or hasattr(type(getattr(kind, name)), "__get__")
    )


needed: Callable[[type], frozenset[str]] = cache(_needed)


def silent_class(thing: Stored) -> type | None:
    """Return the class from outside that gives an object attributes without saying what to store.

    A class that has a constructor, or defaults that the object has replaced, must list in `stored`
    what files hold of it.
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
