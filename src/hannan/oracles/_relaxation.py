"""The linear relaxation of a 0/1 program, with a warm start from call to call."""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray
from hannan.kernels import ilp_search as kernel

Mask = NDArray[np.bool_]

_STRICT = 1e-6  # least distance of a reduced cost from zero, for costs of about 1
_TIED = 1e-9  # points whose costs differ by no more are left to HiGHS
_EXACT = 1e-9  # rounding of sums, relative to the size of their terms
INTEGRAL = 1e-7  # tolerance within which a vertex counts as a 0/1 point
_POOL = 32  # number of stored past points
_CELLS = 2**22  # largest matrix for which points near the relaxation are searched
_SMALL = 128, 2**16  # largest number of rows and of entries for a dense simplex method
_STEPS = 2**21  # rows searched before branch and bound takes over
_WINDOW = 2.0**-5  # largest extra cost of the searched points compared with the best one
_FRESH = 100  # pivots after which rounding errors of a basis are removed


class Vertex(NamedTuple):
    """Solution of the relaxation, and the multipliers of the rows."""

    point: FloatArray
    duals: FloatArray
    integral: bool
    unique: bool
    """Whether this is the only solution."""


class Basis:
    """State of the dense simplex method, in the form of `kernels.simplex`."""

    def __init__(self, basis: NDArray[np.int64], upper: Mask) -> None:
        self.basis = basis
        self.upper = upper
        self.basic = np.zeros(len(upper) + len(basis), dtype=bool)
        self.basic[basis] = True
        self.inverse = np.empty((len(basis), len(basis)))
        self.values = np.empty(len(basis))
        self.pivots = 0

    def refresh(self, columns: FloatArray, high: FloatArray) -> bool:
        """Compute the inverse from the columns; return False if they are dependent."""
        K, m = columns.shape
        try:
            self.inverse = np.linalg.inv(np.concatenate([columns, np.eye(m)])[self.basis].T)
        except np.linalg.LinAlgError:
            return False
        full = columns[self.upper & ~self.basic[:K]].sum(axis=0)
        self.values = self.inverse @ (high - full)
        self.inverse = np.ascontiguousarray(self.inverse)
        self.pivots = 0
        return True


