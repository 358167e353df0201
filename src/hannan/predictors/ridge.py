"""Ridge regression of the losses on the context's features."""

import operator
from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError
from hannan.core.state import MOST
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.predictors._fits import Fits
from hannan.predictors._lower import RowPredictor
from hannan.predictors._table import check_alpha


class Ridge(RowPredictor):
    r"""Predict a lower confidence value by one ridge regression per element.

    With the design inverse :math:`R_k = (\lambda I + \sum x x^\top)^{-1}` over the rounds in which
    element k was observed, the prediction is :math:`\langle \hat w_k, x \rangle - \alpha
    \sqrt{x^\top R_k x}`, clipped to [0, 1]. `baseline` uses α = 1, `estimate` uses α = 0. By
    rank-one updates a round costs O(K p) for p features, plus O(p²) for each observed element and
    for each width that `advise` computes. If all elements are observed in every round, they share
    one inverse, and there is only one update.

    Parameters
    ----------
    alpha
        Factor α of the width, >= 0. Default 0.1. A larger α explores more.
    ridge
        Ridge penalty λ > 0. Default 1.
    intercept
        Whether to add a constant feature. Default True.
    features
        Array or frame [d, p] of feature vectors, if contexts are the integers 0..d-1. Default None:
        contexts are feature vectors.
    standardise
        Whether to standardise rows by running moments, as in `FourierRidge`. Default False; rows
        should then have a length of about 1.

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

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        ridge: float = 1.0,
        intercept: bool = True,
        features: Any = None,
        standardise: bool = False,
    ) -> None:
        self.alpha = check_alpha(self, alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        if not isinstance(intercept, int | np.bool_):
            raise refuse(self, "intercept", "True or False", intercept)
        self.intercept = intercept
        self.features = features
        self._rows = None if features is None else self._check_features(features)
        if not isinstance(standardise, bool):
            raise refuse(self, "standardise", "True or False", standardise)
        self.standardise = standardise
        self.prepare(0)

    def _check_features(self, features: Any) -> FloatArray:
        try:
            found = np.atleast_2d(as_floats(features))
        except (TypeError, ValueError):
            raise refuse(self, "features", "numbers [d, p]", features) from None
        if found.ndim != 2 or not np.isfinite(found).all():
            raise refuse(self, "features", "finite numbers [d, p]", features)
        return found

    def _new_fits(self, n_actions: int, n_features: int) -> Fits:
        return Fits(
            n_actions,
            n_features,
            standardise=self.standardise,
            ridge=self.ridge,
            memory=MOST,
            intercept=bool(self.intercept),
            calibrated=False,
        )

    def _ready(self, context: Any) -> tuple[Any, Any]:
        return super()._ready(context if self._rows is None else self._row_of(context))

    def _row_of(self, context: Any) -> FloatArray:
        """Return the feature vector of a context, given by its index."""
        assert self._rows is not None
        try:
            row: FloatArray = self._rows[operator.index(context)]
        except (IndexError, TypeError):
            raise ContextError(
                f"Ridge with features= takes integer contexts in 0..{len(self._rows) - 1}; got "
                f"{context!r:.100}."
            ) from None
        return row
