"""Assignments between two sides."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, InfeasibleError, InputTypeError, ParameterError
from hannan.core.arrays import as_array, as_list, columns_of, is_frame
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import assignments as kernel
from hannan.oracles._combinatorial import Elements, Resampling, SetOracle, check_flag, check_labels

_SIDES = ("left", "right")


class Matchings(SetOracle):
    r"""Assignments: crews to shifts, drivers to rides, reviewers to papers.

    Element :math:`i \cdot n_\mathrm{right} + j` pairs i on the left with j on the right; if only
    some pairs are possible, the elements are the `edges` given. An action pairs each member of the
    smaller side with a different member of the larger side, or with `everyone=False` the best
    number of members. If some pairs are unavailable, the sides are those of today: the members
    with an available pair. The leader is the cheapest assignment for the totals
    :math:`\sum_s \ell_s(i, j)` of any sign, found by SciPy's `linear_sum_assignment` (shortest
    augmenting paths). SciPy breaks ties; the choice is a function of the totals.

    Parameters
    ----------
    n_left, n_right
        Number of members of each side.
    edges
        Possible pairs (i, j), in the order of the loss vector. Default: all pairs.
    left, right
        Name of each member of a side, for `pairs` and the display of policies. Default: None.
    everyone
        Whether all members of the smaller side are paired. If False, an action may have fewer
        pairs, perhaps none. Then pairs should have rewards: losses in (-R, 0). Default: True.

    Examples
    --------
    >>> import hannan as hn
    >>> shifts = hn.oracles.Matchings(2, 3)
    >>> total = shifts.objective()
    >>> total.add(None, np.array([[0.9, 0.1, 0.5], [0.8, 0.2, 0.9]]).ravel())
    >>> action = total.leader()(None)
    >>> action, shifts.pairs(action)
    (array([2, 4]), [(0, 2), (1, 1)])

    Only pairs that are worth it:

    >>> total = hn.oracles.Matchings(2, 2, everyone=False).objective()
    >>> total.add(None, np.array([[-3.0, -2.0], [-2.0, 0.5]]).ravel())
    >>> total.leader()(None)
    array([1, 2])

    A bipartite graph of networkx, its edges in the order of `graph.edges`:

    >>> import networkx as nx
    >>> graph = nx.Graph([("Ann", "early"), ("Ann", "late"), ("early", "Bob")])
    >>> crews = hn.oracles.Matchings.of(graph, left=["Ann", "Bob"])
    >>> crews.objective().leader().names
    [('Ann', 'late'), ('Bob', 'early')]

    References
    ----------
    [crouse2016]
    """

    _fuller = "everyone=True"

    def __init__(
        self,
        n_left: int,
        n_right: int,
        edges: Any = None,
        *,
        left: Any = None,
        right: Any = None,
        everyone: bool = True,
    ) -> None:
        self.n_left = check_integer(self, "n_left", n_left, 1)
        self.n_right = check_integer(self, "n_right", n_right, 1)
        self.edges = edges
        self.left, self.right = left, right
        self.everyone = check_flag(self, "everyone", everyone)
        self._sides = [
            check_labels(self, left, self.n_left, "left") or list(range(self.n_left)),
            check_labels(self, right, self.n_right, "right") or list(range(self.n_right)),
        ]
        self._cells = self._places(edges)
        self._set_size(len(self._cells), min(n_left, n_right), antichain=self.everyone)
        self.least = int(self.everyone)  # today's sides may be smaller
        if edges is not None and self.everyone:
            self._solve(np.zeros(len(self._cells)))  # raises without a complete assignment

    @classmethod
    def of(
        cls, graph: Any, left: Iterable[Hashable] | None = None, *, everyone: bool = True
    ) -> Self:
        """Make assignments along the edges of a bipartite graph, or the rows of a table.

        Parameters
        ----------
        graph
            An undirected graph of networkx. Elements are its edges, in the order of
            `graph.edges`; on each side nodes are numbered in the order of `graph.nodes`. Or pairs
            (left, right) of names: a list, or a table of two columns, whose rows are the elements.
        left
            Nodes of the left side of a graph. Default: the nodes with the attribute
            `bipartite=0`, the convention of networkx.
        everyone
            Whether all members of the smaller side are paired, as in the constructor.

        Examples
        --------
        >>> import hannan as hn
        >>> rides = hn.oracles.Matchings.of([("Ann", "A1"), ("Ann", "B2"), ("Bob", "A1")])
        >>> rides.pairs(rides.objective().leader()())
        [('Ann', 'B2'), ('Bob', 'A1')]
        """
        if is_frame(graph) or isinstance(graph, list):
            pairs, sides = _listed_pairs(graph, left)
        else:
            pairs, sides = _edges_across(graph, left)
        numbers = [{name: i for i, name in enumerate(side)} for side in sides]
        edges = [(numbers[0][a], numbers[1][b]) for a, b in pairs]
        left, right = sides
        return cls(len(left), len(right), edges, left=left, right=right, everyone=everyone)

    def pairs(self, action: Action) -> list[tuple[Any, Any]]:
        """Return the pairs (left, right) of an action, as names if the sides have names."""
        left, right = self._sides
        places = np.divmod(self._cells[self._elements_of(action)], self.n_right)
        return [(left[i], right[j]) for i, j in np.transpose(places).tolist()]

    named = pairs

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Return log n!/(n - m)! for sides of m <= n; an upper bound if pairs are impossible.

        With `everyone=False` the number is summed over all sets of the smaller side.
        """
        large, small = max(self.n_left, self.n_right), self.rank
        if self.everyone:
            return math.lgamma(large + 1) - math.lgamma(large - small + 1)
        k, log = np.arange(small + 1), np.cumsum(np.log(np.maximum(np.arange(large + 1), 1)))
        each = log[large] - log[large - k] + log[small] - log[k] - log[small - k]
        return float(np.logaddexp.reduce(each))

    def _resampling(self, costs: FloatArray) -> Resampling:
        if not self.everyone:
            return kernel.resample, (*self._table, 0.0)
        rows, columns, *sizes = self._table
        is_open = np.isfinite(costs)
        if not is_open.all():  # today's members, and a column that is never chosen
            sides = [np.unique(side[is_open], return_inverse=True)[1] for side in (rows, columns)]
            sides.sort(key=np.max)
            n, m = (int(side.max()) + 1 for side in sides)
            rows, columns = np.zeros(len(costs), np.intp), np.full(len(costs), m)
            rows[is_open], columns[is_open] = sides
            sizes = [n, m + 1]
        return kernel.resample, (rows, columns, *sizes, np.inf)

    @cached_property
    def _table(self) -> tuple[Elements, Elements, int, int]:
        """Row and column of each element, the smaller side in rows, and the table's size."""
        left, right = np.divmod(self._cells, self.n_right)
        if self.n_left <= self.n_right:
            return left, right, self.n_left, self.n_right
        return right, left, self.n_right, self.n_left

    def _solve(self, costs: FloatArray) -> Elements:
        from scipy.optimize import linear_sum_assignment

        most = np.inf if self.everyone else 0.0
        table = costs if self.everyone else np.minimum(costs, most)
        if self.edges is not None:
            table = np.full(self.n_left * self.n_right, most)
            table[self._cells] = np.minimum(costs, most)
        table = table.reshape(self.n_left, self.n_right)
        left, right = (np.arange(n) for n in table.shape)
        if self.everyone and np.isinf(costs).any():  # today's members only
            is_open = np.isfinite(table)
            left, right = (np.flatnonzero(is_open.any(axis=axis)) for axis in (1, 0))
            table = table[np.ix_(left, right)]
        try:
            rows, columns = linear_sum_assignment(table)
        except ValueError:
            raise self.infeasible(costs) from None
        cells = left[rows] * self.n_right + right[columns]
        if not self.everyone:
            cells = cells[table.ravel()[cells] < most]
        return np.sort(cells if self.edges is None else self._elements[cells])

    def infeasible(self, costs: FloatArray) -> InfeasibleError:
        from scipy.optimize import linear_sum_assignment

        shut = np.isinf(costs)
        if shut.all():
            return InfeasibleError(
                "No assignment: no pair is available. Make one available, or skip the round."
            )
        table = np.ones((self.n_left, self.n_right), dtype=bool)  # impossible pairs
        table.ravel()[self._cells[~shut]] = False
        sides = [np.arange(n) for n in table.shape]
        if shut.any():
            sides = [np.flatnonzero(~table.all(axis=axis)) for axis in (1, 0)]
        smaller = int(len(sides[0]) > len(sides[1]))
        cells = np.transpose(linear_sum_assignment(table))
        paired = [pair[smaller] for pair in cells.tolist() if not table[tuple(pair)]]
        alone = [self._sides[smaller][i] for i in np.setdiff1d(sides[smaller], paired).tolist()]
        closed = f" without the {shut.sum()} pairs that are not available" if shut.any() else ""
        return InfeasibleError(
            f"No assignment pairs everyone on the smaller side{closed}: nobody is left for "
            f"{', '.join(map(repr, alone[:8]))}. Matchings(…, everyone=False) may leave some of "
            "them unpaired; then report rewards up to R as losses in (-R, 0)."
        )

    def _places(self, edges: Any) -> NDArray[np.intp]:
        """Return the place of each element in the table of all pairs."""
        size = self.n_left * self.n_right
        if edges is None:
            return np.arange(size)
        try:
            found = as_array(edges)
        except ValueError:
            found = np.empty(0)
        if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu" or not len(found):
            raise refuse(self, "edges", "pairs of integers (left, right)", edges)
        outside = (found < 0) | (found >= [self.n_left, self.n_right])
        if outside.any():
            wrong = tuple(found[outside.any(axis=1)][0].tolist())
            raise refuse(
                self, "edges", f"pairs of integers below ({self.n_left}, {self.n_right})", wrong
            )
        cells: NDArray[np.intp] = (found[:, 0] * self.n_right + found[:, 1]).astype(np.intp)
        self._elements = np.full(size, -1, np.intp)
        self._elements[cells] = np.arange(len(cells))
        again = self._elements[cells] != np.arange(len(cells))
        if again.any():
            twice = tuple(names[i] for names, i in zip(self._sides, found[again][0], strict=True))
            raise refuse(self, "edges", "different pairs: one of two is never better", twice)
        return cells


