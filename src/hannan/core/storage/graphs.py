"""Graphs of networkx, as files keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hannan.core.stored import Stored


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
        return self


def is_graph(value: Any) -> bool:
    """Whether it can be asked like a graph of networkx."""
    return all(hasattr(value, name) for name in ("is_directed", "is_multigraph", "edges", "nodes"))
