"""Separators of classes that are listed in a table."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import Oracle, ParameterError
from hannan.core.arrays import Contexts
from hannan.oracles import FinitePolicies

Codes = NDArray[np.int64]


def is_separator(policies: Oracle | ArrayLike, contexts: Contexts) -> bool:
    """Return whether any two distinct policies differ on one of these contexts.

    Parameters
    ----------
    policies
        Oracle that implements `separates`, or a table of actions as `FinitePolicies` takes it.
    contexts
        Contexts of the oracle; for a table, numbers of columns.

    Examples
    --------
    >>> is_separator([[0, 0, 1], [0, 1, 0], [1, 1, 0]], [0, 1])
    True
    >>> is_separator([[0, 0, 1], [0, 1, 0], [1, 1, 0]], [0])
    False

    Unit vectors do not separate formulas with negations. Contexts are the eight vectors of three
    bits:

    >>> import numpy as np
    >>> x = np.arange(8)[:, None] >> np.arange(3) & 1
    >>> nots = 1 - x
    >>> table = np.array([nots[:, 0] | nots[:, 1], nots[:, 0] | nots[:, 2]])
    >>> is_separator(table, [1, 2, 4])
    False
    """
    oracle = policies if isinstance(policies, Oracle) else FinitePolicies(policies)
    answer = oracle.separates(oracle.check_contexts(contexts))
    if answer is None:
        raise ParameterError(
            f"{type(oracle).__name__} cannot decide whether these contexts separate its policies. "
            "Pass a table of some policies instead."
        )
    return answer


def greedy(policies: FinitePolicies | ArrayLike) -> list[int]:
    r"""Return a small separator of a finite class, chosen greedily; empty for one policy.

    The algorithm adds the context that separates most of the pairs of policies not yet separated,
    until all pairs are. Then it removes superfluous contexts. The result has at most :math:`1 + 2
    \log N` times the smallest size. Pairs are counted through groups of policies that agree so far,
    so memory is O(N d) and a step costs O(N d).

    Parameters
    ----------
    policies
        Table of actions, as `FinitePolicies` takes it, or the oracle itself.

    Examples
    --------
    >>> import numpy as np
    >>> greedy(np.arange(8)[:, None] >> np.array([0, 0, 1, 2]) & 1)
    [0, 2, 3]

    References
    ----------
    [johnson1974]
    """
    table = _distinct(policies)
    n, d = table.shape
    chosen: list[int] = []
    group = np.zeros(n, np.int64)
    active = np.arange(n)  # policies that still agree with another one
    while active.size:
        together = [_pairs_together(group[active], table[active, x]) for x in range(d)]
        best = int(np.argmin(together))
        chosen.append(best)
        group, sizes = _refine(group, table[:, best])
        active = np.flatnonzero(sizes[group] > 1)
    for x in list(chosen):
        rest = [y for y in chosen if y != x]
        if _groups(table[:, rest]).max(initial=0) == n - 1:
            chosen = rest
    return sorted(chosen)


def smallest(policies: FinitePolicies | ArrayLike) -> list[int]:
    r"""Return the smallest separator of a finite class, by integer programming (HiGHS).

    .. math:: \min \sum_x s_x \quad\text{such that}\quad
              \sum_{x : \pi(x) \ne \pi'(x)} s_x \ge 1 \text{ for all } \pi \ne \pi',
              \quad s_x \in \{0, 1\} .

    The problem is NP-hard, so use this function for small tables only.

    Parameters
    ----------
    policies
        Table of actions, as `FinitePolicies` takes it, or the oracle itself.

    Examples
    --------
    >>> smallest([[0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 1, 2]])
    [0, 1]
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    table = _distinct(policies)
    n, d = table.shape
    if n == 1:
        return []
    rows = [table[i] != table[i + 1] for i in range(n - 1)]
    while True:
        solution = milp(
            np.ones(d),
            integrality=np.ones(d),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(np.array(rows, dtype=np.float64), lb=1.0),
        )
        if not solution.success:  # pragma: no cover
            raise ParameterError(f"HiGHS found no separator: {solution.message}")
        chosen = np.flatnonzero(solution.x > 0.5)
        missing = [table[a] != table[b] for a, b in _alike(_groups(table[:, chosen]))]
        if not missing:
            return [int(x) for x in chosen]
        rows += missing


def _distinct(policies: FinitePolicies | ArrayLike) -> Codes:
    """Return the distinct rows of a table, as codes."""
    oracle = policies if isinstance(policies, FinitePolicies) else FinitePolicies(policies)
    return np.unique(oracle.table, axis=0).astype(np.int64)


def _refine(group: Codes, column: Codes) -> tuple[Codes, Codes]:
    """Return groups split by one more column, and their sizes."""
    _, finer, sizes = np.unique(
        group * (column.max() + 1) + column, return_inverse=True, return_counts=True
    )
    return finer.reshape(-1), sizes


def _groups(columns: Codes) -> Codes:
    """Return the group number of each row; rows of a group are equal."""
    group = np.zeros(columns.shape[0], np.int64)
    for column in columns.T:
        group, _ = _refine(group, column)
    return group


def _pairs_together(group: Codes, column: Codes) -> int:
    """Count the pairs in one group that this column does not separate."""
    sizes = np.bincount(group * (column.max() + 1) + column)
    return int((sizes * (sizes - 1) // 2).sum())


def _alike(group: Codes) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows in one group, each row with the next."""
    order = np.argsort(group, kind="stable")
    same = np.flatnonzero(group[order[:-1]] == group[order[1:]])
    for i in same:
        yield int(order[i]), int(order[i + 1])