class Relaxation:
    """min c x over low <= A x <= high, 0 <= x <= 1, for one c after the other.

    Only the costs change, so the simplex method starts at the last solution. Compiled code solves
    small programs, from a vertex passed to `start_at`, and its solutions are checked. `highspy`,
    if installed, solves larger programs and keeps the model loaded. A result returned as unique or
    proven does not depend on the start.

    Rows either have no lower bound or are equations.
    """

    def __init__(
        self, matrix: Any, low: FloatArray, high: FloatArray, time_limit: float | None
    ) -> None:
        self.matrix = matrix
        self.low, self.high = low, high
        self.time_limit = time_limit
        self._forget()

    def _forget(self) -> None:
        """Reset to a state without model, basis and points."""
        m, K = self.matrix.shape
        self._lock = Lock()
        self._model: Any = None
        self._basis: Basis | None = None
        self._places = np.arange(K, dtype=np.int32)
        self._equal = self.low == self.high
        self._room = _EXACT * (1.0 + np.asarray(abs(self.matrix).sum(axis=1)).ravel())
        self._columns: FloatArray | None = None
        if m * K <= _CELLS:
            self._columns = np.ascontiguousarray(self.matrix.T.toarray())
        self._small = m <= _SMALL[0] and m * K <= _SMALL[1]
        self._pool = np.zeros((K, 0), dtype=bool)
        self._oldest = 0
        # The last costs at which points near the relaxation were searched, and the lead of the
        # best point over the other searched ones: it may still lead after a small change of costs.
        self._last, (self._point, self._free) = np.empty(K), np.zeros((2, K), dtype=bool)
        self._lead, self._window, self._moved = 0.0, 0.0, math.inf

    def __getstate__(self) -> dict[str, Any]:
        names = ("matrix", "low", "high", "time_limit")  # a model of HiGHS cannot be copied
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def best(self, costs: FloatArray) -> Mask | None:
        """Find the best 0/1 point; None if it is not unique, or takes too long to find.

        It contains elements of infinite cost (unavailable ones) only if all points do.
        """
        with self._lock:
            return self._by_pivots(costs) if self._small else self._near_vertex(costs)

    def _near_vertex(self, costs: FloatArray) -> Mask | None:
        given, costs = costs, np.empty(len(costs))
        kernel.in_units(given, costs)
        vertex = self._by_highs(costs) if self.matrix.nnz else None
        if vertex is None:
            return None
        if vertex.integral:
            return vertex.point > 0.0 if vertex.unique else None
        if self._columns is None:
            return None
        point = np.empty(len(costs), dtype=bool)
        found, _ = kernel.prove(
            self._columns, costs, self.low, self.high, self._equal, self._room, vertex.duals,
            self._pool, _STRICT, _TIED, 0.0, _STEPS, point, self._free,
        )  # fmt: skip
        return self._kept(point, found)

    def start_at(self, point: FloatArray) -> bool:
        """Set a vertex to start from, unless there is one; return whether it was set."""
        with self._lock:
            if not self._small or self._basis is not None:
                return False
            self._basis = self._basis_at(point)
            return self._basis is not None

    def _kept(self, point: Mask, found: int) -> Mask | None:
        """Store and return a found point; it bounds the optimum under the next costs."""
        if found == kernel.SEARCHED:
            if self._pool.shape[1] < _POOL:
                self._pool = np.column_stack([self._pool, point])
            else:
                self._pool[:, self._oldest] = point
                self._oldest = (self._oldest + 1) % _POOL
        return None if found == kernel.OPEN else point

    def meets(self, point: FloatArray) -> bool:
        """Return whether a rounded point still meets the constraints, up to rounding."""
        values = self.matrix @ point
        room = 1e-6 * (1.0 + np.abs(values))
        return bool((values >= self.low - room).all() and (values <= self.high + room).all())

    def _by_pivots(self, costs: FloatArray) -> Mask | None:
        """Solve from the last basis in one compiled call; return None if that fails."""
        at, self._basis = self._basis, None  # the basis is restored only after a valid solution
        columns = self._columns
        assert columns is not None
        if at is None or (at.pivots > _FRESH and not at.refresh(columns, self.high)):
            return None
        point = np.empty(len(costs), dtype=bool)
        found, pivots, lead, moved = kernel.best(
            columns, costs, self.low, self.high, self._equal, self._room,
            at.basis, at.basic, at.upper, at.inverse, at.values, self._pool,
            _STRICT, _TIED, self._window, _WINDOW, _STEPS,
            self._last, self._point, self._free, self._lead, point,
        )  # fmt: skip
        self._lead, self._point = lead, point
        if moved < math.inf:
            usual = min(moved, self._moved)  # the noise may change in every other call
            self._window += 0.1 * (3.0 * usual - self._window)
            self._moved = moved
        if found == kernel.FAILED:
            return None
        at.pivots += pivots
        self._basis = at
        return self._kept(point, found)

    def _by_highs(self, costs: FloatArray) -> Vertex | None:
        try:
            import highspy
        except ImportError:  # not installed, or OR-tools has loaded another copy of HiGHS
            return None
        if self._model is None:
            self._model = self._load(highspy)
        model = self._model
        model.changeColsCost(len(costs), self._places, costs)
        if self.time_limit is not None:
            # HiGHS counts the time of all calls together.
            model.setOptionValue("time_limit", model.getRunTime() + self.time_limit)
        model.run()
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            model.clearSolver()
            return None
        solution = model.getSolution()
        point = np.array(solution.col_value)
        duals = np.array(solution.row_dual)
        basic = model.getBasicVariables()[1].astype(np.int64)
        nearest = np.round(point)
        integral = bool(np.abs(point - nearest).max() <= INTEGRAL and self.meets(nearest))
        unique = self._is_unique(costs, duals, basic)
        return Vertex(nearest if integral else point, duals, integral, unique)

    def _basis_at(self, point: FloatArray) -> Basis | None:
        """Return a basis with all columns strictly between bounds; None if they are dependent."""
        assert self._columns is not None
        m = self._columns.shape[1]
        everything = np.concatenate([self._columns, np.eye(m)])
        slack = np.where(self._equal, 0.0, self.high - self.matrix @ point)
        inside = np.concatenate([np.minimum(point, 1.0 - point), slack]) > INTEGRAL
        basis: list[int] = []
        left = everything.copy()  # part of each column independent of the chosen columns
        for j in [*np.flatnonzero(inside), *np.flatnonzero(~inside)]:
            row = int(np.argmax(np.abs(left[j])))
            if len(basis) < m and abs(left[j, row]) > _STRICT:
                basis.append(int(j))
                left -= np.outer(left[:, row] / left[j, row], left[j])
            elif inside[j]:
                return None
        found = Basis(np.array(basis, np.int64), point > 0.5)
        return found if found.refresh(self._columns, self.high) else None

    def _is_unique(self, costs: FloatArray, duals: FloatArray, basic: NDArray[np.int64]) -> bool:
        """Return whether x is unique: all nonbasic variables except equations have a price."""
        at_bound = np.ones(len(costs), dtype=bool)
        tight = ~self._equal
        at_bound[basic[basic >= 0]] = False
        tight[-1 - basic[basic < 0]] = False
        prices = np.abs(costs - self.matrix.T @ duals)[at_bound]
        return bool((prices > _STRICT).all() and (np.abs(duals)[tight] > _STRICT).all())

    def _load(self, highspy: Any) -> Any:
        m, K = self.matrix.shape
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = K, m
        program.col_cost_ = np.zeros(K)
        program.col_lower_, program.col_upper_ = np.zeros(K), np.ones(K)
        program.row_lower_, program.row_upper_ = self.low, self.high
        program.a_matrix_.start_ = self.matrix.indptr.astype(np.int32)
        program.a_matrix_.index_ = self.matrix.indices.astype(np.int32)
        program.a_matrix_.value_ = self.matrix.data
        model = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False, "presolve": "off", "solver": "simplex", "parallel": "off",
        }  # fmt: skip
        for name, value in options.items():
            model.setOptionValue(name, value)
        model.passModel(program)
        return model
