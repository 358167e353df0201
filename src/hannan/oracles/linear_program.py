"""0/1 points of a polytope."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import InfeasibleError, InputTypeError, ParameterError
from hannan.core.arrays import as_floats
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_not_negative, check_positive
from hannan.kernels.ilp_search import in_units, shut
from hannan.oracles._combinatorial import Elements, SetObjective, SetOracle, SetPolicy, optional
from hannan.oracles._relaxation import INTEGRAL, Relaxation
from hannan.oracles.per_context import PerContext

Rows = tuple[Any, FloatArray, FloatArray]  # a matrix, and lower and upper bounds of its rows

_REACH = 2.0**-10, 2.0**40  # range for the largest number of a row
_FAR = 1e12


class Solution(NamedTuple):
    """Feasible set, and its gap to the best set."""

    chosen: Elements
    gap: float


class LinearProgram(SetOracle):
    r"""Sets of elements that satisfy linear constraints, by HiGHS.

    Actions are the points of :math:`\{0,1\}^K` with :math:`A_{ub} x \le b_{ub}` and
    :math:`A_{eq} x = b_{eq}`: covers, packings, flows, schedules, knapsacks and all other feasible
    sets that linear constraints describe. The leader minimises
    :math:`\sum_s \langle \ell_s, x \rangle`. HiGHS first solves the linear relaxation. If its
    solution is a 0/1 point, it is the leader (always so for flows and other totally unimodular
    systems). The simplex method starts at its last solution: in compiled code for up to 128 rows
    and 65,536 entries, beyond that in `highspy` (`hannan[highs]`) if it is installed. Otherwise the
    0/1 points that cost little more than the relaxation are searched, with past solutions as
    bounds. If these points are too many, branch and bound decides. HiGHS breaks ties without a warm
    start, so the choice is a function of the totals.

    Parameters
    ----------
    A_ub, b_ub
        Inequalities, [n, K] and [n]; dense or SciPy sparse. Solvers meet them up to about a
        millionth of the largest number in a row: use integers if this error matters.
    A_eq, b_eq
        Equations, [n, K] and [n]. At least one of the two matrices is required.
    time_limit
        Time limit in seconds for one call of the solver. The best point found in time is played, so
        leaders need not be optimal, runs depend on the machine, and `exact` is False. Default:
        None, for no limit.
    gap
        Relative gap at which branch and bound may stop. If it is positive, `exact` is False.
        Default: 0.

    Examples
    --------
    At most one of two neighbours in a row of four:

    >>> import hannan as hn
    >>> A = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    >>> program = hn.oracles.LinearProgram(A, [1, 1, 1])
    >>> total = program.objective()
    >>> total.add(None, np.array([-1.0, -3.0, -1.0, -2.5]))
    >>> total.leader()(None), total.gap
    (array([1, 3]), 0.0)

    References
    ----------
    [huangfu2018]
    """

    _fuller = "a constraint that requires elements"

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: ArrayLike | None = None,
        A_eq: Any = None,
        b_eq: ArrayLike | None = None,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
    ) -> None:
        # Copies: otherwise a file would contain constraints that the caller changed later.
        self.A_ub, self.b_ub, self.A_eq, self.b_eq = copy.deepcopy((A_ub, b_ub, A_eq, b_eq))
        self.time_limit = optional(check_positive, self, "time_limit", time_limit)
        self.gap = check_not_negative(self, "gap", gap)
        self.exact = self.time_limit is None and self.gap == 0.0  # type: ignore[misc]
        parts = [
            _constraints("ub", A_ub, b_ub, equal=False),
            _constraints("eq", A_eq, b_eq, equal=True),
        ]
        self._matrices: list[Rows] = [part for part in parts if part is not None]
        if not self._matrices:
            raise ParameterError(
                "LinearProgram needs constraints: A_ub= and b_ub=, or A_eq= and b_eq=. For all "
                "subsets use Subsets(n, n, exactly=False)."
            )
        widths = {part[0].shape[1] for part in self._matrices}
        if len(widths) > 1:
            raise ParameterError(
                "A_ub and A_eq must have a column for each element; they have "
                f"{self._matrices[0][0].shape[1]} and {self._matrices[1][0].shape[1]}."
            )
        K = widths.pop()
        self._known: Elements = self._first_point(K)
        most, least = self._extent(K)
        self._set_size(K, most, antichain=most == least)
        self.least = least

    @classmethod
    def per_context(
        cls,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        *,
        shared: bool | Callable[[Any], Hashable] = False,
        time_limit: float | None = None,
        gap: float = 0.0,
    ) -> PerContext:
        """Make a program for each context, whose right-hand sides depend on the context.

        Budgets, capacities and demands change by day, but the elements and the matrices do not.

        Parameters
        ----------
        A_ub, A_eq
            Matrices, as in `LinearProgram`.
        b_ub, b_eq
            Right-hand sides: a mapping from each context to its right-hand side, or numbers for all
            contexts. At least one of them is a mapping. The contexts are the keys.
        shared
            Whether the losses of elements do not depend on the context, as in `PerContext`.
        time_limit, gap
            Limits of the solver, as in `LinearProgram`.

        Examples
        --------
        Values of 4, 3 and 2, and the budget of the day:

        >>> import hannan as hn
        >>> days = hn.oracles.LinearProgram.per_context(
        ...     [[3, 2, 2]], {"poor": [2], "rich": [5]}, shared=True)
        >>> total = days.objective()
        >>> total.add("poor", -np.array([4.0, 3.0, 2.0]))
        >>> total.leader()("poor"), total.leader()("rich")
        (array([1]), array([0, 1]))
        """
        tables = [b for b in (b_ub, b_eq) if isinstance(b, Mapping)]
        if not tables or any(table.keys() != tables[0].keys() for table in tables):
            raise ParameterError(
                "LinearProgram.per_context needs b_ub or b_eq as a mapping from each context to "
                "its right-hand side, with the same keys if both are mappings. Without contexts "
                "use LinearProgram."
            )
        programs = {}
        for context in tables[0]:
            low, equal = (b[context] if isinstance(b, Mapping) else b for b in (b_ub, b_eq))
            try:
                programs[context] = cls(A_ub, low, A_eq, equal, time_limit=time_limit, gap=gap)
            except InfeasibleError as error:
                raise InfeasibleError(f"On context {context!r}: {error}") from None
        return PerContext(programs, shared=shared)

    def objective(self) -> ProgramObjective:
        return ProgramObjective(self)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Bound log N by K log 2 and by the number of sets up to the largest feasible size."""
        K = self.n_actions
        larger = self.rank * math.log(math.e * K / self.rank) if self.rank else 0.0
        return min(K * math.log(2.0), larger)

    def solve(self, costs: FloatArray) -> Solution:
        """Find the best point for these costs; elements of infinite cost are unavailable."""
        point = self._relaxation.best(costs)  # from the last solution, if that is enough
        if point is None:
            found = self._cold(costs)
            point = np.zeros(len(costs), dtype=bool)
            point[found.chosen] = True
        else:
            found = Solution(point.nonzero()[0], 0.0)
        if not shut(costs, point):
            return found
        if found.gap > 0.0 and not np.isinf(costs[self._known]).any():  # better points may exist
            return Solution(self._known.copy(), math.inf)
        raise self.infeasible(costs)

    def _cold(self, costs: FloatArray) -> Solution:
        """Find one of the best points, independently of previous calls."""
        scaled = np.empty(len(costs))
        in_units(costs, scaled)
        relaxed = self._highs(scaled, integral=False)
        if relaxed.x is not None and relaxed.status == 0:
            if self._relaxation.start_at(relaxed.x):
                point = self._relaxation.best(costs)
                if point is not None:  # the same point as with a basis
                    return Solution(point.nonzero()[0], 0.0)
            rounded = np.round(relaxed.x)
            if np.abs(relaxed.x - rounded).max() <= INTEGRAL and self._relaxation.meets(rounded):
                return Solution(np.flatnonzero(rounded), 0.0)
        found = self._highs(scaled, integral=True)
        if found.x is None:
            if self.time_limit is None:
                raise InfeasibleError(f"HiGHS could not solve a LinearProgram: {found.message}")
            # Nothing was found in time: fall back to the feasible point found at the start.
            return Solution(self._known.copy(), math.inf)
        gap = 0.0 if found.mip_gap is None else float(found.mip_gap)
        return Solution(np.flatnonzero(np.round(found.x)), gap)

    def _solve(self, costs: FloatArray) -> Elements:
        return self.solve(costs).chosen

    def _highs(self, costs: FloatArray, integral: bool) -> Any:
        from scipy.optimize import Bounds, milp

        options: dict[str, Any] = {"mip_rel_gap": self.gap}
        if self.time_limit is not None:
            options["time_limit"] = self.time_limit
        return milp(
            costs,
            integrality=np.full(len(costs), int(integral)),
            bounds=Bounds(0.0, 1.0),
            constraints=self._rows,
            options=options,
        )

    @cached_property
    def _relaxation(self) -> Relaxation:
        from scipy.sparse import csc_array, vstack

        matrix = csc_array(vstack([csc_array(part[0]) for part in self._matrices]))
        low, high = (np.concatenate([part[i] for part in self._matrices]) for i in (1, 2))
        return Relaxation(matrix, low, high, self.time_limit)

    @cached_property
    def _rows(self) -> list[Any]:
        from scipy.optimize import LinearConstraint

        return [LinearConstraint(*part) for part in self._matrices]

    def _first_point(self, K: int) -> Elements:
        """Return any feasible point; raise `InfeasibleError` if none is found."""
        found = self._highs(np.zeros(K), integral=True)
        if found.x is None:
            if found.status == 1:
                raise InfeasibleError(
                    f"LinearProgram found no feasible point in time_limit={self.time_limit} "
                    "seconds. Increase time_limit."
                )
            raise InfeasibleError(
                "LinearProgram has no feasible action: no point of {0,1}^K meets all constraints. "
                "Loosen b_ub or b_eq."
            )
        return np.flatnonzero(np.round(found.x))

    def _extent(self, K: int) -> tuple[int, int]:
        """Bound the sizes of the largest and the smallest feasible set by the relaxation."""
        largest = self._highs(np.full(K, -1.0), integral=False)
        smallest = self._highs(np.ones(K), integral=False)
        if largest.status != 0 or smallest.status != 0:
            return K, 0
        return math.floor(-largest.fun + 1e-6), math.ceil(smallest.fun - 1e-6)


