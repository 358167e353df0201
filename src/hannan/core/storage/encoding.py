"""Objects as a tree of plain values.

Every value but None, booleans, numbers and strings becomes a table with one tag, such as
{"tuple": […]} or {"class": …, "given": …, "learned": …}. What occurs a second time has an "id"
where it stands first and is {"ref": id} elsewhere, so that what was shared stays shared.
"""

from __future__ import annotations

import sys
import types
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import StorageError
from hannan.core.storage.arrays import Entry, packed
from hannan.core.storage.names import name_of
from hannan.core.stored import Stored, declared

Node = Any
_PLAIN = frozenset({bool, int, float, str})
_SHORT = 16
_TEXTS = {
    Fraction: "fraction",
    Decimal: "decimal",
    date: "date",
    datetime: "datetime",
    UUID: "uuid",
    complex: "complex",
}
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)


class Encoder:
    """Turns one learner into a tree, and its arrays into the body of a file.

    Attributes
    ----------
    arrays
        What the head says about each array.
    body
        Their bytes.
    named
        The classes and functions that the tree names, and packages that must be trusted.
    """

    def __init__(self) -> None:
        self.arrays: list[Entry] = []
        self.body: list[memoryview] = []
        self.named: list[Any] = []
        self._nodes: dict[int, dict[str, Node]] = {}
        self._alive: list[Any] = []  # so that no two objects have the same id()
        self._shared = 0

    def encode(self, value: Any, path: str, kind: Any = None) -> Node:
        """The node of a value; `path` says in messages where it stands.

        Of parts, which their owner makes, only the state is written.
        """
        if value is None or type(value) in _PLAIN:
            return value
        if type(value) is tuple and len(value) <= _SHORT and _PLAIN.issuperset(map(type, value)):
            # Whether equal ones are the same object depends on how often a learner was loaded.
            return {"tuple": list(value)}
        if isinstance(value, Stored) and value._is_value:  # for the same reason
            given = value._params_to_store().items()
            return {
                "class": self._name(type(value)),
                "given": {name: self._apart(each, f"{path}.{name}") for name, each in given},
                "learned": {},
            }
        known = self._nodes.get(id(value))
        if known is not None:
            return {"ref": self._number(known)}
        node: dict[str, Node] = {}
        self._nodes[id(value)] = node
        self._alive.append(value)
        node |= self._made(value, path, kind)
        return node

    def _apart(self, value: Any, path: str) -> Node:
        """The node of a part of a value, of which no array is shared with others."""
        return self._made(value, path) if type(value) is np.ndarray else self.encode(value, path)

    def _number(self, node: dict[str, Node]) -> int:
        if "id" not in node:
            node["id"] = self._shared
            self._shared += 1
        return int(node["id"])

    def _made(self, value: Any, path: str, kind: Any = None) -> dict[str, Node]:
        if kind is not None and kind.parts:
            return self._parts(value, path, kind)
        if isinstance(value, Stored):
            if value._unstorable is not None:
                raise StorageError(f"A file cannot hold {path}: {value._unstorable}.")
            if value._trusted_package is not None:
                self.named.append(value._trusted_package)
            return {
                "class": self._name(type(value)),
                "given": self._fields(value._params_to_store(), path),
                "learned": self._learned(value, path),
            }
        for kind, encode in _KINDS.items():
            if type(value) is kind:
                return encode(self, value, path)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if isinstance(value, Enum):
            return {"enum": name_of(type(value)), "value": value.value}
        if isinstance(value, tuple):  # with names, which its equals do not need
            return {"tuple": self._items(value, path)}
        if isinstance(value, datetime) and not getattr(value, "nanosecond", 0):
            return {"datetime": value.isoformat()}
        if isinstance(value, _CALLABLES):
            return {"function": self._name(value)}
        if _is_estimator(value):
            params = value.get_params(deep=False)
            return {"estimator": self._name(type(value)), "params": self._fields(params, path)}
        if _is_graph(value):
            return self._made(KeptGraph.of(value), path)
        if hasattr(value, "__array__"):
            return self._ndarray(np.asarray(value), path)
        raise StorageError(
            f"A file cannot hold {path}, of type {type(value).__module__}.{type(value).__name__}: "
            "only Hannan's own objects, arrays, plain values, scikit-learn estimators and "
            "functions that have a name."
        )

    def _parts(self, value: Any, path: str, kind: Any) -> dict[str, Node]:
        if isinstance(value, dict):
            pairs = value.items()
            return {"dict": [[self.encode(k, path), self.encode(v, path, kind)] for k, v in pairs]}
        if isinstance(value, list | tuple):
            tag = "list" if isinstance(value, list) else "tuple"
            return {tag: [self.encode(each, f"{path}[{i}]", kind) for i, each in enumerate(value)]}
        if not isinstance(value, Stored) or value._unstorable is not None:
            return self._made(value, path)
        if value._trusted_package is not None:
            self.named.append(value._trusted_package)
        makings = {name: getattr(value, name) for name in kind.arguments}
        return {
            "part": self._name(type(value)),
            **({"given": self._fields(makings, path)} if makings else {}),
            "learned": self._learned(value, path),
        }

    def _learned(self, value: Stored, path: str) -> dict[str, Node]:
        kinds, state = declared(type(value)), value._state()
        return {n: self.encode(v, f"{path}.{n}", kinds.get(n)) for n, v in state.items()}

    def _name(self, thing: Any) -> str:
        if thing not in self.named:
            self.named.append(thing)
        return name_of(thing)

    def _fields(self, values: Mapping[str, Any], path: str) -> dict[str, Node]:
        return {name: self.encode(value, f"{path}.{name}") for name, value in values.items()}

    def _items(self, values: Any, path: str) -> list[Node]:
        return [self.encode(value, f"{path}[{i}]") for i, value in enumerate(values)]

    def _pairs(self, values: Mapping[Any, Any], path: str) -> list[list[Node]]:
        return [
            [self.encode(key, path), self.encode(value, f"{path}[{key!r:.40}]")]
            for key, value in values.items()
        ]

    def _ndarray(self, value: NDArray[Any], path: str) -> dict[str, Node]:
        if value.dtype.kind in "OV":
            return {"objects": self._items(value.ravel().tolist(), path), "shape": value.shape}
        return {"array": self._array(value)}

    def _array(self, value: NDArray[Any]) -> int:
        entry, content = packed(value)
        used = len(self.arrays)
        self.arrays.append(entry)
        self.body.append(content)
        return used

    def _generator(self, value: np.random.Generator, path: str) -> dict[str, Node]:
        state = value.bit_generator.state
        return {
            "generator": type(value.bit_generator).__name__,
            "state": self.encode(state, path),
        }


