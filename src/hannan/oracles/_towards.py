"""Directions in which links lead closer to a target, for networks in any format."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ParameterError
from hannan.core.arrays import as_floats, columns_of, is_frame
from hannan.core.validation import FloatArray, refuse
from hannan.networks import RoadNetwork, leading_closer
from hannan.oracles._edges import Graph, StoredGraph, read_graph

_OWNER = "Paths.towards"


class Directed(NamedTuple):
    """Graph in the form of `Paths`, with the edges that lead closer and those that do not."""

    graph: StoredGraph
    usable: NDArray[np.bool_]
    astray: NDArray[np.bool_]
    """Edges that may be part of a detour; for two-way streets also those in the other direction."""


class Network(NamedTuple):
    """Network that is read once for many pairs of nodes."""

    graph: StoredGraph
    times: FloatArray
    shut: frozenset[Hashable]
    two_way: bool


def read_network(network: Any, weight: Any, zones: Iterable[Hashable] | None) -> Network:
    """Read a network in any format, with the weights of its edges and its zones."""
    is_graph = hasattr(network, "is_directed") and hasattr(network, "edges")
    two_way = is_graph and not network.is_directed()
    graph = read_graph(_OWNER, network, directed=not two_way)
    roads = isinstance(network, RoadNetwork)
    if roads and weight is None:
        times = network.free_flow_time
    else:
        times = _weights(network, weight, graph.edges, is_graph)
    if zones is None:
        zones = network.zones if roads else ()
    shut = _among(graph.number, zones)
    multi = is_graph and not two_way and network.is_multigraph()
    return Network(StoredGraph.of(graph, multi), times, shut, two_way)


def towards(network: Network, target: Hashable) -> Directed:
    """Find the links that lead closer to the target, by `RoadNetwork.closer`.

    A street of an undirected graph gets the direction that leads closer.
    """
    graph, times = network.graph.as_read, network.times
    _check_target(graph.number, target)
    number = graph.number[target]
    shut = [graph.number[zone] for zone in network.shut if zone != target]
    tail, head = graph.tail, graph.head
    if not network.two_way:
        through = ~np.isin(head, shut)
        _check_reached(number, head, target)
        closer = leading_closer(tail, head, times, number, through)
        return Directed(network.graph, closer, through & ~closer)
    _check_reached(number, np.concatenate([tail, head]), target)
    ends = np.concatenate([tail, head]), np.concatenate([head, tail])
    forth, back = np.split(
        leading_closer(*ends, np.tile(times, 2), number, ~np.isin(ends[1], shut)), 2
    )
    tail, head = np.where(back, head, tail), np.where(back, tail, head)
    names = graph.nodes
    edges = [(names[u], names[v]) for u, v in zip(tail.tolist(), head.tolist(), strict=True)]
    turned = Graph(names, edges, tail, head, graph.number)
    onward = ~np.isin([head, tail], shut)  # along the turned edges, and against them
    closer = forth | back
    return Directed(StoredGraph.of(turned, False), closer, onward & [~closer, ~(tail == head)])


def _check_reached(target: int, head: NDArray[np.int64], name: Any) -> None:
    if not (head == target).any():
        raise ParameterError(f"No link of the network leads to the target {name!r}.")


def _check_target(nodes: Container[Hashable], target: Any) -> None:
    try:
        known = target in nodes
    except TypeError:  # not hashable
        known = False
    if not known:
        raise refuse(_OWNER, "target", "a node of the network", target)


def _among(nodes: Container[Hashable], zones: Any) -> frozenset[Hashable]:
    try:
        found = frozenset(zones)
    except TypeError:
        raise refuse(_OWNER, "zones", "nodes of the network, any hashables", zones) from None
    for zone in found:
        if zone not in nodes:
            raise ParameterError(
                f"zones= of {_OWNER} contains {zone!r}, which is not a node. Pass nodes of the "
                "network."
            )
    return found


def _weights(network: Any, weight: Any, edges: Sequence[Any], is_graph: bool) -> FloatArray:
    """Return the weight of each edge, 1 by default."""
    if weight is None:
        return np.ones(len(edges))
    if not isinstance(weight, str):
        return check_weights(_OWNER, weight, edges)
    if is_graph:
        found = [value for *_, value in network.edges(data=weight)]
        if None in found:
            edge = edges[found.index(None)]
            raise ParameterError(f"Edge {edge!r} of the graph has no attribute {weight!r}.")
        return check_weights(_OWNER, found, edges)
    if is_frame(network):
        columns = {str(name): column for name, column in columns_of(network)}
        if weight in columns:
            return check_weights(_OWNER, columns[weight], edges)
        raise ParameterError(f"The table has no column {weight!r}; it has {list(columns)}.")
    raise ParameterError(
        f"weight={weight!r} names an attribute of a networkx graph or a column of a table; for "
        f"other networks pass {len(edges)} numbers."
    )


def check_weights(owner: str, values: Any, edges: Sequence[Any]) -> FloatArray:
    """Return the weights of edges, finite and not negative."""
    try:
        found = as_floats(values)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape == (len(edges),) and (np.isfinite(found) & (found >= 0.0)).all():
        return found
    got = f"got {values!r:.60}"
    given = values if isinstance(values, list) else found.ravel().tolist()
    if len(given) == len(edges):
        wrong = [i for i, value in enumerate(given) if not _fits(value)]
        got = f"that of edge {edges[wrong[0]]!r} is {given[wrong[0]]!r}" if wrong else got
    raise ParameterError(
        f"{owner} needs {len(edges)} weights, one for each edge, finite and not negative; {got}."
    )


def _fits(value: Any) -> bool:
    try:
        return bool(0.0 <= float(value) < np.inf) and not isinstance(value, str)
    except (TypeError, ValueError, OverflowError):
        return False


def as_pairs(pairs: Any) -> list[tuple[Hashable, Hashable]]:
    """Return pairs (source, target) of nodes as tuples."""
    try:
        listed = [tuple(pair) for pair in pairs]
    except TypeError:
        listed = []
    if not listed or any(len(pair) != 2 for pair in listed):
        raise refuse("Paths.many", "pairs", "pairs (source, target) of nodes", pairs)
    return listed
