import copy
import math

import numpy as np
import pytest
from river import forest, linear_model, multiclass, naive_bayes, optim, preprocessing, tree

import hannan as hn
from hannan.adapters import RiverPolicies
from hannan.checks import LEARNER_CHECKS, ORACLE_CHECKS, PARAMETER_CHECKS, check_docstring
from hannan.checks.oracles import check_ties_break_the_same_way, make_case
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key
from tests.thinning import one_in

BAYES = linear_model.BayesianLinearRegression()
SGD = linear_model.LinearRegression()
TREE = tree.HoeffdingTreeClassifier(grace_period=5)
LOGISTIC = linear_model.LogisticRegression()
ROWS = np.random.default_rng(1).normal(size=(5, 2))

ORACLES = {
    "regression": RiverPolicies(BAYES, 3),
    "small steps": RiverPolicies(SGD, 3, echoes=2),
    "tree": RiverPolicies(tree.HoeffdingTreeRegressor(grace_period=5), 2),
    "scaled": RiverPolicies(preprocessing.StandardScaler() | SGD, 3),
    "classes": RiverPolicies(TREE, 3),
    "two classes": RiverPolicies(LOGISTIC, 2),
    "one against all": RiverPolicies(multiclass.OneVsRestClassifier(LOGISTIC), 3),
    "one action": RiverPolicies(BAYES, 1),
}
IN_ANY_ORDER = {"regression", "one action"}


def noise(oracle, contexts=ROWS, seed=0):
    return oracle.noise(oracle.check_contexts(contexts), seed_key(seed), 0, 2**20)


def taught(oracle, rounds=40, seed=0):
    rng = np.random.default_rng(seed)
    total = oracle.objective()
    for _ in range(rounds):
        total.add(ROWS[rng.integers(5)], rng.random(oracle.n_actions))
    return total


SAVING = {"check_totals_survive_a_file", "check_saving_changes_nothing"}  # no models of river


def applies(check, name):
    """What learns by small steps depends on the order of the rounds, as documented."""
    return check.__name__ not in SAVING and (
        check is not check_ties_break_the_same_way or name in IN_ANY_ORDER
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(3, ORACLES))
def test_oracle(name):
    case = make_case(ORACLES[name], ROWS)
    for check in ORACLE_CHECKS:
        if applies(check, name):
            check(case)


@pytest.mark.parametrize("name", ["regression", "classes"])
@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize(
    "check", [check for check in LEARNER_CHECKS if check.__name__ not in SAVING]
)
def test_learners_keep_their_contract_with_it(name, learner, check):
    world = hn.environments.Classification(ROWS, [0, 1, 2, 0, 1])
    check(learner(ORACLES[name], seed=0), world, 16)


def test_a_file_that_cannot_hold_it_says_so(tmp_path):
    with pytest.raises(hn.StorageError, match=r"oracle: .*models of river.*pickle"):
        hn.ContextFTPL(ORACLES["regression"], seed=0).save(tmp_path / "learner.hannan")
    assert not list(tmp_path.iterdir())


def test_scores_are_those_of_ridge_regression():
    ours = taught(RiverPolicies(BAYES, 3))
    ridge = taught(hn.oracles.LinearPolicies(3, intercept=False))
    for row in ROWS:
        expected = ridge.scores(row, WITHOUT_NOISE)
        assert ours.scores(row, WITHOUT_NOISE) == pytest.approx(expected, abs=1e-9)


def test_echoes_measure_the_leverage():
    ours = taught(RiverPolicies(BAYES, 2, echoes=400), rounds=60)
    ridge = taught(hn.oracles.LinearPolicies(2, intercept=False), rounds=60)
    for row in ROWS:
        h = ridge._solved(row)[2]
        # A ridge fit to coin flips has variance h - λ|A⁻¹x|² ≈ h at x; the mean of 400 squares
        # has a relative deviation of √(2/400), and four of these are allowed.
        found = ours._solved(row)[2] - 1 / 61
        assert found == pytest.approx(h, rel=4 * math.sqrt(2 / 400) + 0.1)


def test_noise_on_scores_is_what_is_documented():
    oracle = RiverPolicies(BAYES, 2)
    total, fakes = taught(oracle, rounds=50), noise(oracle)
    x = dict(enumerate(ROWS[2].tolist()))
    v = [echo.predict_one(x) / math.sqrt(8) for echo in total._echoes] + [1 / math.sqrt(51)]
    plain = np.array([model.predict_one(x) for model in total._models])
    sigma = 1.5 * math.sqrt(2 * 5 / 50)
    for draw in (0, 7, 1000):
        expected = plain + sigma * np.array(v) @ fakes.normal(draw, 9)
        assert total.scores(ROWS[2], Draw(fakes, draw, 1.5)) == pytest.approx(expected)


@pytest.mark.stat
def test_the_law_is_that_of_the_draws():
    oracle = RiverPolicies(BAYES, 3)
    total, fakes = taught(oracle), noise(oracle)
    q = total.distribution(ROWS[0], Draw(fakes, 0, 2.0))
    draws = 4000
    share = total.chosen(ROWS[0], Draw(fakes, 0, 2.0), draws).mean(axis=0)
    assert q.min() > 0.01
    # Four standard deviations each: all three hold with confidence above 0.999.
    assert (np.abs(share - q) < 4 * np.sqrt(q * (1 - q) / draws)).all()


def test_before_the_first_round_every_action_may_be_played():
    oracle = RiverPolicies(BAYES, 4)
    q = oracle.objective().distribution(ROWS[0], Draw(noise(oracle), 0, 1.0))
    assert q == pytest.approx([0.25] * 4)


