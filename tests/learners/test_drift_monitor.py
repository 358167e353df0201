"""What a detector is shown."""

import numpy as np
import pytest
from river.drift import ADWIN, PageHinkley

import hannan as hn
from hannan.learners.drift_monitor import DriftMonitor
from tests.drifting import Alarms, D, K, Recorder, bandit, feedback, full, play, toy


def excess(seen, expected, width=1.0, low=0.0):
    """The squared error less that of a 0/1 loss, on losses brought to [0, 1], moved to [0, 1]."""
    seen, expected = (np.asarray(seen) - low) / width, (np.asarray(expected) - low) / width
    return ((seen - expected) ** 2 - expected * (1 - expected) + 0.25) / 1.25


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("make", [full, bandit])
def test_errors_are_those_of_estimates_made_before_the_loss_is_learned(make, inside):
    given = Recorder()
    base = make(predictor=given if inside else None)
    learner = hn.Restarting(base, Alarms(), predictor=None if inside else given)
    stream = toy(50, seed=1)  # its first loss is 1: squared errors never add up to less than c asks
    actions = play(learner, stream)
    expected = [
        excess(losses[a], 0.01 * t + 0.001 * a)
        for t, (a, losses) in enumerate(zip(actions, stream[1], strict=True))
    ]
    assert Alarms.shown == pytest.approx(expected, abs=1e-12)
    assert given.learned == []


@pytest.mark.parametrize("make", [full, bandit])
def test_a_predictor_given_here_learns_what_was_seen_and_starts_anew(make):
    stream = toy(30)
    learner = hn.Restarting(make(predictor=None), Alarms(20), predictor=Recorder())
    actions = play(learner, stream)
    assert learner.restarts == [20]
    learned = learner._monitor._own.learned
    assert len(learned) == 10
    for t, (context, action, loss) in enumerate(learned, start=20):
        seen = np.arange(K) if learner.feedback is hn.Feedback.FULL else actions[t]
        assert context == stream[0][t]
        assert np.array_equal(action, seen)
        assert np.array_equal(loss, stream[1][t][seen])
    assert play(hn.Restarting(make(predictor=None), Alarms(20)), stream) == actions


def test_a_predictor_given_here_is_watched_in_place_of_the_learners():
    learner = hn.Restarting(bandit(), Alarms(), predictor=Recorder())
    (context,), (losses,) = toy(1)
    action = learner.act(context)
    learner.update(losses[action])
    assert Alarms.shown == pytest.approx([excess(losses[action], 0.001 * action)])


@pytest.mark.parametrize("make", [full, bandit])
def test_without_a_predictor_the_loss_itself_is_shown(make):
    stream = toy(30)
    actions = play(hn.Restarting(make(predictor=None), Alarms()), stream)
    assert Alarms.shown == stream[1][np.arange(30), actions].tolist()


def test_values_are_scaled_by_the_range_of_the_losses():
    stream = toy(30)
    learner = hn.Restarting(full(loss_range=(-1.0, 3.0)), Alarms())
    actions = play(learner, stream)
    costs = stream[1][np.arange(30), actions]
    assert Alarms.shown == pytest.approx(((costs + 1.0) / 4.0).tolist())
    wide = hn.Restarting(bandit(loss_range=(0.0, 4.0), predictor=Recorder()), Alarms())
    action = wide.act(0)
    wide.update(4.0)
    assert Alarms.shown == pytest.approx([excess(4.0, 0.001 * action, 4.0)])


def test_guesses_outside_the_range_are_moved_to_its_end():
    class Wild(Recorder):
        def estimate(self, context):
            return np.full(K, 7.0)

    learner = hn.Restarting(full(), Alarms(), predictor=Wild())
    learner.act(0)
    learner.update(np.zeros(K))
    assert Alarms.shown == [1.0]


def test_losses_of_any_size_are_shown_as_they_are():
    learner = hn.Restarting(full(loss_range=None), Alarms())
    learner.act(0)
    learner.update(np.full(K, 5.0))
    assert Alarms.shown == [5.0]


def test_for_sets_it_is_the_mean_over_the_chosen_elements():
    oracle = hn.oracles.Subsets(K, 2)
    losses = np.array([0.25, 0.5, 1.0])
    for base in (
        hn.ContextFTPL(oracle, predictor=Recorder(), seed=0, loss_range=(0.0, 2.0)),
        hn.ContextSemiBanditFTPL(
            oracle, predictor=Recorder(), trust="baseline", seed=0, loss_range=(0.0, 2.0)
        ),
    ):
        learner = hn.Restarting(base, Alarms())
        action = learner.act()
        learner.update(feedback(learner, action, losses))
        expected = np.mean(excess(losses[action], 0.001 * action, 2.0))
        assert Alarms.shown == pytest.approx([expected])


def test_for_sets_without_a_predictor_it_is_the_share_of_the_largest_loss():
    learner = hn.Restarting(hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0), Alarms())
    action = learner.act()
    losses = np.array([0.25, 0.5, 1.0, 0.75])
    learner.update(losses)
    assert Alarms.shown == pytest.approx([losses[action].sum() / 2.0])


