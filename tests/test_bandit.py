"""`hn.bandit`: the right learner for what is known of contexts and policies."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan._recommended import options_of

TABLE = [[0, 1, 2], [2, 1, 0], [1, 1, 1]]


def test_rows_have_linear_policies_and_a_blend():
    made = hn.bandit(3, seed=4)
    assert isinstance(made, hn.Restarting)
    assert made.max_restarts == 10
    assert isinstance(made.learner.oracle, hn.oracles.LinearPolicies)
    assert isinstance(made.learner.predictor, hn.predictors.Blend)
    assert made.learner.seed == made.learner.predictor.seed == 4


def test_contexts_without_features_have_tables():
    made = hn.bandit(3, n_contexts=2, seed=0, loss_range=(0, 5), max_restarts=3)
    assert made.max_restarts == 3
    assert isinstance(made.learner, hn.TsallisINF)
    assert made.learner.loss_range == (0, 5)
    assert isinstance(made.learner.predictor.predictor, hn.predictors.Mean)


@pytest.mark.parametrize("policies", [TABLE, np.array(TABLE), hn.oracles.FinitePolicies(TABLE)])
def test_policies_may_be_listed(policies):
    made = hn.bandit(3, policies=policies, seed=0, predictor=hn.predictors.Last())
    assert isinstance(made.learner.oracle, hn.oracles.FinitePolicies)
    assert isinstance(made.learner.predictor, hn.predictors.Last)
    assert made.act(2) in (0, 1, 2)


@pytest.mark.parametrize("contexts", [{}, {"n_contexts": 1}])
def test_the_advice_for_losses_out_of_range_can_be_followed(contexts):
    learner = hn.bandit(3, seed=0, **contexts)
    learner.act([1.0] if not contexts else None)
    with pytest.raises(hn.LossError, match=r"pass R - reward with loss_range=\(0, R\)\. "):
        learner.update(-7.0)
    learner = hn.bandit(3, seed=0, loss_range=(0, 10), **contexts)
    learner.act([1.0] if not contexts else None)
    learner.update(10.0 - 7.0)


def test_the_advice_for_rewards_of_sets_can_be_followed():
    pairs = hn.oracles.Subsets(4, 2)
    learner = hn.ContextSemiBanditFTPL(pairs, seed=0)
    learner.act()
    with pytest.raises(hn.LossError, match=r"-reward with loss_range=\(-R, 0\) to ContextFTPL or"):
        learner.update([-7.0, -3.0])
    learner = hn.ContextSemiBanditFTPL(pairs, seed=0, loss_range=(-10, 0))
    learner.act()
    learner.update([-7.0, -3.0])


@pytest.mark.parametrize("n_actions", [None, 4])
def test_sets_of_elements_have_means_or_a_regression(n_actions):
    pairs = hn.oracles.Subsets(4, 2)
    made = hn.bandit(n_actions, policies=pairs, seed=0, guess=[0.1] * 4)
    assert isinstance(made.learner.predictor, hn.predictors.ElementMeans)
    assert made.learner.predictor.by_context
    assert len(made.act()) == 2
    shared = hn.bandit(policies=hn.oracles.PerContext(pairs, 3), shared=True, loss_range=(-2, 0))
    assert not shared.learner.predictor.by_context
    assert shared.learner.predictor.loss_range == (-2, 0)
    described = hn.bandit(policies=pairs, features=np.eye(4), seed=0)
    assert isinstance(described.learner.predictor, hn.predictors.ElementRidge)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_actions": 3, "shared": True}, "choose sets"),
        ({"n_actions": 3, "guess": [0.1] * 3}, "choose sets"),
        ({"policies": hn.oracles.Subsets(4, 2), "n_actions": 3}, "has 4 actions"),
        (
            {"policies": hn.oracles.Subsets(4, 2), "features": np.eye(4), "shared": True},
            "not both",
        ),
        ({"policies": hn.oracles.Subsets(4, 2), "n_contexts": 3}, "either n_contexts="),
        (
            {"policies": hn.oracles.Subsets(4, 2), "predictor": None, "guess": [0.1] * 4},
            "but predictor= is given",
        ),
    ],
)
def test_options_that_do_not_fit_sets_are_refused(given, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.bandit(**given)


def test_without_a_seed_games_differ():
    plays = set()
    for _ in range(8):
        learner = hn.bandit(3)
        actions = []
        for t in range(12):
            actions.append(learner.act([1.0, t % 2]))
            learner.update(0.5)
        plays.add(tuple(actions))
    assert len(plays) > 1


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(hn.ParameterError, match="not both"):
        hn.bandit(3, n_contexts=2, policies=TABLE)
    with pytest.raises(hn.ParameterError, match=r"3 actions, but n_actions=2"):
        hn.bandit(2, policies=hn.oracles.FinitePolicies(TABLE))


@pytest.mark.parametrize("known", [{"n_contexts": 2}, {"policies": hn.oracles.AllPolicies(2, 3)}])
def test_a_table_is_played_by_tsallis_inf_unless_an_option_asks_for_another(known):
    plays = []
    for options in (known, {"n_contexts": 2}):
        learner = hn.bandit(3, seed=0, **options)
        assert isinstance(learner.learner, hn.TsallisINF)
        plays.append([])
        for t in range(30):
            plays[-1].append(learner.act(t % 2))
            learner.update(float(plays[-1][-1] != 1))
    assert plays[0] == plays[1]
    scaled = hn.bandit(3, loss_range=(0, 2), trust=hn.Trust(), **known).learner
    assert isinstance(scaled, hn.TsallisINF)
    for only in ({"epsilon": 0.1}, {"resampling": "exact"}, {"contexts": [0, 1]}):
        made = hn.bandit(3, **known, **only).learner
        assert isinstance(made, hn.ContextSemiBanditFTPL)
        assert isinstance(made.predictor, hn.predictors.Mean)


def test_detectors_go_to_what_restarts():
    detector = hn.detectors.Bernstein()
    made = hn.bandit(3, detector=detector, max_restarts=2)
    assert (made.detector, made.max_restarts) == (detector, 2)


def test_the_hint_and_the_predictor_can_be_looked_at():
    learner = hn.bandit(3, n_contexts=1, seed=0)
    for _ in range(20):
        learner.update(float(learner.act() != 1))
    assert learner.hint.hinted > 0
    assert isinstance(learner.predictor_, hn.predictors.Mean)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hn.bandit(3, los_range=(0, 1)), "hn.bandit has no option 'los_range'; did you"
         " mean 'loss_range'\\?"),
        (lambda: hn.bandit(3, oracle=1), "has no option 'oracle'\\. Options: n_actions,"),
        (lambda: hn.bandit(3, max_restart=1), "did you mean 'max_restarts'"),
        (lambda: hn.experts(3, los_range=(0, 1)), "hn.experts has no option 'los_range'; did you"),
        (lambda: hn.experts(3, max_restarts=1), "hn.experts has no option 'max_restarts'"),
        (lambda: hn.experts(3, n_contexts=2), r"AllPolicies\(n_contexts, n_actions\)"),
        (lambda: hn.bandit(3, loss_range=5), r"hn.bandit must be a pair \(low, high\).* Got 5"),
        (lambda: hn.experts(hn.oracles.LinearPolicies(2), loss_range=5), r"a pair \(low, high\)"),
        (lambda: hn.bandit(3, loss_range=(-1, 0)), "not negative, e.g. 1 - reward"),
        (lambda: hn.bandit(3, n_contexts=2, loss_range=(-1, 0)), "not negative, e.g. 1 - reward"),
        (lambda: hn.bandit(3, loss_range=None), "needs a finite loss_range"),
        (lambda: hn.bandit(3).act(), r"hn.bandit\(n_actions, n_contexts=1\)"),
        (lambda: hn.bandit(3).act(7), r"n_contexts=n \(hn.bandit\)"),
        (lambda: hn.bandit(3, n_contexts=1).act([0.5, 1.0]), r"Call act\(\) without a context"),
        (lambda: hn.experts(3).act([0.5, 1.0]), r"Call act\(\) without a context"),
        (lambda: hn.bandit(3, policies=DecisionTreeClassifier()),
         r"estimator: hannan.oracles.SklearnPolicies\(estimator, n_actions=3\)"),
        (lambda: hn.experts(DecisionTreeClassifier()), "estimator: hannan.oracles.SklearnPolicies"),
        (lambda: hn.bandit(2, policies=[len, sum]), "a table of .*FunctionOracle"),
        (lambda: hn.experts([len, sum]), "a table of .*FunctionOracle"),
        (lambda: hn.bandit(2, policies=hn.oracles.AllPolicies), "an instance, AllPolicies"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_a_remedy(make, message):
    with pytest.raises(hn.HannanError, match=message):
        make()


@pytest.mark.parametrize("options", [{}, {"n_contexts": 1}])
def test_bad_losses_are_refused_with_a_remedy(options):
    learner = hn.bandit(3, seed=0, **options)
    learner.act(None if options else [0.5])
    with pytest.raises(hn.LossError, match="finite; got None"):
        learner.update(None)
    with pytest.raises(hn.LossError, match="finite; got nan"):
        learner.update(np.float64("nan"))
    with pytest.raises(hn.LossError, match=r"one number.* shape \(3,\)\. .*use hn.experts"):
        learner.update([0.1, 0.2, 0.3])
    learner.update([0.5])


def test_all_options_can_be_listed():
    assert {"epsilon", "trust", "detector", "max_restarts", "loss_range"} <= set(
        options_of("bandit")
    )
    assert not {"oracle", "learner", "self"} & {*options_of("bandit"), *options_of("experts")}


@pytest.mark.stat
def test_it_learns_in_every_world():
    rng = np.random.default_rng(0)
    rows, arms, listed = hn.bandit(3, seed=0), hn.bandit(3, n_contexts=1, seed=0), None
    listed = hn.bandit(3, policies=TABLE, seed=0)
    wrong = np.zeros(3)
    for t in range(600):
        x = rng.normal(size=2)
        best = int(np.argmax([x[0], x[1], 0.0]))
        for i, (learner, context, good) in enumerate(
            [(rows, x, best), (arms, None, 1), (listed, t % 3, 2 - t % 3)]
        ):
            action = learner.act(context)
            learner.update(float(action != good))
            wrong[i] += t >= 300 and action != good
    assert (wrong < [45, 30, 30]).all()
