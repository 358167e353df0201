"""The losses of a round of semi-bandit feedback, those of what was chosen, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import Action, LossError, ParameterError
from hannan.core.validation import (
    LossRange,
    check_chosen_loss,
    check_loss_range,
    check_losses,
)


def check_seen(action: Action, loss: Any, loss_range: LossRange) -> Any:
    """The loss of a single action, a number; of a set, one for each chosen element."""
    if not isinstance(action, int):
        return _of_set(len(action), loss, loss_range)
    low, high = loss_range
    if isinstance(loss, float) and low <= loss <= high:
        return float(loss)
    return check_chosen_loss(loss, loss_range)


def _of_set(size: int, loss: Any, loss_range: LossRange) -> Any:
    """The losses of so many chosen elements."""
    if size and isinstance(loss, int | float | np.number):
        raise LossError(
            f"losses must be {size} numbers, one for each chosen element; got {loss!r}. Of their "
            "sum alone nothing is learned here: what is known of that is in docs/paper-notes.md, "
            "section 3.4."
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
