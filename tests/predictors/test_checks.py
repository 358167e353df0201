"""What every predictor refuses, with a remedy, and without a change."""

import numpy as np
import pytest

import hannan as hn

P = hn.predictors
ROW = np.array([0.5, -1.0])
MADE = {
    "Last": (P.Last, 0),
    "Mean": (P.Mean, 0),
    "ExponentialMean": (P.ExponentialMean, 0),
    "Ridge": (P.Ridge, ROW),
    "Ridge, standardised": (lambda: P.Ridge(standardise=True), ROW),
    "FourierRidge": (lambda: P.FourierRidge(20), ROW),
    "Blend": (P.Blend, ROW),
    "Blend of parts": (lambda: P.Blend([P.Ridge(), P.Ridge(standardise=True)]), ROW),
    "Scaled": (lambda: P.Scaled(P.Mean(), (0.0, 2.0)), 0),
}
ON_ROWS = ["Ridge", "Ridge, standardised", "FourierRidge", "Blend", "Blend of parts"]


@pytest.mark.parametrize("name", MADE)
def test_a_predictor_that_was_not_prepared_says_so(name):
    make, context = MADE[name]
    for ask in (
        lambda made: made.predict(context),
        lambda made: made.estimate(context),
        lambda made: made.advise(context),
        lambda made: made.learn(context, 1, 0.5),
    ):
        with pytest.raises(hn.OrderError, match=r"call prepare\(n_actions\) first"):
            ask(make())


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, np.float64("nan")])
def test_losses_that_are_not_finite_are_not_learned(name, bad):
    make, context = MADE[name]
    made = make()
    made.prepare(2)
    made.learn(context, 1, 0.5)
    before = made.predict(context).tolist()
    with pytest.raises(hn.LossError, match="finite; got"):
        made.learn(context, 1, bad)
    with pytest.raises(hn.LossError, match="finite; got"):
        made.learn(context, np.arange(2), np.array([0.5, bad], dtype=float))
    assert made.predict(context).tolist() == before


@pytest.mark.parametrize("name", ON_ROWS)
@pytest.mark.parametrize("huge", [np.array([1e308, 1.0]), [-1e200, 1.0]])
def test_features_whose_squares_overflow_are_refused_and_leave_no_trace(name, huge):
    plain, troubled = MADE[name][0](), MADE[name][0]()
    plain.prepare(2)
    troubled.prepare(2)
    for t, x in enumerate(np.random.default_rng(0).normal(size=(40, 2))):
        for made in (plain, troubled):
            made.learn(x, t % 2, float(x[0] > 0))
        with pytest.raises(hn.ContextError, match=r"at most 1e\+150"):
            troubled.learn(huge, t % 2, 0.5)
        with pytest.raises(hn.ContextError, match=r"at most 1e\+150"):
            troubled.advise(huge)
    assert troubled.predict(ROW).tolist() == plain.predict(ROW).tolist()
    assert np.isfinite(troubled.lower(ROW)).all()
