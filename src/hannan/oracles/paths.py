"""Paths from a source to a target."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import Action, InfeasibleError, ParameterError, Policy
from hannan.core.arrays import as_array
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import paths as kernel
from hannan.kernels import routes
from hannan.kernels.lanes import WIDTH
from hannan.networks import by_head
from hannan.oracles._combinatorial import (
    Elements,
    Resampling,
    SetObjective,
    SetOracle,
    SetPolicy,
    blocks_of,
    prefix_sums,
)
from hannan.oracles._edges import Graph, as_read, read_graph, with_detours, without_detours
from hannan.oracles._towards import Network, as_pairs, check_weights, read_network, towards
from hannan.perturbation import Blocks, LaplaceNoise

_BATCH = 2**16  # number of path edges in memory at a time
_NO_NOISE = np.empty((0, 0), np.float32)


class Paths(SetOracle):
    r"""All paths from a source to a target in a directed graph without cycles.

    Roads have cycles: `Paths.towards` takes any network and uses the links that lead closer.

    The elements are the edges, and the actions are the edge sets of paths. The leader for losses
    :math:`\ell_1, …, \ell_t` of any sign is a shortest path,

    .. math:: \arg\min_{p : s \to t} \sum_{e \in p} \sum_\tau \ell_\tau(e),

    found by dynamic programming, O(number of edges). The problem has no contexts (`act(None)`);
    add contexts with `PerContext`. At every node ties go to the edge listed first.

    Parameters
    ----------
    graph
        Graph in one of five forms. A networkx `DiGraph` or `MultiDiGraph` keeps the order of
        `graph.edges`. A frame has columns `tail` and `head`. The other forms are a tuple (tails,
        heads) of arrays, columns or lists, a list of pairs, and a `RoadNetwork`. Nodes are any
        hashables; parallel edges are different elements.
    source, target
        First and last node of all paths. They must differ.
    usable
        Booleans, whether each edge may be used. Edges that are not usable, or on no path from
        source to target, have an entry in the loss vector and are never chosen. Default: None, for
        all edges.
    astray, detours
        Booleans, whether each edge that is not usable may be used on a detour (default: all with
        `detours`, otherwise none), and the largest number of such edges on a path (default: 0).
        Two rows of booleans also allow edges against their direction. Usable edges must have no
        cycle; other edges may. With detours the leader is a best *walk* without its parts between
        two visits of a node. It is a best path if no total is negative; otherwise it need not be,
        so `exact` is False. `minima` are the minima over walks, which are never larger.
    weight
        Prior loss of each edge, in any unit, for rounds in which unavailable edges leave no path
        of the class. If `astray` edges may be used, the learner then takes the shortest open path
        along all edges. The length of an edge is its total without noise (0 if negative), or its
        weight, in the unit of the totals, if the total is 0. Such a path is not a leader: no
        theorem applies, and the certificate counts these rounds. Default: 1 for each edge.

    Attributes
    ----------
    edges
        Edges (tail, head) in the order of the loss vector; in multigraphs (tail, head, key).

    Examples
    --------
    >>> import hannan as hn
    >>> roads = hn.oracles.Paths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], "a", "d")
    >>> total = roads.objective()
    >>> total.add(None, np.array([0.5, 0.1, 0.2, 0.3]))
    >>> best = total.leader()
    >>> best(None), best.nodes
    (array([1, 3]), ['a', 'c', 'd'])

    References
    ----------
    [takimoto2003], [kalai2005]
    """

    def __init__(
        self,
        graph: Any,
        source: Hashable,
        target: Hashable,
        usable: ArrayLike | None = None,
        *,
        astray: ArrayLike | None = None,
        detours: int = 0,
        weight: ArrayLike | None = None,
    ) -> None:
        self.graph = graph
        self.source = source
        self.target = target
        self.usable = usable
        self.astray = astray
        self.detours = check_integer(self, "detours", detours, 0)
        self.weight = weight
        self._graph: Graph = read_graph("Paths", graph, directed=True)
        self.edges = self._graph.edges
        self.n_actions = len(self.edges)
        ends = [self._node(name, node) for name, node in (("source", source), ("target", target))]
        if ends[0] == ends[1]:
            raise ParameterError(
                f"Paths needs different nodes as source and target; both are {source!r}."
            )
        allowed = _as_mask(self, "usable", usable, self.n_actions)
        others = self._others(allowed)
        if self.detours:
            layers = min(self.detours, len(self._graph.nodes))  # no path has more edges
            self._arcs = with_detours(self._graph, allowed, others[0], layers, *ends)
            self.exact = False  # type: ignore[misc]
        else:
            self._arcs = without_detours(self._graph, allowed, *ends)
        self._ways = np.stack([allowed | others[0], others[1]])
        self._weight = np.ones(self.n_actions)
        if weight is not None:
            self._weight = check_weights("Paths", weight, self.edges)
        self._start, self._head, self._cell, _, self._ids = self._arcs
        most = int(kernel.longest(self._start, self._head))
        self._set_size(self.n_actions, max(2, most) if others.any() else most, antichain=True)
        self.least = 1
        self._place = np.full(self.n_actions, -1, np.int64)
        self._place[self._ids] = np.arange(len(self._ids))
        self._cells = self._place.copy()
        self._cells[self._cells < 0] = np.arange(len(self._ids), self.n_actions)
        # Edges outside the class, whose totals matter if it has no open path.
        self._reroutes = bool(others.any())
        self._outside = np.flatnonzero(self._place < 0) if self._reroutes else self._ids[:0]

    @classmethod
    def towards(
        cls,
        network: Any,
        source: Hashable,
        target: Hashable,
        *,
        weight: Any = None,
        detours: int = 0,
        zones: Iterable[Hashable] | None = None,
    ) -> Self:
        r"""Make the paths of a network on which every link leads closer to the target.

        Real roads have cycles, and the best of all paths that visit no node twice is hard to find
        if totals are negative (as under noise). So the class is smaller. Link (u, v) may be used if
        v is closer to the target than u at the given weights, which are prior estimates of the
        losses. These links have no cycle, a shortest path at these weights is in the class, and
        leaders are exactly the best paths along these links. The possible gain of other paths
        depends on the errors of the weights. All links stay in the loss vector, in their order.

        If unavailable links leave no such path, the learner takes the shortest open path of the
        whole network by the totals so far (`Paths`, parameter `weight`). `InfeasibleError` means
        that the network has no open path.

        Parameters
        ----------
        network
            A networkx graph of any kind. Its edges may have two directions: a street of an
            undirected graph is one element, used in the direction that leads closer. Or any graph
            that `Paths` takes, with or without cycles, or a `RoadNetwork`.
        source, target
            First and last node of all paths.
        weight
            Name of an edge attribute or of a column, or a number for each edge. Default: the
            free-flow times of a `RoadNetwork`, and 1 for each edge of other networks.
        detours
            Largest number of links of a path that do not lead closer, if links are available. If
            it is positive, leaders are best walks without loops, and the class is not `exact`; see
            `Paths`. Only for directed networks. Default: 0.
        zones
            Nodes that may be a source or a target, but that paths must not pass through. Default:
            the zones of the network.

        Examples
        --------
        >>> import hannan as hn
        >>> roads = hn.networks.RoadNetwork([1, 2, 2, 3, 1], [2, 1, 3, 2, 3], [1, 1, 1, 1, 3])
        >>> hn.oracles.Paths.towards(roads, 1, 3).usable
        array([ True, False,  True, False,  True])

        Streets that lead both ways:

        >>> import networkx as nx
        >>> town = nx.Graph()
        >>> town.add_weighted_edges_from(
        ...     [("a", "b", 2), ("d", "b", 2), ("a", "c", 1), ("c", "d", 3)], weight="minutes")
        >>> routes = hn.oracles.Paths.towards(town, "a", "d", weight="minutes")
        >>> routes.edges
        [('a', 'b'), ('a', 'c'), ('b', 'd'), ('c', 'd')]
        >>> total = routes.objective()
        >>> total.add(None, np.array([2.0, 3.0, 2.0, 0.5]))
        >>> total.leader().route
        ['a', 'c', 'd']
        """
        network = read_network(network, weight, zones)
        return cls._towards(network, source, target, detours)

    @classmethod
    def many(
        cls,
        network: Any,
        pairs: Iterable[tuple[Hashable, Hashable]],
        *,
        weight: Any = None,
        detours: int = 0,
        zones: Iterable[Hashable] | None = None,
    ) -> dict[tuple[Hashable, Hashable], Self]:
        """Make `towards` for several pairs (source, target), and read the network only once.

        Returns
        -------
        dict
            Paths of each pair, for `PerContext`.

        Examples
        --------
        >>> import hannan as hn
        >>> roads = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
        >>> trips = hn.oracles.PerContext(
        ...     hn.oracles.Paths.many(roads, [("a", "c"), ("c", "a")]), shared=True)
        >>> trips.problem(("c", "a")).route(trips.objective().leader()(("c", "a")))
        ['c', 'b', 'a']
        """
        network = read_network(network, weight, zones)
        return {pair: cls._towards(network, *pair, detours) for pair in as_pairs(pairs)}

    @classmethod
    def _towards(cls, network: Network, source: Hashable, target: Hashable, detours: int) -> Self:
        if detours and network.two_way:
            raise ParameterError(
                "detours= needs a directed network. Use graph.to_directed(), in which a street of "
                "two directions is two elements."
            )
        graph, usable, astray = towards(network, target)
        options: dict[str, Any] = {"astray": astray, "detours": detours, "weight": network.times}
        return cls(graph, source, target, usable, **options)

    def _others(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether each edge may be used on a detour, and against its direction."""
        others = np.zeros((2, self.n_actions), dtype=bool)
        if self.astray is None:
            others[0] = bool(self.detours)
        elif np.ndim(self.astray) == 2:
            rows = list(as_array(self.astray))
            if len(rows) != 2:
                raise refuse(self, "astray", "one or two rows of booleans", self.astray)
            others[:] = [_as_mask(self, "astray", row, self.n_actions) for row in rows]
        else:
            others[0] = _as_mask(self, "astray", self.astray, self.n_actions)
        others[0] &= ~allowed
        return others

    def has_available(self, context: None, available: Any) -> bool:
        """Return whether the class has a path of available edges; entry -1 is unavailable."""
        costs = np.where(available[self._ids] >= 0, 0.0, np.inf)
        graph = tuple(self._arcs), self.max_chosen
        return bool(kernel.act(costs, _NO_NOISE, 0, 0.0, *graph)[1] < np.inf)

    def _shortest(self, totals: FloatArray, is_open: NDArray[np.bool_]) -> Elements:
        """Find the shortest open path along all edges, for totals of all edges without noise."""
        start, tail, head, edges = self._links
        known, weight = totals != 0.0, self._weight
        prior = weight[known].sum()
        unit = max(totals.sum(), 0.0) / prior if prior > 0.0 else 1.0
        lengths = np.where(known, np.maximum(totals, 0.0), unit * weight)
        lengths[~is_open] = np.inf
        node, target = (self._graph.number[end] for end in (self.source, self.target))
        _, _, first = routes.distances(start, tail, lengths[edges], target, node)
        path: list[int] = []
        while first[node] >= 0:  # the target has no first link
            path.append(edges[first[node]])
            node = head[first[node]]
        return np.sort(np.array(path, np.int64))

    @cached_property
    def _links(self) -> tuple[NDArray[np.int64], ...]:
        """All edges in all directions that detours may use, in the form of `kernels.routes`."""
        forth, back = map(np.flatnonzero, self._ways)
        edges = np.concatenate([forth, back])
        tail, head = self._graph.tail, self._graph.head
        tail, head = (np.concatenate([a[forth], b[back]]) for a, b in ((tail, head), (head, tail)))
        order, start = by_head(tail, head, len(self._graph.nodes))
        return start, tail[order], head[order], edges[order]

    @cached_property
    def _are_actions(self) -> NDArray[np.bool_]:
        return self._place >= 0

    def _params_to_store(self) -> dict[str, Any]:
        return super()._params_to_store() | {"graph": as_read(self.graph, self._graph)}

    @property
    def fixed_size(self) -> bool:
        """Whether all paths have one edge, because paths otherwise differ in length."""
        return self.max_chosen == 1

    def objective(self) -> PathObjective:
        return PathObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake losses of the edges, at least sixteen draws at a time."""
        return PathNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Return the log of the number of paths, counted by dynamic programming."""
        return float(kernel.log_count(self._start, self._head))

    def interval_minima(
        self, contexts: Sequence[Any], losses: FloatArray, cuts: NDArray[np.intp]
    ) -> FloatArray:
        """Compute the minima from prefix sums, sixteen intervals at a time."""
        prefix = np.zeros((len(self._ids), len(cuts) + WIDTH))
        prefix[:, : len(cuts)] = prefix_sums(losses[:, self._ids], cuts).T
        return np.asarray(kernel.interval_minima(prefix, self._start, self._head, self._cell))

    def _every_path(self) -> list[list[int]]:
        """List the edges of each path, in lexicographic order."""
        start, head, ids = self._start.tolist(), self._head.tolist(), self._ids.tolist()
        found: list[list[int]] = []
        ways: list[tuple[list[int], int]] = [([], len(start) - 2)]  # the source; the target is 0
        while ways:
            edges, node = ways.pop()
            if node == 0:
                found.append(edges)
            else:
                onward = range(start[node + 1] - 1, start[node] - 1, -1)
                ways += [([*edges, ids[e]], head[e]) for e in onward]
        return found

    def _resampling(self, costs: FloatArray) -> Resampling:
        return kernel.resample, (tuple(self._arcs), self.max_chosen, self._place)

    def _solve(self, costs: FloatArray) -> Elements:
        graph = tuple(self._arcs), self.max_chosen
        return kernel.act(costs[self._ids], _NO_NOISE, 0, 0.0, *graph)[0]  # type: ignore[no-any-return]

    def infeasible(self, costs: FloatArray) -> InfeasibleError:
        shut = [str(self.edges[e]) for e in np.flatnonzero(np.isinf(costs))]
        which = "edge that is" if len(shut) == 1 else "edges that are"
        limited = self.usable is not None and not self._reroutes
        remedy = " Paths(…, astray=…) names other edges that may be used." if limited else ""
        return InfeasibleError(
            f"No path{' of usable edges' if limited else ''} leads from {self.source!r} to "
            f"{self.target!r} without the {len(shut)} {which} not available, such as "
            f"{', '.join(shut[:8])}.{remedy}"
        )

    def route(self, action: Action) -> list[Any]:
        """Return the nodes of a path, from the source to the target.

        The edges of the path may be in any order.
        """
        return [self.source, *(edge[1] for edge in self.named(action))]

    def named(self, action: Action) -> list[Any]:
        """Return the edges of a path in the form of `edges`, from the source to the target."""
        chosen = self._elements_of(action)
        after: dict[Any, list[tuple[int, Any, Any]]] = {}
        for e in chosen:
            u, v, *key = self.edges[e]
            after.setdefault(u, []).append((e, v, (u, v, *key)))
            if self._ways[1, e]:
                after.setdefault(v, []).append((e, u, (v, u)))
        path, node, left = [], self.source, set(chosen)
        while left:
            onward = [step for step in after.get(node, []) if step[0] in left]
            if len(onward) != 1:
                break
            e, node, edge = onward[0]
            left.remove(e)
            path.append(edge)
        if left or node != self.target:
            raise ParameterError(
                f"An action must be the edges of a path from {self.source!r} to {self.target!r}; "
                f"got {action!r}."
            )
        return path

    def __repr__(self) -> str:
        if isinstance(self.graph, list | tuple | np.ndarray):
            return super().__repr__()
        given = f"<{len(self._graph.nodes)} nodes, {self.n_actions} edges>"
        return f"Paths(graph={given}, source={self.source!r}, target={self.target!r})"

    def _node(self, name: str, node: Hashable) -> int:
        try:
            return self._graph.number[node]
        except (KeyError, TypeError):
            raise ParameterError(
                f"The {name!r} parameter of Paths must be a node of the graph. Got {node!r}, which "
                f"is not among its {len(self._graph.nodes)} nodes."
            ) from None


