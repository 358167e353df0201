"""Directions in which links lead closer to a target, for networks in any format."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ParameterError
from hannan.core.arrays import as_floats, columns_of, is_frame
from hannan.core.validation import FloatArray, refuse
from hannan.networks import RoadNetwork
from hannan.oracles._edges import read_graph

_OWNER = "Paths.towards"


class Directed(NamedTuple):
    """Graph in the form of `Paths`, with the edges that lead closer and those that do not."""

    graph: Any
    usable: NDArray[np.bool_]
    astray: NDArray[np.bool_] | None
    """Edges that may be part of a detour; None if edges have no direction."""


def towards(
    network: Any, target: Hashable, weight: Any, zones: Iterable[Hashable] | None
) -> Directed:
    """Find the links that lead closer to the target, by `RoadNetwork.closer`.

    A street of an undirected graph gets the direction that leads closer.
    """
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
    _check_target(graph.number, target)
    tail, head = (list(side) for side in zip(*(edge[:2] for edge in graph.edges), strict=True))
    if not two_way:
        closer = RoadNetwork(tail, head, times).closer(target, shut)
        through = np.array([v == target or v not in shut for v in head])
        return Directed(network, closer, through & ~closer)
    both = RoadNetwork(tail + head, head + tail, np.concatenate([times, times]))
    forth, back = np.split(both.closer(target, shut), 2)
    turned = [(v, u) if b else (u, v) for u, v, b in zip(tail, head, back, strict=True)]
    return Directed(turned, forth | back, None)


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
        return _numbers(weight, edges)
    if is_graph:
        found = [value for *_, value in network.edges(data=weight)]
        if None in found:
            edge = edges[found.index(None)]
            raise ParameterError(f"Edge {edge!r} of the graph has no attribute {weight!r}.")
        return _numbers(found, edges)
    if is_frame(network):
        columns = {str(name): column for name, column in columns_of(network)}
        if weight in columns:
            return _numbers(columns[weight], edges)
        raise ParameterError(f"The table has no column {weight!r}; it has {list(columns)}.")
    raise ParameterError(
        f"weight={weight!r} names an attribute of a networkx graph or a column of a table; for "
        f"other networks pass {len(edges)} numbers."
    )


def _numbers(values: Any, edges: Sequence[Any]) -> FloatArray:
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
        f"{_OWNER} needs {len(edges)} weights, one for each edge, finite and not negative; {got}."
    )


def _fits(value: Any) -> bool:
    try:
        return bool(0.0 <= float(value) < np.inf) and not isinstance(value, str)
    except (TypeError, ValueError, OverflowError):
        return False
