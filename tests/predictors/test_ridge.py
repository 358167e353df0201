import numpy as np
import pytest
from sklearn.linear_model import Ridge as SklearnRidge

import hannan as hn

CONTRACT = {"Ridge": hn.predictors.Ridge(), "Ridge, plain": hn.predictors.Ridge(alpha=0.0)}


def seen(T, p, K, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(T, p)), rng.integers(K, size=T), rng.random(T)


def taught(X, actions, losses, K, **options):
    ridge = hn.predictors.Ridge(**options)
    ridge.prepare(K)
    for x, k, y in zip(X, actions, losses, strict=True):
        ridge.learn(x, int(k), float(y))
    return ridge


@pytest.mark.parametrize("penalty", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_mean_equals_ridge_regression_for_each_element(penalty, intercept):
    K, p = 3, 4
    X, actions, losses = seen(60, p, K)
    ridge = taught(X, actions, losses, K, alpha=0.0, ridge=penalty, intercept=intercept)
    for x in np.random.default_rng(1).normal(size=(10, p)):
        found = ridge.predict(x)
        for k in range(K):
            design, at = X[actions == k], x
            if intercept:  # the constant is penalised like any other feature
                design, at = np.column_stack([design, np.ones(len(design))]), np.append(x, 1.0)
            model = SklearnRidge(alpha=penalty, fit_intercept=False)
            model.fit(design, losses[actions == k])
            assert found[k] == pytest.approx(np.clip(model.predict([at])[0], 0, 1), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_the_guess_lies_a_confidence_width_below_the_mean(alpha):
    K, p, penalty = 2, 3, 2.0
    X, actions, _ = seen(40, p, K)
    losses = np.full(40, 0.9)
    mean = taught(X, actions, losses, K, alpha=0.0, ridge=penalty)
    lower = taught(X, actions, losses, K, alpha=alpha, ridge=penalty)
    close = 0
    for x in np.random.default_rng(2).normal(size=(30, p)):
        at = np.append(x, 1.0)
        for k in range(K):
            design = np.column_stack([X, np.ones(40)])[actions == k]
            R = np.linalg.inv(penalty * np.eye(p + 1) + design.T @ design)
            w = R @ design.T @ losses[actions == k]
            width = np.sqrt(at @ R @ at)
            assert mean.predict(x)[k] == pytest.approx(np.clip(at @ w, 0, 1), abs=1e-9)
            expected = np.clip(at @ w - alpha * width, 0, 1)
            assert lower.predict(x)[k] == pytest.approx(expected, abs=1e-9)
            assert lower.baseline(x)[k] == pytest.approx(np.clip(at @ w - width, 0, 1), abs=1e-9)
            close += 0 < expected < 1
    assert close > 20


def test_elements_that_were_not_seen_are_guessed_free():
    ridge = taught([[1.0]], [1], [0.8], 3)
    assert ridge.predict([1.0])[0] == ridge.predict([1.0])[2] == 0.0
    assert ridge.predict([1.0])[1] > 0.2


def test_sets_teach_every_chosen_element():
    ridge = hn.predictors.Ridge(alpha=0.0)
    ridge.prepare(4)
    other = hn.predictors.Ridge(alpha=0.0)
    other.prepare(4)
    ridge.learn([0.5, 1.0], np.array([0, 2]), np.array([0.3, 0.9]))
    other.learn([0.5, 1.0], 2, 0.9)
    other.learn([0.5, 1.0], 0, 0.3)
    np.testing.assert_array_equal(ridge.predict([1.0, 1.0]), other.predict([1.0, 1.0]))


def test_contexts_may_be_numbers_of_feature_rows():
    features = np.random.default_rng(0).normal(size=(5, 2))
    by_number = hn.predictors.Ridge(features=features)
    by_row = hn.predictors.Ridge()
    for each in (by_number, by_row):
        each.prepare(2)
    for x in (0, 3, 1, 0):
        by_number.learn(x, 1, 0.5)
        by_row.learn(features[x], 1, 0.5)
    np.testing.assert_array_equal(by_number.predict(4), by_row.predict(features[4]))


def test_an_array_that_is_used_again_is_read_again():
    ridge = taught([[0.1], [0.9]] * 20, [0] * 40, [0.1, 0.9] * 20, 1, alpha=0.0)
    row = np.array([0.1])
    before = ridge.predict(row)[0]
    row[0] = 0.9
    assert ridge.predict(row)[0] == ridge.predict([0.9])[0] > before + 0.3
    ridge.learn(row, 0, 1.0)
    row[0] = 0.1
    other = taught([[0.1], [0.9]] * 20 + [[0.9]], [0] * 41, [0.1, 0.9] * 20 + [1.0], 1, alpha=0.0)
    np.testing.assert_array_equal(ridge.predict(row), other.predict([0.1]))


def test_another_number_of_features_is_refused():
    ridge = taught([[1.0, 2.0]], [0], [0.5], 2)
    with pytest.raises(hn.ContextError, match="2 features"):
        ridge.predict([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "options", [{"alpha": -0.1}, {"alpha": np.nan}, {"ridge": 0.0}, {"ridge": -1.0}]
)
def test_bad_parameters_are_refused(options):
    with pytest.raises(hn.ParameterError, match=next(iter(options))):
        hn.predictors.Ridge(**options)


def test_a_clone_has_learned_nothing():
    ridge = taught([[1.0]] * 5, [0] * 5, [1.0] * 5, 2)
    fresh = ridge.clone()
    fresh.prepare(2)
    assert ridge.predict([1.0])[0] > 0.3
    assert fresh.predict([1.0])[0] == 0.0


def test_it_makes_a_bandit_learner_better_where_losses_are_linear():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 3))
    truth = np.clip(0.5 + 0.3 * features @ rng.normal(size=(3, 4)), 0, 1)
    contexts = rng.integers(30, size=1500)
    noise = rng.random((1500, 4))
    total = {}
    for name, predictor in (("none", None), ("ridge", hn.predictors.Ridge(features=features))):
        learner = hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(30, 4), predictor=predictor, seed=0
        )
        total[name] = 0.0
        for t, x in enumerate(contexts):
            action = learner.act(int(x))
            loss = float(noise[t, action] < truth[x, action])
            learner.update(loss)
            total[name] += loss
    least = truth.min(axis=1)[contexts].sum()
    assert total["ridge"] - least < 0.5 * (total["none"] - least)


