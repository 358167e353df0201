import copy
import pickle
import types

import numpy as np
import pytest

import hannan as hn
from hannan.checks import check_learner
from tests.drifting import ORACLE, Alarms, D, K, Recorder, bandit, full, play, toy

TABLE = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(K, size=(8, D)), n_actions=K)


@pytest.mark.parametrize("make", [full, bandit])
def test_it_restarts_soon_after_each_change_and_not_before(make):
    learner = hn.Restarting(make())
    play(learner, toy(3000, [1000, 2000]))
    assert len(learner.restarts) == 2
    for change, found in zip([1000, 2000], learner.restarts, strict=True):
        assert change < found < change + 60


@pytest.mark.parametrize("make", [full, bandit])
@pytest.mark.parametrize("seed", range(4))
def test_it_does_not_restart_where_nothing_changes(make, seed):
    learner = hn.Restarting(make(seed=seed))
    play(learner, toy(2500, seed=seed))
    assert learner.restarts == []


def test_it_does_not_restart_when_a_learner_merely_plays_differently():
    learner = hn.Restarting(bandit())
    play(learner, toy(12_000))
    assert learner.restarts == []


def test_restarts_pay_after_a_change():
    stream = toy(3000, [1000, 2000])
    losses = []
    for learner in (bandit(), hn.Restarting(bandit())):
        losses.append(stream[1][np.arange(3000), play(learner, stream)].mean())
    assert losses[1] < 0.7 * losses[0]


@pytest.mark.parametrize("make", [full, bandit])
def test_without_an_alarm_the_play_is_the_learners_own(make):
    stream = toy(300)
    assert play(hn.Restarting(make(), Alarms()), stream) == play(make(), stream)


@pytest.mark.parametrize("make", [full, bandit])
def test_after_a_restart_a_fresh_learner_plays(make):
    contexts, losses = toy(300)
    found = play(hn.Restarting(make(), Alarms(100)), (contexts, losses))
    first = make()
    assert found[:100] == play(first, (contexts[:100], losses[:100]))
    # The alarm rings at the 100th value of each detector, so the third learner starts at 200.
    second = first.fresh(1)
    assert second.seed != first.seed
    assert found[100:200] == play(second, (contexts[100:200], losses[100:200]))
    assert found[200:] == play(second.fresh(2), (contexts[200:], losses[200:]))


def test_restarts_are_logged_capped_and_counted():
    learner = hn.Restarting(full(), Alarms(20), max_restarts=2)
    play(learner, toy(100))
    assert learner.restarts == [20, 40]
    assert learner.rounds == 100
    none = hn.Restarting(full(), Alarms(20), max_restarts=0)
    assert play(none, toy(100)) == play(full(), toy(100))
    assert none.restarts == []


def test_oracle_calls_are_those_of_all_segments():
    learner = hn.Restarting(full(epsilon=0.5), Alarms(20))
    play(learner, toy(100))
    assert learner.oracle_calls == 100


def test_reset_forgets_everything():
    learner = hn.Restarting(bandit(), Alarms(20))
    first = play(learner, toy(90))
    learner.reset()
    assert learner.restarts == []
    assert play(learner, toy(90)) == first


def test_fresh_learners_have_randomness_of_their_own():
    learner = hn.Restarting(full(epsilon=0.1), Alarms(20), max_restarts=5)
    twins = [learner.fresh(number) for number in (1, 1, 2)]
    plays = [play(twin, toy(60)) for twin in twins]
    assert plays[0] == plays[1] != plays[2]
    assert twins[0].max_restarts == 5


def test_refused_calls_change_nothing():
    contexts, losses = toy(200)
    learner, twin = (hn.Restarting(bandit(), Alarms(40)) for _ in range(2))
    found = []
    for context, row in zip(contexts, losses, strict=True):
        with pytest.raises(hn.OrderError):
            learner.update(0.0)
        with pytest.raises(hn.ContextError):
            learner.act(D)
        found.append(learner.act(context))
        for bad in (2.0, np.nan, None, [0.1, 0.2]):
            with pytest.raises(hn.HannanError):
                learner.update(bad)
        learner.update(row[found[-1]])
    assert found == play(twin, (contexts, losses))
    assert learner.restarts == twin.restarts == [40, 80, 120, 160, 200]


