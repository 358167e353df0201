"""Whose choices can be judged: learners on sets that change, functions of them, classifiers."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.off_policy import Log, Recorder, evaluate, probabilities
from tests.off_policy.logs import D, K, draw

SETS = [None, [0, 1], None, [1, 2]]


def recorded(learner, n=200):
    """A log in which every second round lacks an action, and its recorder."""
    rng, recorder = np.random.default_rng(1), Recorder(learner, draws=50)
    full = learner.feedback is hn.Feedback.FULL
    for t in range(n):
        action = recorder.act(int(rng.integers(D)), available=SETS[t % 4])
        losses = rng.random(K)
        recorder.update(losses if full else float(losses[action]))
    return recorder.log(), recorder


# Sets that change ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, K), epsilon=0.5, seed=0),
        hn.ContextFTPL(hn.oracles.AllPolicies(D, K), epsilon=0.5, seed=0),
        hn.Restarting(hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, K), seed=0)),
        hn.baselines.Hedge(np.array([[0, 1, 2], [2, 2, 0], [1, 0, 1]]), seed=0),
        hn.baselines.UniformRandom(K, seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_learner_is_asked_about_the_actions_there_were(learner):
    log, recorder = recorded(learner)
    for policy in (recorder, recorder.learner):
        table = probabilities(policy, log, draws=50)
        assert not table[~log.allowed].any()
        assert np.isfinite(evaluate(log, policy, draws=50).value)
    if hasattr(learner, "propensities"):
        asked = zip(log.contexts[:8], log.available, strict=False)
        expected = [learner.propensities(x, 50, there).probabilities for x, there in asked]
        assert np.allclose(table[:8], expected)


def test_a_function_may_ask_what_there_is():
    log, recorder = recorded(hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, K), seed=0))
    best = recorder.best_policy()

    def policy(context, available):
        return best(context) if best(context) in available else available[0]

    actions = [policy(*asked) for asked in zip(log.contexts, log.available, strict=True)]
    assert np.array_equal(probabilities(policy, log), probabilities(actions, log))
    assert evaluate(log, policy).value == evaluate(log, actions).value
    with pytest.raises(hn.ParameterError, match=r"Pass a function policy\(context, available\)"):
        evaluate(log, lambda context: 2)


def test_a_function_of_sets_is_told_all_actions_where_none_lack():
    log = draw(20)
    assert (probabilities(lambda context, available: available[-1], log)[:, K - 1] == 1.0).all()


def test_functions_that_hide_their_arguments_are_asked_about_contexts_alone():
    class Compiled:
        __signature__ = "not told"

        def __call__(self, context):
            return 1 - context

    log = Log([0, 1], [0, 1], [0.0, 1.0], [0.5, 0.5], 2)
    assert np.array_equal(probabilities(Compiled(), log), [[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("own", [K - 1, K + 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda own: hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(D, own), seed=0),
        lambda own: hn.baselines.UniformRandom(own, seed=0),
        lambda own: Recorder(hn.baselines.UniformRandom(own, seed=0)),
        lambda own: hn.baselines.KalaiVempala(
            hn.oracles.FinitePolicies([[0] * D], n_actions=own), seed=0
        ),
    ],
)
def test_a_learner_of_other_actions_is_refused(make, own):
    with pytest.raises(hn.ParameterError, match=f"has {own} actions, but the log has {K}"):
        evaluate(draw(10), make(own))


# Classifiers ---------------------------------------------------------------------------------


def rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    return Log(X, rng.integers(K, size=n), rng.random(n), np.full(n, 1 / K), K)


def test_a_classifier_stands_for_what_it_predicts():
    log = rows()
    model = DecisionTreeClassifier(random_state=0).fit(log.features, log.actions)
    assert evaluate(log, model).value == evaluate(log, model.predict(log.features)).value


def test_our_own_classifier_does_too():
    log = rows()
    model = hn.adapters.OnlinePolicyClassifier(hn.oracles.LinearPolicies(K), random_state=0)
    model.fit(log.features, log.actions)
    assert evaluate(log, model).value == evaluate(log, model.predict(log.features)).value


def test_classifiers_that_cannot_be_asked_are_refused_by_name():
    log = rows()
    names = DecisionTreeClassifier().fit(log.features, np.array(list("abc"))[log.actions])
    with pytest.raises(hn.InputTypeError, match=r"DecisionTreeClassifier.*60 integers from 0 to 2"):
        evaluate(log, names)
    beyond = DecisionTreeClassifier().fit(log.features, log.actions + 1)
    with pytest.raises(hn.ParameterError, match="actions from 0 to 2; round 4 has 3"):
        evaluate(log, beyond)
    with pytest.raises(hn.InputTypeError, match="contexts of this log are not vectors"):
        evaluate(draw(10), beyond)
    with pytest.raises(hn.InputTypeError, match=r"a fitted classifier.*got Ridge"):
        evaluate(log, hn.predictors.Ridge())


# Notes ---------------------------------------------------------------------------------------


def test_rounded_propensities_are_no_news():
    n = 150
    uniform = np.full((n, 3), 1 / 3)
    rounded = Log(None, [0, 1, 2] * 50, [0.5] * n, [0.3333] * n, 3)
    assert evaluate(rounded, uniform, "dr").notes == ()
    wrong = Log(None, [0, 1, 2] * 50, [0.5] * n, [0.32] * n, 3)
    assert "propensities are too small" in evaluate(wrong, uniform, "dr").notes[0]


def test_learners_of_sets_have_no_law_of_single_actions():
    slates = hn.baselines.Hedge(hn.oracles.FinitePolicies([[(0, 1)] * D, [(1, 2)] * D]))
    with pytest.raises(hn.InputTypeError, match="Hedge chooses sets"):
        evaluate(draw(10), slates)
