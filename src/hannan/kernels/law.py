r"""The exact law of the smallest of K numbers under independent Laplace noise."""

import numpy as np

from hannan.kernels.compiling import njit

# Gauss-Legendre nodes and weights on [-1, 1]. Twelve integrate exp over a piece of length four to
# rounding; products of many survival functions are steeper, and a hundred cost some digits.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_REACH = 40.0  # the density beyond is below exp(-40)
_PIECE = 4.0
_FAR = 1e9


@njit
def argmin_law(values, scale, out):
    r"""out[j] = probability that j minimises values[j] + scale * unit Laplace noise.

    Values may be infinite, but not all of them. With g = values/scale and v the value of the
    minimum, :math:`q_j = \int f(v - g_j) \prod_{i \ne j} (1 - F(v - g_i))\,dv`. The integrand is
    smooth between the kinks v = g_i, and negligible beyond a reach of the smallest g.
    """
    K = values.size
    least = values.min()
    if abs(least) > _FAR * scale:  # differences of the order of the noise would be rounded away
        values = values - least
    g = np.sort(values) / scale
    low, high = g[0] - _REACH, g[0] + _REACH
    shifted = values / scale
    survival = np.empty(K)
    density = np.empty(K)
    out[:] = 0.0
    left = low
    for i in range(K + 1):
        right = min(g[i], high) if i < K else high
        if right <= left:
            continue
        pieces = int(np.ceil((right - left) / _PIECE))
        half = 0.5 * (right - left) / pieces
        for p in range(pieces):
            centre = left + (2 * p + 1) * half
            for k in range(_NODES.size):
                v = centre + half * _NODES[k]
                product = 1.0
                for j in range(K):
                    u = v - shifted[j]
                    e = 0.5 * np.exp(-abs(u))
                    density[j] = e
                    survival[j] = e if u > 0.0 else 1.0 - e
                    product *= survival[j]
                for j in range(K):
                    out[j] += _WEIGHTS[k] * half * density[j] * (product / survival[j])
        left = right
    total = 0.0
    for j in range(K):
        total += out[j]
    for j in range(K):
        out[j] /= total
