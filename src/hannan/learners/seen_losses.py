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
        if isinstance(loss, int | float | np.number):
            raise LossError(
                f"losses must be {len(action)} numbers, one for each chosen element; got "
                f"{loss!r}. Of their sum alone nothing is learned here: what is known of that "
                "is in docs/paper-notes.md, section 3.4."
            )
        return check_losses(loss, len(action), loss_range, "one for each chosen element")[0]
    low, high = loss_range
    if isinstance(loss, float) and low <= loss <= high:
        return float(loss)
    return check_chosen_loss(loss, loss_range)


def check_known_range(owner: object, given: Any) -> LossRange:
    """A range with two ends: what was not seen is completed by them."""
    low, high = check_loss_range(owner, given)
    if not math.isfinite(high - low):
        raise ParameterError(
            f"{type(owner).__name__} needs losses in a known range; got loss_range={given}. Say "
            "which losses an element can have, (low, high); rewards up to R are losses in (-R, 0)."
        )
    return low, high
