"""Decode a tree of plain values to objects, each made by its own constructor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Set
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

from hannan.core.errors import DamagedFileError, MissingPackageError, StorageError
from hannan.core.state import Count, Scope, TupleOf, room
from hannan.core.storage.arrays import Arrays
from hannan.core.storage.encoding import COLLECTIONS, PLAIN, TEXTS, Node
from hannan.core.storage.estimators import listed, rebuilt, refuse_memory
from hannan.core.storage.names import TrustedNames, name_of
from hannan.core.stored import Stored, declared, needed

_SPARE = 2**27  # bytes that a constructor may always take, even if the file is small
_NODES = 2**20  # values that any small file may hold, with each repetition counted
_DEPTH = 120  # maximum depth of nested values
_EXPONENT = 5000  # maximum exponent of decimal fractions
_PCG64 = TupleOf(Count(2**128), Count(2**128), Count(2), Count(2**32))  # states of a generator


class Decoder:
    """Makes the objects of one file.

    Every failure raises a `StorageError`: constructors check their arguments, and learned state
    must be of the kind that a new object has.
    """

    def __init__(self, arrays: Any, body: memoryview, path: str, names: TrustedNames) -> None:
        self._arrays = Arrays(arrays, body, path)
        self._path = path
        self._names = names
        self._size = len(body)
        self._known: dict[int, Any] = {}
        self._depth = self._count = 0
        self._owners: list[Any] = []  # objects being loaded, the outermost first
        self._counts: dict[int, int] = {}  # by known object: the number of values in it

    def decode(self, tree: Node) -> Any:
        """Return the object that a tree describes."""
        try:
            return self._decode(tree)
        except (StorageError, MissingPackageError):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:300]
            raise DamagedFileError(
                f"{self._path} describes a learner that cannot be made: {reason}"
            ) from error

    def _decode(self, node: Node, like: Any = None) -> Any:
        """Return the value of a node; `like` is the value at this place in a new object."""
        if node is None or type(node) in PLAIN:
            return node
        if not isinstance(node, dict):
            raise self._damaged(node)
        if "ref" in node:
            if node["ref"] not in self._known:
                raise self._damaged(node)
            self._count += self._counts.get(node["ref"], 0)
            return self._known[node["ref"]]
        before, self._count, self._depth = self._count, self._count + 1, self._depth + 1
        if self._depth > _DEPTH or self._count > _NODES + self._size:
            raise DamagedFileError(f"{self._path} holds too many or too deeply nested values.")
        found = self._made(node, like)
        self._depth -= 1
        if "id" in node:
            self._counts[node["id"]] = self._count - before
        return found

    def _made(self, node: dict[str, Node], like: Any) -> Any:
        tag = next(iter(node), "")
        if tag in COLLECTIONS:
            return COLLECTIONS[tag](self._items(node[tag], like))
        if tag in TEXTS:
            return _READ.get(tag, TEXTS[tag])(node[tag])
        if tag not in _TAGS:
            raise self._damaged(node)
        return _TAGS[tag](self, node, like)

    def _object(self, node: dict[str, Node], _: Any) -> Any:
        """Make an object by its constructor, and set its learned state."""
        made = self._names.type_named(node["class"], Stored)
        self._names.require_package(made)
        given = self._fields(node.get("given"))
        self._allow(made, room(made, SimpleNamespace(**given)))
        anew = made._rebuild(**given)
        if type(anew) is not made:
            raise self._damaged(node["class"])
        return self._laid(anew, node, given)

    def _part(self, node: dict[str, Node], like: Any) -> Any:
        """Set the learned state of a part that its owner has made."""
        if callable(like) and not isinstance(like, Stored):
            like = like(self._allow, self._fields(node["given"]))
        if not isinstance(like, Stored) or name_of(type(like)) != node["part"]:
            raise self._damaged(node["part"])
        self._names.require_package(type(like))
        return self._laid(like, node, {})

    def _laid(self, anew: Any, node: dict[str, Node], given: dict[str, Any]) -> Any:
        """Set the state of a new object, each attribute of the kind that its class declares."""
        learned: Any = node.get("learned")
        kinds = declared(type(anew))
        self._check_names(type(anew), learned, kinds.keys(), given.keys())
        if "id" in node:
            if type(node["id"]) is not int or node["id"] in self._known:
                raise self._damaged(node)
            self._known[node["id"]] = anew
        self._owners.append(anew)
        scope = Scope(*reversed(self._owners))
        for name, kind in kinds.items():
            value = getattr(anew, name, None)
            new = None if name in given else value
            if name in learned:
                like = None if kind.template is None else kind.template(new, scope)
                value = self._decode(learned[name], like)
            if not kind.accepts(value, new, scope):
                raise DamagedFileError(
                    f"{self._path} holds an invalid {type(anew).__name__}: wrong value of {name}, "
                    f"{type(value).__name__}{_shape(value)}."
                )
            if name in learned:
                setattr(anew, name, value)
        anew._check_state()
        anew._restored()
        self._owners.pop()
        return anew

    def _check_names(self, made: type, learned: Any, kinds: Set[str], given: Set[str]) -> None:
        """Raise an error for state that a class does not declare, or that is missing."""
        if not isinstance(learned, dict):
            raise self._damaged(learned)
        odd = (needed(made) - given - learned.keys()) | (learned.keys() - kinds)
        odd |= learned.keys() & given
        if odd:
            raise DamagedFileError(
                f"{self._path} has unexpected or missing attributes of {made.__name__}: "
                f"{', '.join(sorted(odd)):.200}. Another version wrote the file, or it is damaged."
            )

    def _allow(self, made: type, size: float) -> None:
        """Raise an error for an object that would take much more memory than the file."""
        if not size <= _SPARE + 64 * self._size:
            raise DamagedFileError(
                f"{self._path} is too small for the {made.__name__} that it describes, which would "
                f"take {size:.2g} bytes."
            )

    def _fields(self, nodes: Node) -> dict[str, Any]:
        if not isinstance(nodes, dict):
            raise self._damaged(nodes)
        return {name: self._decode(node) for name, node in nodes.items()}

    def _items(self, nodes: Node, like: Any = None) -> list[Any]:
        if not isinstance(nodes, list):
            raise self._damaged(nodes)
        alike = isinstance(like, list | tuple) and len(like) == len(nodes)
        return list(map(self._decode, nodes, like if alike else repeat(None)))

    def _dict(self, node: dict[str, Node], like: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for each, value in node["dict"]:
            key = self._decode(each)
            found[key] = self._decode(value, like.get(key) if hasattr(like, "get") else None)
        return found

    def _objects(self, node: dict[str, Node], _: Any) -> Any:
        items = self._items(node["objects"])
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(node["shape"])

    def _estimator(self, node: dict[str, Node], _: Any) -> Any:
        name = node["estimator"]
        if listed(name) and not self._names.trusts("sklearn"):
            make = partial(rebuilt, name)
        else:
            from sklearn.base import BaseEstimator  # type: ignore[import-untyped]

            make = self._names.type_named(name, BaseEstimator)
        params = self._fields(node["params"])
        refuse_memory(self._path, params)
        return make(**params)

    def _generator(self, node: dict[str, Node], _: Any) -> Any:
        """Return a PCG64 generator, the only kind that learners use, in a valid state."""
        state = tuple(node["generator"])
        if not _PCG64.fits(state):
            raise self._damaged(node)
        bits = np.random.PCG64(0)
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": state[0], "inc": state[1]},
            "has_uint32": state[2],
            "uinteger": state[3],
        }
        return np.random.Generator(bits)

    def _range(self, node: dict[str, Node], _: Any) -> range:
        found = range(*node["range"])
        if not len(found) <= _NODES + self._size:
            raise self._damaged(node)
        return found

    def _damaged(self, what: Any) -> DamagedFileError:
        return DamagedFileError(f"{self._path} is damaged: it cannot hold {what!r:.100}.")


def _fraction(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    return Fraction(int(top), int(bottom or "1"))  # no powers of ten, which may be huge


def _decimal(text: str) -> Decimal:
    found = Decimal(text)
    if found.is_finite() and abs(found.adjusted()) > _EXPONENT:
        raise ValueError(f"{text!r:.100} is out of range")
    return found


_READ: dict[str, Callable[[str], Any]] = {
    "fraction": _fraction,
    "decimal": _decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}
_TAGS: dict[str, Callable[[Decoder, dict[str, Node], Any], Any]] = {
    "class": Decoder._object,
    "part": Decoder._part,
    "dict": Decoder._dict,
    "deque": lambda self, node, _: deque(self._items(node["deque"]), node["most"]),
    "range": Decoder._range,
    "bytes": lambda self, node, _: self._arrays.take(node["bytes"]).tobytes(),
    "array": lambda self, node, _: self._arrays.take(node["array"]),
    "scalar": lambda self, node, _: self._arrays.take(node["scalar"])[()],
    "objects": Decoder._objects,
    "generator": Decoder._generator,
    "enum": lambda self, node, _: self._names.type_named(node["enum"], Enum)(node["value"]),
    "estimator": Decoder._estimator,
    "function": lambda self, node, _: self._names.function(node["function"]),
}


def _shape(value: Any) -> str:
    return f" of shape {value.shape} and type {value.dtype}" if hasattr(value, "dtype") else ""
