"""Graphs as users give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, missing
from hannan.core.state import State
from hannan.core.stored import Stored

_COLUMNS = (("tail", "head"), ("source", "target"), ("u", "v"))


class Graph(NamedTuple):
    """Nodes and edges by name, and each edge's tail and head by number."""

    nodes: list[Any]
    edges: list[tuple[Any, ...]]
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    number: dict[Any, int]


def read_graph(owner: str, given: Any, directed: bool) -> Graph:
    """A networkx graph, a table with a column for each end, two arrays, or a list of pairs."""
    nodes, edges = _nodes_and_edges(owner, given, directed)
    if not edges:
        raise ParameterError(f"{owner} needs a graph with at least one edge; got one without any.")
    try:
        named = dict.fromkeys([*nodes, *(node for edge in edges for node in edge[:2])])
    except TypeError:
        raise InputTypeError(
            "The nodes of a graph must be hashable, such as ints, strings or tuples; use a tuple "
            "in place of a list."
        ) from None
    for i, edge in enumerate(edges):
        if any(map(missing, edge[:2])):
            raise ParameterError(f"Edge {i} of {owner} has a missing end: {edge[:2]!r}.")
    number = {node: i for i, node in enumerate(named)}
    tail = np.array([number[edge[0]] for edge in edges], np.int64)
    head = np.array([number[edge[1]] for edge in edges], np.int64)
    return Graph(list(number), edges, tail, head, number)


def _nodes_and_edges(
    owner: str, given: Any, directed: bool
) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Read the edges, and the nodes of a graph that has some without edges."""
    if hasattr(given, "is_directed") and hasattr(given, "edges"):
        if given.is_directed() != directed:
            raise InputTypeError(f"{owner} needs {_WRONG_KIND[directed]}")
        keys = {"keys": True} if directed and given.is_multigraph() else {}
        return list(given.nodes), [tuple(edge) for edge in given.edges(**keys)]
    if is_frame(given):
        ends = _ends(owner, given, _COLUMNS[:1] if directed else _COLUMNS)
        return [], _pairs(owner, *ends)
    if hasattr(given, "tail") and not callable(given.tail):
        return [], _pairs(owner, given.tail, given.head)
    if isinstance(given, tuple) and len(given) == 2 and _are_columns(given, directed):
        return [], _pairs(owner, *given)
    return [], _listed(owner, given, directed)


@dataclass(frozen=True)
class StoredGraph(Stored):
    """The nodes and edges of a graph in their order, without what else was attached to them.

    It answers like a graph of networkx to the questions that oracles ask.
    """

    nodes: list[Any]
    links: list[tuple[Any, ...]]
    directed: bool
    multi: bool
    stored = State()

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


def as_read(given: Any, graph: Graph) -> Any:
    """Return a graph as files hold it: as it was read, whatever was changed in it since."""
    if isinstance(given, list):
        return graph.edges
    if not (hasattr(given, "is_directed") and hasattr(given, "edges")):
        return given
    return StoredGraph(graph.nodes, graph.edges, given.is_directed(), given.is_multigraph())


_WRONG_KIND = {
    True: "a directed graph, such as a networkx.DiGraph; got an undirected one. Say which way "
    "each edge leads, or use Paths.towards(graph, source, target, weight=…).",
    False: "an undirected graph; got a directed one. Use graph.to_undirected().",
}


def _ends(owner: str, frame: Any, accepted: tuple[tuple[str, str], ...]) -> list[Any]:
    found = {str(name): column for name, column in columns_of(frame)}
    for ends in accepted:
        if found.keys() >= set(ends):
            return [found[end] for end in ends]
    wanted = " or ".join(f"{a!r} and {b!r}" for a, b in accepted)
    raise ParameterError(
        f"{owner} needs a table with the columns {wanted}; this one has {list(found)}."
    )


def _are_columns(pair: tuple[Any, Any], directed: bool) -> bool:
    """Whether these are tails and heads, and not two edges; undirected, two lists may be those."""
    if directed:
        return not any(isinstance(end, tuple | str) for end in pair)
    return all(hasattr(end, "__array__") and not isinstance(end, np.generic) for end in pair)


def _pairs(owner: str, tails: Any, heads: Any) -> list[tuple[Any, Any]]:
    first, second = as_list(tails), as_list(heads)
    if len(first) != len(second):
        raise ParameterError(
            f"{owner} needs two ends for each edge; got {len(first)} tails and {len(second)} heads."
        )
    return list(zip(first, second, strict=True))


def _listed(owner: str, given: Any, directed: bool) -> list[tuple[Any, ...]]:
    try:
        found = [tuple(pair) for pair in as_list(given)]
    except TypeError:
        kind = "DiGraph" if directed else "Graph"
        raise InputTypeError(
            f"{owner} needs a graph: a networkx.{kind}, a table with a column for each end of an "
            f"edge, a tuple of two arrays, or a list of pairs; got {given!r}."
        ) from None
    for i, pair in enumerate(found):
        if len(pair) != 2:
            raise ParameterError(f"Edge {i} should be a pair of nodes; got {pair!r}.")
    return found
