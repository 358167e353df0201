import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsRegressor,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hannan as hn
from hannan.core.oracle import Draw
from hannan.oracles import SklearnPolicies
from hannan.perturbation import seed_key

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
ESTIMATORS = [
    LogisticRegression(),
    DecisionTreeClassifier(max_depth=2, max_features=1),
    RandomForestClassifier(3),
    GaussianNB(),
    LOGISTIC,
    LinearRegression(),
    Ridge(),
    KNeighborsRegressor(3),
    make_pipeline(StandardScaler(), Ridge()),
]
GRID = [np.array([x]) for x in (0.0, 1.0, 2.0, 3.0)]
CONTRACT = {
    "SklearnPolicies": (
        SklearnPolicies(DecisionTreeClassifier(max_depth=1), n_actions=2),
        np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.5]]),
    ),
}


class Cut(ClassifierMixin, BaseEstimator):
    """The best cut of one feature by weighted accuracy, found by trying all."""

    asked = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.asked.append((X.copy(), y.copy(), sample_weight.copy()))
        best = -1.0
        for theta in (*np.unique(X), np.inf):
            for low in self.classes_:
                for high in self.classes_:
                    right = sample_weight[np.where(X[:, 0] < theta, low, high) == y].sum()
                    if right > best + 1e-9:
                        best, self.rule_ = right, (theta, low, high)
        return self

    def predict(self, X):
        theta, low, high = self.rule_
        return np.where(X[:, 0] < theta, low, high)


class Means(RegressorMixin, BaseEstimator):
    """Keeps what it is given."""

    asked = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.asked.append((X.copy(), y.copy(), sample_weight.copy()))
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def rounds(seed, K, count=12, contexts=GRID):
    rng = np.random.default_rng(seed)
    losses = rng.integers(-2, 3, size=(count, K)).astype(float)
    return [(contexts[rng.integers(len(contexts))], row) for row in losses]


def total(oracle, history):
    objective = oracle.objective()
    for context, losses in history:
        objective.add(context, losses)
    return objective


def value(policy, history):
    return sum(losses[policy(x)] for x, losses in history)


def cuts(K):
    for theta in (0.0, 1.0, 2.0, 3.0):
        for low in range(K):
            for high in range(K):
                yield lambda x, t=theta, a=low, b=high: a if x[0] < t else b


@pytest.mark.parametrize("K", [1, 2, 3])
def test_an_exact_classifier_gives_the_best_policy(K):
    # Weighted accuracy is a constant minus the loss, also with noise and with signed losses.
    oracle = SklearnPolicies(Cut(), K)
    for seed in range(60):
        history = rounds(seed, K, count=seed % 13)
        objective = total(oracle, history)
        noise = oracle.noise(GRID, seed_key(seed), 0, 2**16)
        for scale in (0.0, 1.0, -2.0):
            fakes = list(zip(GRID, scale * noise.unit(seed), strict=True))
            best = min(value(policy, history + fakes) for policy in cuts(K))
            leader = objective.leaders(Draw(noise, seed, scale), 1)[0]
            assert value(leader, history + fakes) == pytest.approx(best, abs=1e-9)
            assert objective.minima(Draw(noise, seed, scale), 1)[0] == pytest.approx(best, abs=1e-9)


def test_weights_are_the_regrets_of_the_worst_action():
    Cut.asked.clear()
    history = [(GRID[0], [1.0, 0.0, -2.0]), (GRID[0], [0.0, 1.0, 0.0]), (GRID[2], [2.0, 5.0, 5.0])]
    total(SklearnPolicies(Cut(), 3), [(x, np.array(row)) for x, row in history]).leader()
    X, y, weights = Cut.asked[-1]
    assert X.ravel().tolist() == [0.0, 2.0]
    assert y.tolist() == [2, 0]
    np.testing.assert_allclose(weights / weights.mean(), weights)
    assert weights[0] == weights[1]


def test_regressors_see_mean_losses_and_numbers_of_rounds():
    Means.asked.clear()
    objective = SklearnPolicies(Means(), 2).objective()
    for _ in range(3):
        objective.add(GRID[1], np.array([1.0, 0.0]))
    objective.add(GRID[2], np.array([0.0, 4.0]))
    objective.add(GRID[2], np.zeros(2))
    objective.leader()
    (X, first, weights), (_, second, _) = Means.asked[-2:]
    rows = zip(X.ravel(), first, second, weights, strict=True)
    assert sorted(rows) == [(1.0, 0.5, -0.5, 1.2), (2.0, -1.0, 1.0, 0.8)]


