"""Separators of the classes in the paper [syrgkanis2016], in closed form."""

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray, check_integer
from hannan.oracles import InterceptClassifiers


def disjunctions(n: int) -> NDArray[np.int64]:
    """Return the n unit vectors: the smallest separator of monotone disjunctions over n bits.

    On unit vector i, a disjunction plays 1 if and only if it holds variable i. No other set of this
    size separates. For formulas with negations, this set does not separate.

    Parameters
    ----------
    n
        Number of variables, at least 1.

    Examples
    --------
    >>> disjunctions(3)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    return np.eye(check_integer("disjunctions", "n", n, 1), dtype=np.int64)


def conjunctions(n: int) -> NDArray[np.int64]:
    """Return the n vectors with one zero: the smallest separator of monotone conjunctions.

    If only variable i is off, a conjunction plays 0 if and only if it holds variable i.

    Parameters
    ----------
    n
        Number of variables, at least 1.

    Examples
    --------
    >>> conjunctions(3)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    return 1 - np.eye(check_integer("conjunctions", "n", n, 1), dtype=np.int64)


def intercept_classifiers(n: int, tau: float) -> FloatArray:
    r"""Return n/τ points on the axes that separate `InterceptClassifiers(n, tau)`.

    Each axis has one point between neighbouring intercepts, :math:`(k + \tfrac12)\tau` for k = 1,
    …, 1/τ - 1, as in the paper. It also has one point *beyond the largest* intercept, :math:`1 +
    \tfrac12 \tau`, which the printed construction lacks. Without this point, an intercept at 1 and
    a missing intercept are not separated.

    Parameters
    ----------
    n
        Number of axes.
    tau
        Step τ between intercepts; 1/τ is an integer.

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
