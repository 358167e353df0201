"""Separators: contexts on which any two policies of a class differ somewhere.

Noise on a separator lets any context arrive. Its size takes the place of the number of contexts
in the regret bounds, so small is good.
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
