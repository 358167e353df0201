"""Base class of predictors with a row of numbers per context, or one row for all."""

import copy
import math
from collections.abc import Callable, Hashable
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from hannan.core.arrays import as_array, as_floats, as_scalar, grown
from hannan.core.errors import InputTypeError, LossError, OrderError
from hannan.core.loss import LossFunction
from hannan.core.params import short
from hannan.core.policy import Action
from hannan.core.predictor import Predictor
from hannan.core.rounds import IntArray
from hannan.core.state import MOST, Array, Count, DictOf, Key, State
from hannan.core.validation import FloatArray, refuse
from hannan.kernels import table_means

FORGETTING = table_means.FORGETTING
ByContext = bool | Callable[[Any], Any]


class TablePredictor(Predictor):
    """Store numbers for each distinct context, each value of a function, or all contexts."""

    stored = State(
        _n_actions=Count(),
        _rows=DictOf(
            Key(),
            Array("_numbers", "_n_actions").where(lambda self, row: (row[1:] >= 0.0).all()),
            most=lambda self: MOST * self._n_actions,
        ),
    )

    def __init__(self, by_context: ByContext) -> None:
        if not isinstance(by_context, bool) and not callable(by_context):
            raise refuse(self, "by_context", "True, False or a function of the context", by_context)
        self.by_context = by_context
        self._n_actions = 0
        self._rows: dict[Hashable, FloatArray] = {}

    _numbers: ClassVar[int] = 2  # per element and context

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K."""
        self._n_actions = n_actions

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements."""
        twin = copy.copy(self)
        twin._rows = {key: grown(row, n_actions) for key, row in self._rows.items()}
        twin._n_actions = n_actions
        return twin

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        """Add the observed losses to the first row, and their number to the second."""
        seen = as_loss(self, loss)
        row = self._row(context, keep=True)
        row[0, action] += seen
        row[1, action] += 1.0

    def _key(self, context: Any) -> Hashable:
        """Return the key of a context's row."""
        if not self.by_context:
            return None
        if callable(self.by_context):
            context = self.by_context(context)
        if type(context) in (int, str, tuple):
            return context  # type: ignore[no-any-return]
        if hasattr(context, "__array__") and not isinstance(context, np.generic):
            return as_array(context).tobytes()
        return as_scalar(context)  # type: ignore[no-any-return]

    def _row(self, context: Any, *, keep: bool = False) -> FloatArray:
        """Return the numbers of a context, [_numbers, K], at first 0; store them only if `keep`."""
        direct = self.by_context is True and type(context) is int
        key = context if direct else self._key(context)
        row = self._rows.get(key)
        if row is None:
            check_prepared(type(self).__name__, self._n_actions)
            row = np.zeros((self._numbers, self._n_actions))
            if keep:
                self._rows[key] = row
        return row


def check_prepared(owner: str, n_actions: int) -> None:
    """Raise `OrderError` if the number of elements is not known."""
    if not n_actions:
        raise OrderError(
            f"{owner} does not know the number of actions: call prepare(n_actions) first."
        )


def lowest(values: FloatArray, available: IntArray | None) -> int:
    """Return the action with the smallest value; ties go to the smallest action."""
    best = values.argmin() if available is None else available[values[available].argmin()]
    return int(best)


def check_alpha(owner: object, alpha: Any) -> float:
    """Return the factor of the width; raise `ParameterError` unless finite and >= 0."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 <= float(alpha) < math.inf:
        raise refuse(owner, "alpha", "a finite number >= 0", alpha)
    return float(alpha)


def as_loss(owner: Predictor, loss: Any, missing: bool = False) -> Any:
    """Return a finite number or an array of finite numbers, or of NaN if losses may be missing."""
    if type(loss) is float and math.isfinite(loss):
        return loss
    if isinstance(loss, LossFunction):
        raise InputTypeError(
            f"{type(owner).__name__} learns from one loss for each element, not from a loss "
            f"function; got {loss!r}. predictors.Last takes loss functions."
        )
    try:
        found = as_floats(loss)
    except (TypeError, ValueError):
        raise InputTypeError(f"Losses must be numbers; got {short(loss)}.") from None
    if not (np.isfinite(found) | (missing & np.isnan(found))).all():
        raise LossError(f"Losses must be finite; got {short(loss)}. Correct or drop the row.")
    return found
