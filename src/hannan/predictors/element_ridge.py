"""Ridge regression of the losses of elements on their features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError
from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, LossRange, check_positive, refuse
from hannan.kernels import elements as kernel
from hannan.predictors._elements import ElementPredictor
from hannan.predictors._fits import usable


class ElementRidge(ElementPredictor):
    r"""Predict the losses of elements by ridge regression on features, minus a width.

    Use this predictor if actions are sets of elements. By default all elements share one
    regression on their features :math:`\phi_j`, so it also predicts the losses of elements that it
    has never observed. With `each=True` there is a small regression for each element, on features
    of the context, such as the time of day. With :math:`A = \lambda I + \sum \phi \phi^\top` over
    the observations, the estimate is :math:`V_j = g_j + \langle \hat w, \phi_j \rangle`. Here g is
    the first guess, or the lowest loss without one, and the regression learns the difference from
    it. The prediction is

    .. math:: V_j - \alpha \sigma \sqrt{\phi_j^\top A^{-1} \phi_j} ,

    where σ² is the mean squared error of past estimates, with a first error of a quarter of the
    squared range. The first observation of a regression only tests its first guess, so its error
    does not count. With `each=True`, each element has a separate σ: its squared errors and 8
    further ones of the mean size.

    Predictions are not clipped to the range of the losses: use them as the objective of an
    optimiser. `estimate` is V, clipped. `baseline` is the prediction with `explore="bound"`. With p
    features, `predict` takes O(K p²) and each observed loss O(p²) operations.

    Parameters
    ----------
    features
        Features [K, p] of the elements, or a function of the context that returns them. Default
        None: the context itself. With `each=True` features [p], and no array. Features are used as
        they are; scale them to about 1, and add a constant if you need one.
    ridge
        Ridge penalty λ > 0. Default 1.
    alpha
        Factor α of the width, >= 0. Default 0.7. A larger α explores more.
    each
        Whether each element has a separate regression. Default False.
    guess
        First guess of each element's loss, K numbers. Default None: the lowest loss.
    loss_range
        Range (low, high) of the losses. Default (0, 1).
    explore
        `"bound"` (default) subtracts the width. `"sample"` draws the weights from a normal
        distribution with covariance :math:`\alpha^2 \sigma^2 A^{-1}`, as in Thompson sampling.
        `predict` returns a new sample after each call of `learn`.
    seed
        Seed of the samples. Default 0.

    Examples
    --------
    One regression for all elements knows the fourth element by its features:

    >>> import hannan as hn
    >>> slate = hn.predictors.ElementRidge([[1, 0.0], [1, 0.5], [1, 0.9], [1, 1.0]], ridge=0.01)
    >>> slate.prepare(n_actions=4)
    >>> for _ in range(20):
    ...     slate.learn(None, [0, 1, 2], [0.2, 0.5, 0.74])
    >>> slate.estimate(None).round(2)
    array([0.2 , 0.5 , 0.74, 0.8 ])

    One regression for each road, on the time of day:

    >>> def clock(hour):
    ...     return [1.0, np.cos(hour * np.pi / 12), np.sin(hour * np.pi / 12)]
    >>> roads = hn.predictors.ElementRidge(clock, each=True, guess=[5, 5], loss_range=(0, 20))
    >>> roads.prepare(n_actions=2)
    >>> for hour in range(24):
    ...     roads.learn(hour, 0, 15.0 if 6 < hour < 10 else 5.0)
    >>> roads.estimate(8).round(1), roads.estimate(20).round(1)
    (array([8.5, 5. ]), array([3.9, 5. ]))
    """

    stored = State(
        _errors=Array(2, "_models", low=0.0),
        _fits=Array(None, None, None).where(
            lambda self, fits: (
                not fits.size or fits.shape == (self._models, 1 + fits.shape[2], fits.shape[2])
            )
        ),
    )

    def __init__(
        self,
        features: Any = None,
        ridge: float = 1.0,
        alpha: float = 0.7,
        each: bool = False,
        guess: Any = None,
        loss_range: LossRange = (0.0, 1.0),
        explore: str = "bound",
        seed: int = 0,
    ) -> None:
        super().__init__(alpha, guess, loss_range, explore, seed)
        self.ridge = check_positive(self, "ridge", ridge)
        if not isinstance(each, bool):
            raise refuse(self, "each", "True or False", each)
        self.each = each
        self.features = features
        self._rows = None if features is None or callable(features) else self._check_array(features)
        self.prepare(0)

    def _check_array(self, features: Any) -> FloatArray:
        accepted = "finite numbers [K, p], a function or None"
        if self.each:
            raise refuse(self, "features", "a function of the context, or None", features)
        try:
            rows = as_floats(features).copy()
        except (TypeError, ValueError):
            raise refuse(self, "features", accepted, features) from None
        if rows.ndim != 2 or not usable(rows.reshape(-1)):
            raise refuse(self, "features", accepted, features)
        return rows

    @property
    def _models(self) -> int:
        """Number of regressions."""
        return self._n_actions if self.each else min(self._n_actions, 1)

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K, and reset the predictor."""
        if n_actions:
            super().prepare(n_actions)
            self._check_length("features", self._rows, n_actions)
        self._errors: FloatArray = np.zeros((2, self._models))
        self._fits: FloatArray = np.zeros((0, 0, 0))  # see the kernel

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements.

        This needs a predictor without an array of features and without a first guess.
        """
        self._check_extension("guess", self.guess)
        self._check_extension("features", self._rows)
        twin = self.clone()
        twin.prepare(n_actions)
        twin._clock = self._clock
        twin._errors[:, : self._models] = self._errors
        if self._fits.size:
            twin._fits = twin._fresh(self._fits.shape[2])
            twin._fits[: self._models] = self._fits
        return twin

    def _fresh(self, p: int) -> FloatArray:
        """Return regressions on p features that have learned nothing."""
        fits = np.zeros((self._models, 1 + p, p))
        fits[:, np.arange(1, 1 + p), np.arange(p)] = self.ridge**-0.5
        return fits

    def _ready(self, context: Any) -> tuple[FloatArray, FloatArray]:
        """Return the features of all elements, [K, p] or [1, p], and the regressions on them."""
        K, fits, rows = len(self._empty()), self._fits, self._rows
        if rows is None:
            rows = self._check_rows(self.features(context) if self.features else context, K)
        if not fits.size:
            fits = self._fresh(rows.shape[1])
        elif rows.shape[1] != fits.shape[2]:
            raise ContextError(
                f"ElementRidge needs {fits.shape[2]} features, as in the first round; got "
                f"{rows.shape[1]}."
            )
        return rows, fits

    def _check_rows(self, features: Any, K: int) -> FloatArray:
        try:
            rows = np.array(as_floats(features), order="C")  # kernels are compiled for these
        except (TypeError, ValueError):
            rows = np.full(1, np.nan)
        if self.each:
            rows = rows.reshape(1, -1)
        shape = "[p]" if self.each else f"[{K}, p]"
        if rows.shape[:-1] != (1 if self.each else K,) or not usable(rows.reshape(-1)):
            raise ContextError(
                f"ElementRidge needs features {shape} of finite numbers; got {features!r:.100}."
            )
        return rows

    def _deviations(self) -> FloatArray:
        """Return the size σ of an error of each regression."""
        low, high = self.loss_range
        squares, counts = self._errors[0], np.maximum(self._errors[1] - 1.0, 0.0)
        variance = (0.25 * (high - low) ** 2 + squares.sum()) / (1.0 + counts.sum())
        if not self.each:
            return np.full(1, np.sqrt(variance))
        return np.asarray(np.sqrt((squares + kernel.POOL * variance) / (counts + kernel.POOL)))

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        (rows, fits), values = self._ready(context), self._empty()
        kernel.predict(rows, fits[:, 0].copy(), self._prior, values)
        if alpha > 0.0:
            kernel.subtract_widths(rows, fits, self._deviations(), alpha, values)
        return values

    def _sample(self, context: Any, rng: np.random.Generator) -> FloatArray:
        (rows, fits), values = self._ready(context), self._empty()
        weights = fits[:, 0].copy()
        normals = rng.standard_normal(weights.shape)
        kernel.sample(fits, self._deviations(), self.alpha, normals, weights)
        kernel.predict(rows, weights, self._prior, values)
        return values

    def _learn(self, context: Any, elements: IntArray, losses: FloatArray) -> None:
        rows, self._fits = self._ready(context)
        low, high = self.loss_range
        kernel.learn(rows, self._fits, self._prior, low, high, self._errors, elements, losses)
