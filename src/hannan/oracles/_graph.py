"""Directed graphs as users give them, and the part of one that lies between two nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InfeasibleError, InputTypeError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, missing

Indices = NDArray[np.int64]


class Graph(NamedTuple):
    """Nodes and edges by name, and each edge's tail and head by number."""

    nodes: list[Any]
    edges: list[tuple[Any, ...]]
    tail: Indices
    head: Indices
    number: dict[Any, int]


def read_graph(given: Any) -> Graph:
    """A networkx graph, a table with columns tail and head, two arrays, or a list of pairs."""
    nodes: list[Any] = []
    edges: list[tuple[Any, ...]] = []
    if hasattr(given, "is_directed") and hasattr(given, "edges"):
        if not given.is_directed():
            raise InputTypeError(
                "Paths needs a directed graph, such as a networkx.DiGraph; got an undirected one. "
                "Say which way each edge leads."
            )
        nodes = list(given.nodes)
        keys = {"keys": True} if given.is_multigraph() else {}
        edges = [tuple(edge) for edge in given.edges(**keys)]
    elif is_frame(given):
        columns = {str(name): column for name, column in columns_of(given)}
        if not {"tail", "head"} <= columns.keys():
            raise ParameterError(
                f"An edge table needs the columns 'tail' and 'head'; this one has {list(columns)}."
            )
        edges = _pairs(columns["tail"], columns["head"])
    elif hasattr(given, "tail") and not callable(given.tail):
        edges = _pairs(given.tail, given.head)
    elif isinstance(given, tuple) and len(given) == 2 and not any(map(_is_pair, given)):
        edges = _pairs(*given)
    else:
        edges = _listed(given)
    if not edges:
        raise ParameterError("Paths needs a graph with at least one edge; got one without any.")
    try:
        names_in_order = dict.fromkeys(nodes)
        names_in_order.update(dict.fromkeys(node for edge in edges for node in edge[:2]))
    except TypeError:
        raise InputTypeError("The nodes of a graph must be hashable, such as ints, strings or "
                             "tuples; use a tuple in place of a list.") from None  # fmt: skip
    number = {node: i for i, node in enumerate(names_in_order)}
    for i, edge in enumerate(edges):
        if any(map(missing, edge[:2])):
            raise ParameterError(f"Edge {i} lacks a tail or a head: {edge[:2]!r}.")
    tail = np.array([number[edge[0]] for edge in edges], np.int64)
    head = np.array([number[edge[1]] for edge in edges], np.int64)
    return Graph(list(number), edges, tail, head, number)


class Between(NamedTuple):
    """The edges on some path from the source to the target, as `kernels.paths` takes them."""

    start: Indices
    head: Indices
    ids: Indices


def between(graph: Graph, usable: NDArray[np.bool_], source: int, target: int) -> Between:
    """Refuses cycles, and a target that cannot be reached."""
    n = len(graph.nodes)
    edges = np.flatnonzero(usable)
    order = topological_order(graph, edges)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    # In order of rank the tail of an edge is reached before the edge is.
    upwards = edges[np.argsort(rank[graph.tail[edges]], kind="stable")]
    tails, heads = graph.tail[upwards].tolist(), graph.head[upwards].tolist()
    ahead = [False] * n
    ahead[source] = True
    for u, v in zip(tails, heads, strict=True):
        if ahead[u]:
            ahead[v] = True
    if not ahead[target]:
        raise InfeasibleError(
            f"No path leads from {graph.nodes[source]!r} to {graph.nodes[target]!r}: "
            f"{sum(ahead)} of {n} nodes can be reached from the source."
        )
    behind = [False] * n
    behind[target] = True
    for u, v in zip(reversed(tails), reversed(heads), strict=True):
        if behind[v]:
            behind[u] = True
    inside = np.array(ahead) & np.array(behind)
    kept = edges[inside[graph.tail[edges]] & inside[graph.head[edges]]]
    nodes = order[inside[order]][::-1]
    place = np.empty(n, np.int64)
    place[nodes] = np.arange(len(nodes))
    ids = kept[np.lexsort((kept, place[graph.tail[kept]]))]
    start = np.searchsorted(place[graph.tail[ids]], np.arange(len(nodes) + 1))
    return Between(start.astype(np.int64), place[graph.head[ids]], ids.astype(np.int64))


def topological_order(graph: Graph, edges: Indices) -> Indices:
    """Nodes in topological order; a cycle raises an error that names it."""
    n = len(graph.nodes)
    by_tail = edges[np.argsort(graph.tail[edges], kind="stable")]
    first = np.searchsorted(graph.tail[by_tail], np.arange(n + 1)).tolist()
    heads = graph.head[by_tail].tolist()
    missing = np.bincount(graph.head[edges], minlength=n).tolist()
    order = [v for v in range(n) if missing[v] == 0]
    for u in order:  # grows during the loop
        for v in heads[first[u] : first[u + 1]]:
            missing[v] -= 1
            if missing[v] == 0:
                order.append(v)
    if len(order) < n:
        cycle = " → ".join(repr(node) for node in _cycle(graph, edges, missing))
        raise ParameterError(
            f"Paths needs a graph without cycles; this one has {cycle}. Drop an edge of it, or "
            "use Paths.towards(network, source, target) to keep the links that lead closer to "
            "the target."
        )
    return np.array(order, np.int64)


def _cycle(graph: Graph, edges: Indices, missing: Sequence[int]) -> list[Any]:
    """A cycle: all nodes left over have a predecessor left over, so walk back to a repeat."""
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


def _pairs(tails: Any, heads: Any) -> list[tuple[Any, Any]]:
    first, second = as_list(tails), as_list(heads)
    if len(first) != len(second):
        raise ParameterError(
            f"A graph needs a head for each tail; got {len(first)} tails and {len(second)} heads."
        )
    return list(zip(first, second, strict=True))


def _listed(given: Any) -> list[tuple[Any, Any]]:
    try:
        found = [tuple(pair) for pair in as_list(given)]
    except TypeError:
        raise InputTypeError(
            "Paths needs a graph: a networkx.DiGraph, a table with columns tail and head, a tuple "
            f"(tails, heads) of two arrays, or a list of pairs (tail, head); got {given!r}."
        ) from None
    for i, pair in enumerate(found):
        if len(pair) != 2:
            raise ParameterError(f"Edge {i} should be a pair (tail, head); got {pair!r}.")
    return found  # type: ignore[return-value]


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | str)
