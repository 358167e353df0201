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
from hannan.predictors._fits import Fits, usable
from hannan.predictors._several import Several
from hannan.predictors._table import as_loss, check_prepared, lowest

_FLOAT64 = np.dtype(np.float64)


class LowerConfidence(Predictor):
    """Guesses mean - α σ width, where σ² is the mean squared error of its own predictions.

    Its regressions are made when the first context shows how many features there are: `_fits`
    have learned something, `_fresh` have not.
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
        """Return the error for a context with features that cannot be used."""

    def predict(self, context: Any) -> FloatArray:
        """Lower confidence values, clipped to [0, 1]."""
        return np.clip(self._lower(context, self.alpha), 0.0, 1.0)

    def baseline(self, context: Any) -> FloatArray:
        """Lower confidence values with α = 1, clipped to [0, 1]."""
        return np.clip(self._lower(context, 1.0), 0.0, 1.0)

    def estimate(self, context: Any) -> FloatArray:
        """The means, clipped to [0, 1]."""
        return np.clip(self._look(context, widths=False)[0], 0.0, 1.0)

    def lower(self, context: Any) -> FloatArray:
        """Lower confidence values as they are, without clipping."""
        return self._lower(context, self.alpha)

    def widths(self, context: Any) -> FloatArray:
        """How far each mean may be off, in units of the size of an error."""
        return self._look(context)[1]

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        """The action with the least lower confidence value, and `estimate`.

        Ties go to the smallest action. For rows of features widths are computed only as long as
        one of them could still change the answer.
        """
        means, widths = self._look(context)
        low = self._below(means, widths, self.alpha)
        return lowest(low, available), np.clip(means, 0.0, 1.0)

    def _look(self, context: Any, widths: bool = True) -> tuple[FloatArray, FloatArray]:
        """The means as they are, and the widths; the latter empty if they are not asked for."""
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
    """Regressions on contexts that are rows of numbers."""

    stored = State(
        _n_actions=Count(),
        _fits=Made((Fits, Several), "_new_fits", n_actions=Count(), n_features=Count()).where(
            lambda self, fits: fits.n_actions == self._n_actions
        )
        | None,
    )
    _n_actions = 0
    _on_rows = True  # else on contexts of any kind

    def prepare(self, n_actions: int) -> None:
        """Make room for K elements."""
        self._n_actions = n_actions
        self._fits = self._fresh = None
        self._one = room_for_one()

    @abstractmethod
    def _new_fits(self, n_actions: int, n_features: int) -> Any:
        """Return regressions for K elements that have seen nothing."""

    def advise(self, context: Any, available: IntArray | None = None) -> tuple[int, FloatArray]:
        if not self._on_rows:
            return super().advise(context, available)
        fits, row = self._ready(context)
        action, estimates = fits.advise(row, available, self.alpha)
        if action < 0:
            raise bad_row(self, context)
        return action, estimates

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Count how wrong the prediction was, then learn what was seen."""
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
                f"{type(self).__name__} has seen contexts with {fits.n_features} features; "
                f"got {context!r}."
            )
        return fits, row

    def _unusable(self, context: Any) -> ContextError:
        return bad_row(self, context)


def check_row(owner: object, context: Any) -> FloatArray:
    """A context as a row of numbers; whether an array of floats is usable is left open."""
    if type(context) is np.ndarray and context.dtype == _FLOAT64:
        # Kernels are compiled for contiguous arrays that may be written to.
        return context if context.ndim == 1 and context.flags.carray else context.flatten()
    try:
        found = as_floats(context).reshape(-1)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if not usable(found):
        raise bad_row(owner, context)
    return found


def bad_row(owner: object, context: Any) -> ContextError:
    """What to say of a row that cannot be used."""
    return ContextError(
        f"{type(owner).__name__} needs contexts that are rows of finite numbers, none larger than "
        f"{LARGEST:g}; got {context!r}."
    )


def check_seen(
    owner: Predictor,
    n_actions: int,
    action: Action,
    loss: Any,
    one: tuple[IntArray, FloatArray],
) -> tuple[IntArray, FloatArray]:
    """The elements that were seen, and a finite loss for each; a single one is put into `one`."""
    single = type(action) is int and type(loss) is float
    if single and 0 <= action < n_actions and math.isfinite(loss):
        one[0][0], one[1][0] = action, loss
        return one
    check_prepared(type(owner).__name__, n_actions)
    found = as_loss(owner, loss)
    elements = np.atleast_1d(np.asarray(action, dtype=np.intp))
    losses = np.atleast_1d(np.asarray(found, dtype=np.float64))
    if not bool(((elements >= 0) & (elements < n_actions)).all()):
        raise refuse(owner, "action", f"below {n_actions}, as many as were prepared for", action)
    if losses.shape != elements.shape:
        raise LossError(
            f"{type(owner).__name__} needs {len(elements)} losses, one for each element; "
            f"got {loss!r}."
        )
    return elements, losses


def room_for_one() -> tuple[IntArray, FloatArray]:
    """Arrays for an element and its loss, which are used again: new ones take a microsecond."""
    return np.zeros(1, dtype=np.intp), np.zeros(1)
