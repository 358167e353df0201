"""Which way the links of a network lead closer to a target, however the network is given."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import ParameterError
from hannan.core.arrays import as_floats, columns_of, is_frame
from hannan.core.validation import FloatArray
from hannan.networks import RoadNetwork
from hannan.oracles._edges import read_graph

_OWNER = "Paths.towards"


class Directed(NamedTuple):
    """A graph as `Paths` takes it; whether each of its edges leads closer, or elsewhere."""

    graph: Any
    usable: NDArray[np.bool_]
    astray: NDArray[np.bool_] | None
    """Edges that may be part of a detour; None where edges have no direction."""


def towards(
    network: Any, target: Hashable, weight: Any, zones: Iterable[Hashable] | None
) -> Directed:
    """The links that lead closer to the target, by `RoadNetwork.closer`.

    A street of an undirected graph is turned the way that leads closer.
    """
    if isinstance(network, RoadNetwork):
        times = network.free_flow_time if weight is None else _numbers(weight, network.n_links)
        shut = network.zones if zones is None else frozenset(zones)
        return _directed(network, network.tail, network.head, times, target, shut)
    is_graph = hasattr(network, "is_directed") and hasattr(network, "edges")
    two_way = is_graph and not network.is_directed()
    edges = read_graph(_OWNER, network, directed=not two_way).edges
    ends = [(edge[0], edge[1]) for edge in edges]
    times = _weights(network, weight, len(ends), is_graph)
    shut = frozenset(() if zones is None else zones)
    tail, head = (list(side) for side in zip(*ends, strict=True))
    if not two_way:
        return _directed(network, tail, head, times, target, shut)
    roads = RoadNetwork(tail + head, head + tail, np.concatenate([times, times]))
    forth, back = np.split(roads.closer(target, shut), 2)
    turned = [(v, u) if b else (u, v) for (u, v), b in zip(ends, back, strict=True)]
    return Directed(turned, forth | back, None)


def _directed(
    network: Any,
    tail: list[Any],
    head: list[Any],
    times: FloatArray,
    target: Hashable,
    shut: frozenset[Hashable],
) -> Directed:
    closer = RoadNetwork(tail, head, times).closer(target, shut)
    through = np.array([v == target or v not in shut for v in head])
    return Directed(network, closer, through & ~closer)


def _weights(network: Any, weight: Any, n_edges: int, is_graph: bool) -> FloatArray:
    """What each edge costs at a first guess; 1 where nothing is said."""
    if weight is None:
        return np.ones(n_edges)
    if not isinstance(weight, str):
        return _numbers(weight, n_edges)
    if is_graph:
        found = [value for *_, value in network.edges(data=weight)]
        if None in found:
            edge = list(network.edges)[found.index(None)]
            raise ParameterError(f"Edge {edge!r} of the graph has no attribute {weight!r}.")
        return _numbers(found, n_edges)
    if is_frame(network):
        columns = {str(name): column for name, column in columns_of(network)}
        if weight in columns:
            return _numbers(columns[weight], n_edges)
        raise ParameterError(f"The table has no column {weight!r}; it has {list(columns)}.")
    raise ParameterError(
        f"weight={weight!r} names an attribute of a networkx graph or a column of a table; for "
        f"other networks give {n_edges} numbers."
    )


def _numbers(values: Any, n_edges: int) -> FloatArray:
    try:
        found = as_floats(values)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_edges,) or not (np.isfinite(found) & (found >= 0.0)).all():
        raise ParameterError(
            f"{_OWNER} needs {n_edges} weights, one for each edge, finite and not negative; got "
            f"{values!r:.60}."
        )
    return found
