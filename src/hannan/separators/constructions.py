"""Separators that are known in advance, from the examples of the paper [syrgkanis2016]."""

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray, check_integer
from hannan.oracles import InterceptClassifiers


def disjunctions(n: int) -> NDArray[np.int64]:
    """The n unit vectors: the smallest separator of the monotone disjunctions over n bits.

    On unit vector i a disjunction plays 1 if and only if it holds variable i. No other set of this
    size separates, and for formulas with negations this one does not.

    Parameters
    ----------
    n
        The number of variables.

    Examples
    --------
    >>> disjunctions(3)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    return np.eye(check_integer("disjunctions", "n", n, 1), dtype=np.int64)


def conjunctions(n: int) -> NDArray[np.int64]:
    """The n vectors with one zero: the smallest separator of the monotone conjunctions.

    With variable i off alone, a conjunction plays 0 if and only if it holds variable i.

    Parameters
    ----------
    n
        The number of variables.

    Examples
    --------
    >>> conjunctions(3)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    return 1 - np.eye(check_integer("conjunctions", "n", n, 1), dtype=np.int64)


def intercept_classifiers(n: int, tau: float) -> FloatArray:
    r"""Points on the axes that separate `InterceptClassifiers(n, tau)`: n/τ of them.

    On each axis one point between neighbouring intercepts, :math:`(k + \tfrac12)\tau` for
    k = 1, …, 1/τ - 1, as in the paper, and one *beyond the largest*, :math:`1 + \tfrac12 \tau`,
    which the printed construction lacks: without it an intercept at 1 and none at all are not told
    apart.

    Parameters
    ----------
    n
        The number of axes.
    tau
        τ, the step between intercepts; 1/τ is an integer.

    Examples
    --------
    >>> intercept_classifiers(2, 0.5)
    array([[0.75, 0.  ],
           [1.25, 0.  ],
           [0.  , 0.75],
           [0.  , 1.25]])
    """
    steps = InterceptClassifiers(n, tau).steps
    points = np.zeros((n, steps, n))
    for i in range(n):
        points[i, :, i] = (np.arange(1, steps + 1) + 0.5) / steps
    return points.reshape(n * steps, n)
