"""Undirected graphs as users give them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InfeasibleError, InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, missing

_COLUMNS = (("tail", "head"), ("source", "target"), ("u", "v"))


class UndirectedGraph(NamedTuple):
    """Nodes and edges by name, and the two ends of each edge by number."""

    nodes: list[Any]
    edges: list[tuple[Any, ...]]
    tail: NDArray[np.intp]
    head: NDArray[np.intp]


def read_undirected(owner: str, given: Any) -> UndirectedGraph:
    """A networkx graph, a frame with a column for each end, two arrays, or a list of pairs."""
    nodes: list[Any] = []
    edges: list[tuple[Any, ...]]
    if hasattr(given, "is_directed") and hasattr(given, "edges"):
        if given.is_directed():
            raise InputTypeError(
                f"{owner} needs an undirected graph; got a directed one. Use graph.to_undirected()."
            )
        nodes = list(given.nodes)
        edges = [tuple(edge[:2]) for edge in given.edges]
    elif is_frame(given):
        edges = _from_frame(owner, given)
    elif isinstance(given, tuple) and len(given) == 2 and all(map(_is_column, given)):
        if len(given[0]) != len(given[1]):
            raise ParameterError(
                f"{owner} needs two ends for each edge; got {len(given[0])} and {len(given[1])}."
            )
        edges = list(zip(as_list(given[0]), as_list(given[1]), strict=True))
    else:
        edges = _from_pairs(owner, given)
    if not edges:
        raise ParameterError(f"{owner} needs a graph with at least one edge; got one without any.")
    try:
        named = dict.fromkeys([*nodes, *(node for edge in edges for node in edge)])
    except TypeError:
        raise InputTypeError(
            "The nodes of a graph must be hashable, such as ints, strings or tuples."
        ) from None
    if any(map(missing, named)):
        raise ParameterError(f"{owner} got an edge with a missing end.")
    number = {node: i for i, node in enumerate(named)}
    tail = np.array([number[edge[0]] for edge in edges], np.intp)
    head = np.array([number[edge[1]] for edge in edges], np.intp)
    return UndirectedGraph(list(number), edges, tail, head)


def check_connected(owner: str, graph: UndirectedGraph) -> None:
    """Raise an error for a disconnected graph that names two nodes in different parts."""
    neighbours: list[list[int]] = [[] for _ in graph.nodes]
    for a, b in zip(graph.tail.tolist(), graph.head.tolist(), strict=True):
        neighbours[a].append(b)
        neighbours[b].append(a)
    seen = {0}
    waiting = [0]
    while waiting:
        fresh = set(neighbours[waiting.pop()]) - seen
        seen |= fresh
        waiting += fresh
    if len(seen) < len(graph.nodes):
        other = next(i for i in range(len(graph.nodes)) if i not in seen)
        raise InfeasibleError(
            f"{owner} needs a connected graph; no edges lead from {graph.nodes[0]!r} to "
            f"{graph.nodes[other]!r}. Take one component, or add an edge."
        )


def _from_frame(owner: str, given: Any) -> list[tuple[Any, ...]]:
    found = {str(name): column for name, column in columns_of(given)}
    for ends in _COLUMNS:
        if found.keys() >= set(ends):
            return list(zip(*(as_list(found[end]) for end in ends), strict=True))
    accepted = " or ".join(f"{a!r} and {b!r}" for a, b in _COLUMNS)
    raise ParameterError(
        f"{owner} needs a table with columns {accepted}; this one has {list(found)}."
    )


def _from_pairs(owner: str, given: Any) -> list[tuple[Any, ...]]:
    try:
        found = [tuple(pair) for pair in as_list(given)]
    except TypeError:
        raise InputTypeError(
            f"{owner} needs a graph: a networkx.Graph, a table with a column for each end of an "
            f"edge, a tuple of two arrays, or a list of pairs; got {given!r}."
        ) from None
    for i, pair in enumerate(found):
        if len(pair) != 2:
            raise ParameterError(f"Edge {i} should be a pair of nodes; got {pair!r}.")
    return found


def _is_column(value: Any) -> bool:
    """Whether this is an array of nodes or a column of them; a pair of lists may be two edges."""
    return hasattr(value, "__array__") and not isinstance(value, np.generic)
