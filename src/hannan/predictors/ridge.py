"""Ridge regression of the losses on the context's features."""

from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError
from hannan.core.kept import expect, is_array
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.kernels import ridge as kernel
from hannan.predictors._rows import (
    MEMORY,
    Standardiser,
    bad_row,
    check_row,
    check_seen,
    usable,
)
from hannan.predictors._table import check_prepared


class Ridge(Predictor):
    r"""One ridge regression for each element; guesses a lower confidence value.

    With design inverse :math:`R_k = (\lambda I + \sum x x^\top)^{-1}` over the rounds in which
    element k was seen, the guess is
    :math:`\langle \hat w_k, x \rangle - \alpha \sqrt{x^\top R_k x}`, clipped to [0, 1]. `baseline`
    uses α = 1, `estimate` uses α = 0. By rank-one updates a round costs O(p²) for p features and
    each element seen; O(p² + K p) where all elements are seen in every round, as they then share
    one inverse.

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

    _derived = frozenset({"_rows"})
    _growing = frozenset({"_moment"})
    _varying = frozenset({"_inverse", "_scaling"})
    _fixed = frozenset({"_n_actions"})

    def _check_stored(self) -> None:
        K, p, scaling = self._n_actions, self._moment.shape[1], self._scaling
        inverse = self._inverse
        fitted = K > 0 and (is_array(inverse, 1, p, p) or is_array(inverse, K, p, p))
        expect(
            self,
            _moment=is_array(self._moment, 0 if inverse is None else K, p),
            _inverse=inverse is None or fitted,
            _scaling=scaling is None
            or (
                type(scaling) is Standardiser
                and self.standardise
                and (scaling.n_actions, scaling.n_features) == (K, p - bool(self.intercept))
            ),
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
        self._inverse: FloatArray | None = None
        self._moment: FloatArray = np.zeros((0, 0))

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
        return self._lower(context, self.alpha)

    def baseline(self, context: Any) -> FloatArray:
        """Lower confidence values with α = 1."""
        return self._lower(context, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The regressions' values, clipped to [0, 1]."""
        return self._lower(context, 0.0)

    def lower(self, context: Any) -> FloatArray:
        """Lower confidence values as they are, without clipping."""
        return self._lower(context, self.alpha, -np.inf, np.inf)

    def widths(self, context: Any) -> FloatArray:
        """√(x'R_k x), how far each mean may be off, in units of the size of an error."""
        inverse, moment, x = self._ready(self._row(context))
        means, widths = np.empty(self._n_actions), np.empty(self._n_actions)
        kernel.look(inverse, moment, x, means, widths)
        return widths

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action with the least of the values `lower`, and `estimate`."""
        inverse, moment, x = self._ready(self._row(context))
        estimates = np.empty(self._n_actions)
        some = np.arange(self._n_actions) if available is None else available
        return int(kernel.advise(inverse, moment, x, self.alpha, some, estimates)), estimates

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """A rank-one update for each element seen; a single one while all were always seen."""
        seen, losses = check_seen(self, self._n_actions, action, loss)
        row = self._row(context)
        if self.standardise and self._scaling is None:
            self._scaling = self._unscaled(row)
        self._learn(row, seen, losses)
        if self._scaling is not None and self._scaling.keep(row, seen, losses):
            self._inverse = None
            for observation in self._scaling.kept():
                self._learn(*observation)

    def _learn(self, row: FloatArray, seen: IntArray, losses: FloatArray) -> None:
        inverse, moment, x = self._ready(row)
        if len(seen) < self._n_actions and len(inverse) == 1:
            inverse = np.tile(inverse, (self._n_actions, 1, 1))
        self._inverse, self._moment = inverse, moment
        kernel.learn(inverse, moment, x, seen, losses)

    def _lower(
        self, context: Any, alpha: float, least: float = 0.0, most: float = 1.0
    ) -> FloatArray:
        inverse, moment, x = self._ready(self._row(context))
        guess = np.empty(self._n_actions)
        kernel.lower(inverse, moment, x, alpha, least, most, guess)
        return guess

    def _row(self, context: Any) -> FloatArray:
        row = self._rows[context] if self._rows is not None else context
        given = check_row("Ridge", row)
        if not usable(given):
            raise bad_row("Ridge", context)
        if self._inverse is not None and len(given) + self.intercept != self._moment.shape[1]:
            raise ContextError(
                f"Ridge has seen contexts with {self._moment.shape[1] - self.intercept} features; "
                f"got {context!r}."
            )
        return given

    def _ready(self, row: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        x = np.empty(len(row) + self.intercept)
        x[len(row) :] = 1.0
        if self.standardise:
            (self._scaling or self._unscaled(row)).apply(row, x)
        else:
            x[: len(row)] = row
        if self._inverse is None:
            check_prepared("Ridge", self._n_actions)
            # One for all elements until they part.
            return np.eye(len(x))[None] / self.ridge, np.zeros((self._n_actions, len(x))), x
        return self._inverse, self._moment, x

    def _unscaled(self, row: FloatArray) -> Standardiser:
        return Standardiser(self._n_actions, len(row), MEMORY)
