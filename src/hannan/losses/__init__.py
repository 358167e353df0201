"""Losses of whole sets of elements: submodular functions, and sums of them."""

from hannan.losses.concave_of_cardinality import ConcaveOfCardinality
from hannan.losses.concave_of_modular import ConcaveOfModular
from hannan.losses.coverage import Coverage
from hannan.losses.custom import Custom
from hannan.losses.cut import Cut
from hannan.losses.linear import Linear
from hannan.losses.sum import Sum

__all__ = [
    "ConcaveOfCardinality",
    "ConcaveOfModular",
    "Coverage",
    "Custom",
    "Cut",
    "Linear",
    "Sum",
]
