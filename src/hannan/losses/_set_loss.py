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
        found = as_floats(values).copy()
    except (TypeError, ValueError):
        raise InputTypeError(
            f"The {name!r} parameter of {type(owner).__name__} must be numbers; got {values!r}."
        ) from None
    if found.ndim != 1 or (length is not None and found.shape[0] != length):
        wanted = "a one-dimensional array" if length is None else f"an array of {length} numbers"
        raise refuse(owner, name, wanted, values)
    if not np.isfinite(found).all():
        raise LossError(
            f"The {name!r} parameter of {type(owner).__name__} must be finite; got "
            f"{found[~np.isfinite(found)][0]} at position {np.flatnonzero(~np.isfinite(found))[0]}."
        )
    if nonnegative and found.size and found.min() < 0.0:
        raise refuse(owner, name, "numbers >= 0, or the function is not submodular", found)
    found.flags.writeable = False
    return found


def check_indices(owner: object, name: str, values: Any, n: int) -> Any:
    """A one-dimensional array of integers below n."""
    found = as_array(values)
    if found.size == 0:
        found = found.astype(np.int64).reshape(0)
    integers = found.ndim == 1 and np.issubdtype(found.dtype, np.integer)
    if not integers or (found.size and (found.min() < 0 or found.max() >= n)):
        raise refuse(owner, name, f"a sequence of integers from 0 to {n - 1}", values)
    found = found.astype(np.int64)  # a copy
    found.flags.writeable = False
    return found