def test_linear_regression_is_weighted_least_squares():
    rng = np.random.default_rng(0)
    contexts = list(rng.normal(size=(8, 2)))
    history = rounds(1, 3, count=60, contexts=contexts)
    leader = total(SklearnPolicies(LinearRegression(), 3), history).leader()
    X = np.array([[1.0, *x] for x, _ in history])
    coefficients = np.linalg.lstsq(X, np.array([row for _, row in history]), rcond=None)[0]
    for x in [*contexts, *rng.normal(size=(20, 2))]:
        assert leader(x) == np.argmin(np.array([1.0, *x]) @ coefficients)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_leaders_depend_on_the_losses_alone(estimator):
    rng = np.random.default_rng(0)
    contexts = list(rng.normal(size=(15, 2)))
    history = rounds(3, 3, count=60, contexts=contexts)
    oracle = SklearnPolicies(estimator, 3)
    order = rng.permutation(len(history))
    np.random.seed(1)  # noqa: NPY002
    one = total(oracle, history)
    two = total(SklearnPolicies(estimator, 3), [history[i] for i in order])
    again = [one.leader(), two.leader(), one.copy().leader()]
    tries = [*contexts, *rng.normal(size=(20, 2))]
    plays = [[policy(x) for x in tries] for policy in again]
    assert plays[0] == plays[1] == plays[2]
    assert all(type(action) is int for action in plays[0])
    best = min(sum(losses[k] for _, losses in history) for k in range(3))
    assert value(again[0], history) <= best


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_estimator_given_is_not_touched(estimator):
    before = {name: repr(v) for name, v in estimator.get_params().items()}
    fitted = set(vars(estimator))
    oracle = SklearnPolicies(estimator, 2)
    total(oracle, rounds(0, 2)).leader()(GRID[0])
    assert oracle.estimator is estimator
    assert {name: repr(v) for name, v in estimator.get_params().items()} == before
    assert set(vars(estimator)) == fitted


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [DecisionTreeClassifier(max_depth=1), GaussianNB(), LinearRegression()],
    ids=lambda e: type(e).__name__,
)
def test_it_keeps_the_contract(estimator):
    contexts = [np.array(x) for x in ([0.0, 1.0], [1.0, 2.0], [2.0, 0.5])]
    hn.checks.check_oracle(SklearnPolicies(estimator, 2), contexts)


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=1), LinearRegression()])
def test_noise_is_fake_rounds(estimator):
    oracle = SklearnPolicies(estimator, 3)
    history = rounds(5, 3)
    noise = oracle.noise([*GRID, GRID[0]], seed_key(0), 0, 2**16)  # one of them twice
    for draw in range(10):
        fakes = list(zip(noise.contexts, 2.0 * noise.unit(draw), strict=True))
        expected = total(oracle, history + fakes).leader()
        found = total(oracle, history).leaders(Draw(noise, draw, 2.0), 1)[0]
        assert [found(x) for x in GRID] == [expected(x) for x in GRID]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_it_works_from_the_first_row_of_an_open_world(estimator):
    rng = np.random.default_rng(0)
    learner = hn.ContextFTPL(SklearnPolicies(estimator, 2), epsilon=1.0, seed=0)
    for _ in range(6):
        x = rng.normal(size=2)
        learner.act(x)
        learner.update([float(x[0] > 0), float(x[0] <= 0)])
    assert "no theorem" in str(learner.certificate())
    assert learner.best_policy()([5.0, 0.0]) in (0, 1)


