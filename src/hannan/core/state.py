"""Declarations of the state that files hold.

A class lists in `stored` what a file holds of it, each attribute with its kind:

>>> import hannan as hn
>>> class Running(hn.Predictor):
...     stored = State(_sums=Array("n_actions", low=0.0), _count=Count())

Loading constructs an object from its parameters and lays the stored attributes over it. Each value
must be of its declared kind, because a file may be forged and kernels do not check their indices.
Lengths and bounds are numbers, names of attributes ("oracle.n_actions") or functions of the object.
Names that the object itself does not have are looked up in the objects that it is part of.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import operator
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from hannan.core.errors import DamagedFileError
from hannan.core.stored import Stored

MOST = 2**62
"""More than any count."""

LARGEST = 1e150
"""No number is larger, so that squares of numbers stay finite."""

Bound = int | float | str | Callable[[Any], Any] | None
_ABSENT = object()


class Scope:
    """An object that is being loaded, with the objects around it, the innermost first.

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


class Kind:
    """A kind of value that a file may hold in an attribute."""

    parts = False
    """Whether the owner makes the objects in it, so that files hold only their state."""
    arguments: Iterable[str] = ()
    """Attributes of such an object from which the owner makes it."""
    last = False
    """Whether it is loaded after the state of all subclasses."""

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        """Whether a value of this kind may replace `new`, which the constructor made."""
        raise NotImplementedError

    def fits(self, value: Any) -> bool:
        """Whether a value that belongs to no object is of this kind."""
        return self.accepts(value, None, Scope())

    def template(self, new: Any, scope: Scope) -> Any:
        """Return the objects over which the state of parts is laid."""
        return new

    def __or__(self, other: Kind | None) -> Kind:
        return Either(self, OneOf(None) if other is None else other)

    def where(self, condition: Callable[[Any, Any], Any]) -> Kind:
        """Restrict the kind to values for which condition(owner, value) holds."""

        def accepts(value: Any, new: Any, scope: Scope) -> bool:
            return self.accepts(value, new, scope) and bool(condition(scope, value))

        narrower = copy.copy(self)
        narrower.accepts = accepts  # type: ignore[method-assign]
        return narrower


State = dict[str, Kind | None]
"""What files hold of an object beside its parameters: the kind of each attribute."""


class Simple(Kind):
    """Values that a function of the value alone tells."""

    def __init__(self, holds: Callable[[Any], bool]) -> None:
        self.holds = holds

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return self.holds(value)


Anything = partial(Simple, lambda value: True)
"""Any value that a file can hold."""
Text = partial(Simple, lambda value: type(value) is str)
"""A string."""
Key = partial(Simple, lambda value: isinstance(value, Hashable) and hash(value) is not None)
"""Anything that can be a key of a dictionary."""
NoiseKey = partial(Simple, lambda value: type(value) is np.uint64)
"""The key of a stream of noise."""
Generator = partial(Simple, lambda value: isinstance(value, np.random.Generator))
"""A generator of random numbers, as learners use them."""


