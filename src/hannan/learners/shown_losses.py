"""Checks of observed losses, for full information and for semi-bandit feedback."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, LossError, LossFunction, Oracle, ParameterError
from hannan.core.arrays import as_floats
from hannan.core.validation import (
    LossRange,
    check_chosen_loss,
    check_loss_range,
    check_losses,
    too_large,
)
from hannan.kernels.losses import LARGEST

_WARNED: WeakSet[Any] = WeakSet()  # oracles whose empty set a warning has named


def check_full_losses(
    oracle: Oracle, loss: Any, n_actions: int | None, loss_range: LossRange
) -> tuple[Any, float, float]:
    """Return the loss in the form of the oracle, and a range that holds every action's loss."""
    if oracle.max_chosen == 1 and type(loss) is np.ndarray and not oracle.takes_functions:
        return check_losses(loss, n_actions, loss_range)
    if not isinstance(loss, np.ndarray) and isinstance(loss, LossFunction):
        if not oracle.takes_functions:
            raise LossError(
                f"{type(oracle).__name__} needs a loss for each element, not a loss function; got "
                f"{loss!r}."
            )
        if loss.n_actions != n_actions:
            raise LossError(
                f"The loss function has {loss.n_actions} elements, but the oracle has {n_actions}. "
                "Pass a loss function on all elements of the oracle."
            )
        losses: Any = loss
        low, high = loss.extremes()
        if not max(abs(low), abs(high)) <= LARGEST:
            raise too_large("The losses of sets", (low, high))
    else:
        losses, low, high = check_losses(loss, n_actions, loss_range)
        low, high = _of_sets(oracle.max_chosen, low, high)
    if oracle.takes_functions:
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        if low < loss_range[0] - slack or high > loss_range[1] + slack:
            raise LossError(
                f"The losses of sets must lie in loss_range={loss_range}; these losses may range "
                f"from {low:g} to {high:g}. Create the learner with the range of the losses of "
                "whole sets as loss_range=(low, high)."
            )
    return losses, low, high


def _of_sets(m: int, low: float, high: float) -> tuple[float, float]:
    """Return the range of the losses of sets of up to m elements, given that of elements."""
    if m == 1:
        return low, high
    return (m * low if low < 0.0 else 0.0), (m * high if high > 0.0 else 0.0)


def check_seen(action: Action, loss: Any, loss_range: LossRange) -> Any:
    """Return the checked loss: a number for an action; for a set, one per chosen element."""
    if isinstance(action, int):
        if isinstance(loss, float) and loss_range[0] <= loss <= loss_range[1]:
            return float(loss)  # the usual case, without a call
        return check_chosen_loss(loss, loss_range)
    size = len(action)
    if size and isinstance(loss, int | float | np.number):
        raise LossError(
            f"losses must be {size} numbers, one for each chosen element; got {loss!r}. The "
            "learner cannot learn from their sum alone (docs/explanation/paper-sharper.md, section "
            "3.4). Pass a sequence of numbers."
        )
    try:
        return check_losses(loss, size, loss_range, "one for each chosen element")[0]
    except LossError as error:
        if not size:
            raise LossError(
                f"The action has no elements, so it has no losses; got {loss!r}. Pass []."
            ) from None
        if np.size(loss) > size:
            raise LossError(
                f"{error} If these are the losses of all elements, pass losses[action], or use "
                "ContextFTPL, which learns from all of them."
            ) from None
        raise


class Readings(NamedTuple):
    """The checked losses of a round, and how they were read."""

    losses: Any
    """A number for an action; for a set, one per chosen element, the lowest where it is missing."""
    observed: Any
    """The action, or the elements with an observed loss."""
    observations: Any
    """Their losses."""
    missing: NDArray[np.bool_] | None = None
    """Whether the loss of each chosen element is missing, or None if none is."""
    clipped: int = 0
    """Number of losses outside of the range that were clipped."""


def read_losses(action: Action, loss: Any, loss_range: LossRange, clip: bool) -> Readings:
    """Check the observed losses; a missing loss, NaN, is allowed for elements of sets.

    With `clip`, move losses into the range.
    """
    try:
        losses = check_seen(action, loss, loss_range)
        return Readings(losses, action, losses)
    except LossError as error:
        try:
            numbers = as_floats(loss)
        except (TypeError, ValueError):
            raise error from None
        nothing, missing = np.isnan(numbers), None
        inside = np.clip(numbers, *loss_range) if clip else numbers
        clipped = int(np.count_nonzero((inside != numbers) & ~nothing))
        if not isinstance(action, int) and numbers.shape == action.shape and nothing.any():
            missing, inside = nothing, np.where(nothing, loss_range[0], inside)
        if missing is None and not clipped:
            raise
    losses = check_seen(action, inside, loss_range)
    if missing is None or isinstance(action, int):
        return Readings(losses, action, losses, None, clipped)
    observed = action[~missing], losses[~missing]
    losses = np.where(missing, min(loss_range[0], 0.0), losses)
    return Readings(losses, *observed, missing, clipped)


def warn_of_empty_set(owner: object, oracle: Any, loss_range: LossRange) -> None:
    """Raise a `UserWarning` if no loss is negative, so that the empty set is the best action."""
    remedy = getattr(oracle, "empty_remedy", None)
    harmless = loss_range[0] < 0.0 or remedy is None or oracle.takes_functions
    if not harmless and oracle not in _WARNED:
        _WARNED.add(oracle)
        warnings.warn(
            f"{type(oracle).__name__} may choose the empty set, and with loss_range={loss_range} "
            f"no set is better: {type(owner).__name__} will learn to choose nothing. If elements "
            f"earn up to R, report -reward with loss_range=(-R, 0). Otherwise use {remedy}.",
            stacklevel=4,  # the line that makes the learner
        )


def check_known_range(owner: object, given: Any) -> LossRange:
    """Return the loss range, which must be finite because loss estimates depend on it."""
    low, high = check_loss_range(owner, given)
    if not math.isfinite(high - low):
        raise ParameterError(
            f"{type(owner).__name__} needs a finite loss range; got loss_range={given}. Pass the "
            "range (low, high) of an element's loss; for rewards in [0, R], pass (-R, 0) and "
            "update with -reward."
        )
    return low, high


def check_nonnegative_range(owner: object, given: Any) -> LossRange:
    """Return the loss range, which must be finite and nonnegative."""
    low, high = check_loss_range(owner, given)
    if low < 0.0 or not math.isfinite(high):
        raise ParameterError(
            f"{type(owner).__name__} needs a finite loss range (low, high) with 0 <= low; got "
            f"loss_range={given}. Shift the losses so that none is negative."
        )
    return low, high