@pytest.mark.parametrize("make", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_it_tunes_itself_in_an_open_world(make):
    rng = np.random.default_rng(0)
    learner = make(SklearnPolicies(DecisionTreeClassifier(max_depth=1), 2), seed=0)
    for _ in range(40):
        x = rng.normal(size=2)
        losses = np.array([float(x[0] > 0), float(x[0] <= 0)])
        action = learner.act(x)
        learner.update(losses if make is hn.ContextFTPL else losses[action])
    assert learner.complexity.value > 1.0
    assert [learner.best_policy()([v, 0.0]) for v in (-3.0, 3.0)] == [0, 1]


@pytest.mark.slow
def test_a_tree_learns_a_rule_with_full_and_with_bandit_feedback():
    rng = np.random.default_rng(0)
    contexts = rng.integers(0, 4, size=(120, 2)).astype(float)
    right = (contexts[:, 0] >= 2).astype(int)
    losses = 1.0 - np.eye(2)[right]
    world = hn.environments.FromArrays(contexts, losses)
    oracle = SklearnPolicies(DecisionTreeClassifier(max_depth=1), 2)
    X = np.unique(contexts, axis=0)
    full = hn.play(hn.ContextFTPL(oracle, contexts=X, seed=0), world)
    assert full.losses.sum() < 15
    bandit = hn.ContextSemiBanditFTPL(oracle, contexts=X, epsilon=1.0, max_resamples=6, seed=0)
    assert hn.play(bandit, world).losses[40:].mean() < 0.35
    pool = hn.ContextFTPL(oracle, contexts=hn.Pool(X[:5]), epsilon=1.0, seed=0)
    assert hn.play(pool, world).losses[20:].mean() < 0.2


def test_too_few_rows_to_fit_give_the_best_constant():
    for estimator in (LogisticRegression(), KNeighborsRegressor(3), GaussianNB()):
        objective = SklearnPolicies(estimator, 3).objective()
        assert objective.leader()([0.0]) == 0
        objective.add(GRID[0], np.array([1.0, 0.5, 0.0]))
        assert objective.leader()([9.0]) == 2
        objective.add(GRID[1], np.array([1.0, 0.0, 0.5]))
        objective.add(GRID[1], np.array([0.0, 0.0, 0.0]))
    assert (
        total(SklearnPolicies(LinearRegression(), 2), [(x, np.ones(2)) for x in GRID]).leader()(
            GRID[0]
        )
        == 0
    )


def first_rounds(estimator, count=20):
    """Play from the first row on, the third action being right only late and seldom."""
    rng = np.random.default_rng(0)
    learner = hn.ContextFTPL(SklearnPolicies(estimator, 3), epsilon=1.0, seed=0)
    for _ in range(count):
        x = rng.normal(size=2)
        learner.act(x)
        learner.update(1.0 - np.eye(3)[int(x[0] > 0) + int(x[0] > 1)])
    return learner


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(),
        SGDClassifier(),
        LinearSVC(),
        SVC(),
        SVR(),
        ExtraTreesClassifier(3),
        AdaBoostClassifier(n_estimators=3),
        BaggingClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        HistGradientBoostingRegressor(max_iter=2),
        MLPClassifier((3,), max_iter=5),
        BernoulliNB(),
        VotingClassifier([("one", GaussianNB()), ("two", LogisticRegression())]),
        TransformedTargetRegressor(Ridge()),
        Pipeline([("none", "passthrough"), ("bayes", GaussianNB())]),
        make_pipeline(PolynomialFeatures(2), make_pipeline(StandardScaler(), Ridge())),
        make_pipeline(make_column_transformer((StandardScaler(), [0])), GaussianNB()),
    ],
    ids=lambda e: type(e).__name__,
)
def test_common_estimators_work_from_the_first_round_on(estimator):
    plays = [[first_rounds(estimator).best_policy()(x) for x in ([-3.0, 0.0], [3.0, 0.0])]]
    np.random.seed(4)  # noqa: NPY002
    plays.append([first_rounds(estimator).best_policy()(x) for x in ([-3.0, 0.0], [3.0, 0.0])])
    assert plays[0] == plays[1]
    assert set(plays[0]) <= {0, 1, 2}


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (CalibratedClassifierCV(GaussianNB(), cv=2), "cross-validation"),
        (HistGradientBoostingClassifier(early_stopping=True), "early stopping"),
        (MultinomialNB(), r"cannot fit MultinomialNB\(\) on \d+ contexts of 2.*Negative values"),
        (make_pipeline(make_column_transformer((StandardScaler(), ["age"])), Ridge()), "names"),
        (DecisionTreeClassifier(max_depth="deep"), "'max_depth' parameter"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_estimators_that_cannot_learn_a_few_rows_are_named(estimator, message):
    with pytest.raises(hn.ParameterError, match=f"(?s){message}") as caught:
        first_rounds(estimator)
    assert isinstance(caught.value.__cause__, ValueError | TypeError)


def test_weights_find_their_way_into_what_takes_them():
    inside = Means()
    for estimator in (
        GridSearchCV(inside, {}, cv=2),
        make_pipeline(StandardScaler(), inside),
        TransformedTargetRegressor(inside),
        VotingRegressor([("one", inside), ("two", "drop")]),
    ):
        Means.asked.clear()
        objective = SklearnPolicies(estimator, 2).objective()
        for context in (*GRID, *GRID, GRID[0], GRID[0]):
            objective.add(context, np.array([1.0, 0.0]))
        objective.leader()
        weights = Means.asked[-1][2]
        assert sorted(weights / weights.min()) == [1.0, 1.0, 1.0, 2.0]
    members = [("one", GaussianNB()), ("two", KNeighborsClassifier(1))]
    with pytest.raises(hn.ParameterError, match="no sample_weight"):
        SklearnPolicies(VotingClassifier(members), 2)


# It warns of rows without neighbours, which is what is tested.
@pytest.mark.filterwarnings("ignore:One or more samples have no neighbors:UserWarning")
def test_where_nothing_is_predicted_the_best_constant_is_played():
    objective = SklearnPolicies(RadiusNeighborsRegressor(0.5), 3).objective()
    for context, best in zip(GRID, (1, 2, 2, 1), strict=True):
        objective.add(context, 1.0 - np.eye(3)[best])
    objective.add(GRID[0], np.array([1.0, 1.0, 0.5]))
    leader = objective.leader()
    assert [leader([v]) for v in (0.0, 1.1, 2.0, 3.2)] == [1, 2, 2, 1]
    assert leader([9.0]) == leader.constant == 2


def test_random_states_are_fixed_and_integers_kept():
    oracle = SklearnPolicies(make_pipeline(StandardScaler(), SGDClassifier()), 2)
    assert oracle._template.get_params()["sgdclassifier__random_state"] == 0
    kept = SklearnPolicies(DecisionTreeClassifier(random_state=7), 2)
    assert kept._template.random_state == 7
    fixed = SklearnPolicies(DecisionTreeClassifier(random_state=np.random.RandomState(3)), 2)
    assert fixed._template.random_state == 0


def test_an_estimator_that_fails_leaves_the_totals_as_they_were():
    class Fragile(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if fails:
                raise RuntimeError("no memory today")
            return super().fit(X, y, sample_weight=sample_weight)

    fails = []
    oracle = SklearnPolicies(Fragile(max_depth=1), 2)
    twin = total(SklearnPolicies(DecisionTreeClassifier(max_depth=1), 2), rounds(0, 2))
    objective = total(oracle, rounds(0, 2))
    noise = oracle.noise(GRID, seed_key(0), 0, 2**16)
    failures = 0
    for draw, (x, losses) in enumerate(rounds(1, 2, count=15)):
        fails.append(True)
        try:
            found = objective.settle(x, losses, Draw(noise, draw, 1.0))
        except RuntimeError:
            failures += 1
            fails.clear()
            found = objective.settle(x, losses, Draw(noise, draw, 1.0))
        assert found == twin.settle(x, losses, Draw(noise, draw, 1.0))
        assert (objective._rows.totals == twin._rows.totals).all()
    assert failures > 5


def test_memory_holds_distinct_contexts_only():
    objective = total(SklearnPolicies(GaussianNB(), 2), rounds(0, 2, count=500))
    assert len(objective._rows) == 4
    assert len(objective._rows._room) == 8
    for x in range(30):
        objective.add(np.array([float(x)]), np.zeros(2))
    assert len(objective._rows) == 30
    assert objective._rows.counts.sum() == 530


def test_rows_of_another_length_are_refused():
    oracle = SklearnPolicies(DecisionTreeRegressor(), 2)
    objective = total(oracle, rounds(0, 2))
    with pytest.raises(hn.ContextError, match="1 features"):
        objective.add(np.array([1.0, 2.0]), np.zeros(2))
    with pytest.raises(hn.ContextError, match="1 features"):
        objective.leader()([1.0, 2.0])
    with pytest.raises(hn.ContextError, match="finite"):
        objective.leader()([np.nan])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (DecisionTreeClassifier, "an instance"),
        ("tree", "scikit-learn classifier or regressor"),
        (StandardScaler(), "scikit-learn classifier or regressor"),
        (KNeighborsClassifier(), "no sample_weight"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "no sample_weight"),
    ],
)
def test_estimators_that_do_not_fit_are_refused(estimator, message):
    with pytest.raises(hn.HannanError, match=message.replace("\n", " ")):
        SklearnPolicies(estimator, 2)


@pytest.mark.parametrize("bad", [0, 1.5, None])
def test_the_number_of_actions_is_checked(bad):
    with pytest.raises(hn.ParameterError, match="'n_actions' parameter of SklearnPolicies"):
        SklearnPolicies(GaussianNB(), bad)


def test_importing_the_library_does_not_import_scikit_learn():
    script = "import sys, hannan; hannan.oracles.SklearnPolicies; print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