class OneOf(Kind):
    """One of a few plain values, compared with their types: `OneOf(True, False)`."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return any(type(value) is type(each) and value == each for each in self.values)


Flag = partial(OneOf, True, False)
"""True or False."""


class Count(Kind):
    """An integer from `low` on, below a bound.

    >>> Count(below=3).accepts(2, 0, Scope()), Count(below=3).accepts(3, 0, Scope())
    (True, False)
    """

    def __init__(self, below: Bound = MOST, low: int = 0) -> None:
        self.below = below
        self.low = low

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return type(value) is int and self.low <= value < scope.value(self.below)


class Number(Kind):
    """A finite number within bounds; where the constructor puts an infinite one, also that."""

    def __init__(self, low: Bound = -math.inf, high: Bound = math.inf) -> None:
        self.low = low
        self.high = high

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        if type(value) is int and abs(value) > MOST:  # NumPy would make objects of it
            return False
        if type(value) not in (float, int, np.float64):
            return False
        if isinstance(new, float) and not math.isfinite(new) and same(float(new), float(value)):
            return True
        return self.within(value, value, scope)

    def within(self, least: Any, most: Any, scope: Scope) -> bool:
        """Whether numbers between these two are within the bounds; not if one is NaN."""
        low, high = scope.value(self.low), scope.value(self.high)
        return bool(max(low, -LARGEST) <= least and most <= min(high, LARGEST))


class Array(Number):
    """An array as kernels take it: of one type, contiguous, its numbers finite and within bounds.

    Without lengths it has the type, the shape and the infinite entries of the constructor's.
    A length of None may be any.

    >>> rows = Array(None, 2, low=0.0)
    >>> rows.accepts(np.ones((3, 2)), None, Scope()), rows.accepts(-np.ones((3, 2)), None, Scope())
    (True, False)
    """

    def __init__(
        self,
        *shape: Bound,
        dtype: Any = np.float64,
        low: Bound = -math.inf,
        high: Bound = math.inf,
        below: Bound = None,
        rising: bool = False,
    ) -> None:
        super().__init__(low, high)
        self.shape = shape
        self.dtype = dtype
        self.below = below
        self.rising = rising

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        if not isinstance(value, np.ndarray):
            return False
        if not (self._fits(value, scope) if self.shape else _fits_like(value, new)):
            return False
        if self.rising and not (np.diff(value) > 0).all():
            return False
        if not value.size or value.dtype.kind not in "iuf":
            return True
        finite = value if self.shape or value.dtype.kind != "f" else value[np.isfinite(new)]
        if not finite.size:
            return True
        least, most = finite.min(), finite.max()  # NaN where one of them is
        below = self.below is None or most < scope.value(self.below)
        return below and self.within(least, most, scope)

    def _fits(self, value: Any, scope: Scope) -> bool:
        if value.dtype != self.dtype or value.ndim != len(self.shape):
            return False
        lengths = zip(map(scope.value, self.shape), value.shape, strict=True)
        return value.flags.c_contiguous and all(n in (None, length) for n, length in lengths)


def _fits_like(value: Any, new: Any) -> bool:
    """Whether an array has the type and shape of another one, and is infinite where that is."""
    if value.dtype != new.dtype or value.shape != new.shape:
        return False
    if value.size and value.strides != new.strides:
        return False
    if value.dtype.kind != "f":
        return True
    infinite = ~np.isfinite(new)
    return not infinite.any() or bool(np.array_equal(value[infinite], new[infinite], True))


class RowBytes(Kind):
    """The bytes of a row of finite numbers, as keys of dictionaries are."""

    def __init__(self, length: Bound = None) -> None:
        self.row = Array(length)

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        whole = type(value) is bytes and len(value) % 8 == 0
        return whole and self.row.accepts(np.frombuffer(value), None, scope)


class Part(Kind):
    """What the owner's constructor makes: files hold only what it learned.

    An object; or a list, a tuple or a dictionary of them.
    """

    parts = True

    def __init__(self, last: bool = False) -> None:
        self.last = last

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        if type(value) is not type(new) or not isinstance(new, dict | list | tuple):
            return value is new
        if isinstance(new, dict):
            return list(value) == list(new) and self.accepts(
                [*value.values()], [*new.values()], scope
            )
        return len(value) == len(new) and all(map(operator.is_, value, new))


class Made(Kind):
    """A part that the owner makes in play: files hold the arguments of `make`, and its state.

    Parameters
    ----------
    kinds
        The class of the part, or several that it may have.
    make
        A function of the owner and of the arguments, or the name of a method of the owner.
    arguments
        For each argument its kind; the part has an attribute of the same name.
    """

    parts = True

    def __init__(
        self,
        kinds: type | tuple[type, ...],
        make: str | Callable[..., Any],
        **arguments: Kind,
    ) -> None:
        self.classes = kinds if isinstance(kinds, tuple) else (kinds,)
        self.make = make
        self.kinds = arguments
        self.arguments = tuple(arguments)

    def template(self, new: Any, scope: Scope) -> Any:
        def made(allow: Callable[[type, float], None], arguments: dict[str, Any]) -> Any:
            if arguments.keys() != self.kinds.keys() or not all(
                each.accepts(arguments[name], None, scope) for name, each in self.kinds.items()
            ):
                return None
            for kind in self.classes:
                allow(kind, room(kind, Scope(SimpleNamespace(**arguments), scope)))
            if isinstance(self.make, str):
                return getattr(scope, self.make)(**arguments)
            return self.make(scope, **arguments)

        return made

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return type(value) in self.classes


class MadeByKey(Kind):
    """A dictionary of parts that the owner makes in play, from their keys alone."""

    parts = True

    def __init__(self, key: Kind, make: Callable[[Any, Any], Any]) -> None:
        self.key = key
        self.make = make

    def template(self, new: Any, scope: Scope) -> Any:
        def get(key: Any) -> Any:
            return self.make(scope, key) if self.key.accepts(key, None, scope) else None

        return SimpleNamespace(get=get)

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return type(value) is dict


def room(kind: type[Stored], makings: Any) -> float:
    """Return about how many bytes an object with these parameters takes as attributes."""
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


class Object(Kind):
    """An object that was made in play: files hold its class, its parameters and its state.

    Parameters
    ----------
    kinds
        Its class is one of these, or made from one of these.
    like
        Where an object with the same parameters is: an attribute, or a function of the owner.
    but
        Parameters that may differ.
    """

    def __init__(
        self,
        *kinds: type,
        like: str | Callable[[Any], Any] | None = None,
        but: Iterable[str] = (),
    ) -> None:
        self.kinds = kinds or (Stored,)
        self.like = like
        self.but = tuple(but)

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        if not isinstance(value, self.kinds):
            return False
        return self.like is None or same(value, scope.value(self.like), self.but)


class ListOf(Kind):
    """A list with items of one kind; of so many, or at most so many."""

    collection: Any = list

    def __init__(self, item: Kind, length: Bound = None, most: Bound = None) -> None:
        self.item = item
        self.length = length
        self.most = most

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        if type(value) is not self.collection:
            return False
        length, most = scope.value(self.length), scope.value(self.most)
        counted = length in (None, len(value)) and (most is None or len(value) <= most)
        return counted and all(self.item.accepts(each, None, scope) for each in value)


class TuplesOf(ListOf):
    """A tuple with items of one kind."""

    collection = tuple


class DequeOf(ListOf):
    """A deque with items of one kind, and with the `maxlen` of a new one."""

    collection = deque

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return super().accepts(value, new, scope) and value.maxlen == new.maxlen


class TupleOf(Kind):
    """A tuple with one item of each kind."""

    def __init__(self, *items: Kind) -> None:
        self.items = items

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return (
            type(value) is tuple
            and len(value) == len(self.items)
            and all(map(lambda kind, each: kind.accepts(each, None, scope), self.items, value))
        )


class DictOf(ListOf):
    """A dictionary with keys of one kind and values of another."""

    collection = dict

    def __init__(self, key: Kind, value: Kind, length: Bound = None, most: Bound = None) -> None:
        super().__init__(key, length, most)
        self.value = value
        self.parts = value.parts
        self.arguments = value.arguments

    def template(self, new: Any, scope: Scope) -> Any:
        return SimpleNamespace(get=lambda key: self.value.template(None, scope))

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return super().accepts(value, new, scope) and all(
            self.value.accepts(each, None, scope) for each in value.values()
        )


class Numbered(DictOf):
    """A dictionary that numbers its keys 0, 1, 2, … in their order."""

    def __init__(self, key: Kind, length: Bound = None, most: Bound = None) -> None:
        super().__init__(key, Count(), length, most)

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return super().accepts(value, new, scope) and list(value.values()) == [*range(len(value))]


class Context(Kind):
    """A context in the form that the policy class, or whoever `holds` it, takes."""

    def __init__(self, holder: str = "oracle") -> None:
        self.holder = holder

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return bool(scope.value(self.holder).holds(value))


class Either(Kind):
    """A value of one of two kinds: what `kind | other` makes."""

    def __init__(self, one: Kind, other: Kind) -> None:
        self.kinds = one, other
        maker = one if one.parts else other
        self.parts = maker.parts
        self.arguments = maker.arguments
        self.template = maker.template  # type: ignore[method-assign]

    def accepts(self, value: Any, new: Any, scope: Scope) -> bool:
        return any(kind.accepts(value, new, scope) for kind in self.kinds)


def require(owner: object, **holds: Any) -> None:
    """Refuse a file unless all of this holds, by the names of attributes: for `_check_state`.

    >>> require("a total", rounds=-1 >= 0)
    Traceback (most recent call last):
    ...
    hannan.core.errors.DamagedFileError: The file holds a str whose rounds do not fit the rest.
    """
    for name, true in holds.items():
        if not true:
            raise DamagedFileError(
                f"The file holds a {type(owner).__name__} whose {name} do not fit the rest."
            )


def same(one: Any, other: Any, but: Iterable[str] = ()) -> bool:
    """Whether two things are alike: objects by their parameters, except those named in `but`."""
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
    """Return the parameters of an object of ours, of an estimator or of a dataclass."""
    if isinstance(thing, Stored):
        return thing._params_to_store()
    if hasattr(thing, "get_params"):
        return dict(thing.get_params(deep=False))
    return vars(thing) if dataclasses.is_dataclass(thing) else None


def _equal(one: Any, other: Any) -> bool:
    if one.dtype.kind == "O":
        return same(one.ravel().tolist(), other.ravel().tolist())
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
