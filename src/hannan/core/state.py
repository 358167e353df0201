"""Declarations of the state that files hold.

A class lists in `stored` the attributes that files hold, each with its kind:

>>> import hannan as hn
>>> class Running(hn.Predictor):
...     stored = State(_sums=Array("n_actions", low=0.0), _count=Count())

Loading constructs an object from its parameters and then sets the stored attributes. Each value
must be of its declared kind, because a file may be forged and kernels do not check their indices.
Lengths and bounds are numbers, names of attributes ("oracle.n_actions") or functions of the object.
Names that the object itself does not have are looked up in the objects that contain it.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, is_dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from hannan.core.errors import DamagedFileError
from hannan.core.stored import Stored

MOST = 2**62
"""More than any count."""

LARGEST = 1e150
"""Largest absolute value of a number, so that squares of numbers stay finite."""

Bound = int | float | str | Callable[[Any], Any] | None
_ABSENT = object()


class Scope:
    """An object that is being loaded, and the objects that contain it, the innermost first.

    >>> Scope(np.zeros(3), 1.5).is_integer()
    False
    """

    def __init__(self, *objects: Any) -> None:
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        for each in self._objects:
            value = getattr(each, name, _ABSENT)
            if value is not _ABSENT:
                return value
        raise AttributeError(name)

    def value(self, bound: Bound) -> Any:
        """Return the number that a declared length or bound stands for."""
        if isinstance(bound, str):
            return operator.attrgetter(bound)(self)
        return bound(self) if callable(bound) else bound


@dataclass(eq=False)
class Kind:
    """A kind of value that a file may hold in an attribute; the functions below return kinds.

    Attributes
    ----------
    accepts
        `accepts(value, new, scope)` returns whether a value may replace `new`, which the
        constructor made.
    template
        For objects that the owner makes, so that files hold only their state: `template(new,
        scope)` returns the objects whose state is then set. Default None.
    arguments
        Attributes of such an object from which the owner makes it.
    last
        Whether the attribute is loaded after the state of all subclasses. Default False.
    """

    accepts: Callable[[Any, Any, Scope], bool]
    template: Callable[[Any, Scope], Any] | None = None
    arguments: tuple[str, ...] = ()
    last: bool = False

    def fits(self, value: Any) -> bool:
        """Return whether a value that belongs to no object is of this kind."""
        return self.accepts(value, None, Scope())

    def __or__(self, other: Kind | None) -> Kind:
        second = OneOf(None) if other is None else other
        maker = second if self.template is None else self
        return replace(maker, accepts=lambda *given: self.accepts(*given) or second.accepts(*given))

    def where(self, condition: Callable[[Any, Any], Any]) -> Kind:
        """Restrict the kind to values for which condition(owner, value) holds."""

        def accepts(value: Any, new: Any, scope: Scope) -> bool:
            return self.accepts(value, new, scope) and bool(condition(scope, value))

        return replace(self, accepts=accepts)


State = dict[str, Kind | None]
"""State that files hold of an object besides its parameters: the kind of each attribute."""


def Anything() -> Kind:
    """Declare any value that a file can hold."""
    return Kind(lambda *_: True)


def Text() -> Kind:
    """Declare a string."""
    return Kind(lambda value, *_: type(value) is str)


def Key() -> Kind:
    """Declare a value that can be a key of a dictionary."""
    return Kind(lambda value, *_: isinstance(value, Hashable) and hash(value) is not None)


def NoiseKey() -> Kind:
    """Declare the key of a stream of noise."""
    return Kind(lambda value, *_: type(value) is np.uint64)


def Generator() -> Kind:
    """Declare a generator of random numbers, as learners use them."""
    return Kind(lambda value, *_: isinstance(value, np.random.Generator))


def OneOf(*values: Any) -> Kind:
    """Declare one of a few plain values, compared with their types."""
    return Kind(
        lambda value, *_: any(type(value) is type(each) and value == each for each in values)
    )


def Flag() -> Kind:
    """Declare True or False."""
    return OneOf(True, False)


def Count(below: Bound = MOST, low: int = 0) -> Kind:
    """Declare an integer from `low` on, below a bound.

    >>> Count(below=3).fits(2), Count(below=3).fits(3)
    (True, False)
    """
    return Kind(lambda value, _, scope: type(value) is int and low <= value < scope.value(below))


def Number(low: Bound = -math.inf, high: Bound = math.inf) -> Kind:
    """Declare a finite number within bounds, or the infinite number that the constructor sets."""

    def accepts(value: Any, new: Any, scope: Scope) -> bool:
        if type(value) is int and abs(value) > MOST:  # NumPy would make objects of it
            return False
        if type(value) not in (float, int, np.float64):
            return False
        if isinstance(new, float) and not math.isfinite(new) and same(float(new), float(value)):
            return True
        return _within(value, value, scope.value(low), scope.value(high))

    return Kind(accepts)


def _within(least: Any, most: Any, low: Any, high: Any) -> bool:
    """Return whether the interval from `least` to `most` is within bounds; NaN is not."""
    return bool(max(low, -LARGEST) <= least and most <= min(high, LARGEST))


def Array(
    *shape: Bound,
    dtype: Any = np.float64,
    low: Bound = -math.inf,
    high: Bound = math.inf,
    below: Bound = math.inf,
    rising: bool = False,
) -> Kind:
    """Declare an array for kernels: of one type, contiguous, its numbers finite and within bounds.

    Without lengths, the type, the shape and the infinite entries are the constructor's. A length of
    None allows any length.

    >>> rows = Array(None, 2, low=0.0)
    >>> rows.fits(np.ones((3, 2))), rows.fits(-np.ones((3, 2)))
    (True, False)
    """

    def accepts(value: Any, new: Any, scope: Scope) -> bool:
        if not isinstance(value, np.ndarray):
            return False
        lengths = tuple(map(scope.value, shape))
        if not (_is_shaped(value, dtype, lengths) if shape else _is_like(value, new)):
            return False
        if rising and not (np.diff(value) > 0).all():
            return False
        if value.dtype.kind == "f" and not shape:
            value = value[np.isfinite(new)]
        if not value.size or value.dtype.kind not in "iuf":
            return True
        least, most = value.min(), value.max()  # NaN where one of them is
        inside = _within(least, most, scope.value(low), scope.value(high))
        return inside and bool(most < scope.value(below))

    return Kind(accepts)


def _is_shaped(value: Any, dtype: Any, lengths: tuple[Any, ...]) -> bool:
    if value.dtype != dtype or value.ndim != len(lengths):
        return False
    known = zip(lengths, value.shape, strict=True)
    return value.flags.c_contiguous and all(n in (None, length) for n, length in known)


def _is_like(value: Any, new: Any) -> bool:
    """Return whether an array has the type, the shape and the infinite entries of another."""
    if value.dtype != new.dtype or value.shape != new.shape:
        return False
    if value.size and value.strides != new.strides:
        return False
    if value.dtype.kind != "f":
        return True
    infinite = ~np.isfinite(new)
    return bool(np.array_equal(value[infinite], new[infinite], equal_nan=True))


def RowBytes(length: Bound = None) -> Kind:
    """Declare the bytes of a row of finite numbers, as used in keys of dictionaries."""
    row = Array(length)

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        whole = type(value) is bytes and len(value) % 8 == 0
        return whole and row.accepts(np.frombuffer(value), None, scope)

    return Kind(accepts)


def Part(last: bool = False) -> Kind:
    """Declare a part that the owner's constructor makes: files hold only its learned state.

    The part is an object, or a list, a tuple or a dictionary of objects.
    """

    def accepts(value: Any, new: Any, _: Scope) -> bool:
        if type(value) is not type(new) or not isinstance(new, dict | list | tuple):
            return value is new
        if isinstance(new, dict):
            keys, value, new = list(value) == list(new), value.values(), new.values()
        else:
            keys = len(value) == len(new)
        return keys and all(map(operator.is_, value, new))

    return Kind(accepts, lambda new, _: new, last=last)


def Made(
    classes: type | tuple[type, ...], make: str | Callable[..., Any], **arguments: Kind
) -> Kind:
    """Declare a part that the owner makes during a run: files hold arguments of `make`, and state.

    Parameters
    ----------
    classes
        Class of the part, or a tuple of the classes that it may have.
    make
        Function of the owner and of the arguments, or the name of a method of the owner.
    arguments
        Kind of each argument; the part has an attribute of the same name.
    """
    several = classes if isinstance(classes, tuple) else (classes,)

    def template(_: Any, scope: Scope) -> Any:
        def made(allow: Callable[[type, float], None], given: dict[str, Any]) -> Any:
            if given.keys() != arguments.keys() or not all(
                each.accepts(given[name], None, scope) for name, each in arguments.items()
            ):
                return None
            for kind in several:
                allow(kind, room(kind, Scope(SimpleNamespace(**given), scope)))
            if isinstance(make, str):
                return getattr(scope, make)(**given)
            return make(scope, **given)

        return made

    return Kind(lambda value, *_: type(value) in several, template, tuple(arguments))


def MadeByKey(key: Kind, make: Callable[[Any, Any], Any]) -> Kind:
    """Declare a dictionary of parts that the owner makes during a run, each from its key alone."""

    def template(_: Any, scope: Scope) -> Any:
        def get(each: Any) -> Any:
            return make(scope, each) if key.accepts(each, None, scope) else None

        return SimpleNamespace(get=get)

    return Kind(lambda value, *_: type(value) is dict, template)


def Object(
    *classes: type, like: str | Callable[[Any], Any] | None = None, but: Iterable[str] = ()
) -> Kind:
    """Declare an object made during a run: files hold its class, its parameters and its state.

    Parameters
    ----------
    classes
        Allowed classes; subclasses are allowed, too.
    like
        Location of an object with the same parameters: an attribute, or a function of the owner.
        Default None: the parameters are free.
    but
        Names of parameters that may differ. Default: none.
    """

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        if not isinstance(value, classes):
            return False
        return like is None or same(value, scope.value(like), but)

    return Kind(accepts)


def ListOf(
    item: Kind, length: Bound = None, most: Bound = None, collection: type[Any] = list
) -> Kind:
    """Declare a list, or another collection, of one kind of items, with a length or a maximum."""

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        if type(value) is not collection:
            return False
        exactly, limit = scope.value(length), scope.value(most)
        counted = exactly in (None, len(value)) and (limit is None or len(value) <= limit)
        return counted and all(item.accepts(each, None, scope) for each in value)

    return Kind(accepts)


def TuplesOf(item: Kind, length: Bound = None) -> Kind:
    """Declare a tuple with items of one kind."""
    return ListOf(item, length, collection=tuple)


def DequeOf(item: Kind) -> Kind:
    """Declare a deque with items of one kind, and with the `maxlen` of a new one."""
    items = ListOf(item, collection=deque)
    return Kind(
        lambda value, new, scope: items.accepts(value, new, scope) and value.maxlen == new.maxlen
    )


def TupleOf(*items: Kind) -> Kind:
    """Declare a tuple with one item of each kind."""

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        if type(value) is not tuple or len(value) != len(items):
            return False
        return all(map(lambda kind, each: kind.accepts(each, None, scope), items, value))

    return Kind(accepts)


def DictOf(key: Kind, value: Kind, length: Bound = None, most: Bound = None) -> Kind:
    """Declare a dictionary with keys of one kind and values of another."""
    keys, part = ListOf(key, length, most, collection=dict), value.template

    def accepts(found: Any, new: Any, scope: Scope) -> bool:
        return keys.accepts(found, new, scope) and all(
            value.accepts(each, None, scope) for each in found.values()
        )

    def template(_: Any, scope: Scope) -> Any:
        assert part is not None
        return SimpleNamespace(get=lambda _: part(None, scope))

    return Kind(accepts, None if part is None else template, value.arguments)


def Numbered(key: Kind, length: Bound = None, most: Bound = None) -> Kind:
    """Declare a dictionary that numbers its keys 0, 1, 2, … in their order."""
    counts = DictOf(key, Count(), length, most)
    return counts.where(lambda _, found: list(found.values()) == [*range(len(found))])


def Context(holder: str = "oracle") -> Kind:
    """Declare a context in the form that the policy class, or the object in `holder`, takes."""
    return Kind(lambda value, _, scope: bool(scope.value(holder).holds(value)))


def room(kind: type[Stored], makings: Any) -> float:
    """Return approximately the bytes of an object's attributes, given its parameters."""
    total = 0.0
    for product in kind.room_for:
        names, _, unless = product.partition(" unless ")
        if not unless or _path(makings, unless) is None:
            sizes = [_path(makings, name) for name in names.split()]
            total += math.prod(min(n, 2**63) for n in sizes if isinstance(n, int) and n > 0)
    return 128.0 * total


