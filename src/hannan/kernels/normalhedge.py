"""The weight function of AdaNormalHedge."""

import math

import numpy as np

from hannan.kernels.compiling import njit


@njit
def weights(regrets, magnitudes):
    r"""Compute weights of experts from their regrets R and the sums C of their absolute values.

    With :math:`\Phi(R, C) = \exp([R]_+^2 / 3C)` the weight is
    :math:`\tfrac12 (\Phi(R + 1, C + 1) - \Phi(R - 1, C + 1))`. All are returned divided by
    :math:`\tfrac12` of the largest :math:`\Phi(R + 1, C + 1)`, so that none overflows; where
    every R is at most -1 all are 0.
    """
    n = regrets.size
    out = np.empty(n)
    top = 0.0
    for i in range(n):
        up = max(regrets[i] + 1.0, 0.0)
        exponent = up * up / (3.0 * (magnitudes[i] + 1.0))
        out[i] = exponent
        top = max(top, exponent)
    for i in range(n):
        down = max(regrets[i] - 1.0, 0.0)
        lower = down * down / (3.0 * (magnitudes[i] + 1.0))
        # The second exponential relative to the first, so that the difference of nearly equal ones
        # is exact.
        out[i] = -math.exp(out[i] - top) * math.expm1(lower - out[i])
    return out
