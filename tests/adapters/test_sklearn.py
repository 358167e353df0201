"""A learner as a scikit-learn classifier."""

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import hannan as hn
from hannan.adapters import OnlinePolicyClassifier

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = X[ORDER], Y[ORDER]
GRID = np.round(X)


def impossible(estimator):
    """What no online learner can pass."""
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "predict_proba is the distribution of the next play, which is tuned by the "
            "rounds so far: their order and number count, and the check shuffles them"
        )
    }


@parametrize_with_checks(
    [
        OnlinePolicyClassifier(),
        OnlinePolicyClassifier(learner="bandit", predictor=hn.predictors.Ridge()),
    ],
    expected_failed_checks=impossible,
    xfail_strict=True,
)
def test_it_is_a_classifier_by_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def played(learner, rows, labels, costs, weights=None):
    """The same game, written out: total loss and the learner that played."""
    weights = np.ones(len(labels)) if weights is None else weights
    total = 0.0
    for row, label, weight in zip(rows, labels, weights, strict=True):
        if weight == 0.0:
            continue
        losses = weight * np.asarray(costs)[label]
        action = learner.act(row)
        bandit = learner.feedback is not hn.Feedback.FULL
        learner.update(losses[action] if bandit else losses)
        total += losses[action]
    return total


@pytest.mark.parametrize("kind", ["full", "bandit"])
def test_each_row_is_a_round_of_the_learner(kind):
    make = {"full": hn.ContextFTPL, "bandit": hn.ContextSemiBanditFTPL}[kind]
    costs = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.5, 0.0]])
    model = OnlinePolicyClassifier(learner=kind, costs=costs, random_state=7).fit(X, Y)
    twin = make(hn.oracles.LinearPolicies(3), seed=7, loss_range=(0.0, 3.0))
    total = played(twin, X, Y, costs)
    assert model.mean_loss_ == pytest.approx(total / len(Y), rel=1e-12)
    assert model.n_rounds_ == twin.rounds == 150
    best = twin.best_policy()
    assert model.predict(X).tolist() == [best(row) for row in X]


def test_batches_make_no_difference():
    whole = OnlinePolicyClassifier(random_state=3).fit(X, Y)
    parts = OnlinePolicyClassifier(random_state=3)
    for batch in np.split(np.arange(150), [1, 20, 21, 90]):
        parts.partial_fit(X[batch], Y[batch], classes=[2, 0, 1])
    assert parts.mean_loss_ == whole.mean_loss_
    assert (parts.predict_proba(X) == whole.predict_proba(X)).all()
    again = whole.fit(X, Y)
    assert again.mean_loss_ == parts.mean_loss_


def test_labels_may_be_words_and_rows_frames_with_names():
    names = np.array(["setosa", "versicolor", "virginica"])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = OnlinePolicyClassifier(random_state=0).fit(frame, names[Y])
    plain = OnlinePolicyClassifier(random_state=0).fit(X, Y)
    assert model.classes_.tolist() == names.tolist()
    assert (model.predict(frame) == names[plain.predict(X)]).all()
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_costs_move_the_choice():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(400, 1)), (rng.random(400) < 0.4).astype(int)
    assert OnlinePolicyClassifier(random_state=0).fit(rows, labels).predict(rows).mean() < 0.1
    costly = OnlinePolicyClassifier(costs=[[0, 1], [5, 0]], random_state=0).fit(rows, labels)
    assert costly.predict(rows).mean() > 0.9
    weights = np.where(labels == 1, 5.0, 1.0)
    weighed = OnlinePolicyClassifier(random_state=0).fit(rows, labels, sample_weight=weights)
    assert (weighed.predict(rows) == costly.predict(rows)).all()
    assert weighed.mean_loss_ == pytest.approx(costly.mean_loss_ * 400 / weights.sum())


def test_a_weight_is_a_number_of_rounds_for_an_exact_class():
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 4, size=150)
    model = OnlinePolicyClassifier(hn.oracles.Stumps, random_state=0)
    one = clone(model).fit(GRID, Y, sample_weight=weights).predict(GRID)
    two = clone(model).fit(GRID.repeat(weights, axis=0), Y.repeat(weights)).predict(GRID)
    assert (one == two).all()


def test_rows_without_weight_are_not_played():
    weights = np.arange(150) % 2
    half = OnlinePolicyClassifier(random_state=0).fit(X, Y, sample_weight=weights)
    odd = OnlinePolicyClassifier(random_state=0).fit(X[1::2], Y[1::2])
    assert half.n_rounds_ == 75
    assert half.mean_loss_ == odd.mean_loss_
    assert (half.predict_proba(X) == odd.predict_proba(X)).all()


