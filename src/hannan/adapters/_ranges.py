"""Ranges of the rewards, costs and losses that other libraries hand over."""

from __future__ import annotations

from hannan.core import LossError
from hannan.core.validation import FloatArray, LossRange


def check_inside(values: FloatArray, bounds: LossRange, accepted: str, advice: str) -> None:
    """Refuse values outside their range; `accepted` and `advice` begin and end the message."""
    if values.size and not (values.min() >= bounds[0] and values.max() <= bounds[1]):
        raise LossError(
            f"{accepted}; got values from {values.min():g} to {values.max():g}. {advice}"
        )
