"""One environment, played with the feedback its learner takes."""

import numpy as np
import pytest

import hannan as hn

TABLE = np.random.default_rng(0).integers(3, size=(8, 4))
ORACLE = hn.oracles.FinitePolicies(TABLE, n_actions=3)
WORLD = hn.environments.PlantedPolicy(ORACLE)


class Spy(hn.baselines.UniformRandom):
    """Notes what it is shown."""

    def __init__(self, n_actions, kind=hn.Feedback.BANDIT):
        super().__init__(n_actions, seed=0)
        self.kind, self.shown, self.played = kind, [], []
        self.feedback = kind

    def act(self, context=None, available=None):
        self.played.append(super().act(context, available))
        return self.played[-1]

    def update(self, loss, decision=None):
        self.shown.append(loss)
        self._ledger.current = None


@pytest.mark.parametrize("word", ["bandit", "semi", "semi-bandit", hn.Feedback.BANDIT, None])
def test_bandit_feedback_shows_the_loss_of_the_action_alone(word):
    spy = Spy(3)
    trace = hn.play(spy, WORLD, 50, seed=1, feedback=word)
    assert all(isinstance(loss, float) for loss in spy.shown)
    assert spy.shown == trace.losses.tolist()
    assert spy.shown == [row[a] for row, a in zip(trace.outcomes, spy.played, strict=True)]


@pytest.mark.parametrize("word", ["full", hn.Feedback.FULL, None])
def test_full_feedback_shows_all_losses(word):
    spy = Spy(3, hn.Feedback.FULL)
    trace = hn.play(spy, WORLD, 50, seed=1, feedback=word)
    np.testing.assert_array_equal(np.array(spy.shown), trace.outcomes)


def test_sets_are_shown_the_losses_of_their_elements():
    slates = hn.oracles.FinitePolicies([[[0, 2]], [[1, 3]]])
    losses = np.random.default_rng(0).random((30, 4))
    learner = hn.ContextSemiBanditFTPL(slates, epsilon=0.2, seed=0)
    shown = []
    original = learner.update
    learner.update = lambda loss: (shown.append(np.array(loss)), original(loss))
    trace = hn.play(learner, hn.environments.FromArrays(None, losses))
    for t, action in enumerate(trace.actions):
        np.testing.assert_array_equal(shown[t], losses[t, action])
        assert trace.losses[t] == pytest.approx(losses[t, action].sum())


@pytest.mark.parametrize(
    ("learner", "word"),
    [
        (hn.ContextFTPL(ORACLE, seed=0), "bandit"),
        (hn.ContextSemiBanditFTPL(ORACLE, seed=0), "full"),
        (hn.baselines.Exp4(ORACLE, seed=0), hn.Feedback.FULL),
    ],
)
def test_feedback_a_learner_does_not_take_is_refused(learner, word):
    with pytest.raises(hn.ParameterError, match="feedback"):
        hn.play(learner, WORLD, 10, feedback=word)
    assert learner.rounds == 0


@pytest.mark.parametrize("word", ["", "none", "bandits"])
def test_unknown_feedback_is_refused(word):
    with pytest.raises(hn.ParameterError, match="feedback must be one of"):
        hn.play(hn.ContextSemiBanditFTPL(ORACLE, seed=0), WORLD, 10, feedback=word)


def test_the_same_losses_meet_full_information_and_bandit_learners():
    full = hn.play(hn.ContextFTPL(ORACLE, seed=0), WORLD, 200, seed=3)
    bandit = hn.play(hn.ContextSemiBanditFTPL(ORACLE, seed=0), WORLD, 200, seed=3)
    np.testing.assert_array_equal(full.outcomes, bandit.outcomes)
    assert full.best_policy.index == bandit.best_policy.index
    assert bandit.oracle_calls > 200