class PathPolicy(SetPolicy):
    """Policy of one path; its edges may be in any order."""

    oracle: Paths

    def __call__(self, context: Any = None) -> Action:
        self.oracle.check_context(context)
        return self.oracle.action(np.sort(self.chosen))

    @property
    def route(self) -> list[Any]:
        """Nodes of the path, from the source to the target."""
        return self.oracle.route(self.chosen)

    nodes = route

    def __repr__(self) -> str:
        return f"<path of {len(self.chosen)} edges>"


class PathNoise(LaplaceNoise):
    """Fake losses of the edges; edges that can be chosen are drawn in tiles.

    The first cells of the generator belong to the edges that can be chosen, so only their losses
    are computed.
    """

    def __init__(
        self, oracle: Paths, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, oracle.n_actions, key, stream)
        self._cells = oracle._cells
        width = -(-len(oracle._ids) // 4) * 4
        self.blocks = Blocks(self._fill, width, max(memory, 4 * width * WIDTH))

    def unit(self, draw: int) -> FloatArray:
        return super().unit(draw)[:, self._cells]

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        kernel.fill(self.key, self.stream, first, block)


class PathObjective(SetObjective):
    """Total loss of every edge that can be chosen."""

    oracle: Paths

    stored = State(outside=Array())
    outside: FloatArray = np.empty(0)
    """Totals of the edges outside the class, if they may replace unavailable ones."""

    def __init__(self, oracle: Paths) -> None:
        super().__init__(oracle)
        self.outside = np.zeros(len(oracle._outside))
        self._ids = oracle._ids
        self._graph = tuple(oracle._arcs), oracle.max_chosen
        self.totals = np.zeros(len(oracle._ids))

    def add(self, context: None, losses: FloatArray) -> None:
        self.totals += losses[self._ids]
        self._add_outside(losses)

    def _add_outside(self, losses: FloatArray) -> None:
        if self.outside.size:
            self.outside += losses[self.oracle._outside]

    def settle(
        self, context: None, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Action:
        if available is not None:
            return super().settle(context, losses, draw, available)
        self._add_outside(losses)
        given = *_rows(draw), draw.scale, *self._graph
        return self.oracle.action(kernel.settle(self.totals, losses, *given))

    def _other_choice(self, costs: FloatArray, plus: Plus, available: Any) -> Elements:
        """Return the shortest open path along all edges, for which the draw does not matter."""
        oracle, is_open = self.oracle, available >= 0
        totals = np.zeros(oracle.n_actions) if plus is None else plus.copy()
        totals[self._ids] += self.totals
        totals[oracle._outside] += self.outside
        path = oracle._shortest(totals, is_open) if oracle._reroutes else self._ids[:0]
        if not path.size:
            matters = oracle._ways.any(axis=0) if oracle._reroutes else oracle._place >= 0
            raise oracle.infeasible(np.where(matters & ~is_open, np.inf, 0.0))
        return path

    def _has_leader(self, available: Available) -> bool:
        return available is None or self.oracle.has_available(None, available)

    def chosen(
        self, context: None, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        if self._has_leader(available) or self._replaces(available):
            return super().chosen(context, draw, count, plus, available)
        inclusion = np.zeros((count, self.oracle.n_actions), dtype=bool)
        inclusion[:, self.action(context, draw, plus, available)] = True
        return inclusion

    def weights(
        self,
        context: None,
        elements: Elements,
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        if self._has_leader(available) or self._replaces(available):
            return super().weights(context, elements, draw, limit, successes, plus, available)
        path = self.action(context, draw, plus, available)
        return np.where(np.isin(elements, path), 1.0, limit), 0

    def _costs(self, plus: Plus, available: Available) -> FloatArray:
        totals = self.totals if plus is None else self.totals + plus[self._ids]
        return totals if available is None else np.where(available[self._ids] >= 0, totals, np.inf)

    def _choose(self, costs: FloatArray, draw: Draw) -> Elements:
        path, _ = kernel.act(costs, *_rows(draw), draw.scale, *self._graph)
        return path  # type: ignore[no-any-return]

    def _choose_rows(
        self, costs: FloatArray, block: Any, start: int, scale: float, part: NDArray[np.bool_]
    ) -> None:
        edges, ends, _ = self._search(costs, block, start, scale, len(part))
        kernel.mark_rows(edges, ends, part)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        """Find leaders with one pass over the edges for sixteen draws."""
        if draw.scale == 0.0:
            path = np.atleast_1d(self.action(None, WITHOUT_NOISE))
            return [PathPolicy(self.oracle, path) for _ in range(count)]
        found: list[Policy] = []
        for edges, ends, _ in self._searches(draw, count):
            paths = np.split(edges, ends[:-1])
            found += [PathPolicy(self.oracle, path) for path in paths]
        return found

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        if draw.scale == 0.0:
            return np.full(count, kernel.act(self.totals, *_rows(draw), 0.0, *self._graph)[1])
        searched = [values for _, _, values in self._searches(draw, count)]
        return np.concatenate([np.empty(0), *searched])

    def _searches(self, draw: Draw, count: int) -> Iterator[tuple[Any, ...]]:
        """Search under one batch of draws after another."""
        most = min(count, max(WIDTH, _BATCH // self.oracle.max_chosen))
        done = 0
        while done < count:
            block, row = _rows(draw.later(done))
            n = min(count - done, most, len(block) - row)
            yield self._search(self.totals, block, row, draw.scale, n)
            done += n

    def _search(
        self, costs: FloatArray, block: Any, row: int, scale: float, count: int
    ) -> tuple[Any, ...]:
        """Return the edges of the best paths under some draws, their ends and their values."""
        edges = np.empty(count * self.oracle.max_chosen, np.int64)
        ends, values = np.empty(count, np.int64), np.empty(count)
        kernel.leaders(costs, block, row, scale, self._graph[0], edges, ends, values)
        return edges[: ends[-1]].copy(), ends, values


def _rows(draw: Draw) -> tuple[NDArray[np.float32], int]:
    if draw.scale == 0.0:
        return _NO_NOISE, 0
    blocks = blocks_of(draw)
    row = blocks.locate(draw.number)
    return blocks.block, row


def _as_mask(oracle: Paths, name: str, given: ArrayLike | None, n_edges: int) -> NDArray[np.bool_]:
    if given is None:
        return np.ones(n_edges, dtype=bool)
    mask = as_array(given)
    if mask.dtype != bool or mask.shape != (n_edges,):
        raise refuse(oracle, name, f"{n_edges} booleans, one for each edge", given)
    return mask
