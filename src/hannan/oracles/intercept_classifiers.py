"""Linear classifiers with discretised axis intercepts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Objective, Policy
from hannan.core.oracle import Available, Draw, Noise, Plus
from hannan.core.state import Number, Part, State
from hannan.core.validation import FloatArray, check_integer, check_positive, refuse
from hannan.kernels import intercepts as kernel
from hannan.kernels.lanes import WIDTH
from hannan.oracles._features import FeatureOracle
from hannan.oracles._projection import ProjectionPlan, make_plan
from hannan.oracles._totals import FeatureRows, Solved
from hannan.oracles.finite_policies import FiniteNoise, FiniteObjective, FinitePolicies
from hannan.perturbation import LaplaceNoise

_MOST_LISTED = 2**20
_KEPT_BYTES = 2**26  # bytes of cached actions of all classifiers on recent contexts
_EDGE = 1.0 - 1e-9


class InterceptClassifiers(FeatureOracle):
    r"""Linear classifiers of two actions that meet each axis at a multiple of τ, or never.

    A classifier is given by its intercepts :math:`a_1, …, a_n`, each one of τ, 2τ, …, 1 or ∞ (no
    intercept), and plays 1 on the far side of its hyperplane:

    .. math:: \pi_a(x) = \Bigl[\sum_i x_i / a_i \ge 1\Bigr] .

    The side of the origin plays 0; points on the hyperplane (up to :math:`10^{-9}`) count as far,
    and where no axis is met everything is near. There are :math:`N = (1/\tau + 1)^n` classifiers;
    ties go to the smallest intercepts, those of the first axis compared first, ∞ being largest.

    Up to :math:`N = 2^{20}` leaders are exact. Beyond, a leader is found by coordinate descent from
    several starting points: `exact` is then False, and no theorem applies.

    Parameters
    ----------
    n
        Number of features. A context is a vector of n finite numbers, usually in [0, 1].
    tau
        Step τ between intercepts; 1/τ must be an integer.
    restarts
        Number of starting points of the search for leaders: no intercept at all, the smallest on
        every axis, the largest on every axis, then fixed random points. Default: 8.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> oracle = hn.oracles.InterceptClassifiers(2, tau=0.5)
    >>> total = oracle.objective()
    >>> for row, losses in [([0.8, 0.1], [1.0, 0.0]), ([0.2, 0.9], [0.0, 1.0])]:
    ...     total.add(oracle.check_context(row), np.array(losses))
    >>> total.leader().intercepts
    array([0.5, inf])
    """

    n_actions: int = 2

    def __init__(self, n: int, tau: float, restarts: int = 8) -> None:
        self.n = check_integer(self, "n", n, 1)
        self.tau = check_positive(self, "tau", tau)
        self.restarts = check_integer(self, "restarts", restarts, 1)
        self.steps = round(1.0 / self.tau)
        """1/τ."""
        if self.steps < 1 or abs(self.steps * self.tau - 1.0) > 1e-9:
            raise refuse(self, "tau", "1/m for a positive integer m", tau)
        self.slopes = np.append(self.steps / np.arange(1.0, self.steps + 1.0), 0.0)
        """1/a for each intercept, in order; the last is "no intercept"."""
        self.exact = self.n_policies <= _MOST_LISTED  # type: ignore[misc]
        if self.exact:
            self._padded = -(-self.n_policies // WIDTH) * WIDTH
            self._kept = max(16, _KEPT_BYTES // self._padded)
            self._known: dict[bytes, NDArray[np.uint8]] = {}
        else:
            rng = np.random.default_rng(0)
            starts = rng.integers(0, self.steps + 1, size=(max(self.restarts, 3), self.n))
            starts[:3] = np.array([self.steps, 0, self.steps - 1])[:, None]
            self._starts = starts[: self.restarts]

    @property
    def n_policies(self) -> int:
        """Number N of classifiers."""
        return int((self.steps + 1) ** self.n)

    def policy(self, intercepts: Sequence[float | None]) -> InterceptPolicy:
        """Return the classifier with these intercepts; infinity (or None) for no intercept."""
        digits = []
        for a in intercepts:
            a = math.inf if a is None else a
            k = self.steps + 1 if math.isinf(a) else round(a * self.steps)
            whole = math.isinf(a) or (1 <= k <= self.steps and abs(k - a * self.steps) < 1e-6)
            if not whole:
                raise refuse(self, "intercepts", "multiples of tau up to 1, or infinity", a)
            digits.append(k - 1)
        if len(digits) != self.n:
            raise refuse(self, "intercepts", f"{self.n} numbers", list(intercepts))
        return InterceptPolicy(self, np.array(digits, np.intp))

    def check_context(self, context: Any) -> FloatArray:
        row = super().check_context(context)
        if row.shape[0] != self.n:
            raise ContextError(f"A context of {self!r} has {self.n} features; got {row.shape[0]}.")
        return row

    def objective(self) -> Objective:
        if self.exact:
            return ListedObjective(self)  # type: ignore[arg-type]
        return SearchedObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake outcomes, projected on every classifier if the classifiers are listed."""
        if self.exact:
            return FiniteNoise(self, contexts, key, stream, memory)
        return LaplaceNoise(contexts, 2, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Bound log N by counting and by Sauer's lemma: half-spaces x·w ≥ 1 have dimension n."""
        d = len(contexts)
        sauer = math.log(sum(math.comb(d, i) for i in range(min(self.n, d) + 1)))
        return min(self.n * math.log(self.steps + 1), sauer)

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        """Return True if points on the axes separate; otherwise compare all listed classifiers."""
        if all(self._axis_is_separated(contexts, axis) for axis in range(self.n)):
            return True
        if not self.exact:
            return None
        plays = np.array([self._columns[x][: self.n_policies] for x in contexts], dtype=bool)
        codes = np.ascontiguousarray(np.packbits(plays, axis=0).T)
        rows = codes.view(np.dtype((np.void, codes.shape[1])))
        return bool(np.unique(rows).size == self.n_policies)

    def _axis_is_separated(self, contexts: Sequence[Any], axis: int) -> bool:
        at = [x[axis] for x in contexts if not np.delete(x, axis).any()]
        far = np.array(at)[:, None] * self.slopes >= _EDGE
        return bool((far[:, :-1] != far[:, 1:]).any(axis=0).all())

    # The interface of `FinitePolicies` that its objective and noise use. --------------------------

    sets = None

    @property
    def _columns(self) -> _Columns:
        return _Columns(self)

    _views = _columns

    action, losses_by_code = FinitePolicies.action, FinitePolicies.losses_by_code

    def _plan(self, contexts: tuple[FloatArray, ...]) -> ProjectionPlan:
        return make_plan(np.array([self._columns[x] for x in contexts]), 2, None)

    def _plays(self, row: bytes) -> NDArray[np.uint8]:
        """Return the action of every classifier on a context; recent results are cached."""
        found = self._known.pop(row, None)
        if found is None:
            found = self._make_plays(row)
            if len(self._known) >= self._kept:
                del self._known[next(iter(self._known))]
        self._known[row] = found
        return found

    def _make_plays(self, row: bytes) -> NDArray[np.uint8]:
        """Compute the action of every classifier on a context; padding repeats the first."""
        sums = np.zeros(1)
        for feature in np.frombuffer(row):
            sums = (sums[:, None] + feature * self.slopes).ravel()
        plays = np.empty(self._padded, np.uint8)
        np.greater_equal(sums, _EDGE, out=plays[: sums.size].view(bool))
        plays[sums.size :] = plays[0]
        return plays


class _Columns:
    """Actions of all listed classifiers, one array for each context, computed on demand."""

    def __init__(self, oracle: InterceptClassifiers) -> None:
        self._oracle = oracle
        self.shape = (0, oracle._padded)

    def __getitem__(self, context: FloatArray) -> NDArray[np.uint8]:
        return self._oracle._plays(context.tobytes())


class InterceptPolicy(Policy):
    """Classifier given by the number of its intercept on each axis."""

    def __init__(self, oracle: InterceptClassifiers, digits: NDArray[np.intp]) -> None:
        self.oracle = oracle
        self.digits = digits

    @property
    def intercepts(self) -> FloatArray:
        """Intercept on each axis, infinity for no intercept."""
        found = (self.digits + 1.0) / self.oracle.steps
        return np.where(self.digits == self.oracle.steps, np.inf, found)

    def __call__(self, context: Any = None) -> int:
        row = self.oracle.check_context(context)
        return int(float((row * self.oracle.slopes[self.digits]).sum()) >= _EDGE)

    def __repr__(self) -> str:
        return f"<policy with intercepts {', '.join(f'{a:g}' for a in self.intercepts)}>"


class ListedObjective(FiniteObjective):
    """Total loss of every classifier."""

    oracle: InterceptClassifiers  # type: ignore[assignment]

    stored = State()

    def _policy(self, code: NDArray[np.int64]) -> InterceptPolicy:
        digits = np.unravel_index(code[0], (self.oracle.steps + 1,) * self.oracle.n)
        return InterceptPolicy(self.oracle, np.array(digits))

    def distribution(
        self, context: Any, draw: Draw, plus: Plus = None, available: Available = None
    ) -> None:
        return None


class SearchedObjective(Solved):
    """Weight of every distinct context; leaders are found by coordinate descent."""

    oracle: InterceptClassifiers

    stored = State(
        constant=Number(),
        _rows=Part().where(lambda self, rows: rows.n_features in (None, self.oracle.n)),
    )

    def __init__(self, oracle: InterceptClassifiers) -> None:
        self.oracle = oracle
        self.constant = 0.0
        self._rows = FeatureRows(1)

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        """Add the difference between the losses of playing 1 and 0."""
        self.constant += float(losses[0])
        self._rows.add(context, losses[1:] - losses[0])

    def _solve(self, draw: Draw) -> tuple[InterceptPolicy, float]:
        noise, number, scale = draw
        places, fakes = np.empty(0, np.intp), np.zeros((0, 2))
        if noise is not None and scale != 0.0:
            places = np.array([self._rows.place(x) for x in noise.contexts])
            fakes = scale * noise.unit(number)
        weights = self._rows.totals[:, 0]
        np.add.at(weights, places, fakes[:, 1] - fakes[:, 0])
        # A fixed order, so that the result does not depend on the order of arrival.
        order = [place for _, place in sorted(self._rows.index.items())]
        weights, rows = weights[order], self._rows.contexts[order].reshape(-1, self.oracle.n)
        found = []
        for start in self.oracle._starts:
            digits = start.astype(np.intp)
            value = kernel.descend(rows, weights, self.oracle.slopes, digits)
            found.append((float(value), tuple(int(k) for k in digits)))
        value, best = min(found)
        constant = self.constant + float(fakes[:, 0].sum())
        return InterceptPolicy(self.oracle, np.array(best, np.intp)), constant + value
