"""Lower confidence values from a mean, a width and the size of past errors."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError, LossError
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Count, Made, State
from hannan.core.validation import FloatArray, refuse
from hannan.kernels.blend import LARGEST
from hannan.kernels.losses import are_seen
from hannan.predictors._fits import Fits, usable
from hannan.predictors._several import Several
from hannan.predictors._table import as_loss, check_prepared, lowest

_FLOAT64, _INTP = np.dtype(np.float64), np.dtype(np.intp)

_FLOAT64 = np.dtype(np.float64)


class LowerConfidence(Predictor):
    """Base class of predictors of mean - α σ width, where σ² is the mean squared error so far.

    The regressions are created with the first context, which shows the number of features. `_fits`
    have learned from observations, `_fresh` have not.
    """

    sound = True
    alpha: float
    _fits: Any = None
    _fresh: Any = None

    @abstractmethod
    def _ready(self, context: Any) -> tuple[Any, Any]:
        """Return the regressions, and the context in the form that they take."""

    @abstractmethod
    def _unusable(self, context: Any) -> ContextError:
        """Return the error for a context with invalid features."""

    def predict(self, context: Any) -> FloatArray:
        """Return the lower confidence values, clipped to [0, 1]."""
        return np.clip(self._lower(context, self.alpha), 0.0, 1.0)

    def baseline(self, context: Any) -> FloatArray:
        """Return the lower confidence values with α = 1, clipped to [0, 1]."""
        return np.clip(self._lower(context, 1.0), 0.0, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """Return the means, clipped to [0, 1]."""
        return np.clip(self._look(context, widths=False)[0], 0.0, 1.0)

    def lower(self, context: Any) -> FloatArray:
        """Return the lower confidence values without clipping."""
        return self._lower(context, self.alpha)

    def widths(self, context: Any) -> FloatArray:
        """Return the uncertainty of each mean, in units of the size of an error."""
        return self._look(context)[1]

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """Return the action with the smallest lower confidence value, and `estimate`.

        Ties go to the smallest action. For feature vectors, widths are computed only as long as a
        width could still change the action.
        """
        means, widths = self._look(context)
        low = self._below(means, widths, self.alpha)
        return lowest(low, available), np.clip(means, 0.0, 1.0)

    def _look(self, context: Any, widths: bool = True) -> tuple[FloatArray, FloatArray]:
        """Return the means without clipping, and the widths, which are empty unless requested."""
        fits, x = self._ready(context)
        values: tuple[FloatArray, FloatArray] | None = fits.look(x, widths)
        if values is None:
            raise self._unusable(context)
        return values

    def _lower(self, context: Any, alpha: float) -> FloatArray:
        return self._below(*self._look(context), alpha)

    def _below(self, means: FloatArray, widths: FloatArray, alpha: float) -> FloatArray:
        fits = self._fresh if self._fits is None else self._fits
        return np.asarray(means - alpha * fits.deviation * widths)


class RowPredictor(LowerConfidence):
    """Base class of regressions on feature vectors."""

    stored = State(
        _n_actions=Count(),
        _fits=Made((Fits, Several), "_new_fits", n_actions=Count(), n_features=Count()).where(
            lambda self, fits: fits.n_actions == self._n_actions
        )
        | None,
    )
    _n_actions = 0
    _on_rows = True  # otherwise on contexts of any kind

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K, and reset the predictor."""
        self._n_actions = n_actions
        self._fits = self._fresh = None
        self._one = room_for_one()

    @abstractmethod
    def _new_fits(self, n_actions: int, n_features: int) -> Any:
        """Return new regressions for K elements."""

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        if not self._on_rows:
            return super().advise(context, available)
        fits, row = self._ready(context)
        action, estimates = fits.advise(row, available, self.alpha)
        if action < 0:
            raise bad_row(self, context)
        return action, estimates

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Record the error of the prediction, then learn from the observed losses."""
        elements, losses = check_seen(self, self._n_actions, action, loss, self._one)
        if not len(elements):
            return
        fits, row = self._ready(context)
        if not fits.learn(row, elements, losses):
            raise self._unusable(context)
        self._fits, self._fresh = fits, None

    def _ready(self, context: Any) -> tuple[Any, Any]:
        fits = self._fits
        if not self._on_rows:
            return fits, context
        row = context
        plain = type(row) is np.ndarray and row.ndim == 1 and row.flags.carray
        if not plain or row.dtype != _FLOAT64:
            row = check_row(self, context)
        if fits is None:
            check_prepared(type(self).__name__, self._n_actions)
            fits = self._fresh
            if fits is None or fits.n_features != len(row):
                fits = self._fresh = self._new_fits(self._n_actions, len(row))
        elif fits.n_features != len(row):
            raise ContextError(
                f"{type(self).__name__} needs contexts with {fits.n_features} features, like the "
                f"first context; got {context!r}."
            )
        return fits, row

    def _unusable(self, context: Any) -> ContextError:
        return bad_row(self, context)


def check_row(owner: object, context: Any) -> FloatArray:
    """Return a context as a feature vector; an array of floats may still have unusable values."""
    if type(context) is np.ndarray and context.dtype == _FLOAT64:
        # Kernels are compiled for contiguous, writable arrays.
        return context if context.ndim == 1 and context.flags.carray else context.flatten()
    try:
        found = as_floats(context).reshape(-1)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not usable(found):
        raise bad_row(owner, context)
    return found


def bad_row(owner: object, context: Any) -> ContextError:
    """Return the error for an invalid feature vector."""
    return ContextError(
        f"{type(owner).__name__} needs contexts that are vectors of finite numbers, at most "
        f"{LARGEST:g} in absolute value; got {context!r}."
    )


def check_seen(
    owner: Predictor,
    n_actions: int,
    action: Action,
    loss: Any,
    one: tuple[IntArray, FloatArray],
    missing: bool = False,
) -> tuple[IntArray, FloatArray]:
    """Return the observed elements, with a loss for each; write a single one to `one`.

    Losses are finite, or NaN if they may be `missing`.
    """
    single = type(action) is int and type(loss) is float
    if single and 0 <= action < n_actions and math.isfinite(loss):
        one[0][0], one[1][0] = action, loss
        return one
    if type(loss) is np.ndarray and type(action) is np.ndarray:
        usual = loss.dtype == _FLOAT64 and action.dtype == _INTP and loss.shape == action.shape
        if usual and loss.ndim == 1 and are_seen(action, loss, n_actions, missing):
            return action, loss
    check_prepared(type(owner).__name__, n_actions)
    found = as_loss(owner, loss, missing)
    elements = np.atleast_1d(np.asarray(action, dtype=np.intp))
    losses = np.atleast_1d(np.asarray(found, dtype=np.float64))
    if not bool(((elements >= 0) & (elements < n_actions)).all()):
        raise refuse(owner, "action", f"in 0..{n_actions - 1}, as set by prepare()", action)
    if losses.shape != elements.shape:
        raise LossError(
            f"{type(owner).__name__} needs {len(elements)} losses, one for each element; "
            f"got {loss!r}."
        )
    return elements, losses


def room_for_one() -> tuple[IntArray, FloatArray]:
    """Return reusable arrays for an element and its loss; allocating them takes a microsecond."""
    return np.zeros(1, dtype=np.intp), np.zeros(1)
