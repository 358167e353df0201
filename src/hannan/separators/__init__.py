"""Separators: contexts on which any two policies of a class differ somewhere.

With noise on a separator, any context may arrive. The size of the separator replaces the number of
contexts in the regret bounds, so a small separator is better.
"""

from hannan.separators.constructions import conjunctions, disjunctions, intercept_classifiers
from hannan.separators.finite import greedy, is_separator, smallest

__all__ = [
    "conjunctions",
    "disjunctions",
    "greedy",
    "intercept_classifiers",
    "is_separator",
    "smallest",
]
