"""What is said of a width without computing it."""

import numpy as np
import pytest

from hannan.kernels import blend as kernel

SIZES = np.array([4, 23])


def fitted(rng, K, scale):
    """Inverses of two regressions for each of K actions, and the rows that they have seen."""
    parts = [[], []]
    for k in range(K):
        rows = scale * rng.standard_normal((3 * k + 1, SIZES[1]))
        for part, n in zip(parts, SIZES, strict=True):
            R = np.linalg.inv(np.eye(n) + rows[:, :n].T @ rows[:, :n])
            part.append(R[np.tril_indices(n)])
    return np.concatenate([np.concatenate(part) for part in parts])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("share", [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0)])
def test_no_width_is_beyond_its_reach(scale, share):
    rng = np.random.default_rng(0)
    K, share = 5, np.array(share)
    inverse = fitted(rng, K, scale)
    widest, products = np.empty(2), np.empty(int(SIZES.sum()))
    for _ in range(100):
        v = scale * rng.standard_normal(SIZES[1])
        kernel.limits(v, SIZES, 1.0, widest)
        for k in range(K):
            exact = kernel.width(k, K, v, SIZES, inverse, True, share, widest, products, True)
            again = kernel.width(k, K, v, SIZES, inverse, True, share, widest, products, False)
            reach = kernel.reach(k, K, v, SIZES, inverse, share, widest)
            assert again == exact
            assert exact <= reach <= exact + 2e-4 * widest.max()


def test_a_form_is_that_of_its_matrix():
    rng = np.random.default_rng(1)
    for n in (1, 2, 17, 40):
        A = rng.standard_normal((n, n))
        A, x = A + A.T, rng.standard_normal(n)
        assert kernel.form(A[np.tril_indices(n)], n, x) == pytest.approx(x @ A @ x)
