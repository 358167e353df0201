"""Ridge regression of the losses on the context's features."""

import math
from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Count, Made, State
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.kernels import least_squares as kernel
from hannan.predictors._rows import MEMORY, Standardiser, bad_row, check_row, check_seen
from hannan.predictors._table import check_prepared

_ALL = np.empty(0, dtype=np.intp)  # no element is left out
_AS_GIVEN = np.empty(0), np.empty(0)  # centres and scales of rows that are not standardised


class Ridge(Predictor):
    r"""One ridge regression for each element; guesses a lower confidence value.

    With design inverse :math:`R_k = (\lambda I + \sum x x^\top)^{-1}` over the rounds in which
    element k was seen, the guess is
    :math:`\langle \hat w_k, x \rangle - \alpha \sqrt{x^\top R_k x}`, clipped to [0, 1]. `baseline`
    uses α = 1, `estimate` uses α = 0. By rank-one updates a round costs O(K p) for p features, and
    O(p²) for each element seen and for each width that `advise` has to look at; only one of the
    former where all elements are seen in every round, as they then share one inverse.

    Parameters
    ----------
    alpha
        Width of the confidence interval.
    ridge
        λ, the penalty.
    intercept
        Whether a constant feature is added.
    features
        Array or frame [d, p] of feature rows, where contexts are the integers 0..d-1.
    standardise
        Whether rows are standardised as they come, as in `FourierRidge`; otherwise they should be
        about as long as 1.

    Examples
    --------
    >>> import hannan as hn
    >>> guess = hn.predictors.Ridge(alpha=0.0, ridge=1e-6)
    >>> guess.prepare(n_actions=2)
    >>> for x in (0.0, 0.5, 1.0):
    ...     guess.learn([x], 1, 0.2 + 0.6 * x)
    >>> guess.predict([0.25]).round(3)
    array([0.  , 0.35])

    References
    ----------
    [li2010]
    """

    gives_away = True

    stored = State(
        _n_actions=Count(),
        _weights=Array(None, None),
        _seen=Array(lambda self: len(self._weights), dtype=np.bool_),
        _inverse=Array(None, "_length").where(
            lambda self, inverse: (
                len(inverse) in (1, self._n_actions) and self._n_actions == len(self._weights) > 0
            )
        )
        | None,
        _scaling=Made(Standardiser, "_new_scaling", n_features=Count()).where(
            lambda self, scaling: (
                self.standardise
                and self._inverse is not None
                and scaling.n_features == self._weights.shape[1] - bool(self.intercept)
            )
        )
        | None,
    )

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        ridge: float = 1.0,
        intercept: bool = True,
        features: Any = None,
        standardise: bool = False,
    ) -> None:
        if not alpha >= 0.0:
            raise refuse(self, "alpha", "a number >= 0", alpha)
        self.alpha = alpha
        self.ridge = check_positive(self, "ridge", ridge)
        if not isinstance(intercept, int | np.bool_):
            raise refuse(self, "intercept", "True or False", intercept)
        self.intercept = intercept
        self.features = features
        self._rows = None if features is None else self._check_features(features)
        if not isinstance(standardise, bool):
            raise refuse(self, "standardise", "True or False", standardise)
        self.standardise = standardise
        self._scaling: Standardiser | None = None
        self._n_actions = 0
        self._parts: Any = None
        self._n_features = 0
        self._settled = False  # whether elements have parted and rows are used as they come
        self._inverse: FloatArray | None = None
        self._weights: FloatArray = np.zeros((0, 0))
        self._seen = np.zeros(0, dtype=np.bool_)

    def _check_features(self, features: Any) -> FloatArray:
        try:
            found = np.atleast_2d(as_floats(features))
        except (TypeError, ValueError):
            raise refuse(self, "features", "numbers [d, p]", features) from None
        if found.ndim != 2 or not np.isfinite(found).all():
            raise refuse(self, "features", "finite numbers [d, p]", features)
        return found

    def prepare(self, n_actions: int) -> None:
        """Make room for K regressions."""
        self._n_actions = n_actions

    def predict(self, context: Any) -> FloatArray:
        """Lower confidence values, clipped to [0, 1]."""
        return np.clip(self._lower(context, self.alpha), 0.0, 1.0)

    def baseline(self, context: Any) -> FloatArray:
        """Lower confidence values with α = 1."""
        return np.clip(self._lower(context, 1.0), 0.0, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The regressions' values, clipped to [0, 1]."""
        return np.clip(self._look(context)[0], 0.0, 1.0)

    def lower(self, context: Any) -> FloatArray:
        """Lower confidence values as they are, without clipping."""
        return self._lower(context, self.alpha)

    def widths(self, context: Any) -> FloatArray:
        """√(x'R_k x), how far each mean may be off, in units of the size of an error."""
        return self._look(context)[1]

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action with the least of the values `lower`, and `estimate`.

        Widths are computed only as long as one of them could still change the answer.
        """
        row, parts = self._ready(context)
        some, estimates = _ALL if available is None else available, np.empty(self._n_actions)
        best = kernel.advise(row, *parts, self.ridge, self.alpha, some, estimates)
        if best < 0:
            raise bad_row("Ridge", context)
        return best, estimates

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """A rank-one update for each element seen; a single one while all were always seen."""
        single = type(action) is int and type(loss) is float and self._settled
        if single and 0 <= action < self._n_actions and math.isfinite(loss):  # as `check_seen`
            row, parts = self._ready(context)
            if not kernel.learn_one(row, *parts, action, loss):
                raise bad_row("Ridge", context)
            return
        seen, losses = check_seen(self, self._n_actions, action, loss)
        row, parts = self._ready(context)
        if not self._fit(row, parts, seen, losses):
            raise bad_row("Ridge", context)
        scaling = self._scaling
        if scaling is not None and scaling.keep(row, seen, losses):
            self._parts = self._unfitted(len(row))
            for old, elements, shown in scaling.kept():
                self._fit(old, self._parts, elements, shown)

    def _fit(self, row: FloatArray, parts: Any, seen: IntArray, losses: FloatArray) -> bool:
        """Learn a row; False for a bad one."""
        center, scale, weights, inverse, known = parts
        if len(inverse) == 1 and len(seen) < len(weights):
            inverse = np.tile(inverse, (len(weights), 1))  # the elements part
        if not kernel.learn(row, center, scale, weights, inverse, known, seen, losses):
            return False
        if self._inverse is not inverse:
            self._weights, self._inverse, self._seen = weights, inverse, known
            if self.standardise and self._scaling is None:
                self._scaling = self._new_scaling(len(row))
            self._restored()
        return True

    def _new_scaling(self, n_features: int) -> Standardiser:
        return Standardiser(self._n_actions, n_features, MEMORY)

    @property
    def _length(self) -> int:
        """Length of a row of `_inverse`: a triangle."""
        n: int = self._weights.shape[1]
        return n * (n + 1) // 2

    def _restored(self) -> None:
        """Gather what all kernels take."""
        if self._inverse is not None:
            scaling = self._scaling
            as_they_are = _AS_GIVEN if scaling is None else (scaling.center, scaling.scale)
            self._parts = *as_they_are, self._weights, self._inverse, self._seen
            self._n_features = self._weights.shape[1] - bool(self.intercept)
            self._settled = scaling is None and len(self._inverse) > 1

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        means, widths = self._look(context)
        return np.asarray(means - alpha * widths)

    def _look(self, context: Any) -> tuple[FloatArray, FloatArray]:
        """The means and widths as they are."""
        row, parts = self._ready(context)
        found = np.empty(self._n_actions), np.empty(self._n_actions)
        if not kernel.look(row, *parts, self.ridge, *found):
            raise bad_row("Ridge", context)
        return found

    def _ready(self, context: Any) -> tuple[FloatArray, Any]:
        """The row of a context; and centres, scales and the regressions."""
        row = check_row("Ridge", context if self._rows is None else self._rows[context])
        parts = self._parts
        if parts is None:
            return row, self._unfitted(len(row))
        if len(row) != self._n_features:
            raise ContextError(
                f"Ridge has seen contexts with {self._n_features} features; got {context!r}."
            )
        return row, parts

    def _unfitted(self, n_features: int) -> Any:
        """Regressions that have seen nothing; one inverse for all elements until they part."""
        check_prepared("Ridge", self._n_actions)
        K, n, scaling = self._n_actions, n_features + self.intercept, _AS_GIVEN
        if self._scaling is not None:
            scaling = self._scaling.center, self._scaling.scale
        elif self.standardise:
            scaling = np.zeros(n_features), np.ones(n_features)
        inverse = np.zeros((1, n * (n + 1) // 2))
        diagonal = np.arange(n)
        inverse[0, diagonal * (diagonal + 3) // 2] = 1.0 / self.ridge
        return *scaling, np.zeros((K, n)), inverse, np.zeros(K, dtype=np.bool_)
