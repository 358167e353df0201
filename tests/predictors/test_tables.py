"""Predictors that keep a table equal their definitions, from the raw history."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn

K = 3
LOSSES = st.floats(-2.0, 2.0, width=32)

CONTRACT = {
    "Mean": hn.predictors.Mean(),
    "Mean, all contexts": hn.predictors.Mean(0.5, by_context=False),
    "Last": hn.predictors.Last(),
    "ExponentialMean": hn.predictors.ExponentialMean(),
}


def ready(predictor):
    predictor.prepare(K)
    return predictor


@st.composite
def histories(draw):
    """Rounds (context, elements seen, their losses): one, some or all of the elements."""
    rounds = []
    for _ in range(draw(st.integers(0, 15))):
        seen = draw(st.sets(st.integers(0, K - 1), min_size=1).map(sorted))
        losses = draw(st.lists(LOSSES, min_size=len(seen), max_size=len(seen)))
        if len(seen) == 1 and draw(st.booleans()):
            rounds.append((draw(st.integers(0, 2)), seen[0], losses[0]))
        else:
            rounds.append((draw(st.integers(0, 2)), np.array(seen), np.array(losses)))
    return rounds


def seen_before(history, context, element, by_context):
    """All losses of an element, on this context or on any, oldest first."""
    found = []
    for x, action, loss in history:
        pairs = dict(zip(np.atleast_1d(action), np.atleast_1d(loss), strict=True))
        if element in pairs and (not by_context or x == context):
            found.append(float(pairs[element]))
    return found


def last(losses):
    return losses[-1] if losses else 0.0


def mean(losses):
    return sum(losses) / len(losses) if losses else 0.0


def cautious(losses):
    width = 1.0 / np.sqrt(len(losses) + 1)
    return mean(losses) if mean(losses) < 0 else max(mean(losses) - width, 0.0)


def deviation(history, by_context):
    """σ of `Mean`: past errors of shrunk means, each round once, faded with every round."""
    squares, weight = 0.25, 1.0
    for t, (context, action, loss) in enumerate(history):
        errors = []
        for k, one in zip(np.atleast_1d(action), np.atleast_1d(loss), strict=True):
            past = seen_before(history[:t], context, k, by_context)
            errors.append(float(one) - sum(past) / (len(past) + 1))
        age = 0.999 ** (len(history) - 1 - t)
        squares += age * np.mean(np.square(errors))
        weight += age
    return np.sqrt(squares / weight)


def lowered(losses, width):
    """The guess of `Mean`, and its lower confidence value."""
    shrunk = sum(losses) / (len(losses) + 1)
    low = shrunk - width / np.sqrt(len(losses) + 1)
    return shrunk if shrunk < 0 else max(low, 0.0), low


def fading(rate):
    def guess(losses):
        weights = [(1 - rate) ** (len(losses) - 1 - i) for i in range(len(losses))]
        total = sum(w * loss for w, loss in zip(weights, losses, strict=True))
        return total / sum(weights) if losses else 0.0

    return guess


KINDS = {
    "Last": (hn.predictors.Last, last, last, last),
    "Mean, plain": (lambda by: hn.predictors.Mean(0.0, by), mean, cautious, mean),
    "ExponentialMean": (
        lambda by: hn.predictors.ExponentialMean(0.25, by),
        *[fading(0.25)] * 3,
    ),
    "ExponentialMean, all": (lambda by: hn.predictors.ExponentialMean(0.0, by), *[mean] * 3),
    "ExponentialMean, one": (lambda by: hn.predictors.ExponentialMean(1.0, by), *[last] * 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("by_context", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=40)
@given(history=histories())
def test_guesses_equal_the_definition(kind, by_context, history):
    make, *definitions = KINDS[kind]
    predictor = ready(make(by_context))
    for context, action, loss in history:
        predictor.learn(context, action, loss)
    for context in range(3):
        past = [seen_before(history, context, k, by_context) for k in range(K)]
        found = predictor.predict(context), predictor.baseline(context), predictor.estimate(context)
        for guess, define in zip(found, definitions, strict=True):
            np.testing.assert_allclose(guess, [define(losses) for losses in past], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("by_context", [True, False])
@settings(deadline=None, max_examples=60)
@given(history=histories(), alpha=st.sampled_from([0.25, 0.5, 2.0]))
def test_the_mean_is_shrunk_and_lowered_by_the_size_of_its_errors(by_context, history, alpha):
    predictor = ready(hn.predictors.Mean(alpha, by_context))
    for context, action, loss in history:
        predictor.learn(context, action, loss)
    width = alpha * deviation(history, by_context)
    for context in range(3):
        past = [seen_before(history, context, k, by_context) for k in range(K)]
        guess, low = np.array([lowered(losses, width) for losses in past]).T
        np.testing.assert_allclose(predictor.predict(context), guess, atol=1e-9)
        np.testing.assert_allclose(predictor.baseline(context), [*map(cautious, past)], atol=1e-9)
        np.testing.assert_allclose(predictor.estimate(context), [*map(mean, past)], atol=1e-9)
        for some in (None, np.array([0, 2]), np.array([1])):
            action, estimates = predictor.advise(context, some)
            among = np.arange(K) if some is None else some
            assert action in among
            assert low[action] <= low[among].min() + 1e-9
            np.testing.assert_array_equal(estimates, predictor.estimate(context))


@pytest.mark.parametrize("kind", ["Last", "Mean", "ExponentialMean"])
def test_defaults_tell_contexts_apart(kind):
    predictor = ready(getattr(hn.predictors, kind)())
    assert predictor.by_context is True
    for _ in range(9):  # after one loss a shrunk mean less its width may still be 0
        predictor.learn(0, 1, 1.0)
    assert predictor.predict(0)[1] > 0
    assert not predictor.predict(1).any()


@pytest.mark.parametrize("kind", ["Last", "Mean", "ExponentialMean"])
def test_without_contexts_anything_may_be_one(kind):
    predictor = ready(getattr(hn.predictors, kind)(by_context=False))
    predictor.learn([0.5, 0.5], np.arange(K), np.array([0.0, 1.0, 1.0]))
    assert predictor.predict({"also": "unhashable"})[2] > 0
    assert len(predictor._rows) == 1


@pytest.mark.parametrize("kind", ["Last", "Mean", "ExponentialMean"])
def test_contexts_with_equal_values_of_a_function_share_a_row(kind):
    shared = ready(getattr(hn.predictors, kind)(by_context=lambda row: row[0]))
    apart = ready(getattr(hn.predictors, kind)())
    for t in range(20):
        shared.learn([t % 2, t], 1, t % 2 + 0.5)
        apart.learn(t % 2, 1, t % 2 + 0.5)
    for x in (0, 1):
        assert shared.predict(np.array([x, 99])).tolist() == apart.predict(x).tolist()
    assert shared.predict([0, 99])[1] < shared.predict([1, 99])[1]


@pytest.mark.parametrize("kind", ["Last", "Mean", "ExponentialMean"])
def test_rows_of_features_are_told_apart_by_their_values(kind):
    predictor = ready(getattr(hn.predictors, kind)())
    row = np.array([1.0, 2.0])
    for _ in range(9):
        predictor.learn(row, 1, 1.0)
    assert predictor.predict(np.array([1.0, 2.0]))[1] > 0
    row[0] = 7.0
    assert not predictor.predict(row).any()


@pytest.mark.parametrize("kind", ["Last", "Mean", "ExponentialMean"])
def test_the_losses_that_were_given_may_be_used_again(kind):
    predictor = ready(getattr(hn.predictors, kind)())
    losses = np.array([0.25, 0.5, 1.0])
    predictor.learn(0, np.arange(K), losses)
    before = predictor.predict(0)
    losses[:] = 0.0
    np.testing.assert_array_equal(predictor.predict(0), before)
    predictor.predict(0)[:] = 9.0
    np.testing.assert_array_equal(predictor.predict(0), before)


def test_the_last_loss_function_comes_again():
    function = hn.losses.Coverage([[0], [1], [0, 1]])
    guess = ready(hn.predictors.Last())
    assert not guess.predict(0).any()
    guess.learn(0, np.arange(K), function)
    assert guess.predict(0) is guess.baseline(0) is guess.estimate(0) is function
    assert not guess.predict(1).any()
    guess.learn(0, np.arange(K), np.array([0.1, 0.2, 0.3]))
    assert guess.predict(0).tolist() == [0.1, 0.2, 0.3]
    anywhere = ready(hn.predictors.Last(by_context=False))
    anywhere.learn(0, np.arange(K), function)
    assert anywhere.predict(5) is function


@pytest.mark.parametrize("kind", ["Mean", "ExponentialMean", "Ridge"])
def test_loss_functions_are_refused_where_numbers_are_needed(kind):
    predictor = ready(getattr(hn.predictors, kind)())
    predictor.learn([0.5] if kind == "Ridge" else 0, 1, 0.5)
    before = predictor.predict([0.5] if kind == "Ridge" else 0)
    with pytest.raises(hn.InputTypeError, match=f"{kind} learns from one loss"):
        predictor.learn([0.5], np.arange(K), hn.losses.Coverage([[0], [1], [0, 1]]))
    after = predictor.predict([0.5] if kind == "Ridge" else 0)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Last", {"by_context": "no"}),
        ("Mean", {"by_context": 1}),
        ("ExponentialMean", {"by_context": None}),
        ("ExponentialMean", {"rate": -0.1}),
        ("ExponentialMean", {"rate": 1.1}),
        ("ExponentialMean", {"rate": "fast"}),
    ],
)
def test_bad_parameters_are_refused(kind, options):
    with pytest.raises(hn.ParameterError, match=next(iter(options))):
        getattr(hn.predictors, kind)(**options)
