"""Kernels of linear policies beside loops written from the definition."""

import math

import numpy as np
import pytest

from hannan.kernels import linear as kernel


def design(p, seed):
    """A Cholesky factor of a design, and a row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(p + 3, p))
    U = np.ascontiguousarray(np.linalg.cholesky(np.eye(p) + X.T @ X).T)
    return U, rng.normal(size=p), rng


def observed(U, x):
    """The factor with one more row, by rotations of one number after the other."""
    U, v = U.tolist(), x.tolist()
    for i in range(len(v)):
        r = math.hypot(U[i][i], v[i])
        c, s = r / U[i][i], v[i] / U[i][i]
        U[i][i] = r
        for j in range(i + 1, len(v)):
            U[i][j] = (U[i][j] + s * v[j]) / c
            v[j] = c * v[j] - s * U[i][j]
    return np.array(U)


@pytest.mark.parametrize("p", [1, 2, 7, 40])
def test_a_row_is_observed_as_the_definition_does(p):
    U, x, rng = design(p, p)
    found = U.copy()
    kernel.observe(found, x)
    np.testing.assert_allclose(found, observed(U, x), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found.T @ found, U.T @ U + np.outer(x, x), rtol=1e-10, atol=1e-10)
    added, b = U.copy(), rng.normal(size=(p, 3))
    moments, losses = b.copy(), rng.random(3)
    kernel.add(added, moments, x, losses)
    assert (added == found).all()
    assert (moments == b + np.outer(x, losses)).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("p", [2, 7, 40])
def test_scores_solve_the_normal_equations(p, intercept):
    U, x, rng = design(p, p)
    x[-1] = 1.0 if intercept else x[-1]
    b, row = rng.normal(size=(p, 3)), x[: p - intercept].copy()
    made, v, scores = np.empty(p), np.empty(p), np.empty(3)
    h = kernel.solve(U, b, row, made, v, scores)
    inverse = np.linalg.inv(U.T @ U)
    assert (made == x).all()
    assert h == pytest.approx(x @ inverse @ x)
    np.testing.assert_allclose(scores, x @ inverse @ b, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(U.T @ v, x, rtol=1e-9, atol=1e-12)


def test_tails_are_those_of_the_normal_law():
    edges = [0.0, -0.0, 36.9, -36.9, 37.0, -37.0, -38.0, -np.inf]
    t = np.concatenate([np.linspace(-12.0, 8.0, 120), edges])
    density, survival = np.empty(len(t)), np.empty(len(t))
    kernel.normal_tails(t, density, survival)
    shown = np.abs(t) < 37.0
    exact = np.array([math.exp(-0.5 * x * x) for x in t])
    np.testing.assert_allclose(density[shown], exact[shown], rtol=1e-13)
    assert (density[t <= -37.0] == 0.0).all()
    near = t < 8.8  # beyond it the survival is cut off
    tails = np.array([0.5 * math.erfc(x / math.sqrt(2.0)) for x in t])
    np.testing.assert_allclose(survival[near], tails[near], rtol=1e-12)
