"""Spanning trees of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import InfeasibleError
from hannan.core.validation import FloatArray
from hannan.kernels import bottlenecks
from hannan.kernels.matroids import kruskal, kruskal_rows, tree_resample
from hannan.oracles._combinatorial import Elements, Resampling, SetOracle
from hannan.oracles._edges import Graph, as_read, read_graph

_DENSE = 2000  # largest number of nodes for counting trees by a determinant
_FEW, _STEPS = 1000, 50  # most nodes, and steps for each edge, for which bottlenecks are faster


class SpanningTrees(SetOracle):
    r"""Spanning trees of a connected undirected graph.

    Elements are the edges, in the order of `edges`; an action is the n - 1 edges of a tree. The
    leader is the cheapest tree for the totals :math:`\sum_s \ell_s(j)` of any sign, found by
    Kruskal's algorithm: go through the edges from the cheapest on, ties to the smallest index, and
    take each edge that closes no cycle.

    Parameters
    ----------
    graph
        Graph in one of four forms. A networkx `Graph` or `MultiGraph` keeps the order of
        `graph.edges`. A frame of pandas, polars or pyarrow has columns tail and head, source and
        target, or u and v. The other forms are a tuple of two arrays or columns, and a list of
        pairs of nodes. Nodes are any hashables.

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
        self._names = found.edges
        self._tail, self._head = found.tail, found.head
        self._set_size(len(found.edges), len(found.nodes) - 1, antichain=True)

    def _params_to_store(self) -> dict[str, Any]:
        return super()._params_to_store() | {"graph": as_read(self.graph, self._graph)}

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Compute the log of the number of spanning trees by the matrix-tree theorem."""
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

    def _resampling(self, costs: FloatArray) -> Resampling:
        if self._steps is not None:
            return bottlenecks.tree_resample, self._steps
        return tree_resample, (self._tail, self._head, len(self.nodes), *self._incident)

    @cached_property
    def _incident(self) -> tuple[Elements, Elements, Elements]:
        """Edges at each node: their starts in a list, the list, and the other ends."""
        ends = np.concatenate([self._tail, self._head])
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], np.arange(len(self.nodes) + 1))
        others = np.concatenate([self._head, self._tail])[order]
        return starts.astype(np.intp), order % len(self.edges), others

    @cached_property
    def _steps(self) -> tuple[Any, ...] | None:
        """Graph in the form of `kernels.bottlenecks`; None if that takes too many steps."""
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


class Elimination(NamedTuple):
    """Pair of nodes of each edge, and the elimination steps, one target after another."""

    pair: NDArray[np.int32]
    targets: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ways: NDArray[np.uint32]
    n_pairs: int


def elimination(tail: NDArray[np.intp], head: NDArray[np.intp], n_nodes: int) -> Elimination:
    """Remove a node with the fewest neighbours, connect these, repeat; then reverse the order.

    Examples
    --------
    A triangle, from which node 0 is taken first:

    >>> found = elimination(np.array([0, 1, 0]), np.array([1, 2, 2]), 3)
    >>> found.pair, found.targets.tolist(), found.ways.tolist()
    (array([0, 1, 2], dtype=int32), [1, 2, 0], [[0, 2], [0, 1], [2, 1]])
    """
    number: dict[tuple[int, int], int] = {}

    def pair(a: int, b: int) -> int:
        return number.setdefault((min(a, b), max(a, b)), len(number))

    near: dict[int, set[int]] = {v: set() for v in range(n_nodes)}
    pairs = np.full(len(tail), -1, np.int32)
    for e, (u, v) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        if u != v:
            pairs[e] = pair(u, v)
            near[u].add(v)
            near[v].add(u)
    through: dict[int, list[tuple[int, int]]] = {}  # for each pair, paths over removed nodes
    there: list[tuple[int, list[tuple[int, int]]]] = []
    back: list[tuple[int, list[tuple[int, int]]]] = []
    while near:
        v = min(near, key=lambda u: (len(near[u]), u))
        around = sorted(near.pop(v))
        for a in around:
            there.append((pair(v, a), through.pop(pair(v, a), [])))
            back.append((pair(v, a), [(pair(v, b), pair(a, b)) for b in around if b != a]))
        for a, b in combinations(around, 2):
            through.setdefault(pair(a, b), []).append((pair(v, a), pair(v, b)))
        for u in around:
            near[u].discard(v)
            near[u].update(w for w in around if w != u)
    listed = [(i, ways) for i, ways in [*there, *reversed(back)] if ways]
    starts = np.cumsum([0, *(len(ways) for _, ways in listed)]).astype(np.uint32)
    ways = np.array([way for _, ways in listed for way in ways], np.uint32).reshape(-1, 2)
    targets = np.array([i for i, _ in listed], np.uint32)
    return Elimination(pairs, targets, starts, ways, max(1, len(number)))