def test_a_classifier_is_taught_by_what_actions_save():
    class Spy(tree.HoeffdingTreeClassifier):
        lessons: list = []  # noqa: RUF012

        def learn_one(self, x, y, *, w=1.0):
            if w is not None and y in (0, 1, 2) and not isinstance(y, bool):
                Spy.lessons.append((y, w))
            super().learn_one(x, y, w=w)

    total = RiverPolicies(Spy(), 3).objective()
    total.add(ROWS[0], np.array([0.5, 2.5, 1.5]))
    # Savings 2, 0, 1, of mean 3/2 so far.
    assert Spy.lessons == [(0, pytest.approx(4 / 3)), (2, pytest.approx(2 / 3))]
    total.add(ROWS[0], np.array([0.0, 0.0, -1.0]))
    assert Spy.lessons[2:] == [(2, pytest.approx(3 / 4))]
    # Savings of 4 in 2 rounds.
    shares = total._models[0].predict_proba_one(dict(enumerate(ROWS[0].tolist())))
    expected = [-2.0 * shares.get(k, 0.0) for k in range(3)]
    assert total.scores(ROWS[0], WITHOUT_NOISE) == pytest.approx(expected)


def test_a_tilt_moves_scores_by_their_leverage():
    total = taught(ORACLES["regression"])
    tilt = np.array([0.3, 0.1, 0.9])
    before = total.scores(ROWS[0], WITHOUT_NOISE)
    moved = before + total.leverage(ROWS[0]) * tilt
    assert total.scores(ROWS[0], WITHOUT_NOISE, tilt) == pytest.approx(moved)
    assert np.array_equal(total.scores(ROWS[0], WITHOUT_NOISE), before)


def test_a_leader_stays_as_it_was():
    oracle = RiverPolicies(SGD, 2)
    total = oracle.objective()
    for _ in range(20):
        total.add(ROWS[0], np.array([0.0, 1.0]))
    leader = total.leader()
    for _ in range(60):
        total.add(ROWS[0], np.array([1.0, 0.0]))
    assert (leader(ROWS[0]), total.leader()(ROWS[0])) == (0, 1)


def mean_loss(oracle, world, horizon, learner=hn.ContextFTPL, **options):
    trace = hn.play(learner(oracle, seed=0, **options), world, horizon=horizon, seed=0)
    return trace.losses[horizon // 2 :].mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "most"),
    [
        (BAYES, 0.15),
        (linear_model.LinearRegression(optim.SGD(optim.schedulers.InverseScaling(0.05))), 0.3),
        (preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(LOGISTIC), 0.3),
    ],
    ids=str,
)
def test_digits_are_learned_one_by_one(model, most):
    world = hn.environments.Classification.bundled("digits")
    # Chance errs in 0.9 of the rounds.
    assert mean_loss(RiverPolicies(model, 10), world, 800) < most


@pytest.mark.slow
def test_it_goes_together_with_a_predictor_of_river():
    world = hn.environments.Classification.bundled("digits")
    predictor = hn.adapters.RiverPredictor(BAYES)
    found = mean_loss(
        RiverPolicies(BAYES, 10), world, 600, hn.ContextSemiBanditFTPL, predictor=predictor
    )
    # Without it 0.83, from right and wrong alone.
    assert found < 0.3


def test_the_model_given_is_never_changed():
    model = linear_model.LinearRegression()
    total = taught(RiverPolicies(model, 2))
    assert not model.weights
    twin = copy.deepcopy(total)
    assert np.array_equal(twin.scores(ROWS[0], WITHOUT_NOISE), total.scores(ROWS[0], WITHOUT_NOISE))


def test_features_may_have_names():
    total = taught(RiverPolicies(SGD, 2, features=["u", "v"]))
    assert set(total._models[0].weights) == {"u", "v"}
    with pytest.raises(hn.ContextError, match="features"):
        total.add(np.zeros(3), np.zeros(2))


def test_contexts_of_another_size_are_refused():
    total = taught(ORACLES["small steps"])
    before = total.scores(ROWS[0], WITHOUT_NOISE)
    with pytest.raises(hn.ContextError, match="2 features, like the first one; got one with 3"):
        total.add(np.zeros(3), np.zeros(3))
    assert np.array_equal(total.scores(ROWS[0], WITHOUT_NOISE), before)


class Diverged(linear_model.LinearRegression):
    """Knows no bounds."""

    def predict_one(self, x):
        return math.nan


def test_a_model_that_has_diverged_is_named():
    learner = hn.ContextFTPL(RiverPolicies(Diverged(), 2), seed=0)
    with pytest.raises(hn.LossError, match=r"Diverged.*diverged.*StandardScaler"):
        learner.act([0.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((naive_bayes.GaussianNB(), 3), "weight"),
        ((multiclass.OneVsRestClassifier(naive_bayes.GaussianNB()), 3), "weight"),
        ((LOGISTIC, 3), "OneVsRestClassifier"),
        ((forest.ARFRegressor(), 3), "seed"),
        ((preprocessing.StandardScaler(), 3), "model"),
        ((BAYES, 0), "n_actions"),
    ],
)
def test_bad_parameters_are_refused(arguments, named):
    with pytest.raises(hn.ParameterError, match=named):
        RiverPolicies(*arguments)
    with pytest.raises(hn.ParameterError, match="echoes"):
        RiverPolicies(BAYES, 2, echoes=0)


@pytest.mark.parametrize("check", PARAMETER_CHECKS)
def test_parameters(check):
    check(RiverPolicies(BAYES, 2, features=("a", "b")))


def test_the_docstring_is_complete():
    check_docstring(RiverPolicies, ("Parameters", "Examples", "References"))
