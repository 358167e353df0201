"""The theorems as functions: regret bounds, the ε that minimises them, and their ingredients.

One function for each result. Functions for results of the paper take `form="printed"` (as printed)
or "sharp" (with the Laplace complexity G and the constant κ); docs/reference/bounds.md lists them
all. Theorems and corollaries are from [syrgkanis2016]; other sources are cited at each function.
"""

from hannan.bounds.bound import Bound
from hannan.bounds.examples import (
    claimed_rate,
    disjunctions,
    linear_classifiers,
    shortest_path,
    submodular,
)
from hannan.bounds.laplace_complexity import (
    Complexity,
    chernoff_complexity,
    closed_complexity,
    complexity_bound,
    laplace_complexity,
    printed_complexity,
    tabular_complexity,
)
from hannan.bounds.natarajan import natarajan, natarajan_dimension, natarajan_log_size
from hannan.bounds.schedules import anytime, delayed, hinted, self_tuned
from hannan.bounds.sequences import playout, playout_bandit, switching, switching_log_size
from hannan.bounds.sizes import Sizes, kappa, non_transductive, out_of_order_factor, sizes_of
from hannan.bounds.theorems import (
    complete_information,
    first_order,
    predictable,
    semi_bandit,
    stability_plus_error,
)

__all__ = [
    "Bound",
    "Complexity",
    "Sizes",
    "anytime",
    "chernoff_complexity",
    "claimed_rate",
    "closed_complexity",
    "complete_information",
    "complexity_bound",
    "delayed",
    "disjunctions",
    "first_order",
    "hinted",
    "kappa",
    "laplace_complexity",
    "linear_classifiers",
    "natarajan",
    "natarajan_dimension",
    "natarajan_log_size",
    "non_transductive",
    "out_of_order_factor",
    "playout",
    "playout_bandit",
    "predictable",
    "printed_complexity",
    "self_tuned",
    "semi_bandit",
    "shortest_path",
    "sizes_of",
    "stability_plus_error",
    "submodular",
    "switching",
    "switching_log_size",
    "tabular_complexity",
]
