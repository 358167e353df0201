"""Graphs in the formats of users, and the part of a graph between two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InfeasibleError, InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, missing
from hannan.core.state import State
from hannan.core.stored import Stored
from hannan.kernels import routes as kernel

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_COLUMNS = (("tail", "head"), ("source", "target"), ("u", "v"))


class Graph(NamedTuple):
    """Names of nodes and edges, and the numbers of each edge's tail and head."""

    nodes: list[Any]
    edges: list[tuple[Any, ...]]
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    number: dict[Any, int]


def read_graph(owner: str, given: Any, directed: bool) -> Graph:
    """Read a networkx graph, a table with a column for each end, two arrays, or a list of pairs."""
    if isinstance(given, StoredGraph) and given.directed == directed:
        return given.as_read
    return _read(owner, given, directed)


def _read(owner: str, network: Any, directed: bool) -> Graph:
    nodes, edges = _nodes_and_edges(owner, network, directed)
    if not edges:
        raise ParameterError(f"{owner} needs a graph with at least one edge; got one without any.")
    try:
        named = dict.fromkeys([*nodes, *(node for edge in edges for node in edge[:2])])
    except TypeError:
        raise InputTypeError(
            "The nodes of a graph must be hashable, such as ints, strings or tuples; use a tuple "
            "instead of a list."
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
    """Nodes and edges of a graph in their order, without attributes.

    It implements the methods of networkx graphs that oracles use.
    """

    nodes: list[Any]
    links: list[tuple[Any, ...]]
    directed: bool
    multi: bool
    stored = State()

    @classmethod
    def of(cls, graph: Graph, multi: bool) -> StoredGraph:
        """Make a directed graph that need not be read again."""
        stored = cls(graph.nodes, graph.edges, True, multi)
        vars(stored)["as_read"] = graph
        return stored

    @cached_property
    def as_read(self) -> Graph:
        """Numbers of nodes and edges, read once for all oracles that share the graph."""
        return _read("A stored graph", self, self.directed)

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Return whether several edges may join two nodes; they then have keys."""
        return self.multi

    @property
    def edges(self) -> Links:
        """Edges, with their keys in a multigraph."""
        return Links(self.links)


class Links(list[tuple[Any, ...]]):
    """List of edges that can be called with `keys=`, as in networkx."""

    def __call__(self, keys: bool = False) -> list[tuple[Any, ...]]:
        return self if keys else [edge[:2] for edge in self]


def as_read(given: Any, graph: Graph) -> Any:
    """Return a graph for a file in the state in which it was read, without later changes."""
    if isinstance(given, StoredGraph):
        return given
    columns = is_frame(given) or (hasattr(given, "tail") and not callable(given.tail))
    if columns or isinstance(given, list):
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
    """Return whether a pair holds tails and heads, and not two edges."""
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


def between(
    graph: Graph, usable: Mask, source: int, target: int
) -> tuple[Indices, Indices, Indices]:
    """Find the edges on paths: the start of each node's edges, their heads, and their numbers.

    A cycle raises `ParameterError`; an unreachable target raises `InfeasibleError`.
    """
    n = len(graph.nodes)
    edges = np.flatnonzero(usable)
    order = topological_order(graph, edges)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    # In order of rank the tail of an edge is reached before the edge is.
    upwards = edges[np.argsort(rank[graph.tail[edges]], kind="stable")]
    tails, heads = graph.tail[upwards], graph.head[upwards]
    ahead, behind = np.zeros((2, n), dtype=bool)
    ahead[source] = behind[target] = True
    kernel.spread(tails, heads, ahead)
    kernel.spread(heads[::-1].copy(), tails[::-1].copy(), behind)
    if not ahead[target]:
        raise InfeasibleError(
            f"No path leads from {graph.nodes[source]!r} to {graph.nodes[target]!r}: "
            f"{ahead.sum()} of {n} nodes can be reached from the source."
        )
    inside = ahead & behind
    kept = edges[inside[graph.tail[edges]] & inside[graph.head[edges]]]
    nodes = order[inside[order]][::-1]
    place = np.empty(n, np.int64)
    place[nodes] = np.arange(len(nodes))
    ids = kept[np.lexsort((kept, place[graph.tail[kept]]))]
    start = np.searchsorted(place[graph.tail[ids]], np.arange(len(nodes) + 1))
    return start.astype(np.int64), place[graph.head[ids]], ids.astype(np.int64)


class Arcs(NamedTuple):
    """Graph in the form of `kernels.paths`; several arcs may share a cell, an edge of the user."""

    start: Indices
    head: Indices
    cell: Indices
    ends: Indices
    ids: Indices


def without_detours(graph: Graph, usable: Mask, source: int, target: int) -> Arcs:
    """Make an arc for each usable edge."""
    start, head, ids = between(graph, usable, source, target)
    return Arcs(start, head, np.arange(len(ids)), np.empty(0, np.int64), ids)


def with_detours(
    graph: Graph, usable: Mask, astray: Mask, detours: int, source: int, target: int
) -> Arcs:
    """Make layers of nodes, one for each number of detours; a detour leads to the next layer."""
    n = len(graph.nodes)
    leaves = (graph.tail != target) & (graph.head != source)
    straight, aside = np.flatnonzero(usable & leaves), np.flatnonzero(astray & leaves)
    edge = np.concatenate([np.tile(straight, detours + 1), np.tile(aside, detours)])
    numbers = np.arange(detours + 1)
    before = np.concatenate([numbers.repeat(straight.size), numbers[:-1].repeat(aside.size)])
    after = before + (np.arange(len(edge)) >= straight.size * (detours + 1))
    order = np.lexsort((after, before, edge))  # ties go to the edge listed first
    edge, before, after = edge[order], before[order], after[order]
    tail = before * n + graph.tail[edge]
    head = np.where(graph.head[edge] == target, target, after * n + graph.head[edge])
    nodes = graph.nodes * (detours + 1)
    layers = Graph(nodes, [], tail, head, {})
    start, ahead, arcs = between(layers, np.ones(len(edge), dtype=bool), source, target)
    ids, cell = np.unique(edge[arcs], return_inverse=True)
    return Arcs(start, ahead, cell.astype(np.int64), graph.head[ids], ids)


def topological_order(graph: Graph, edges: Indices) -> Indices:
    """Sort nodes topologically; a cycle raises `ParameterError`, which names the cycle."""
    n = len(graph.nodes)
    by_tail = edges[np.argsort(graph.tail[edges], kind="stable")]
    first = np.searchsorted(graph.tail[by_tail], np.arange(n + 1))
    order, missing = kernel.topological_order(first, graph.head[by_tail])
    if len(order) < n:
        cycle = " → ".join(repr(node) for node in _cycle(graph, edges, missing))
        raise ParameterError(
            f"Paths needs a graph without cycles; this graph has the cycle {cycle}. Remove an edge "
            "of the cycle, or use Paths.towards(graph, source, target, weight=…), which takes any "
            "graph and uses the links that lead closer to the target."
        )
    return np.asarray(order)


def _cycle(graph: Graph, edges: Indices, missing: Indices) -> list[Any]:
    """Find a cycle: each remaining node has a remaining predecessor, so walk back to a repeat."""
    before: dict[int, int] = {}
    for u, v in zip(graph.tail[edges].tolist(), graph.head[edges].tolist(), strict=True):
        if missing[u] and missing[v]:
            before.setdefault(v, u)
    v = next(iter(before))
    seen: dict[int, int] = {}
    while v not in seen:
        seen[v] = len(seen)
        v = before[v]
    walk = [v, *[u for u, place in seen.items() if place > seen[v]], v]
    shown = [graph.nodes[u] for u in reversed(walk)]
    return shown if len(shown) <= 12 else [*shown[:6], ..., *shown[-5:]]
