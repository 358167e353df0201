"""Cut functions of a graph."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.validation import check_integer, refuse
from hannan.losses._terms import CutArcs, Terms
from hannan.losses.set_losses import SetLoss, check_indices, check_numbers


class Cut(SetLoss):
    r"""The capacity of the arcs that leave a set, plus a modular term:

    .. math:: f(A) = c + \sum_{j \in A} w_j + \sum_{(u, v):\, u \in A,\, v \notin A} c_{uv} .

    An energy of binary labels is of this form: a pixel that costs a inside and b outside has
    weight a - b and adds b to the offset; neighbours that should agree are joined by an edge.

    Parameters
    ----------
    tails, heads
        Ends u and v of every arc, elements from 0 to n - 1. Arcs may repeat.
    capacities
        Capacities ≥ 0 of the arcs: one per arc, or one number for all.
    n
        Number of elements, K.
    modular
        Weights w of the elements, of any sign. Default None: zero.
    offset
        Constant c. Default 0.
    directed
        Whether an arc is cut only if its tail is inside and its head outside. If False, an edge is
        cut if exactly one of its ends is inside. Default True.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Cut([0, 1], [1, 2], [0.25, 0.5], n=3, modular=[-0.125, 0.0, 0.0])
    >>> f([0]), f([0, 1]), f([0, 1, 2]), f([2])
    (0.125, 0.375, -0.125, 0.0)
    >>> f.extremes()
    (-0.125, 0.75)
    """

    def __init__(
        self,
        tails: Any,
        heads: Any,
        capacities: Any,
        n: int,
        modular: Any = None,
        offset: float = 0.0,
        directed: bool = True,
    ) -> None:
        self.n = self.n_actions = check_integer(self, "n", n, 1)
        self.tails = check_indices(self, "tails", tails, self.n)
        self.heads = check_indices(self, "heads", heads, self.n)
        if len(self.tails) != len(self.heads):
            wanted = f"as many nodes as tails has, {len(self.tails)}"
            raise refuse(self, "heads", wanted, heads)
        if np.ndim(capacities) == 0:
            capacities = np.broadcast_to(capacities, len(self.tails))
        self.capacities = check_numbers(
            self, "capacities", capacities, len(self.tails), nonnegative=True
        )
        self.modular = None if modular is None else check_numbers(self, "modular", modular, self.n)
        self.offset = float(check_numbers(self, "offset", [offset])[0])
        if not isinstance(directed, bool | np.bool_):
            raise refuse(self, "directed", "True or False", directed)
        self.directed = bool(directed)
        self.terms = Terms(self.n)
        self.terms.offset = self.offset
        if self.modular is not None:
            self.terms.modular += self.modular
        arcs = (self.tails, self.heads, self.capacities)
        if not self.directed:
            ends = np.concatenate([self.tails, self.heads])
            others = np.concatenate([self.heads, self.tails])
            arcs = (ends, others, np.tile(self.capacities, 2))
        self.terms.arcs, self.terms.capacities = CutArcs.gather(self.n, *arcs)

    @classmethod
    def of(
        cls,
        graph: Any,
        capacity: str | None = "capacity",
        modular: Any = None,
        offset: float = 0.0,
    ) -> Self:
        """Return the cut function of a graph.

        Parameters
        ----------
        graph
            A graph of networkx, directed or not. Its nodes, in the order of `graph.nodes`, are the
            elements 0, 1, …
        capacity
            Edge attribute that holds the capacity. None: all edges have capacity 1.
        modular, offset
            Weights and constant, as for the class.

        Examples
        --------
        >>> import hannan as hn
        >>> import networkx as nx
        >>> roads = nx.DiGraph()
        >>> roads.add_edge("a", "b", capacity=0.25)
        >>> roads.add_edge("b", "c", capacity=0.5)
        >>> f = hn.losses.Cut.of(roads)
        >>> f([0]), f([0, 1]), f([2])
        (0.25, 0.5, 0.0)
        """
        if not hasattr(graph, "edges") or not hasattr(graph, "is_directed"):
            raise InputTypeError(f"Cut.of needs a graph of networkx; got {graph!r}.")
        number = {node: i for i, node in enumerate(graph.nodes)}
        tails, heads, sizes = [], [], []
        for u, v, data in graph.edges(data=True):
            if capacity is not None and capacity not in data:
                raise ParameterError(
                    f"The edge from {u!r} to {v!r} has no {capacity!r}. Name the attribute that "
                    "holds capacities, or pass capacity=None if all capacities are 1."
                )
            tails.append(number[u])
            heads.append(number[v])
            sizes.append(1.0 if capacity is None else data[capacity])
        return cls(tails, heads, sizes, len(number), modular, offset, graph.is_directed())

    def extremes(self) -> tuple[float, float]:
        """Return bounds: at most the larger capacity between any two elements is cut.

        The bounds are not always attained: finding the largest cut is NP-hard.
        """
        terms = self.terms
        assert terms.arcs is not None
        larger = np.maximum(terms.capacities, terms.capacities[terms.arcs.mates])
        low, high = terms.modular_extremes()
        return low, high + 0.5 * float(larger.sum())
