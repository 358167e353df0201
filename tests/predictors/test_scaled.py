"""Predictors for losses of any range."""

import numpy as np
import pytest

import hannan as hn

CONTRACT = {"Scaled": hn.predictors.Scaled(hn.predictors.Mean(), (-1.0, 3.0))}


@pytest.mark.parametrize(
    "inner", [hn.predictors.Mean(), hn.predictors.Ridge(), hn.predictors.Blend()]
)
def test_it_says_the_same_in_other_units(inner):
    plain, scaled = inner.clone(), hn.predictors.Scaled(inner, (-2.0, 6.0))
    for each in (plain, scaled):
        each.prepare(3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        x, action, loss = rng.integers(2, size=2).astype(float), int(rng.integers(3)), rng.random()
        assert scaled.advise(x)[0] == plain.advise(x)[0]
        for word in ("predict", "baseline", "estimate"):
            found, expected = (getattr(each, word)(x) for each in (scaled, plain))
            np.testing.assert_allclose(found, -2.0 + 8.0 * expected, atol=1e-9)
        plain.learn(x, action, loss)
        scaled.learn(x, action, -2.0 + 8.0 * loss)


@pytest.mark.parametrize("span", [(0.0, float("inf")), (1.0, 1.0)])
def test_it_needs_a_range(span):
    with pytest.raises(hn.ParameterError, match="loss_range"):
        hn.predictors.Scaled(hn.predictors.Mean(), span)


@pytest.mark.parametrize("options", [{}, {"n_contexts": 1}, {"policies": [[0], [1], [2]]}])
def test_the_recommended_bandit_plays_alike_whatever_the_unit(options):
    one, large = (hn.bandit(3, seed=0, loss_range=(0, top), **options) for top in (1, 50))
    rng = np.random.default_rng(1)
    for _ in range(150):
        x = None if "n_contexts" in options else 0 if options else rng.random(2)
        action = one.act(x)
        assert large.act(x) == action
        loss = float(rng.random() * (action + 1) / 3)
        one.update(loss)
        large.update(50.0 * loss)
