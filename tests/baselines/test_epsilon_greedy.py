import numpy as np
import pytest
from scipy import stats

import hannan as hn
from tests import digits, naive_baselines, problems
from tests.cases import Match

CONTRACT = {
    "EpsilonGreedy": Match(
        hn.baselines.EpsilonGreedy(3, epsilon=1.0, decay=0.4, seed=0), problems.PLANTED
    ),
    "EpsilonGreedy, mean": Match(
        hn.baselines.EpsilonGreedy(3, hn.predictors.Mean(by_context=False), seed=0),
        problems.PLANTED,
        no_regret=False,  # the contexts matter
    ),
}


def play(learner, rounds):
    actions = []
    for context, losses in rounds:
        actions.append(learner.act(context))
        learner.update(float(losses[actions[-1]]))
    return actions


@pytest.mark.parametrize(("epsilon", "decay"), [(0.0, 0.0), (0.3, 0.0), (1.0, 0.5), (1.0, 0.0)])
def test_play_equals_a_run_by_hand(epsilon, decay):
    rounds = problems.rounds(4, 3, 150, high=4)
    rounds = [(context, losses / 4) for context, losses in rounds]
    learner = hn.baselines.EpsilonGreedy(3, epsilon=epsilon, decay=decay, seed=5)
    found = play(learner, rounds)
    assert found == naive_baselines.epsilon_greedy(rounds, 3, epsilon, decay, 5)
    assert len(set(found)) == 3


def test_ties_go_to_the_smallest_action():
    learner = hn.baselines.EpsilonGreedy(3, epsilon=0.0)
    assert learner.act() == 0
    learner.update(0.5)
    assert learner.act() == 1
    learner.update(0.5)
    assert learner.act() == 2
    learner.update(0.5)
    assert learner.act() == 0


@pytest.mark.stat
def test_the_law_of_play():
    # Chi-square at 1e-4: action 1 with 1 - ε + ε/K, the others ε/K each.
    learner = hn.baselines.EpsilonGreedy(4, epsilon=0.4, seed=0)
    play(learner, [(None, np.array([0.9, 0.1, 0.8, 0.7]))] * 300)
    expected = 4000 * np.array([0.1, 0.7, 0.1, 0.1])
    before = learner._rng.bit_generator.state
    asked = learner.would_play(copies=4000, seed=1)
    assert learner._rng.bit_generator.state == before
    played = [learner.act() for _ in range(4000)]
    for sample in (asked, played):
        assert stats.chisquare(np.bincount(sample, minlength=4), expected).pvalue > 1e-4
    assert learner.would_play(copies=50, seed=2) != learner.would_play(copies=50, seed=3)


def test_contexts_with_features_get_a_regression_and_others_means():
    learner = hn.baselines.EpsilonGreedy(2, epsilon=0.0)
    for x in np.random.default_rng(0).random(60):
        # Action 0 costs x, action 1 costs 1 - x: no two contexts are the same.
        action = learner.act([x])
        learner.update(abs(action - x))
    assert [learner.act(np.array([x])) for x in (0.1, 0.9)] == [0, 1]
    for name in ("sun", ("rain", 3), 7, None):
        assert learner.act(name) == 0
        learner.update(1.0)
        assert learner.act(name) == 1
        learner.update(0.0)


def test_a_predictor_is_cloned_and_shown_losses_between_zero_and_one():
    guess = hn.predictors.Mean()
    learner = hn.baselines.EpsilonGreedy(2, guess, epsilon=0.0, loss_range=(-2.0, 6.0))
    learner.act("x")
    learner.update(0.0)
    assert learner._for_rows is learner._for_names is not guess
    assert learner._for_rows.estimate("x").tolist() == [0.25, 0.0]
    assert not guess._rows


def test_any_object_that_predicts_and_learns_will_do():
    class Always:
        def predict(self, context):
            return [0.5, -3.0, 0.2]

        def learn(self, context, action, loss):
            self.last = (context, action, loss)

    mine = Always()
    learner = hn.baselines.EpsilonGreedy(3, mine, epsilon=0.0)
    assert learner.act("x") == 1
    learner.update(1)
    assert mine.last == ("x", 1, 1.0)
    mine.predict = lambda context: [0.5, np.nan, 0.2]
    with pytest.raises(hn.LossError, match="3 finite numbers"):
        learner.act("x")
    with pytest.raises(hn.InputTypeError, match="predict"):
        hn.baselines.EpsilonGreedy(2, "mean")


@pytest.mark.stat
def test_digits():
    # 0.096 over 10,000 rounds; most of it is paid in the first 2,500.
    found = [
        digits.mean_loss(hn.baselines.EpsilonGreedy(10, seed=s), 2500, seed=s) for s in range(3)
    ]
    assert 0.17 < np.mean(found) < 0.30, found


def test_a_refused_call_changes_nothing():
    rounds = [(row, np.arange(3.0) / 2) for row in np.random.default_rng(1).random((30, 2))]
    expected = play(hn.baselines.EpsilonGreedy(3, epsilon=0.5, seed=0), rounds)
    learner, found = hn.baselines.EpsilonGreedy(3, epsilon=0.5, seed=0), []
    for t, (context, losses) in enumerate(rounds):
        if t:
            for bad in ([1.0], [np.nan, 1.0], [["a"]], np.inf):
                with pytest.raises(hn.ContextError):
                    learner.act(bad)
        found.append(learner.act(context))
        for bad in (np.nan, -0.5, None, "much", [0.1, 0.2]):
            with pytest.raises(hn.HannanError):
                learner.update(bad)
        learner.update(losses[found[-1]])
    assert found == expected


def test_bad_settings_are_refused():
    for settings in (
        {"epsilon": 1.5},
        {"decay": -0.1},
        {"seed": -1},
        {"loss_range": None},
        {"loss_range": (1, 0)},
        {"n_actions": 0},
    ):
        name = next(iter(settings))
        with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of EpsilonGreedy"):
            hn.baselines.EpsilonGreedy(**{"n_actions": 2, **settings})
