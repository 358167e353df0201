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


class Stored:
    """Something that a file can hold: what makes it anew, and what it has learned since.

    Loading makes a new object and sets what was learned in it. So what follows from the rest
    (tables, noise, scratch space) is named in `_derived` and is not kept, since the new object has
    made it again; all other attributes are kept.

    A file may have been forged, and kernels do not look where they write. So what was learned must
    be like what a new object has in its place: of the same type, arrays of the same shape and
    finite, counts not negative, parts made of the same parameters. What play may make different is
    named in `_growing` (arrays that take another shape) and `_varying` (all else), and
    `_check_stored` looks at it. What play never changes is in `_fixed`, and must be equal to
    what a new object has, if that is not None or 0 yet.
    """

    __slots__ = ()
    stored: ClassVar[Mapping[str, Kind | None]] = MappingProxyType({})
    """What files hold beside the parameters, by name: a class adds to what its bases list, or takes
    an attribute off the list by None."""
    room_for: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how many things the constructor makes room for: their products, each
    with blanks between the names, are added up. A product "a b unless c" counts where c is None."""
    _derived: ClassVar[frozenset[str]] = frozenset()
    _growing: ClassVar[frozenset[str]] = frozenset()
    _varying: ClassVar[frozenset[str]] = frozenset()
    _fixed: ClassVar[frozenset[str]] = frozenset()
    _later: ClassVar[frozenset[str]] = frozenset()
    """What files of earlier versions do not have: it stays as a new object has it."""
    _is_value: ClassVar[bool] = False
    """Whether it never changes and equals others like it, so that no file says which are the same
    object."""
    _trusted_package: ClassVar[str | None] = None
    """A package that reads part of the file itself, so that the caller must trust the file."""
    _unstorable: ClassVar[str | None] = None
    """Why no file can hold it, where that is so."""

    def _params_to_store(self) -> dict[str, Any]:
        """What makes the object anew, by name.

        All of a frozen dataclass; of one that changes what it has no default for, so that the
        rest is compared with what a new object has.
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
        """A new object from its params."""
        return cls(**params)

    def _state(self) -> dict[str, Any]:
        """All else that is to be kept, by name."""
        if is_declared(type(self)):
            return self._declared_state()
        left_out = self._derived_names() | self._params_to_store().keys()
        kept = vars(self) if hasattr(self, "__dict__") else _slots(self)
        return {name: value for name, value in kept.items() if name not in left_out}

    def _declared_state(self) -> dict[str, Any]:
        """The declared attributes by name, without parameters and defaults of the class."""
        given = self._params_to_store()
        own = getattr(self, "__dict__", ())
        return {
            name: getattr(self, name)
            for name in declared(type(self))
            if name not in given and (name in own or not has_default(type(self), name))
        }

    def _check_state(self) -> None:
        """Refuse state that declared kinds cannot tell from what a learner leaves."""

    def _check_stored(self) -> None:
        """Refuse what play could not have left here; see `hannan.core.kept`. Before `_restored`."""

    @classmethod
    def _footprint(cls, given: dict[str, Any]) -> float:
        """About how many bytes the constructor will take that the file does not hold itself."""
        return 0.0

    def _restored(self) -> None:
        """Called once what was learned has been laid over a new object."""

    def _resumed(self, mark: bytes, tail: bytes, path: str) -> None:
        """Called with what a file goes on with after this object; `mark` ends what is before."""
        if tail:
            raise DamagedFileError(f"{path} is damaged: its lengths do not add up.")

    @classmethod
    def _derived_names(cls) -> frozenset[str]:
        return names_in(cls, "_derived")


def _slots(thing: Any) -> dict[str, Any]:
    """The attributes of an object without a `__dict__`."""
    found = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    return {field.name: getattr(thing, field.name) for field in found}


def _names_in(kind: type, attribute: str) -> frozenset[str]:
    """The names that a class and all it is made from list, as in `_growing`."""
    found = (vars(base).get(attribute, frozenset()) for base in kind.__mro__)
    return frozenset().union(*found)


# Typed anew: to mypy a class is not hashable where its instances say how they are.
names_in: Callable[[type, str], frozenset[str]] = cache(_names_in)


def _declared(kind: type) -> dict[str, Kind]:
    """What a class and its bases store: those of the bases first, but for what comes last."""
    found: dict[str, Kind | None] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("stored", {})
    kept = [(name, each) for name, each in found.items() if each is not None]
    return dict(sorted(kept, key=lambda item: item[1].last))


declared: Callable[[type], dict[str, Kind]] = cache(_declared)


def is_declared(kind: type) -> bool:
    """Whether a class lists what it stores."""
    for base in kind.__mro__:
        if "stored" in vars(base):
            return base is not Stored and (base is kind or not vars(base).get("_moving", False))
    return False


def has_default(kind: type, name: str) -> bool:
    """Whether a class has a value for an attribute that its objects may not have set."""
    default = getattr(kind, name, _NO_DEFAULT)
    return default is not _NO_DEFAULT and not hasattr(type(default), "__get__")


_NO_DEFAULT = object()
