"""Ridge regression of the losses on the context's features."""

from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError, LossError
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.kernels import ridge as kernel
from hannan.predictors._table import as_loss


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

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        ridge: float = 1.0,
        intercept: bool = True,
        features: Any = None,
    ) -> None:
        if not alpha >= 0.0:
            raise refuse(self, "alpha", "a number >= 0", alpha)
        self.alpha = alpha
        self.ridge = check_positive(self, "ridge", ridge)
        self.intercept = intercept
        self.features = features
        self._rows = None if features is None else self._check_features(features)
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

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """A rank-one update for each element seen; a single one while all were always seen."""
        inverse, moment, x = self._ready(context)
        seen = np.atleast_1d(np.asarray(action, dtype=np.intp))
        losses = np.atleast_1d(as_loss(self, loss))
        if len(losses) != len(seen):
            raise LossError(f"Ridge needs {len(seen)} losses, one for each element; got {loss!r}.")
        if len(seen) < self._n_actions and len(inverse) == 1:
            inverse = np.tile(inverse, (self._n_actions, 1, 1))
        self._inverse, self._moment = inverse, moment
        kernel.learn(inverse, moment, x, seen, losses)

    def _lower(
        self, context: Any, alpha: float, least: float = 0.0, most: float = 1.0
    ) -> FloatArray:
        inverse, moment, x = self._ready(context)
        guess = np.empty(self._n_actions)
        kernel.lower(inverse, moment, x, alpha, least, most, guess)
        return guess

    def _ready(self, context: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        row = self._rows[context] if self._rows is not None else context
        plain = type(row) is np.ndarray and row.dtype.kind == "f"
        given = row.reshape(-1) if plain else _check_row(row)
        x = np.ones(len(given) + self.intercept)
        x[: len(given)] = given
        if self._inverse is None:  # one for all elements until they part
            return np.eye(len(x))[None] / self.ridge, np.zeros((self._n_actions, len(x))), x
        if len(x) != self._moment.shape[1]:
            raise ContextError(
                f"Ridge has seen contexts with {self._moment.shape[1] - self.intercept} features; "
                f"got {context!r}."
            )
        return self._inverse, self._moment, x


def _check_row(row: Any) -> FloatArray:
    try:
        found = as_floats(row).reshape(-1)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not np.isfinite(found).all():
        raise ContextError(f"Ridge needs contexts that are rows of finite numbers; got {row!r}.")
    return found
