"""Spanning trees of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, InfeasibleError
from hannan.core.validation import FloatArray
from hannan.kernels import bottlenecks
from hannan.kernels.matroids import kruskal, kruskal_rows, tree_resample
from hannan.oracles._combinatorial import Elements, Resampling, SetOracle
from hannan.oracles._edges import Graph, as_read, read_graph
from hannan.oracles._elimination import elimination

_DENSE = 2000  # nodes up to which trees are counted by a determinant
_FEW, _STEPS = (
    1000,
    50,
)  # nodes, and steps for each edge, up to which bottlenecks are the faster way


class SpanningTrees(SetOracle):
    r"""The spanning trees of a connected undirected graph.

    Elements are the edges, in the order of `edges`; an action is the n - 1 edges of a tree. The
    leader is the cheapest tree for the totals :math:`\sum_s \ell_s(j)` of any sign, found by
    Kruskal's rule: go through the edges from the cheapest on, ties to the smallest index, and
    take each that closes no cycle.

    Parameters
    ----------
    graph
        A networkx `Graph` or `MultiGraph`, whose edges keep the order of `graph.edges`; a frame of
        pandas, polars or pyarrow with columns tail and head, source and target, or u and v; a
        tuple of two arrays or columns; or a list of pairs of nodes. Nodes are any hashables.

    Examples
    --------
    >>> import hannan as hn
    >>> trees = hn.oracles.SpanningTrees([("a", "b"), ("b", "c"), ("a", "c")])
    >>> learner = hn.ContextFTPL(trees, seed=0)
    >>> for t in range(50):
    ...     tree = learner.act()
    ...     learner.update([0.9, 0.1, 0.2])
    >>> [trees.edges[j] for j in learner.best_policy()(None)]
    [('b', 'c'), ('a', 'c')]
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._graph = found = read_graph("SpanningTrees", graph, directed=False)
        _check_connected(found)
        self.nodes = found.nodes
        """The nodes by name."""
        self.edges = found.edges
        """The edges as pairs of nodes, in the order of the loss vector."""
        self._tail, self._head = found.tail, found.head
        self._set_size(len(found.edges), len(found.nodes) - 1, antichain=True)

    def _params_to_store(self) -> dict[str, Any]:
        return super()._params_to_store() | {"graph": as_read(self.graph, self._graph)}

    def named(self, action: Action) -> list[Any]:
        """The chosen edges as pairs of nodes."""
        return [self.edges[j] for j in self._elements_of(action)]

    def log_size(self, contexts: Sequence[Any]) -> float:
        """The logarithm of the number of spanning trees, by the matrix-tree theorem."""
        return self._log_trees

    @cached_property
    def _log_trees(self) -> float:
        n = len(self.nodes)
        proper = self._tail != self._head
        tail, head = self._tail[proper], self._head[proper]
        degrees = np.bincount(np.concatenate([tail, head]), minlength=n)
        if n > _DENSE:  # an upper bound: each node except a root chooses its edge towards the root
            return float(np.log(degrees).sum() - np.log(degrees.max()))
        laplacian = np.diag(degrees.astype(np.float64))
        np.subtract.at(laplacian, (tail, head), 1.0)
        np.subtract.at(laplacian, (head, tail), 1.0)
        return max(0.0, float(np.linalg.slogdet(laplacian[1:, 1:])[1]))

    @property
    def _resampling(self) -> Resampling:
        if self._steps is not None:
            return bottlenecks.tree_resample, self._steps
        return tree_resample, (self._tail, self._head, len(self.nodes), *self._incident)

    @cached_property
    def _incident(self) -> tuple[Elements, Elements, Elements]:
        """The edges at each node: where they start in a list, the list, and the other ends."""
        ends = np.concatenate([self._tail, self._head])
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], np.arange(len(self.nodes) + 1))
        others = np.concatenate([self._head, self._tail])[order]
        return starts.astype(np.intp), order % len(self.edges), others

    @cached_property
    def _steps(self) -> tuple[Any, ...] | None:
        """The graph as `kernels.bottlenecks` takes it; None where it would take too many steps."""
        n = len(self.nodes)
        found = elimination(self._tail, self._head, n) if n <= _FEW else None
        if found is None or len(found.ways) > _STEPS * len(self.edges):
            return None
        return *found, self._tail, self._head, n

    def _solve(self, costs: FloatArray) -> Elements:
        if self._steps is not None:
            return bottlenecks.tree(costs, *self._steps)  # type: ignore[no-any-return]
        return kruskal(costs, self._tail, self._head, len(self.nodes))  # type: ignore[no-any-return]

    def _solve_many(self, costs: FloatArray) -> NDArray[np.bool_]:
        inclusion = np.empty(costs.shape, dtype=bool)
        if self._steps is not None:
            bottlenecks.tree_rows(costs, *self._steps, inclusion)
        else:
            kruskal_rows(costs, self._tail, self._head, len(self.nodes), inclusion)
        return inclusion


def _check_connected(graph: Graph) -> None:
    """Raise an error for a disconnected graph that names two nodes in different parts."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(graph.nodes)
    links = coo_array((np.ones(len(graph.tail)), (graph.tail, graph.head)), shape=(n, n))
    parts, part = connected_components(links, directed=False)
    if parts > 1:
        other = graph.nodes[int(np.argmax(part != part[0]))]
        raise InfeasibleError(
            f"SpanningTrees needs a connected graph; no edges lead from {graph.nodes[0]!r} to "
            f"{other!r}. Take one component, or add an edge."
        )