def _path(makings: Any, name: str) -> Any:
    for each in name.split("."):
        makings = getattr(makings, each, None)
    return makings


def require(owner: object, **holds: Any) -> None:
    """Raise a `DamagedFileError` unless all conditions hold, by attribute: for `_check_state`.

    >>> require("a total", rounds=-1 >= 0)
    Traceback (most recent call last):
    ...
    hannan.core.errors.DamagedFileError: The file holds an invalid str: inconsistent rounds.
    """
    for name, true in holds.items():
        if not true:
            raise DamagedFileError(
                f"The file holds an invalid {type(owner).__name__}: inconsistent {name}."
            )


def same(one: Any, other: Any, but: Iterable[str] = ()) -> bool:
    """Return whether two values are equal: objects by parameters, except the names in `but`."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and _equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other, [but] * len(one)))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key], but) for key in one)
    ours, theirs = _parameters(one), _parameters(other)
    if ours is not None and theirs is not None:
        return ours.keys() == theirs.keys() and all(
            name in but or same(ours[name], theirs[name], but) for name in ours
        )
    return bool(one == other) or (one != one and other != other)


def _parameters(thing: Any) -> dict[str, Any] | None:
    """Return the parameters of a Hannan object, an estimator or a dataclass, else None."""
    if isinstance(thing, Stored):
        return thing._params_to_store()
    if hasattr(thing, "get_params"):
        return dict(thing.get_params(deep=False))
    return vars(thing) if is_dataclass(thing) else None


def _equal(one: Any, other: Any) -> bool:
    if one.dtype.kind == "O":
        return same(one.ravel().tolist(), other.ravel().tolist())
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
