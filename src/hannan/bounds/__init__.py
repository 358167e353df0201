"""The theorems as functions: regret bounds, the ε that minimises them, and their ingredients."""

from hannan.bounds.complete_information import Bound, complete_information
from hannan.bounds.laplace_complexity import (
    Complexity,
    chernoff_complexity,
    closed_complexity,
    laplace_complexity,
    printed_complexity,
)
from hannan.bounds.natarajan import natarajan_dimension, natarajan_log_size
from hannan.bounds.semi_bandit import semi_bandit

__all__ = [
    "Bound",
    "Complexity",
    "chernoff_complexity",
    "closed_complexity",
    "complete_information",
    "laplace_complexity",
    "natarajan_dimension",
    "natarajan_log_size",
    "printed_complexity",
    "semi_bandit",
]
