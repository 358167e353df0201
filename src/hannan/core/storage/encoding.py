"""Objects as a tree of plain values.

Every value except None, booleans, numbers and strings becomes a table whose first key is a tag:

========================================  ====================================================
{"list": […]}, {"date": "…"}, …           plain collections and values, see `_of_python`
{"array": 3}                              the fourth array of the body
{"class": …, "given": …, "learned": …}    an object: its class, parameters and state
{"part": …, "learned": …}                 an object that its owner makes, from "given" if any
{"ref": 7}                                a repeated object; its first place has "id": 7
========================================  ====================================================
"""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import StorageError
from hannan.core.state import Kind
from hannan.core.storage.arrays import Entry, packed
from hannan.core.storage.names import name_of
from hannan.core.stored import Stored, declared, silent_class

Node = Any
PLAIN = frozenset({bool, int, float, str})
COLLECTIONS = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
TEXTS: dict[str, Any] = {
    kind.__name__.lower(): kind for kind in (Fraction, Decimal, date, datetime, UUID, complex)
}
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)


class Encoder:
    """Turns one learner into a tree, and its arrays into the body of a file.

    Attributes
    ----------
    arrays
        Description of each array in the head.
    body
        Bytes of the arrays.
    named
        Classes and functions that the tree names, and packages that the reader must trust.
    """

    def __init__(self) -> None:
        self.arrays: list[Entry] = []
        self.body: list[memoryview] = []
        self.named: list[Any] = []
        self._objects: dict[int, tuple[Stored, dict[str, Node]]] = {}  # held, so ids stay unique
        self._shared = 0

    def encode(self, value: Any, path: str, kind: Kind | None = None) -> Node:
        """Return the node of a value; `path` names its place in messages."""
        if value is None or type(value) in PLAIN:
            return value
        part = None if kind is None or kind.template is None else kind
        if isinstance(value, Stored):
            return self._object(value, path, part)
        tag = type(value).__name__.lower()
        if type(value) is TEXTS.get(tag):
            return {tag: str(value)}
        if type(value) is COLLECTIONS.get(tag):
            return {tag: self._items(value, path, part)}
        if type(value) is dict:
            return {"dict": self._pairs(value, path, part)}
        node = self._of_numpy(value, path) or self._of_python(value, path)
        if node is None:
            raise StorageError(
                f"A file cannot hold {path}, of type {type(value).__module__}."
                f"{type(value).__name__}. It can hold Hannan's objects, arrays, plain values, "
                "scikit-learn estimators and named functions."
            )
        return node

    def _object(self, value: Stored, path: str, part: Kind | None) -> dict[str, Node]:
        if id(value) in self._objects:
            first = self._objects[id(value)][1]
            if "id" not in first:
                first["id"] = self._shared
                self._shared += 1
            return {"ref": first["id"]}
        if value._unstorable is not None:
            raise StorageError(f"A file cannot hold {path}: {value._unstorable}.")
        if value._trusted_package is not None:
            self.named.append(value._trusted_package)
        node: dict[str, Node] = {"class" if part is None else "part": self._name(type(value))}
        if not value._is_value:  # values are equal in every place
            self._objects[id(value)] = value, node
        if part is None:
            node["given"] = self._fields(value._params_to_store(), path)
        elif part.arguments:
            makings = {name: getattr(value, name) for name in part.arguments}
            node["given"] = self._fields(makings, path)
        silent = silent_class(value)
        if silent is not None:
            raise StorageError(
                f"A file cannot hold {path}: {silent.__name__} does not declare its state besides "
                "its parameters. Give the class stored = State(…), without arguments if it has no "
                "state: see docs/reference/saved-files.md."
            )
        node["learned"] = self._fields(value._state(), path, declared(type(value)))
        return node

    def _name(self, thing: Any) -> str:
        if thing not in self.named:
            self.named.append(thing)
        return name_of(thing)

    def _fields(
        self, values: Mapping[str, Any], path: str, kinds: Mapping[str, Kind] | None = None
    ) -> dict[str, Node]:
        known = kinds or {}
        return {
            name: self.encode(value, f"{path}.{name}", known.get(name))
            for name, value in values.items()
        }

    def _items(self, values: Any, path: str, kind: Kind | None = None) -> list[Node]:
        return [self.encode(value, f"{path}[{i}]", kind) for i, value in enumerate(values)]

    def _pairs(self, values: Mapping[Any, Any], path: str, kind: Kind | None) -> list[list[Node]]:
        return [
            [self.encode(key, path), self.encode(value, f"{path}[{key!r:.40}]", kind)]
            for key, value in values.items()
        ]

    def _of_numpy(self, value: Any, path: str) -> dict[str, Node] | None:
        """Return the node of a NumPy value or of an array-like object; else None."""
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if type(value) is np.random.Generator:
            state = value.bit_generator.state
            if state["bit_generator"] != "PCG64":
                raise StorageError(f"A file cannot hold {path}: its generator must be a PCG64.")
            return {"generator": [*state["state"].values(), state["has_uint32"], state["uinteger"]]}
        if isinstance(value, type) or not hasattr(value, "__array__"):
            return None
        array = np.asarray(value)
        if array.dtype.kind in "OV":
            return {"objects": self._items(array.ravel().tolist(), path), "shape": array.shape}
        return {"array": self._array(array)}

    def _of_python(self, value: Any, path: str) -> dict[str, Node] | None:
        """Return the node of any other value that a file can hold; else None."""
        if type(value) is deque:
            return {"deque": self._items(value, path), "most": value.maxlen}
        if type(value) is range:
            return {"range": [value.start, value.stop, value.step]}
        if type(value) is bytes:
            return {"bytes": self._array(np.frombuffer(value, np.uint8))}
        if isinstance(value, Enum):
            return {"enum": name_of(type(value)), "value": value.value}
        if isinstance(value, tuple):  # a named tuple equals the tuple without names
            return {"tuple": self._items(value, path)}
        if isinstance(value, datetime) and not getattr(value, "nanosecond", 0):
            return {"datetime": value.isoformat()}
        if isinstance(value, _CALLABLES):
            return {"function": self._name(value)}
        if _is_estimator(value):
            params = self._fields(value.get_params(deep=False), path)
            return {"estimator": self._name(type(value)), "params": params}
        return None

    def _array(self, value: NDArray[Any]) -> int:
        entry, content = packed(value)
        self.arrays.append(entry)
        self.body.append(content)
        return len(self.arrays) - 1


def _is_estimator(value: Any) -> bool:
    """Return whether this is a scikit-learn estimator, without importing scikit-learn."""
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(value, base.BaseEstimator)
