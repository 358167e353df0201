import numpy as np
import pytest

import hannan as hn
from tests import digits, naive_baselines, problems
from tests.cases import Match

CONTRACT = {
    "LinUCB": Match(hn.baselines.LinUCB(3), problems.PLANTED),
    "LinUCB, features": Match(
        hn.baselines.LinUCB(3, features=np.eye(4), alpha=0.5), problems.PLANTED
    ),
}


@pytest.mark.parametrize("alpha", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_play_equals_the_definition(alpha, intercept):
    rng = np.random.default_rng(3)
    learner = hn.baselines.LinUCB(3, alpha=alpha, ridge=0.7, intercept=intercept)
    past = []
    for row in rng.normal(size=(60, 4)):
        x = np.append(row, 1.0) if intercept else row
        values = naive_baselines.lower_confidence(past, x, 3, alpha, 0.7)
        np.testing.assert_allclose(learner._for_rows.lower(row), values, atol=1e-10)
        action = learner.act(row)
        assert action == naive_baselines.first_smallest(np.round(values, 9))
        loss = float(rng.random())
        learner.update(loss)
        past.append((x, action, loss))
    assert {action for _, action, _ in past} == {0, 1, 2}


def test_a_discrete_context_is_a_feature_of_its_own():
    rng = np.random.default_rng(4)
    table = hn.baselines.LinUCB(3, alpha=0.4, ridge=2.0)
    rows = hn.baselines.LinUCB(3, alpha=0.4, ridge=2.0, intercept=False)
    listed = hn.baselines.LinUCB(3, alpha=0.4, ridge=2.0, intercept=False, features=np.eye(5))
    for context in rng.integers(5, size=200).tolist():
        action = table.act(context)
        assert action == rows.act(np.eye(5)[context]) == listed.act(context)
        loss = float(rng.random())
        for learner in (table, rows, listed):
            learner.update(loss)
    by_table = [table._for_names.lower(x) for x in range(5)]
    np.testing.assert_allclose(by_table, [rows._for_rows.lower(row) for row in np.eye(5)])


def test_one_run_on_paper():
    # After n plays of total loss S the value is (S - α √(1 + n)) / (1 + n), with α = 1 here.
    learner = hn.baselines.LinUCB(2, alpha=1.0)
    assert learner.act("x") == 0  # -1, -1
    learner.update(1.0)
    assert learner.act("x") == 1  # (1 - √2)/2 = -0.21, -1
    learner.update(0.9)
    assert learner.act("x") == 1  # -0.21, (0.9 - √2)/2 = -0.26
    learner.update(0.0)
    assert learner.act("x") == 1  # -0.21, (0.9 - √3)/3 = -0.28
    learner.update(1.0)
    assert learner.act("x") == 0  # -0.21, (1.9 - 2)/4 = -0.03
    assert learner.act("y") == 0


@pytest.mark.stat
def test_digits():
    # 0.043 over 10,000 rounds (0.047 if values are clipped to [0, 1]); most of it at the start.
    found = [digits.mean_loss(hn.baselines.LinUCB(10), 2500, seed=s) for s in range(3)]
    assert 0.09 < np.mean(found) < 0.14, found
    first = digits.mean_loss(hn.baselines.EpsilonGreedy(10, seed=0), 2500, seed=0)
    assert max(found) < first


def test_who_knows_the_rule_makes_every_round_cost_one():
    rng = np.random.default_rng(0)
    learner = hn.baselines.LinUCB(3)
    for row in rng.normal(size=(50, 2)):
        (expected,) = learner.would_play(row)
        action = learner.act(row)
        assert action == expected
        learner.update(1.0)
    assert learner.would_play(row, copies=3) == [learner.act(row)] * 3


def test_a_larger_loss_range_only_rescales():
    rng = np.random.default_rng(1)
    small, large = hn.baselines.LinUCB(3), hn.baselines.LinUCB(3, loss_range=(-3.0, 5.0))
    for row in rng.normal(size=(80, 2)):
        action = small.act(row)
        assert large.act(row) == action
        loss = float(rng.integers(9)) / 8
        small.update(loss)
        large.update(8 * loss - 3)


def test_a_refused_call_changes_nothing():
    learner, twin = hn.baselines.LinUCB(2), hn.baselines.LinUCB(2)
    learner.would_play([1.0, 2.0, 3.0])  # nor does a question
    for row in np.random.default_rng(2).random((20, 2)):
        if learner.rounds:
            for bad in ([0.1], [0.1, np.nan], [["a"]], np.zeros((2, 2)), np.nan):
                with pytest.raises(hn.ContextError):
                    learner.act(bad)
        action = learner.act(row)
        given = row.copy()
        row[:] = np.nan  # the caller may use its array again
        for bad in (2.0, np.nan, None):
            with pytest.raises(hn.HannanError):
                learner.update(bad)
        assert twin.act(given) == action
        for each in (learner, twin):
            each.update(float(given[action]))


def test_bad_settings_and_contexts_are_refused():
    for settings in ({"alpha": -1.0}, {"alpha": "wide"}, {"alpha": np.inf}, {"ridge": 0.0}):
        name = next(iter(settings))
        with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of LinUCB"):
            hn.baselines.LinUCB(2, **settings)
    with pytest.raises(hn.ParameterError, match="features"):
        hn.baselines.LinUCB(2, features=[[0.0], [np.nan]])
    with pytest.raises(hn.ParameterError, match="loss_range"):
        hn.baselines.LinUCB(2, loss_range=None)
    learner = hn.baselines.LinUCB(2, features=[[0.0], [1.0]])
    for bad in (2, -1, "x", [0.0], None):
        with pytest.raises(hn.ContextError, match=r"0\.\.1"):
            learner.act(bad)
