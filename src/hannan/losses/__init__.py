"""Losses of whole sets of elements: submodular functions, and sums of them."""

from hannan.losses.custom import Custom
from hannan.losses.cut import Cut
from hannan.losses.set_losses import ConcaveOfCardinality, ConcaveOfModular, Coverage, Linear, Sum

__all__ = [
    "ConcaveOfCardinality",
    "ConcaveOfModular",
    "Coverage",
    "Custom",
    "Cut",
    "Linear",
    "Sum",
]