def one_by_one(rounds, K, **options):
    """Elements taught one after the other: each keeps an inverse of its own."""
    ridge = hn.predictors.Ridge(**options)
    ridge.prepare(K)
    for x, elements, losses in rounds:
        for k, y in zip(elements, losses, strict=True):
            ridge.learn(x, int(k), float(y))
    return ridge


@pytest.mark.parametrize("partial", [None, 0, 10, 19])
def test_full_information_equals_every_element_alone(partial):
    # All elements in each round, but for one round of two of them.
    K, p = 4, 3
    rng = np.random.default_rng(0)
    rounds = [(rng.normal(size=p), np.arange(K), rng.random(K)) for _ in range(20)]
    if partial is not None:
        x, _, losses = rounds[partial]
        rounds[partial] = (x, np.array([1, 3]), losses[[1, 3]])
    ridge = hn.predictors.Ridge(alpha=0.2)
    ridge.prepare(K)
    for x, elements, losses in rounds:
        ridge.learn(x, elements, losses)
    other = one_by_one(rounds, K, alpha=0.2)
    assert len(ridge._fits._inverse) == 10 * (1 if partial is None else K)
    for x in rng.normal(size=(10, p)):
        for ask in ("predict", "baseline", "estimate"):
            np.testing.assert_array_equal(getattr(ridge, ask)(x), getattr(other, ask)(x))


def test_estimate_is_the_guess_without_a_width():
    X, actions, losses = seen(30, 2, 2)
    ridge = taught(X, actions, losses, 2, alpha=0.4)
    plain = taught(X, actions, losses, 2, alpha=0.0)
    x = X[0]
    np.testing.assert_array_equal(ridge.estimate(x), plain.predict(x))
    assert (ridge.estimate(x) > ridge.predict(x)).any()


def test_losses_that_do_not_fit_the_elements_are_refused():
    ridge = taught([[1.0]], [0], [0.5], 3)
    before = ridge.predict([1.0])
    with pytest.raises(hn.LossError, match="2 losses"):
        ridge.learn([1.0], np.array([0, 1]), np.array([0.1, 0.2, 0.3]))
    np.testing.assert_array_equal(ridge.predict([1.0]), before)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_single_element_is_learned_as_one_of_several(intercept):
    X, actions, losses = seen(80, 5, 3, seed=4)
    single = taught(X, actions, losses, 3, intercept=intercept)
    listed = hn.predictors.Ridge(intercept=intercept)
    listed.prepare(3)
    for x, k, y in zip(X, actions, losses, strict=True):
        listed.learn(x, np.array([k]), np.array([y]))
    x = np.linspace(-1.0, 1.0, 5)
    for verb in ("predict", "estimate", "widths"):
        assert (getattr(single, verb)(x) == getattr(listed, verb)(x)).all()


@pytest.mark.parametrize(
    ("context", "action", "loss", "error"),
    [
        ([np.nan, 0.0], 1, 0.5, hn.ContextError),
        ([0.0, 1.0, 2.0], 1, 0.5, hn.ContextError),
        ([0.0, 1.0], 3, 0.5, hn.ParameterError),
        ([0.0, 1.0], -1, 0.5, hn.ParameterError),
        ([0.0, 1.0], 1, np.nan, hn.LossError),
    ],
)
def test_a_bad_observation_changes_nothing(context, action, loss, error):
    X, actions, losses = seen(20, 2, 3)
    ridge = taught(X, actions, losses, 3)
    before = ridge.predict(X[0]), ridge.widths(X[0])
    with pytest.raises(error):
        ridge.learn(np.array(context), action, loss)
    assert (before[0] == ridge.predict(X[0])).all()
    assert (before[1] == ridge.widths(X[0])).all()
