import copy
import math

import numpy as np
import pytest
from river import forest, linear_model, naive_bayes, neighbors, preprocessing, tree

import hannan as hn
from hannan.adapters import RiverPredictor
from hannan.checks import PARAMETER_CHECKS, check_docstring

BAYES = linear_model.BayesianLinearRegression()
RNG = np.random.default_rng(0)
ROWS = RNG.random((60, 3))


def prepared(model, n_actions=2, **options):
    guess = RiverPredictor(model, **options)
    guess.prepare(n_actions)
    return guess


def test_each_element_has_a_regressor_of_its_own():
    guess, twin = prepared(BAYES, alpha=0.0), BAYES.clone()
    for row in ROWS:
        loss = float(row[0])
        guess.learn(row, 1, loss)
        twin.learn_one(dict(enumerate(row.tolist())), loss)
    low, found = guess.predict(ROWS[3])
    assert low == 0.0
    assert found == pytest.approx(twin.predict_one(dict(enumerate(ROWS[3].tolist()))))
    assert found == pytest.approx(ROWS[3, 0], abs=0.1)


def test_the_guess_lies_a_width_below():
    guess = prepared(BAYES, alpha=0.2, loss_range=(0.0, 2.0))
    for row in ROWS[:24]:
        guess.learn(row, 0, 1.5)
    best = guess.estimate(ROWS[0])[0]
    assert guess.predict(ROWS[0])[0] == pytest.approx(best - 0.4 / math.sqrt(25))
    assert guess.baseline(ROWS[0])[0] == pytest.approx(best - 2.0 / math.sqrt(25))
    guess.learn(ROWS[0], 1, -50.0)
    assert guess.predict(ROWS[0])[1] == 0.0
    for _ in range(20):
        guess.learn(ROWS[0], 1, 50.0)
    assert guess.estimate(ROWS[0])[1] == 2.0


def test_with_full_information_all_elements_learn():
    both, one = prepared(BAYES, alpha=0.0), prepared(BAYES, alpha=0.0)
    for row in ROWS:
        both.learn(row, np.arange(2), np.array([row[0], row[1]]))
        one.learn(row, 0, row[0])
        one.learn(row, 1, row[1])
    assert np.array_equal(both.predict(ROWS[0]), one.predict(ROWS[0]))


@pytest.mark.parametrize(
    "model", [tree.HoeffdingTreeClassifier(leaf_prediction="mc"), naive_bayes.BernoulliNB(alpha=0)]
)
def test_a_classifier_guesses_the_mean_of_losses_at_the_ends(model):
    guess = prepared(model, alpha=0.0, loss_range=(1.0, 3.0))
    for loss in [3.0, 1.0, 1.0, 1.0] * 10:
        guess.learn(None, 0, loss)
    assert guess.estimate(None) == pytest.approx([1.5, 1.0])
    guess.learn(None, 1, 1.0)
    assert guess.estimate(None) == pytest.approx([1.5, 1.0])


def test_weights_make_it_the_mean_of_all_losses():
    weighing = prepared(tree.HoeffdingTreeClassifier(leaf_prediction="mc"), alpha=0.0)
    counting = prepared(naive_bayes.BernoulliNB(alpha=0), alpha=0.0)
    for loss in [0.2, 0.4] * 20:
        weighing.learn(None, 0, loss)
        counting.learn(None, 0, loss)
    assert weighing.estimate(None)[0] == pytest.approx(0.3)
    assert counting.estimate(None)[0] == 0.0


def test_weights_pass_through_pipelines():
    model = preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier(leaf_prediction="mc")
    guess = prepared(model, alpha=0.0)
    for row in ROWS:
        guess.learn(row, 0, 0.3)
    assert guess.estimate(ROWS[0])[0] == pytest.approx(0.3)


class Spy(linear_model.LinearRegression):
    """Keeps what it is shown."""

    seen: list = []  # noqa: RUF012

    def learn_one(self, x, y, w=1.0):
        Spy.seen.append(x)


