"""Checks of arguments at the interface; inner code relies on them."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_floats, as_scalar
from hannan.core.errors import InputTypeError, LossError, ParameterError
from hannan.kernels.losses import LARGEST, extremes

FloatArray = NDArray[np.float64]
LossRange = tuple[float, float]

_FLOAT64 = np.dtype(np.float64)  # the one object that arrays of machine numbers share

CHOSEN = "the chosen action's loss"
"""Name of bandit feedback in the messages of `check_losses`."""


def refuse(owner: object, name: str, accepted: str, got: Any) -> ParameterError:
    """Return a `ParameterError` in the common format of invalid parameters."""
    who = owner if isinstance(owner, str) else type(owner).__name__
    return ParameterError(
        f"The {name!r} parameter of {who} must be {accepted}. Got {_shown(got)} instead."
    )


def check_integer(owner: object, name: str, value: Any, low: int, below: float = 2.0**63) -> int:
    """Return an integer of at least `low` that kernels can take; else raise a `ParameterError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) < below:
        most = f" and at most {int(below) - 1:,}" if below < 2**63 else ""
        raise refuse(owner, name, f"an integer >= {low}{most}", value)
    return int(value)


def check_positive(owner: object, name: str, value: Any) -> float:
    """Return a positive number; it and its inverse can be squared without overflow."""
    low, high = 1.0 / LARGEST, LARGEST
    if not low <= _number(value) <= high:
        raise refuse(owner, name, f"a positive number from {low:g} to {high:g}", value)
    return float(value)


def check_not_negative(owner: object, name: str, value: Any) -> float:
    """Return a finite number of at least zero."""
    if not 0 <= _number(value) < math.inf:
        raise refuse(owner, name, "a finite number >= 0", value)
    return float(value)


def check_probability(owner: object, name: str, value: Any) -> float:
    """Return a number in [0, 1]."""
    if not 0 <= _number(value) <= 1:
        raise refuse(owner, name, "a number in [0, 1]", value)
    return float(value)


def check_choice(owner: object, name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a string that is one of `choices`."""
    choices = tuple(choices)
    if value not in choices:
        raise refuse(owner, name, "one of " + ", ".join(map(repr, choices)), value)
    return str(value)


def check_seed(owner: object, value: Any) -> int | None:
    """Return None or a non-negative integer."""
    return None if value is None else check_integer(owner, "seed", value, 0, math.inf)


def check_loss_range(owner: object, value: Any, name: str = "loss_range") -> LossRange:
    """Return a pair low < high of numbers up to `LARGEST`; None stands for an unbounded range."""
    if value is None:
        return (-math.inf, math.inf)
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        raise refuse(owner, name, "a pair (low, high) or None", value) from None
    if not -LARGEST <= low < high <= LARGEST:
        accepted = f"a pair of finite numbers with low < high, up to {LARGEST:g} in absolute value"
        raise refuse(owner, name, accepted, value)
    return (low, high)


def check_bounded_range(owner: object, value: Any, name: str = "loss_range") -> LossRange:
    """Return a pair low < high; None is an error."""
    if value is None:
        raise refuse(owner, name, "a pair (low, high)", value)
    return check_loss_range(owner, value, name)


def check_losses(
    losses: Any,
    length: int | None,
    loss_range: LossRange,
    what: str = "one for each action or element",
) -> tuple[FloatArray, float, float]:
    """Return a loss vector as float64, with its smallest and largest entry."""
    given = losses
    if type(losses) is not np.ndarray or losses.dtype is not _FLOAT64:
        try:
            losses = as_floats(losses)
        except (TypeError, ValueError):
            raise InputTypeError(f"losses must be numbers, {what}; got {_shown(losses)}.") from None
    if losses.ndim != 1 or (length is not None and len(losses) != length):
        if what == CHOSEN:
            raise LossError(
                f"The loss must be one number, {what}; got an array of shape {losses.shape}. If "
                "you observe the losses of all actions, use hn.experts or ContextFTPL."
            )
        expected = "a one-dimensional array" if length is None else f"{length} numbers, {what}"
        raise LossError(f"losses must be {expected}; got an array of shape {losses.shape}.")
    low, high = extremes(losses)
    if low >= loss_range[0] and high <= loss_range[1]:
        return losses, low, high
    if math.isnan(low):
        shown = as_scalar(given[0]) if what == CHOSEN else given
        raise _unusable(losses, shown)
    raise LossError(
        f"losses must lie in loss_range={loss_range}; got values from {low:g} to {high:g}. "
        "Pass their true range as loss_range=(low, high). For rewards in [0, R], pass R - reward "
        "with loss_range=(0, R). If actions are sets of elements, pass -reward with "
        "loss_range=(-R, 0) to ContextFTPL or ContextSemiBanditFTPL."
    )


def _unusable(losses: FloatArray, shown: Any) -> LossError:
    """Return the error for losses that are not finite, or whose totals could overflow."""
    if np.isfinite(losses).all():
        return too_large("losses", shown)
    return LossError(f"losses must be finite; got {_shown(shown)}. Drop or correct the row.")


def check_chosen_loss(loss: Any, loss_range: LossRange) -> float:
    """Return the loss of the chosen action from a number, or from an array that holds one."""
    if isinstance(loss, float) and loss_range[0] <= loss <= loss_range[1]:
        return float(loss)
    try:
        given = np.ravel(loss)
    except Exception:  # __array__ of another class may raise anything
        raise InputTypeError(f"The loss must be a number; got {_shown(loss)}.") from None
    return float(check_losses(given, 1, loss_range, CHOSEN)[0][0])


def too_large(what: str, got: Any) -> LossError:
    """Return the error for losses whose totals could overflow."""
    return LossError(
        f"{what} must be at most {LARGEST:g} in absolute value, so that their totals do not "
        f"overflow; got {_shown(got)}. Divide all of them by a constant."
    )


def _number(value: Any) -> float:
    """Return a real number as a float, and NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _shown(value: Any) -> str:
    try:
        text = repr(value).replace("\n", " ")
    except Exception:  # a __repr__ that fails must not hide the error to report
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 120 else text[:117] + "..."
