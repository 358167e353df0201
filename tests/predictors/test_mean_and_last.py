import numpy as np
import pytest

import hannan as hn

KINDS = [hn.predictors.Mean, hn.predictors.Last, hn.predictors.ExponentialMean]


def ready(predictor, K=3):
    predictor.prepare(K)
    return predictor


def test_mean_is_the_mean_on_this_context_less_a_width():
    mean = ready(hn.predictors.Mean(alpha=0.3))
    for loss in (0.5, 1.0, 0.75):
        mean.learn("rain", 1, loss)
    mean.learn("sun", 1, 0.0)
    assert mean.predict("rain").tolist() == [0.0, pytest.approx(0.75 - 0.3 / 2.0), 0.0]
    assert mean.baseline("rain")[1] == pytest.approx(0.75 - 1.0 / 2.0)
    assert mean.predict("snow").tolist() == [0.0, 0.0, 0.0]


def test_mean_never_guesses_below_zero():
    mean = ready(hn.predictors.Mean(alpha=5.0))
    mean.learn(0, 2, 1.0)
    assert mean.predict(0).tolist() == [0.0, 0.0, 0.0]


def test_last_is_what_was_seen_last_on_this_context():
    last = ready(hn.predictors.Last())
    last.learn(0, 1, 0.5)
    last.learn(0, 1, 0.25)
    last.learn(1, 1, 1.0)
    assert last.predict(0).tolist() == [0.0, 0.25, 0.0]
    assert last.baseline(0).tolist() == [0.0, 0.25, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_sets_teach_every_chosen_element(kind):
    one, other = ready(kind()), ready(kind())
    one.learn(0, np.array([0, 2]), np.array([0.5, 1.0]))
    other.learn(0, 0, 0.5)
    other.learn(0, 2, 1.0)
    np.testing.assert_array_equal(one.predict(0), other.predict(0))
    assert one.predict(0)[2] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_handed_out_is_the_callers_own(kind):
    predictor = ready(kind())
    predictor.learn(0, 1, 1.0)
    before = predictor.predict(0).copy()
    predictor.predict(0)[:] = 7.0
    np.testing.assert_array_equal(predictor.predict(0), before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_has_learned_nothing(kind):
    predictor = ready(kind())
    predictor.learn(0, 1, 1.0)
    assert not ready(predictor.clone()).predict(0).any()


@pytest.mark.parametrize("alpha", [-1.0, np.nan])
def test_a_bad_width_is_refused(alpha):
    with pytest.raises(hn.ParameterError, match="alpha"):
        hn.predictors.Mean(alpha=alpha)