def test_contexts_become_dictionaries():
    Spy.seen.clear()
    guess = prepared(Spy())
    for context in (None, "rain", 7, {"a": 1.0}, [0.5, 2.0], np.array([0.5, 2.0])):
        guess.learn(context, 0, 0.0)
    assert Spy.seen == [{}, {"rain": 1.0}, {7: 1.0}, {"a": 1.0}, *[{0: 0.5, 1: 2.0}] * 2]
    named = prepared(Spy(), features=["x", "y"])
    named.learn([0.5, 2.0], 0, 0.0)
    assert Spy.seen[-1] == {"x": 0.5, "y": 2.0}
    with pytest.raises(hn.ContextError, match="must name each feature: got 2 for 3"):
        named.learn([0.5, 2.0, 3.0], 0, 0.0)


def mean_loss(predictor, seed=0, T=800):
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=10), predictor=predictor, seed=seed
    )
    world = hn.environments.Classification.bundled("digits")
    return hn.play(learner, world, horizon=T, seed=seed).losses[T // 2 :].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [BAYES, preprocessing.StandardScaler() | linear_model.LogisticRegression()], ids=str
)
def test_a_learner_with_one_reads_digits(model):
    assert mean_loss(RiverPredictor(model)) < 0.5 < 0.7 < mean_loss(None)


def test_a_game_can_be_played_again():
    world = hn.environments.Classification.bundled("iris")
    model = forest.ARFRegressor(n_models=2, seed=1)
    base = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(3), predictor=RiverPredictor(model), seed=0
    )
    first = hn.play(base.clone(), world, horizon=60, seed=0)
    again = hn.play(base.clone(), world, horizon=60, seed=0)
    assert np.array_equal(first.actions, again.actions)


def test_the_model_given_is_never_changed():
    model = linear_model.LinearRegression()
    guess = prepared(model)
    guess.learn([1.0], 0, 1.0)
    assert not model.weights
    fresh = guess.clone()
    fresh.prepare(2)
    assert guess.estimate([1.0])[0] > 0.0 == fresh.estimate([1.0])[0]
    twin = copy.deepcopy(guess)
    twin.learn([1.0], 0, 1.0)
    assert twin.estimate([1.0])[0] > guess.estimate([1.0])[0]


class Diverged(linear_model.LinearRegression):
    """Knows no bounds."""

    def predict_one(self, x):
        return math.inf


def test_a_model_that_has_diverged_is_named():
    with pytest.raises(hn.LossError, match=r"Diverged.*diverged.*StandardScaler"):
        prepared(Diverged()).predict([1.0])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"model": linear_model.LinearRegression}, "model"),
        ({"model": preprocessing.StandardScaler()}, "model"),
        ({"model": hn.predictors.Mean()}, "model"),
        ({"model": forest.ARFRegressor()}, "seed"),
        ({"model": preprocessing.StandardScaler() | forest.ARFRegressor()}, "seed"),
        ({"model": neighbors.KNNRegressor()}, r"engine=SWINN\(seed=…\)"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": "a"}, "alpha"),
        ({"loss_range": None}, "loss_range"),
        ({"loss_range": (1.0, 0.0)}, "loss_range"),
        ({"features": "xy"}, "features"),
        ({"features": ["x", "x"]}, "features"),
    ],
)
def test_bad_parameters_are_refused(options, named):
    with pytest.raises(hn.ParameterError, match=named):
        RiverPredictor(**{"model": BAYES, **options})


def test_loss_functions_are_refused():
    loss = hn.losses.Linear([0.1, 0.2])
    with pytest.raises(hn.InputTypeError, match="RiverPredictor"):
        prepared(BAYES).learn(None, np.arange(2), loss)


@pytest.mark.parametrize("check", PARAMETER_CHECKS)
def test_parameters(check):
    check(RiverPredictor(BAYES, alpha=0.5, features=("a", "b")))


def test_the_docstring_is_complete():
    check_docstring(RiverPredictor, ("Parameters", "Examples"))
