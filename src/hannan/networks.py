"""Road networks with travel times that grow with flow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import ParameterError
from hannan.core.arrays import as_floats, as_list, missing
from hannan.core.validation import FloatArray, check_integer, check_seed, refuse
from hannan.kernels import routes as kernel

__all__ = ["RoadNetwork"]

Indices = NDArray[np.int64]


class RoadNetwork:
    r"""Road network of directed links with travel times that depend on flow.

    The travel time of a link at flow f is the formula of the Bureau of Public Roads,

    .. math:: \tau(f) = \tau_0 \left(1 + b\,(f/c)^p\right),

    with free-flow time :math:`\tau_0`, capacity c and constants b and p. Links keep the order of
    the arguments. Parallel links are allowed.

    Parameters
    ----------
    tail, head
        First and last node of each link; nodes are any hashable objects.
    free_flow_time
        Free-flow time :math:`\tau_0 \ge 0` of each link.
    capacity
        Capacity c > 0 of each link; 0 is allowed if b = 0. Default: infinite, so flow costs
        no time.
    b, power
        Constants b and p of the formula, one number or one for each link. Default: 0.15 and 4.
    length, speed, toll, link_type
        Further columns of numbers, stored as attributes. Default: None.
    flow
        Flow of each link at usual demand. Default: None.
    zones
        Nodes where trips start and end, but which trips must not pass through. Default: none.

    Examples
    --------
    >>> import hannan as hn
    >>> roads = hn.networks.RoadNetwork(["a", "a", "b"], ["b", "c", "c"], [1.0, 3.0, 1.0],
    ...                                 capacity=[10.0, 10.0, 20.0])
    >>> roads.links
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> roads.travel_time([20.0, 0.0, 0.0])
    array([3.4, 3. , 1. ])
    """

    def __init__(
        self,
        tail: Iterable[Hashable],
        head: Iterable[Hashable],
        free_flow_time: ArrayLike,
        *,
        capacity: ArrayLike = np.inf,
        b: ArrayLike = 0.15,
        power: ArrayLike = 4.0,
        length: ArrayLike | None = None,
        speed: ArrayLike | None = None,
        toll: ArrayLike | None = None,
        link_type: ArrayLike | None = None,
        flow: ArrayLike | None = None,
        zones: Iterable[Hashable] = (),
    ) -> None:
        self.tail: list[Any] = as_list(tail)
        self.head: list[Any] = as_list(head)
        if len(self.tail) != len(self.head) or not self.tail:
            raise ParameterError(
                "RoadNetwork needs a tail and a head for each link, and at least one link; got "
                f"{len(self.tail)} tails and {len(self.head)} heads."
            )
        for ends in self.links:
            if any(map(missing, ends)):
                raise ParameterError(f"RoadNetwork got a link with a missing end: {ends}.")
        self.free_flow_time = self._column("free_flow_time", free_flow_time)
        self.b = self._column("b", b)
        self.power = self._column("power", power)
        self.capacity = self._column("capacity", capacity, infinite=True)
        idle = (self.capacity == 0.0) & (self.b == 0.0)
        self.capacity[idle] = np.inf
        if (self.capacity == 0.0).any():
            link = int(np.argmin(self.capacity))
            raise refuse(self, "capacity", "positive (or b = 0)", f"0 for link {self._link(link)}")
        self.length = None if length is None else self._column("length", length)
        self.speed = None if speed is None else self._column("speed", speed)
        self.toll = None if toll is None else self._column("toll", toll)
        self.link_type = None if link_type is None else self._column("link_type", link_type)
        self.flow = None if flow is None else self._column("flow", flow)
        self.zones = frozenset(zones)

    @classmethod
    def grid(cls, rows: int, columns: int, *, capacity: float = 100.0, seed: int = 0) -> Self:
        """Make a grid of streets that lead east and south, so that there are no cycles.

        Crossings are numbered row by row from 1. The free-flow time of a link is drawn uniformly
        between 1 and 2.

        >>> import hannan as hn
        >>> hn.networks.RoadNetwork.grid(2, 2).links
        [(1, 2), (1, 3), (2, 4), (3, 4)]
        """
        for name, value in {"rows": rows, "columns": columns}.items():
            check_integer("RoadNetwork.grid", name, value, 2)
        rng = np.random.default_rng(check_seed("RoadNetwork.grid", seed))
        links = []
        for i in range(1, rows * columns + 1):
            links += [(i, i + 1)] if i % columns else []
            links += [(i, i + columns)] if i <= (rows - 1) * columns else []
        tail, head = zip(*links, strict=True)
        return cls(tail, head, rng.uniform(1.0, 2.0, size=len(links)), capacity=capacity)

    @property
    def n_links(self) -> int:
        """Number of links."""
        return len(self.tail)

    @property
    def links(self) -> list[tuple[Any, Any]]:
        """Pairs (tail, head), in order."""
        return list(zip(self.tail, self.head, strict=True))

    @property
    def nodes(self) -> list[Any]:
        """All nodes, in order of first appearance."""
        return list(dict.fromkeys(node for link in self.links for node in link))

    def travel_time(self, flow: ArrayLike) -> FloatArray:
        """Return the travel time of each link at these flows."""
        load = as_floats(flow) / self.capacity
        return np.asarray(self.free_flow_time * (1.0 + self.b * load**self.power))

    def closer(
        self, target: Hashable, zones: Iterable[Hashable] | None = None
    ) -> NDArray[np.bool_]:
        r"""Find Dial's efficient links, which lead closer to the target: a boolean for each link.

        Link (u, v) is efficient if :math:`\mathrm{dist}(v) < \mathrm{dist}(u)`, where dist is the
        free-flow time to the target, and v is not a zone other than the target. If the free-flow
        time of a link is 0, the number of links to the target decides. So the efficient links have
        no cycle, and they contain a shortest path from every node that has one. [dial1971]

        Parameters
        ----------
        target
            Node to which the paths lead.
        zones
            Nodes that paths must not pass through. Default: the zones of the network.
        """
        shut = self.zones if zones is None else frozenset(zones)
        if target not in set(self.head):
            raise ParameterError(f"No link of the network leads to the target {target!r}.")
        number = {node: i for i, node in enumerate(dict.fromkeys(self.tail + self.head))}
        tail, head = (np.array([number[v] for v in side]) for side in (self.tail, self.head))
        through = np.array([v == target or v not in shut for v in self.head])
        return leading_closer(tail, head, self.free_flow_time, number[target], through)

    def __repr__(self) -> str:
        return f"<road network of {self.n_links} links>"

    def _link(self, i: int) -> str:
        return f"{self.tail[i]!r} to {self.head[i]!r}"

    def _column(self, name: str, values: ArrayLike, infinite: bool = False) -> FloatArray:
        try:
            numbers = as_floats(values)
            column = np.broadcast_to(numbers, (self.n_links,)).copy()
        except (TypeError, ValueError):
            accepted = f"numbers, one for each of the {self.n_links} links"
            raise refuse(self, name, accepted, values) from None
        wrong = ~(column >= 0.0) if infinite else ~((column >= 0.0) & (column < np.inf))
        if wrong.any():
            link = int(np.argmax(wrong))
            got = f"{column[link]:g} for link {self._link(link)}"
            raise refuse(self, name, "finite and not negative", got)
        return column


def by_head(tail: Indices, head: Indices, n_nodes: int) -> tuple[Indices, Indices]:
    """Sort links by head for `kernels.routes`: return the order, and the start of each node."""
    order = np.argsort(head, kind="stable")
    return order, np.searchsorted(head[order], np.arange(n_nodes + 1))


def leading_closer(
    tail: Indices, head: Indices, times: FloatArray, target: int, through: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Find the links that lead closer, as `RoadNetwork.closer` does, among those of `through`."""
    order, start = by_head(tail, head, 1 + int(max(tail.max(), head.max())))
    costs = np.where(through, times, np.inf)[order]
    left, links, _ = kernel.distances(start, tail[order], costs, target, -1)
    here, there = left[tail], left[head]
    level = (times == 0.0) & (there == here) & (links[head] < links[tail])
    return np.asarray(through & ((there < here) | level))