def _listed_pairs(given: Any, left: Any) -> tuple[Sequence[Any], list[list[Any]]]:
    """Read the pairs of a list or a table; return them and the names on each side."""
    if left is not None:
        raise ParameterError(
            "left= is only for graphs. In pairs the left side comes first; leave left= out."
        )
    columns = [as_list(column) for _, column in columns_of(given)] if is_frame(given) else []
    pairs = list(zip(*columns, strict=True)) if len(columns) == 2 else given
    if len(columns) not in (0, 2) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        raise InputTypeError("Matchings.of needs pairs (left, right): a table of two columns.")
    try:
        sides = [list(dict.fromkeys(side)) for side in zip(*pairs, strict=True)]
    except TypeError:
        raise InputTypeError("Matchings.of needs hashable names, such as strings.") from None
    if not sides:
        raise ParameterError("Matchings.of needs at least one pair; got none.")
    return pairs, sides


def _edges_across(graph: Any, left: Any) -> tuple[Sequence[Any], list[list[Any]]]:
    """Return the edges of a graph from left to right, and the nodes on each side."""
    if not hasattr(graph, "edges") or not hasattr(graph, "is_directed") or graph.is_directed():
        raise InputTypeError(
            "Matchings.of needs pairs (left, right), a list or a table of two columns, or an "
            f"undirected graph of networkx; got {graph!r}."
        )
    if left is None:
        chosen = {node for node, side in graph.nodes(data="bipartite") if side == 0}
    else:
        chosen = set(left)
        if not chosen <= set(graph.nodes):
            unknown = next(node for node in chosen if node not in graph)
            raise ParameterError(f"left= contains {unknown!r}, which is not a node of the graph.")
    pairs = []
    for u, v, *_ in graph.edges:
        if (u in chosen) == (v in chosen):
            raise ParameterError(
                f"Matchings.of needs edges that lead from one side to the other; {u!r} and "
                f"{v!r} are both on the {'left' if u in chosen else 'right'}. Pass the nodes of "
                "the left side as left=."
            )
        pairs.append((u, v) if u in chosen else (v, u))
    nodes = list(graph.nodes)
    return pairs, [[v for v in nodes if v in chosen], [v for v in nodes if v not in chosen]]
