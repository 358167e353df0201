"""A tree of plain values back to objects, each made by its own constructor."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from hannan.core.errors import DamagedFileError, MissingPackageError, StorageError
from hannan.core.storage.arrays import Arrays
from hannan.core.storage.names import Names
from hannan.core.stored import Stored

Node = Any
_PLAIN = (bool, int, float, str)
_GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")


class Decoder:
    """Makes the objects of one file.

    Whatever goes wrong on the way is a `StorageError`: constructors check their arguments, and
    what was learned must be of the kind that a new object has.
    """

    def __init__(self, arrays: Any, body: memoryview, path: str, names: Names) -> None:
        self._arrays = Arrays(arrays, body, path)
        self._path = path
        self._names = names
        self._known: dict[int, Any] = {}

    def decode(self, tree: Node) -> Any:
        """The object that a tree describes."""
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
        """The value of a node; `like` is what a new object has in its place."""
        if node is None or type(node) in _PLAIN:
            return node
        if not isinstance(node, dict):
            raise self._damaged(node)
        if "ref" in node:
            if node["ref"] not in self._known:
                raise self._damaged(node)
            return self._known[node["ref"]]
        if "class" in node:
            return self._object(node, like)
        for tag, decode in _TAGS.items():
            if tag in node:
                return self._remember(node, decode(self, node))
        raise self._damaged(node)

    def _remember(self, node: dict[str, Node], value: Any) -> Any:
        if "id" in node:
            if type(node["id"]) is not int or node["id"] in self._known:
                raise self._damaged(node)
            self._known[node["id"]] = value
        return value

    def _object(self, node: dict[str, Node], like: Any) -> Any:
        """An object made anew, with what was learned laid over it."""
        made = self._names.type_named(node["class"], Stored)
        if made._trusted_package is not None:
            self._names.require(made._trusted_package, made)
        given = self._fields(node.get("given"))
        anew = like if type(like) is made and not given else made._rebuild(**given)
        if type(anew) is not made:
            raise self._damaged(node["class"])
        self._remember(node, anew)
        learned = node.get("learned")
        if not isinstance(learned, dict):
            raise self._damaged(node)
        expected = anew._state().keys()
        if learned.keys() != expected:
            odd = ", ".join(sorted(learned.keys() ^ expected))
            raise DamagedFileError(
                f"{self._path} holds a {made.__name__} as this version does not know it: "
                f"{odd:.200} should not be missing, or not be there."
            )
        for name, part in learned.items():
            before = getattr(anew, name)
            after = self._decode(part, before)
            if not _alike(before, after, name in made._growing_names()):
                raise DamagedFileError(
                    f"{self._path} holds a {made.__name__} whose {name} cannot be "
                    f"{type(after).__name__}{_shape(after)} where a new one has "
                    f"{type(before).__name__}{_shape(before)}."
                )
            setattr(anew, name, after)
        anew._restored()
        return anew

    def _fields(self, nodes: Node) -> dict[str, Any]:
        if not isinstance(nodes, dict):
            raise self._damaged(nodes)
        return {name: self._decode(node) for name, node in nodes.items()}

    def _items(self, nodes: Node) -> list[Any]:
        if not isinstance(nodes, list):
            raise self._damaged(nodes)
        return [self._decode(node) for node in nodes]

    def _pairs(self, nodes: Node) -> dict[Any, Any]:
        return {self._decode(key): self._decode(value) for key, value in nodes}

    def _list(self, node: dict[str, Node]) -> list[Any]:
        return self._items(node["list"])

    def _objects(self, node: dict[str, Node]) -> Any:
        items = self._items(node["objects"])
        array = np.empty(len(items), object)
        array[:] = items
        return array.reshape(node["shape"])

    def _estimator(self, node: dict[str, Node]) -> Any:
        from sklearn.base import BaseEstimator  # type: ignore[import-untyped]

        made = self._names.type_named(node["estimator"], BaseEstimator)
        params = self._fields(node["params"])
        if params.get("memory") is not None:
            raise StorageError(
                f"{self._path} holds a pipeline with memory=, a cache on disk that is read by "
                "executing what it holds: save one without."
            )
        return made(**params)

    def _generator(self, node: dict[str, Node]) -> Any:
        if node["generator"] not in _GENERATORS:
            raise self._damaged(node)
        bits = getattr(np.random, node["generator"])(0)
        bits.state = self._decode(node["state"])
        return np.random.Generator(bits)

    def _enum(self, node: dict[str, Node]) -> Any:
        return self._names.type_named(node["enum"], Enum)(node["value"])

    def _damaged(self, what: Any) -> DamagedFileError:
        return DamagedFileError(f"{self._path} is damaged: it cannot hold {what!r:.100}.")


_TAGS: dict[str, Callable[[Decoder, dict[str, Node]], Any]] = {
    "list": Decoder._list,
    "tuple": lambda self, node: tuple(self._items(node["tuple"])),
    "set": lambda self, node: set(self._items(node["set"])),
    "frozenset": lambda self, node: frozenset(self._items(node["frozenset"])),
    "dict": lambda self, node: self._pairs(node["dict"]),
    "counter": lambda self, node: Counter(self._pairs(node["counter"])),
    "deque": lambda self, node: deque(self._items(node["deque"]), node["most"]),
    "range": lambda self, node: range(*node["range"]),
    "bytes": lambda self, node: self._arrays.take(node["bytes"]).tobytes(),
    "array": lambda self, node: self._arrays.take(node["array"]),
    "scalar": lambda self, node: self._arrays.take(node["scalar"])[()],
    "fraction": lambda self, node: Fraction(node["fraction"]),
    "decimal": lambda self, node: Decimal(node["decimal"]),
    "date": lambda self, node: date.fromisoformat(node["date"]),
    "datetime": lambda self, node: datetime.fromisoformat(node["datetime"]),
    "uuid": lambda self, node: UUID(node["uuid"]),
    "complex": lambda self, node: complex(node["complex"]),
    "objects": Decoder._objects,
    "generator": Decoder._generator,
    "enum": Decoder._enum,
    "estimator": Decoder._estimator,
    "function": lambda self, node: self._names.function(node["function"]),
}


def _alike(before: Any, after: Any, growing: bool) -> bool:
    """Whether a value may take the place of the one a new object has."""
    if before is None or after is None:
        return True
    if isinstance(before, np.ndarray):
        if not isinstance(after, np.ndarray) or before.ndim != after.ndim:
            return False
        same_shape = before.shape == after.shape or growing
        return bool(before.dtype == after.dtype and same_shape)
    if isinstance(before, float):
        return type(after) in (float, int, np.float64)
    if isinstance(before, Stored):
        return isinstance(after, Stored)
    return type(before) is type(after)


def _shape(value: Any) -> str:
    return f" of shape {value.shape} and type {value.dtype}" if hasattr(value, "dtype") else ""
