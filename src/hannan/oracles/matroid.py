"""A matroid given by a test of independence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hannan.core import InfeasibleError, InputTypeError, ParameterError
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles._combinatorial import Elements, SetOracle, check_flag
from hannan.oracles.subsets import log_subsets

Test = Callable[[list[int]], Any]


class Matroid(SetOracle):
    r"""Bases (or independent sets) of a matroid given by a test `independent(elements)`.

    The leader is found greedily: go through the elements from the cheapest total
    :math:`\sum_s \ell_s(j)` on, ties to the smallest, and take each element that keeps the set
    independent; with `bases=False` stop at the first element of total >= 0. This is optimal if the
    test defines a matroid: subsets of independent sets are independent, and the smaller of two
    independent sets can be completed by an element of the larger (*exchange*). A leader takes up
    to K tests.

    Parameters
    ----------
    n
        Number K of elements.
    independent
        Function that returns whether a sorted list of distinct elements is independent. It must
        depend only on its argument.
    bases
        Whether actions are bases, that is, as large as possible. If False, any independent set is
        an action. Default: True.
    checks
        Number of random pairs of independent sets on which the constructor tests the two axioms.
        Default: 32.

    Examples
    --------
    Columns of a matrix, as long as they are linearly independent:

    >>> import hannan as hn
    >>> A = np.array([[1, 0, 1, 2], [0, 1, 1, 0]])
    >>> def independent(columns):
    ...     return np.linalg.matrix_rank(A[:, columns]) == len(columns)
    >>> total = hn.oracles.Matroid(4, independent).objective()
    >>> total.add(None, np.array([0.3, 0.9, 0.5, 0.1]))
    >>> total.leader()(None)
    array([2, 3])
    """

    _fuller = "bases=True"

    def __init__(self, n: int, independent: Test, bases: bool = True, checks: int = 32) -> None:
        self.n = check_integer(self, "n", n, 1)
        if not callable(independent):
            raise InputTypeError(
                f"Matroid needs a function independent(elements); got {independent!r}."
            )
        self.independent = independent
        self.bases = check_flag(self, "bases", bases)
        self.checks = check_integer(self, "checks", checks, 0)
        if not self._test([]):
            raise InfeasibleError(
                "Matroid has no independent set: independent([]) must be True; got False."
            )
        rank = len(self._greedy(range(self.n)))
        if rank == 0:
            raise InfeasibleError(
                f"Matroid has nothing to choose: none of its {n} elements is independent."
            )
        self._try_axioms()
        self._set_size(self.n, rank, antichain=self.bases)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Bound log N by the number of sets as large as a basis, or of sets up to this size."""
        return log_subsets(self.n, self.rank, self.bases)

    def _solve(self, costs: FloatArray) -> Elements:
        order = np.argsort(costs, kind="stable")
        order = order[: np.count_nonzero(costs < (np.inf if self.bases else 0.0))]
        return np.array(sorted(self._greedy(order.tolist())), dtype=np.intp)

    def _test(self, elements: list[int]) -> bool:
        return bool(self.independent(elements))

    def _greedy(self, order: Sequence[int]) -> list[int]:
        """Select each element of a sequence that keeps the set independent."""
        chosen: list[int] = []
        for element in order:
            longer = sorted([*chosen, element])
            if self._test(list(longer)):
                chosen = longer
        return chosen

    def _try_axioms(self) -> None:
        """Raise an error if the test violates an axiom on one of a few random pairs."""
        rng = np.random.default_rng(0)
        for _ in range(self.checks):
            sets = [self._greedy(rng.permutation(self.n).tolist()) for _ in range(2)]
            parts = [_part(rng, chosen) for chosen in sets]
            for part, whole in zip(parts, sets, strict=True):
                if not self._test(list(part)):
                    raise ParameterError(
                        "Matroid needs subsets of independent sets to be independent; "
                        f"{whole} is independent, and its subset {part} is not."
                    )
            pairs = [(sets[0], sets[1]), (parts[0], parts[1]), (parts[0], sets[1])]
            for pair in pairs:
                small, large = sorted(pair, key=len)
                if len(small) < len(large) and not self._completes(small, large):
                    raise ParameterError(
                        f"Matroid needs the exchange property; {small} and {large} are "
                        "independent, but no element of the larger can be added to the smaller. "
                        "Greedy would not be optimal: use LinearProgram or FunctionOracle."
                    )

    def _completes(self, small: list[int], large: list[int]) -> bool:
        rest = [element for element in large if element not in small]
        return any(self._test(sorted([*small, element])) for element in rest)


def _part(rng: np.random.Generator, chosen: list[int]) -> list[int]:
    """Draw a random subset."""
    keep = rng.random(len(chosen)) < rng.random()
    return [element for element, kept in zip(chosen, keep, strict=True) if kept]
