"""The base class of the loss functions in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hannan.core import Action, InputTypeError, LossError, LossFunction, ParameterError
from hannan.core.arrays import as_array, as_floats
from hannan.core.validation import FloatArray, refuse
from hannan.losses._terms import Mask, Terms

if TYPE_CHECKING:
    from hannan.losses.sum import Sum


class SetLoss(LossFunction):
    """A submodular loss of sets: f(A) + f(B) ≥ f(A ∪ B) + f(A ∩ B) for all A and B.

    Losses add (`f + g`) and may be multiplied by a number ≥ 0 (`0.5 * f`).
    """

    terms: Terms
    """The function in the form in which sums are kept."""

    def __call__(self, action: Action) -> float:
        return self.terms.value(as_mask(action, self.n_actions))

    def __add__(self, other: LossFunction) -> Sum:
        from hannan.losses.sum import Sum

        return Sum([self, other]) if isinstance(other, LossFunction) else NotImplemented

    def __mul__(self, factor: float) -> Sum:
        from hannan.losses.sum import Sum

        return Sum([self], [factor])

    __rmul__ = __mul__


def as_mask(action: Any, n: int) -> Mask:
    """Which of n elements an action chooses."""
    chosen = np.atleast_1d(np.asarray(action))
    if chosen.size == 0:
        return np.zeros(n, dtype=bool)
    if not np.issubdtype(chosen.dtype, np.integer) or chosen.min() < 0 or chosen.max() >= n:
        raise ParameterError(f"An action is a set of integers from 0 to {n - 1}; got {action!r}.")
    inside = np.zeros(n, dtype=bool)
    inside[chosen] = True
    return inside


def check_numbers(
    owner: object, name: str, values: Any, length: int | None = None, nonnegative: bool = False
) -> FloatArray:
    """A one-dimensional array of finite numbers."""
    try:
        numbers = as_floats(values).copy()
    except (TypeError, ValueError):
        raise InputTypeError(
            f"The {name!r} parameter of {type(owner).__name__} must be numbers; got {values!r}."
        ) from None
    if numbers.ndim != 1 or (length is not None and numbers.shape[0] != length):
        wanted = "a one-dimensional array" if length is None else f"an array of {length} numbers"
        raise refuse(owner, name, wanted, values)
    if not np.isfinite(numbers).all():
        position = np.flatnonzero(~np.isfinite(numbers))[0]
        raise LossError(
            f"The {name!r} parameter of {type(owner).__name__} must be finite; got "
            f"{numbers[position]} at position {position}."
        )
    if nonnegative and numbers.size and numbers.min() < 0.0:
        raise refuse(owner, name, "numbers >= 0, or the function is not submodular", numbers)
    numbers.flags.writeable = False
    return numbers


def check_indices(owner: object, name: str, values: Any, n: int) -> Any:
    """A one-dimensional array of integers below n."""
    indices = as_array(values)
    if indices.size == 0:
        indices = indices.astype(np.int64).reshape(0)
    integers = indices.ndim == 1 and np.issubdtype(indices.dtype, np.integer)
    if not integers or (indices.size and (indices.min() < 0 or indices.max() >= n)):
        raise refuse(owner, name, f"a sequence of integers from 0 to {n - 1}", values)
    indices = indices.astype(np.int64)  # a copy
    indices.flags.writeable = False
    return indices