@pytest.mark.parametrize("guess", [np.full(K, np.nan), np.zeros(K - 1), 0.5])
def test_a_prediction_that_is_none_is_refused_before_anything_is_learned(guess):
    class Broken(Recorder):
        def estimate(self, context):
            return guess

    learner = hn.Restarting(full(), Alarms(), predictor=Broken())
    learner.act(0)
    with pytest.raises(hn.LossError, match="Broken"):
        learner.update(np.ones(K))
    assert learner.rounds == learner._player.rounds == 0
    assert learner.best_policy()(0) == 0


def test_a_detector_that_fails_leaves_no_round_half_answered():
    class Failing:
        def update(self, value):
            raise RuntimeError

    learner = hn.Restarting(full(), Failing())
    for _ in range(3):
        learner.act(0)
        with pytest.raises(RuntimeError):
            learner.update(np.ones(K))
    assert learner.rounds == learner._player.rounds == 3


def test_an_alarm_is_not_lost_if_the_fresh_learner_cannot_be_made():
    learner = hn.Restarting(full(), Alarms(5))
    player = learner._player
    player.fresh = types.MethodType(lambda self, number: 1 / 0, player)
    for _ in range(5):
        learner.act(0)
        if learner.rounds < 4:
            learner.update(np.ones(K))
    with pytest.raises(ZeroDivisionError):
        learner.update(np.ones(K))
    assert (learner.rounds, learner.restarts) == (5, [])
    del player.fresh
    learner.act(0)
    learner.update(np.ones(K))
    assert (learner.rounds, learner.restarts) == (6, [6])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: hn.Restarting(ORACLE), "'learner'"),
        (lambda: hn.Restarting(full(), 0.05), "'detector'"),
        (lambda: hn.Restarting(full(), max_restarts=-1), "'max_restarts'"),
        (lambda: hn.Restarting(full(), predictor="ridge"), "predictor="),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(hn.HannanError, match=message):
        build()


def test_playout_noise_is_refused():
    base = hn.ContextFTPL(ORACLE, [0, 1, 2], perturbation="playout", horizon=3, seed=0)
    with pytest.raises(hn.ParameterError, match="playout"):
        hn.Restarting(base)


def test_what_the_learner_does_not_have_is_refused():
    learner = hn.Restarting(hn.baselines.UniformRandom(K, seed=0))
    learner.act()
    learner.update(np.zeros(K))
    for verb in ("best_policy", "certificate"):
        with pytest.raises(hn.InputTypeError, match=rf"UniformRandom has no {verb}\(\)"):
            getattr(learner, verb)()
    with pytest.raises(hn.InputTypeError, match=r"KalaiVempala has no propensities\(\)"):
        hn.Restarting(hn.baselines.KalaiVempala(TABLE, seed=0)).propensities(0)
    with pytest.raises(hn.DecisionError):
        learner.update(0.0, decision=0)
    base = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, K), seed=0)
    with pytest.raises(hn.InputTypeError, match=r"EpochGreedy has no decide\(\)"):
        hn.Restarting(base).decide()


@pytest.mark.parametrize("detector", [None, hn.detectors.Adwin()])
@pytest.mark.parametrize("make", [full, bandit])
def test_a_copy_plays_on_like_the_original(make, detector):
    contexts, losses = toy(1600, [500, 1000])
    original = hn.Restarting(make(), detector, predictor=hn.predictors.Mean())
    play(original, (contexts[:800], losses[:800]))
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    expected = play(original, (contexts[800:], losses[800:]))
    assert len(original.restarts) == 2
    for twin in twins:
        assert play(twin, (contexts[800:], losses[800:])) == expected
        assert twin.restarts == original.restarts


@pytest.mark.parametrize(
    "base",
    [
        hn.ContextFTPL(TABLE, predictor=hn.predictors.Last(), seed=0),
        hn.ContextSemiBanditFTPL(TABLE, predictor=hn.predictors.Mean(), seed=0),
        hn.ContextSemiBanditFTPL(TABLE, seed=0),
        hn.Restarting(hn.ContextFTPL(TABLE, seed=0), max_restarts=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_the_contract_is_kept(base):
    world = hn.environments.PlantedPolicy(TABLE, good=0.1, bad=0.9)
    check_learner(hn.Restarting(base), world)
    eager = hn.Restarting(base, hn.detectors.Bernstein(delta=0.9, minimum=16))
    check_learner(eager, world, no_regret=False)
    # Where restarts come all the time:
    check_learner(hn.Restarting(base, Alarms(7)), world, no_regret=False)