@pytest.mark.stat
@pytest.mark.parametrize("oracle", [None, hn.oracles.Stumps], ids=["computed", "drawn"])
def test_probabilities_are_those_of_play(oracle):
    # Each of 2 · 6 tests raises a false alarm with probability 0.001.
    n = 4000
    rows = X[:60] if oracle is None else GRID[:60]
    model = OnlinePolicyClassifier(oracle, epsilon=0.5, draws=n, random_state=0).fit(rows, Y[:60])
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    # Where the distribution depends most on the size of the noise: neither decided nor indifferent.
    telling = np.argsort(abs(proba.max(axis=1) - 0.7))[:6]
    for i in telling:
        seen = np.bincount(model.learner_.would_play(rows[i], n, seed=int(i)), minlength=3)
        keep = proba[i] > 0.003
        if oracle is None:
            expected = proba[i][keep] / proba[i][keep].sum() * seen[keep].sum()
            assert stats.chisquare(seen[keep], expected).pvalue > 1e-3
        else:
            counts = np.array([seen, n * proba[i]])[:, keep]
            assert stats.chi2_contingency(counts).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.stat
def test_perturbed_predictions_follow_the_law_with_fresh_noise():
    model = OnlinePolicyClassifier(epsilon=0.5, play="perturbed", random_state=0).fit(X, Y)
    row = X[[np.argmin(abs(model.predict_proba(X).max(axis=1) - 0.7))]]
    q = model.predict_proba(row)[0]
    many = model.predict(np.repeat(row, 2000, axis=0))
    seen = np.bincount(many, minlength=3)
    keep = q > 0.003
    assert stats.chisquare(seen[keep], q[keep] / q[keep].sum() * seen[keep].sum()).pvalue > 1e-3
    again = OnlinePolicyClassifier(epsilon=0.5, play="perturbed", random_state=0).fit(X, Y)
    assert (again.predict(np.repeat(row, 2000, axis=0)) == many).all()
    assert (again.predict(np.repeat(row, 2000, axis=0)) != many).any()


def test_asking_changes_nothing():
    asked, left = (OnlinePolicyClassifier(epsilon="anytime", random_state=1) for _ in range(2))
    for model in (asked, left):
        model.partial_fit(X[:50], Y[:50], classes=[0, 1, 2])
    asked.predict(X), asked.predict_proba(X), asked.decision_function(X), asked.certificate_()
    asked.set_params(play="perturbed").predict(X)
    for model in (asked, left):
        model.partial_fit(X[50:], Y[50:])
    assert asked.mean_loss_ == left.mean_loss_
    assert (asked.predict_proba(X) == left.predict_proba(X)).all()


def restarting_bandit(oracle, seed, loss_range):
    guess = hn.predictors.Ridge()
    bandit = hn.ContextSemiBanditFTPL(oracle, predictor=guess, seed=seed, loss_range=loss_range)
    return hn.Restarting(bandit)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {"learner": "bandit", "predictor": hn.predictors.Ridge()},
        {"learner": restarting_bandit},
    ],
    ids=["plain", "restarting"],
)
def test_guesses_count_in_predictions_as_they_do_in_play(parameters):
    # With bandit feedback and hints the totals alone know next to nothing.
    rows, labels = load_digits(return_X_y=True)
    model = OnlinePolicyClassifier(**parameters, random_state=0).fit(rows / 16, labels)
    probe = rows[:300] / 16
    assert model.mean_loss_ < 0.2
    assert model.score(probe, labels[:300]) > 0.9
    assert (model.predict_proba(probe).argmax(axis=1) == model.predict(probe)).mean() > 0.99
    assert not hasattr(model, "decision_function")  # scores alone would not tell of hints


def test_learners_that_are_no_perturbed_leaders_are_asked():
    def follow(oracle, seed, loss_range):
        return hn.baselines.FollowTheLeader(oracle, loss_range=loss_range)

    model = OnlinePolicyClassifier(learner=follow, draws=3).fit(X, Y)
    assert (model.predict_proba(X[:20]) == np.eye(3)[model.predict(X[:20])]).all()


def restarting(oracle, seed, loss_range):
    return hn.Restarting(hn.ContextFTPL(oracle, seed=seed, loss_range=loss_range))


