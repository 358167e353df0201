"""The loss of one action, in units of its range."""

from __future__ import annotations

from typing import Any

from hannan.core.validation import LossRange, check_bounded_range, check_chosen_loss


class LossScale:
    """Losses from a range (low, high), scaled to [0, 1]; `owner` is named in errors."""

    def __init__(self, loss_range: LossRange, owner: object) -> None:
        self.range = check_bounded_range(owner, loss_range)

    def scaled(self, loss: Any) -> float:
        """The loss of the action played, in units of the range and from its lower end."""
        low, high = self.range
        return (check_loss(loss, self.range) - low) / (high - low)

    def suffered(self, loss: Any) -> float:
        """The same in the unit it came in."""
        low, high = self.range
        return low + self.scaled(loss) * (high - low)


def check_loss(loss: Any, loss_range: LossRange) -> float:
    """The loss of the action played."""
    if type(loss) is float and loss_range[0] <= loss <= loss_range[1]:
        return loss
    return check_chosen_loss(loss, loss_range)
