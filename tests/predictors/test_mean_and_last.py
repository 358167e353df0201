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
    # Errors before each loss was counted: 0.5, then 1 - 0.5/2, 0.75 - 1.5/3, and 0 for the sun.
    squares = ((0.5**2 * 0.999 + 0.75**2) * 0.999 + 0.25**2) * 0.999
    sigma = np.sqrt((0.25 + squares) / (1.0 + 0.999**3 + 0.999**2 + 0.999 + 1.0))
    guess = pytest.approx(2.25 / 4.0 - 0.3 * sigma / 2.0)
    assert mean.predict("rain").tolist() == [0.0, guess, 0.0]
    assert mean.baseline("rain")[1] == pytest.approx(0.75 - 1.0 / 2.0)
    assert mean.estimate("rain").tolist() == [0.0, 0.75, 0.0]
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
    np.testing.assert_array_equal(one.estimate(0), other.estimate(0))
    assert one.predict(0)[2] > 0


def test_an_element_is_not_excluded_by_a_bad_first_loss():
    mean, plain = ready(hn.predictors.Mean(), 2), ready(hn.predictors.Mean(alpha=0.0), 2)
    for each in (mean, plain):
        each.learn(0, 0, 1.0)
        for _ in range(50):
            each.learn(0, 1, 0.6)
    assert mean.advise(0)[0] == 0
    assert plain.advise(0)[0] == 1


def test_advice_explores_what_predict_cannot_tell_apart():
    mean = ready(hn.predictors.Mean(), 3)
    for _ in range(10):
        mean.learn(0, 0, 0.0)
    assert mean.predict(0).tolist() == [0.0, 0.0, 0.0]
    assert mean.advise(0)[0] == 1
    assert mean.advise(0, np.array([0, 2]))[0] == 2
    assert mean.advise(0, np.array([0]))[0] == 0
    assert mean.advise(0)[1].tolist() == mean.estimate(0).tolist()


def test_an_empty_set_teaches_nothing():
    mean = ready(hn.predictors.Mean())
    mean.learn(0, 1, 0.5)
    before = mean.predict(0)
    mean.learn(0, np.array([], dtype=np.intp), np.array([]))
    np.testing.assert_array_equal(mean.predict(0), before)


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


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, True, "low"])
def test_a_bad_width_is_refused(alpha):
    with pytest.raises(hn.ParameterError, match="alpha"):
        hn.predictors.Mean(alpha=alpha)