@pytest.mark.slow
def test_a_learner_of_ones_own_forgets_old_labels():
    rows, labels = load_digits(return_X_y=True)
    rows, labels = np.tile(rows[:900] / 16, (2, 1)), np.concatenate([labels[:900]] * 2)
    labels[900:] = 9 - labels[900:]
    plain = OnlinePolicyClassifier(random_state=0).fit(rows, labels)
    model = OnlinePolicyClassifier(learner=restarting, random_state=0).fit(rows, labels)
    assert model.mean_loss_ < 0.6 * plain.mean_loss_
    assert model.score(rows[900:], labels[900:]) > 0.9
    assert 900 < model.learner_.restarts[-1] < 1000
    assert not hasattr(model, "decision_function")
    assert model.predict_proba(rows[:5]).shape == (5, 10)
    assert pickle.loads(pickle.dumps(model)).mean_loss_ == model.mean_loss_


def test_a_theorem_covers_declared_rows_and_an_exact_class():
    distinct = np.unique(GRID, axis=0)
    model = OnlinePolicyClassifier(
        hn.oracles.Stumps,
        learner=functools.partial(hn.ContextFTPL, contexts=distinct),
        random_state=0,
    ).fit(GRID, Y)
    promise = model.certificate_()
    assert promise.realised_regret < promise.high_probability
    assert promise.realised_regret == pytest.approx(
        150 * model.mean_loss_ - (model.predict(GRID) != Y).sum()
    )
    assert "no theorem" in str(OnlinePolicyClassifier(random_state=0).fit(X, Y).certificate_())


@pytest.mark.slow
def test_it_works_in_pipelines_searches_and_cross_validation():
    model = make_pipeline(StandardScaler(), OnlinePolicyClassifier(random_state=0))
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.75
    grid = {"onlinepolicyclassifier__oracle__max_depth": [1, 3]}
    model.set_params(onlinepolicyclassifier__oracle=DecisionTreeClassifier(random_state=0))
    model.set_params(onlinepolicyclassifier__epsilon=1.0)
    search = GridSearchCV(model, grid, cv=2, scoring="accuracy").fit(X[:60], Y[:60])
    assert search.best_params_ == {"onlinepolicyclassifier__oracle__max_depth": 3}
    assert search.predict_proba(X[:4]).shape == (4, 3)
    assert cross_val_score(OnlinePolicyClassifier(), X, Y == 1, cv=2, scoring="roc_auc").min() > 0.5


@pytest.mark.parametrize(
    "oracle",
    [
        hn.oracles.LinearPolicies(3, ridge=0.1),
        hn.oracles.Stumps,
        lambda n: hn.oracles.Trees(n_actions=n),
        DecisionTreeClassifier(max_depth=2),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)),
    ],
    ids=["oracle", "class", "function", "estimator", "pipeline"],
)
def test_policy_classes_may_be_given_in_many_ways(oracle):
    model = OnlinePolicyClassifier(oracle, epsilon=1.0, draws=5, random_state=0)
    copy = clone(model)
    copy.fit(GRID[:60], Y[:60])
    assert not hasattr(model, "learner_")
    assert copy.score(GRID, Y) > 0.6
    proba = copy.predict_proba(GRID[:10])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert hasattr(copy, "decision_function") == isinstance(oracle, hn.oracles.LinearPolicies)


def test_random_states_are_taken_as_scikit_learn_does():
    def loss(state):
        return OnlinePolicyClassifier(epsilon=0.1, random_state=state).fit(X, Y).mean_loss_

    assert loss(5) == loss(5) == loss(np.int64(5)) != loss(6)
    assert loss(np.random.RandomState(5)) == loss(np.random.RandomState(5))
    state = np.random.RandomState(5)
    assert loss(state) != loss(state)
    np.random.seed(0)  # noqa: NPY002
    first = loss(None)
    np.random.seed(0)  # noqa: NPY002
    assert loss(None) == first


def test_margins_are_scores_over_the_noise():
    model = OnlinePolicyClassifier(random_state=0).fit(X, Y)
    A = np.eye(5)
    b = np.zeros((5, 3))
    for row, label in zip(X, Y, strict=True):
        x = np.append(row, 1.0)
        A += np.outer(x, x)
        b += np.outer(x, 1.0 - np.eye(3)[label])
    rows = np.column_stack([X, np.ones(150)])
    units = np.sqrt((rows @ np.linalg.inv(A) * rows).sum(axis=1, keepdims=True))
    expected = -(rows @ np.linalg.solve(A, b)) / units
    expected -= expected.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


# Refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"oracle": hn.oracles.LinearPolicies(4)}, hn.ParameterError, "one of 3 actions"),
        ({"oracle": hn.oracles.Subsets(3, 2)}, hn.ParameterError, "one of 3 actions"),
        ({"oracle": "tree"}, hn.InputTypeError, "oracle="),
        ({"oracle": DecisionTreeClassifier}, hn.InputTypeError, "oracle="),
        ({"learner": "greedy"}, hn.ParameterError, "'full', 'bandit'"),
        ({"learner": lambda *a, **b: 3}, hn.ParameterError, "'learner'.*best_policy"),
        ({"play": "safe"}, hn.ParameterError, "'leader', 'perturbed'"),
        ({"draws": 0}, hn.ParameterError, "'draws'"),
        ({"costs": np.eye(2)}, hn.ParameterError, "3 rows of 3 finite"),
        ({"costs": [[0, np.nan, 1]] * 3}, hn.ParameterError, "finite"),
        ({"costs": "high"}, hn.ParameterError, "'costs'"),
        ({"epsilon": -1}, hn.ParameterError, "'epsilon'"),
        ({"random_state": -1}, hn.ParameterError, "'random_state'"),
    ],
)
def test_bad_parameters_are_refused_when_it_is_fitted(parameters, error, message):
    model = OnlinePolicyClassifier().set_params(**parameters)
    with pytest.raises(error, match=message):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_refused_call_changes_nothing():
    model = OnlinePolicyClassifier(random_state=0)
    with pytest.raises(hn.ParameterError, match="classes="):
        model.partial_fit(X, Y)
    with pytest.raises(hn.ParameterError, match=r"label 2.*not among the classes"):
        model.partial_fit(X, Y, classes=[0, 1])
    assert not [name for name in vars(model) if name.endswith("_")]
    for name in ("mean_loss_", "n_rounds_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)
    model.partial_fit(X[:100], Y[:100], classes=[0, 1, 2])
    before = model.mean_loss_, model.predict_proba(X).tolist()
    for call in (
        lambda: model.partial_fit(X, Y + 1),
        lambda: model.partial_fit(X, Y, classes=[0, 1]),
        lambda: model.partial_fit(X[:, :3], Y),
        lambda: model.partial_fit(X, Y, sample_weight=-np.ones(150)),
        lambda: model.partial_fit(X, Y, sample_weight=np.zeros(150)),
        lambda: model.fit(np.where(X > 7, np.nan, X), Y),
        lambda: model.fit(X[:, :2], X[:, 2]),
        lambda: model.set_params(draws=-1).fit(X[:, :2], Y > 0),
    ):
        with pytest.raises(ValueError, match=r".+"):
            call()
    model.set_params(draws=200)
    assert (model.mean_loss_, model.predict_proba(X).tolist()) == before
    assert model.n_features_in_ == 4


def test_a_learner_that_fails_on_the_way_leaves_the_last_fit_as_it_was():
    class Fragile(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if fails:
                raise RuntimeError("no memory today")
            return super().fit(X, y, sample_weight=sample_weight)

    fails = []
    model = OnlinePolicyClassifier(Fragile(max_depth=1), epsilon=1.0, random_state=0)
    model.fit(X[:20], Y[:20])
    before = model.mean_loss_, model.predict(X).tolist()
    fails.append(True)
    with pytest.raises(RuntimeError, match="memory"):
        model.fit(X[20:40], Y[20:40])
    fails.clear()
    assert (model.mean_loss_, model.predict(X).tolist()) == before


def test_weights_that_leave_the_range_of_the_losses_are_refused_where_it_matters():
    heavy = np.full(150, 2.0)
    costs = [[1, 2, 2], [2, 1, 2], [2, 2, 1]]
    assert (
        OnlinePolicyClassifier().fit(X, Y).partial_fit(X, Y, sample_weight=heavy).n_rounds_ == 300
    )
    for parameters in ({"learner": "bandit"}, {"epsilon": "anytime"}, {"learner": restarting}):
        model = OnlinePolicyClassifier(**parameters, costs=costs).fit(X, Y)
        assert tuple(model.learner_.loss_range) == (1.0, 2.0)
        for weight in (heavy, heavy / 4):
            with pytest.raises(hn.LossError, match=r"in \(1.0, 2.0\).*largest weight"):
                model.partial_fit(X, Y, sample_weight=weight)
        assert model.n_rounds_ == 150
        model.fit(X, Y, sample_weight=heavy).partial_fit(X, Y, sample_weight=heavy / 4)
        assert tuple(model.learner_.loss_range) == (0.0, 4.0)
        assert 1.0 <= model.mean_loss_ <= 2.0


def test_sparse_rows_are_refused_by_name():
    with pytest.raises(TypeError, match="toarray"):
        OnlinePolicyClassifier().fit(sparse.csr_array(X), Y)
