"""`hn.bandit`: the right learner for what is known of contexts and policies."""

import numpy as np
import pytest

import hannan as hn

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


def test_sets_of_elements_have_no_hints():
    made = hn.bandit(4, policies=hn.oracles.Subsets(4, 2), seed=0)
    assert made.learner.predictor is None
    assert len(made.act()) == 2


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
