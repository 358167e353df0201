"""The losses that a round shows, checked: of all elements, or of what was chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import Action, LossError, LossFunction, Oracle, ParameterError
from hannan.core.validation import (
    LossRange,
    check_chosen_loss,
    check_loss_range,
    check_losses,
    too_large,
)
from hannan.kernels.losses import LARGEST


def check_full_losses(
    oracle: Oracle, loss: Any, n_actions: int | None, loss_range: LossRange
) -> tuple[Any, float, float]:
    """The loss in the form the oracle takes, and a range that holds the loss of every action."""
    if oracle.max_chosen == 1 and type(loss) is np.ndarray and not oracle.takes_functions:
        return check_losses(loss, n_actions, loss_range)
    if not isinstance(loss, np.ndarray) and isinstance(loss, LossFunction):
        if not oracle.takes_functions:
            raise LossError(
                f"{type(oracle).__name__} takes a loss for each element, not a loss function; got "
                f"{loss!r}."
            )
        if loss.n_actions != n_actions:
            raise LossError(
                f"The loss function is on {loss.n_actions} elements; the oracle has {n_actions}."
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
                f"The loss of a set must lie in loss_range={loss_range}; this one may range from "
                f"{low:g} to {high:g}. Pass the range of the losses of whole sets as "
                "loss_range=(low, high)."
            )
    return losses, low, high


def _of_sets(m: int, low: float, high: float) -> tuple[float, float]:
    """What sets of up to m elements may cost, where these cost from `low` to `high`."""
    if m == 1:
        return low, high
    return (m * low if low < 0.0 else 0.0), (m * high if high > 0.0 else 0.0)


def check_seen(action: Action, loss: Any, loss_range: LossRange) -> Any:
    """The loss of a single action, a number; of a set, one for each chosen element."""
    if isinstance(action, int):
        if isinstance(loss, float) and loss_range[0] <= loss <= loss_range[1]:
            return float(loss)  # as most are, without a call
        return check_chosen_loss(loss, loss_range)
    size = len(action)
    if size and isinstance(loss, int | float | np.number):
        raise LossError(
            f"losses must be {size} numbers, one for each chosen element; got {loss!r}. Of their "
            "sum alone nothing is learned here: what is known of that is in "
            "docs/explanation/paper-notes.md, section 3.4."
        )
    try:
        return check_losses(loss, size, loss_range, "one for each chosen element")[0]
    except LossError as error:
        if not size:
            raise LossError(
                f"Nothing was chosen, so there are no losses: give []; got {loss!r}."
            ) from None
        if np.size(loss) > size:
            raise LossError(
                f"{error} Of the losses of all elements give losses[action]; a learner that learns "
                "from all of them is ContextFTPL."
            ) from None
        raise


def check_known_range(owner: object, given: Any) -> LossRange:
    """A range with two ends: what was not seen is completed by them."""
    low, high = check_loss_range(owner, given)
    if not math.isfinite(high - low):
        raise ParameterError(
            f"{type(owner).__name__} needs losses in a known range; got loss_range={given}. Say "
            "which losses an element can have, (low, high); rewards up to R are losses in (-R, 0)."
        )
    return low, high


def check_nonnegative_range(owner: object, given: Any) -> LossRange:
    """A range with two ends, of losses that are never negative."""
    low, high = check_loss_range(owner, given)
    if low < 0.0 or not math.isfinite(high):
        raise ParameterError(
            f"{type(owner).__name__} needs losses in a range (low, high) with 0 <= low; got "
            f"loss_range={given}."
        )
    return low, high