_KINDS: dict[type, Callable[[Encoder, Any, str], dict[str, Node]]] = {
    **{kind: lambda self, value, path: {_TEXTS[type(value)]: str(value)} for kind in _TEXTS},
    list: lambda self, value, path: {"list": self._items(value, path)},
    tuple: lambda self, value, path: {"tuple": self._items(value, path)},
    set: lambda self, value, path: {"set": self._items(value, path)},
    frozenset: lambda self, value, path: {"frozenset": self._items(value, path)},
    dict: lambda self, value, path: {"dict": self._pairs(value, path)},
    Counter: lambda self, value, path: {"counter": self._pairs(value, path)},
    deque: lambda self, value, path: {"deque": self._items(value, path), "most": value.maxlen},
    range: lambda self, value, path: {"range": [value.start, value.stop, value.step]},
    bytes: lambda self, value, path: {"bytes": self._array(np.frombuffer(value, np.uint8))},
    np.ndarray: Encoder._ndarray,
    np.random.Generator: Encoder._generator,
}


def _is_estimator(value: Any) -> bool:
    """Whether it is one of scikit-learn's kind; without loading scikit-learn to find out."""
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(value, base.BaseEstimator)


@dataclass(frozen=True)
class KeptGraph(Stored):
    """The nodes and edges of a graph in their order, without what else was attached to them.

    It answers like a graph of networkx to the questions that oracles ask.
    """

    nodes: list[Any]
    links: list[tuple[Any, ...]]
    directed: bool
    multi: bool

    @classmethod
    def of(cls, graph: Any) -> KeptGraph:
        """What is kept of a graph."""
        keys = {"keys": True} if graph.is_multigraph() else {}
        links = [tuple(edge) for edge in graph.edges(**keys)]
        return cls(list(graph.nodes), links, graph.is_directed(), graph.is_multigraph())

    def is_directed(self) -> bool:
        """Whether edges lead one way."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether several edges may join two nodes; they then have keys."""
        return self.multi

    @property
    def edges(self) -> Links:
        """The edges, with their keys where there are any."""
        return Links(self.links)


class Links(list[tuple[Any, ...]]):
    """Edges that can be called, as those of networkx are, to be asked for their keys."""

    def __call__(self, keys: bool = False) -> list[tuple[Any, ...]]:
        return self if keys else [edge[:2] for edge in self]


def _is_graph(value: Any) -> bool:
    """Whether it can be asked like a graph of networkx."""
    return all(hasattr(value, name) for name in ("is_directed", "is_multigraph", "edges", "nodes"))
