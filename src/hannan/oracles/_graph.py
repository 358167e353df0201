"""The part of a directed graph that lies between two nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InfeasibleError, ParameterError
from hannan.oracles._edges import Graph

Indices = NDArray[np.int64]


def between(
    graph: Graph, usable: NDArray[np.bool_], source: int, target: int
) -> tuple[Indices, Indices, Indices]:
    """The edges on some path: where those of a node start, their heads, and their numbers.

    Refuses cycles, and a target that cannot be reached.
    """
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
    return start.astype(np.int64), place[graph.head[ids]], ids.astype(np.int64)


class Arcs(NamedTuple):
    """A graph as `kernels.paths` takes it; several arcs may share a cell, an edge of the user's."""

    start: Indices
    head: Indices
    cell: Indices
    ends: Indices
    ids: Indices


def without_detours(graph: Graph, usable: NDArray[np.bool_], source: int, target: int) -> Arcs:
    """An arc for each edge that may be used."""
    start, head, ids = between(graph, usable, source, target)
    return Arcs(start, head, np.arange(len(ids)), np.empty(0, np.int64), ids)


def with_detours(
    graph: Graph,
    usable: NDArray[np.bool_],
    astray: NDArray[np.bool_],
    detours: int,
    source: int,
    target: int,
) -> Arcs:
    """Layers of nodes, by how many edges have led astray; each of these leads to the next layer."""
    n = len(graph.nodes)
    leaves = (graph.tail != target) & (graph.head != source)
    pieces = [(edge, d, d) for d in range(detours + 1) for edge in np.flatnonzero(usable & leaves)]
    pieces += [(edge, d, d + 1) for d in range(detours) for edge in np.flatnonzero(astray & leaves)]
    pieces.sort()  # ties go to the edge listed first
    edge, before, after = np.array(pieces, np.int64).reshape(-1, 3).T
    tail = before * n + graph.tail[edge]
    head = np.where(graph.head[edge] == target, target, after * n + graph.head[edge])
    nodes = graph.nodes * (detours + 1)
    layers = Graph(nodes, [], tail, head, {})
    start, ahead, arcs = between(layers, np.ones(len(edge), dtype=bool), source, target)
    ids, cell = np.unique(edge[arcs], return_inverse=True)
    return Arcs(start, ahead, cell.astype(np.int64), graph.head[ids], ids)


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
            f"Paths needs a graph without cycles; this one has {cycle}. Drop an edge of it, or use "
            "Paths.towards(graph, source, target, weight=…), which takes the same graph and keeps "
            "the links that lead closer to the target."
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
