"""Random Fourier features, and linear policies on what is made of rows."""

import numpy as np
import pytest

import hannan as hn

FOURIER = hn.oracles.RandomFourier


def test_inner_products_of_cosines_come_close_to_the_gaussian_kernel():
    expand = FOURIER(20_000, bandwidths=(1.5,))
    x, y = np.array([0.3, -0.2, 0.5]), np.array([-0.1, 0.4, 0.2])
    kernel = np.exp(-0.5 * 1.5**2 * ((x - y) ** 2).sum())
    assert expand(x)[3:] @ expand(y)[3:] == pytest.approx(kernel, abs=0.02)
    assert expand(x)[:3].tolist() == x.tolist()


def test_cosines_are_a_function_of_the_seed():
    x = np.array([0.3, -0.2])
    assert (FOURIER(10)(x) == FOURIER(10)(x)).all()
    assert (FOURIER(10)(x)[2:] != FOURIER(10, seed=1)(x)[2:]).all()


@pytest.mark.slow
def test_linear_policies_on_cosines_learn_what_linear_ones_cannot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    losses = 1.0 - np.eye(2)[(X[:, 0] * X[:, 1] > 0).astype(int)]
    wrong = {}
    for name, features in (("plain", None), ("cosines", FOURIER(100))):
        learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2, features=features), seed=0)
        total = 0.0
        for x, row in zip(X, losses, strict=True):
            total += row[learner.act(x)]
            learner.update(row)
        wrong[name] = total / len(X)
    assert wrong["plain"] > 0.4
    assert wrong["cosines"] < 0.15


def test_a_fitted_transformer_will_do():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    X = np.random.default_rng(0).normal(size=(50, 3))
    squares = preprocessing.PolynomialFeatures(2).fit(X)
    oracle = hn.oracles.LinearPolicies(2, intercept=False, features=squares)
    total = oracle.objective()
    for x in X:
        total.add(x, np.array([(x**2).sum(), 3.0]))
    assert [total.leader()(x) for x in ([0.1, 0.2, 0.1], [2.0, 2.0, 2.0])] == [0, 1]


def test_a_learner_on_cosines_plays_on_from_a_file(tmp_path):
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2, features=FOURIER(20)), seed=0)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    for x in rows[:20]:
        learner.act(x)
        learner.update(rng.random(2))
    learner.save(tmp_path / "a.hannan")
    other = hn.load(tmp_path / "a.hannan")
    for x in rows[20:]:
        assert learner.act(x) == other.act(x)
        losses = rng.random(2)
        learner.update(losses)
        other.update(losses)


@pytest.mark.parametrize("bad", [3, "cosines", object()])
def test_what_cannot_make_features_is_refused(bad):
    with pytest.raises(hn.ParameterError, match="features"):
        hn.oracles.LinearPolicies(2, features=bad)


def test_features_that_are_not_finite_are_refused():
    oracle = hn.oracles.LinearPolicies(2, features=lambda row: row / 0.0)
    learner = hn.ContextFTPL(oracle, seed=0)
    with np.errstate(divide="ignore"), pytest.raises(hn.ContextError, match="finite numbers"):
        learner.act([1.0, 2.0])