class ProgramPolicy(SetPolicy):
    """Policy that always chooses the same elements, with the optimality gap of its solution."""

    def __init__(self, oracle: SetOracle, solution: Solution) -> None:
        super().__init__(oracle, solution.chosen)
        self.gap = solution.gap
        """Relative gap to the best value that could not be ruled out; 0 where it is optimal."""


class ProgramObjective(SetObjective):
    """Total loss of every element, and the gap of the last solution."""

    oracle: LinearProgram
    draws_in_batches = False
    gap = 0.0
    """Relative gap of the last solution."""

    stored = State()

    def _best(self, costs: FloatArray) -> Elements:
        return self._solution(costs).chosen

    def _policy(self, costs: FloatArray) -> ProgramPolicy:
        return ProgramPolicy(self.oracle, self._solution(costs))

    def _solution(self, costs: FloatArray) -> Solution:
        solution = self.oracle.solve(costs)
        self.gap = solution.gap
        return solution


def _constraints(name: str, matrix: Any, bounds: Any, equal: bool) -> Rows | None:
    """Check a matrix, and return it with lower and upper bounds of its rows."""
    if (matrix is None) != (bounds is None):
        raise ParameterError(f"LinearProgram takes A_{name} and b_{name} together; one is missing.")
    if matrix is None:
        return None
    sparse = hasattr(matrix, "tocsr")
    try:
        rows = matrix.tocsr().astype(np.float64) if sparse else as_floats(matrix).copy()
        right = as_floats(bounds).copy()
    except (TypeError, ValueError):
        by_context = " For b by context use LinearProgram.per_context."
        raise InputTypeError(
            f"A_{name} and b_{name} must be numbers, [n, K] and [n]."
            f"{by_context if isinstance(bounds, Mapping) else ''}"
        ) from None
    if rows.ndim != 2 or 0 in rows.shape or right.shape != (rows.shape[0],):
        raise ParameterError(
            f"A_{name} must be [n, K] and b_{name} [n]; got shapes {rows.shape} and {right.shape}."
        )
    if not np.isfinite(rows.data if sparse else rows).all() or not np.isfinite(right).all():
        raise ParameterError(f"A_{name} and b_{name} must be finite.")
    rows, right = _in_reach(rows, right)
    low = right if equal else np.full(len(right), -np.inf)
    return rows, low, right


def _in_reach(rows: Any, right: FloatArray) -> tuple[Any, FloatArray]:
    """Rescale rows of very small or large numbers, which solvers would drop or reject.

    Scales are powers of two, so that no digit is lost.
    """
    sizes = np.abs(rows).max(axis=1)
    sizes = np.ravel(sizes.toarray() if hasattr(sizes, "toarray") else sizes)
    far = (sizes > 0.0) & ((sizes < _REACH[0]) | (sizes > _REACH[1]))
    if not far.any():
        return rows, right
    units = np.where(far, np.frexp(sizes)[1], 0)
    if hasattr(rows, "tocsr"):
        rows.data = np.ldexp(rows.data, -np.repeat(units, np.diff(rows.indptr)))
    else:
        rows = np.ldexp(rows, -units[:, None])
    with np.errstate(over="ignore"):  # the sum of a row is far below the bound
        return rows, np.where(far, np.ldexp(right, -units).clip(-_FAR, _FAR), right)