def test_no_error_where_nothing_was_chosen():
    oracle = hn.oracles.Subsets(K, 2, exactly=False)
    base = hn.ContextFTPL(oracle, predictor=Recorder(), loss_range=(-1.0, 1.0), seed=0)
    learner = hn.Restarting(base, Alarms())
    for _ in range(20):
        action = learner.act()
        learner.update(np.ones(K))
    assert len(action) == 0
    assert len(Alarms.shown) < 20


def test_loss_functions_are_watched_as_a_whole():
    oracle = hn.oracles.Submodular(4)
    learner = hn.Restarting(hn.ContextFTPL(oracle, seed=0, loss_range=(0.0, 4.0)), Alarms())
    action = learner.act()
    loss = hn.losses.Linear([1.0, 0.5, 0.25, 0.75])
    learner.update(loss)
    assert Alarms.shown == [loss(action) / 4.0]

    class Guess(Recorder):
        def estimate(self, context):
            return np.full(4, 0.5)

    learner = hn.Restarting(
        hn.ContextFTPL(oracle, seed=0, loss_range=(0.0, 4.0)), Alarms(), predictor=Guess()
    )
    action = learner.act()
    learner.update(loss)
    assert Alarms.shown == [pytest.approx(excess(loss(action), 0.5 * len(action), 4.0))]


@pytest.mark.parametrize("inside", [True, False])
def test_the_number_of_actions_may_be_learned_from_the_first_losses(inside):
    def solve(contexts, losses):
        best = int(losses.sum(axis=0).argmin()) if len(losses) else 0
        return lambda context: best

    oracle = hn.oracles.FunctionOracle(solve)
    base = hn.ContextFTPL(oracle, range(D), predictor=Recorder() if inside else None, seed=0)
    learner = hn.Restarting(base, Alarms(), predictor=None if inside else Recorder())
    play(learner, toy(10))
    assert len(Alarms.shown) == 9  # before the first losses there is no prediction


def test_rivers_detectors_are_taken_as_they_are():
    detector = PageHinkley(min_instances=30, delta=0.05, threshold=8.0, mode="up")
    learner = hn.Restarting(bandit(), detector)
    play(learner, toy(2000, [1000]))
    assert len(learner.restarts) == 1
    assert 1000 < learner.restarts[0] < 1060
    assert detector.clone().drift_detected is detector.drift_detected is False


def test_adwin_restarts_only_when_errors_rise():
    learner = hn.Restarting(bandit(), hn.adapters.RiverDetector(ADWIN()))
    play(learner, toy(2000, [1000]))
    assert len(learner.restarts) == 1
    assert 1000 < learner.restarts[0] < 1100


def test_predictions_that_become_firm_are_no_drift():
    """Errors that fall more slowly than the variance that predictions allow for."""

    class Firm:
        def __init__(self):
            self.n = 0

        def predict(self, context):
            return np.full(2, 0.35 / (1.0 + self.n / 1000))

        def learn(self, context, action, loss):
            self.n += 1

    base = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), epsilon=0.1, seed=0)
    learner = hn.Restarting(base, predictor=Firm())
    for t in range(6000):
        learner.act()
        learner.update(float(t % 50 == 0))
    assert learner.restarts == []


# Two tests agree -------------------------------------------------------------------------------


def first_alarm(detector, expected, losses):
    """When a monitor that is shown these predictions and losses finds a change, or None."""
    monitor = DriftMonitor(bandit(), detector, None)
    rounds = zip(losses.tolist(), expected.tolist(), strict=True)
    return next((t for t, each in enumerate(rounds) if monitor.drift(0, *each)), None)


def test_what_was_expected_of_all_actions_will_do_for_a_single_one():
    rng = np.random.default_rng(4)
    all_at_once, one = (DriftMonitor(bandit(), None, None) for _ in range(2))
    for t in range(2000):
        guesses, action = rng.uniform(-0.2, 1.2, K), int(rng.integers(K))
        loss = float(rng.random() < (0.1 if t < 1000 else 0.9))
        found = all_at_once.drift(action, loss, guesses)
        assert found == one.drift(action, loss, min(max(float(guesses[action]), 0.0), 1.0))


def halves(before, after, T=4000):
    return np.repeat([before, after], T)


def test_turning_to_cheaper_actions_under_the_same_noise_is_no_drift():
    rng = np.random.default_rng(0)
    expected = halves(0.5, 0.2)
    losses = expected + rng.choice([-0.2, 0.2], size=8000)
    assert first_alarm(hn.detectors.Bernstein(), expected, losses) is not None  # by one test alone
    assert first_alarm(None, expected, losses) is None


def test_turning_to_actions_that_vary_more_is_no_drift():
    rng = np.random.default_rng(1)
    expected = halves(0.05, 0.5)
    losses = (rng.random(8000) < expected).astype(float)
    assert first_alarm(None, expected, losses) is None


@pytest.mark.parametrize("level", [0.05, 0.3])
def test_predictions_that_become_wrong_are_drift(level):
    rng = np.random.default_rng(2)
    losses = (rng.random(8000) < halves(level, level + 0.3)).astype(float)
    found = first_alarm(None, np.full(8000, level), losses)
    assert found is not None
    assert 4000 <= found < 4400
