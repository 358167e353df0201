import copy
import pickle

import numpy as np
import pytest
from river.drift import ADWIN

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


@pytest.mark.slow
def test_it_does_not_restart_when_a_learner_merely_plays_differently():
    learner = hn.Restarting(bandit())
    play(learner, toy(12_000))
    assert learner.restarts == []


@pytest.mark.slow
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
    assert learner.rounds == learner.current_learner.rounds == 0
    assert learner.best_policy()(0) == 0


def test_a_detector_that_fails_leaves_no_round_half_answered():
    class Failing:
        def update(self, value):
            raise RuntimeError

    learner = hn.Restarting(full(epsilon=0.5), Failing())
    other = learner.decide(0)
    learner.act(0)
    learner.update(np.ones(K))
    assert learner.rounds == learner.current_learner.rounds == 1
    for ask in (learner.act, learner.would_play, learner.propensities):
        with pytest.raises(RuntimeError):
            ask(0)
    with pytest.raises(RuntimeError):
        learner.update(np.ones(K), other)
    assert learner.open_decisions == learner.current_learner.open_decisions == [other.id]
    assert learner.rounds == learner.current_learner.rounds == 1


class Down(RuntimeError):
    """A solver, or something else from outside, is down."""


class Flaky(Recorder):
    """A predictor that cannot be copied while `down`, and whose lessons are counted."""

    down = False
    lessons = 0

    def clone(self):
        if Flaky.down:
            raise Down
        return Flaky()

    def learn(self, context, action, loss):
        Flaky.lessons += 1
        super().learn(context, action, loss)


class Stubborn(Alarms):
    """A detector that fails the first time it is shown a value."""

    refused = ()

    def clone(self):
        return Stubborn(*self.when)

    def update(self, value):
        if value not in Stubborn.refused:
            Stubborn.refused = (*Stubborn.refused, value)
            raise Down
        return super().update(value)


def test_a_detector_that_fails_once_is_shown_the_round_before_the_next_one():
    contexts, losses = toy(60)
    losses = losses * np.linspace(0.5, 1.0, 60)[:, None]  # hardly a value twice
    Stubborn.refused, Flaky.lessons = (), 0
    learner = hn.Restarting(full(), Stubborn(10), predictor=Flaky())
    twin = hn.Restarting(full(), Alarms(10), predictor=Recorder())
    buffer = np.empty(K)
    for context, row in zip(contexts, losses, strict=True):
        assert learner.act(context) == twin.act(context)
        buffer[:] = row
        learner.update(buffer)
        buffer[:] = np.nan  # what is shown later is what was given then
        twin.update(row)
    learner.act(0)
    assert learner.restarts == twin.restarts == [10, 20, 30, 40, 50, 60]
    assert Flaky.lessons == 60
    assert len(Stubborn.refused) > 30


def failing_base(feedback):
    """A learner of a solver that fails while `down` is not empty."""
    down = []

    def solve(contexts, losses):
        if down:
            raise Down
        best = int(losses.sum(axis=0).argmin()) if len(losses) else 0
        return lambda context: best

    make = hn.ContextFTPL if feedback == "full" else hn.ContextSemiBanditFTPL
    oracle = hn.oracles.FunctionOracle(solve, n_actions=K)
    return down, make(oracle, contexts=range(D), seed=0)


@pytest.mark.parametrize("feedback", ["full", "bandit"])
@pytest.mark.parametrize("part", ["certificate", "fresh", "regret_bound"])
def test_a_restart_that_fails_is_tried_again_before_the_next_round(feedback, part, monkeypatch):
    """The round has been learned, and nothing shows later that the restart came late."""
    contexts, losses = toy(40)
    (_, calm), (down, shaken) = failing_base(feedback), failing_base(feedback)
    twin, learner = hn.Restarting(calm, Alarms(10)), hn.Restarting(shaken, Alarms(10))

    original = getattr(type(shaken), part)

    def broken(self, *args):
        if down and self.oracle is shaken.oracle:
            raise Down
        return original(self, *args)

    monkeypatch.setattr(type(shaken), part, broken)
    failed = 0
    for context, row in zip(contexts, losses, strict=True):
        action = learner.act(context)
        assert action == twin.act(context)
        loss = row if feedback == "full" else row[action]
        twin.update(loss)
        due = learner.rounds % 10 == 9
        before = list(learner.restarts)
        if due:
            monkeypatch.setattr(Alarms, "update", pull(Alarms.update, down))
        learner.update(loss)
        assert learner.rounds == twin.rounds
        if due:
            assert down
            assert learner.restarts == before
            for ask in (learner.act, learner.would_play):
                with pytest.raises(Down):
                    ask(0)
            assert learner.rounds == learner.current_learner.rounds + sum(before[-1:])
            failed += 1
        down.clear()
        monkeypatch.undo()
        monkeypatch.setattr(type(shaken), part, broken)
    learner.would_play(0)
    assert failed == 4
    assert learner.restarts == twin.restarts == [10, 20, 30, 40]
    assert learner.certificate() == twin.certificate()
    assert learner.regret_bound() == twin.regret_bound()
    assert learner.oracle_calls == twin.oracle_calls


def pull(update, down):
    """A detector's update after which everything else fails."""

    def pulled(self, value):
        found = update(self, value)
        down.append(True)
        return found

    return pulled


def test_a_restart_whose_watch_cannot_be_made_has_changed_nothing():
    Flaky.down = False
    learner = hn.Restarting(full(), Alarms(5), predictor=Flaky())
    try:
        for t in range(5):
            learner.act(0)
            Flaky.down = t == 4
            learner.update(np.ones(K))
        assert (learner.rounds, learner.restarts) == (5, [])
        for _ in range(3):
            with pytest.raises(Down):
                learner.act(0)
        assert learner.certificate().rounds == 5
    finally:
        Flaky.down = False
    learner.act(0)
    assert learner.restarts == [5]
    assert learner.certificate().rounds == 5
    assert any("sums over 2 segments" in note for note in learner.certificate().notes)


def test_decisions_that_nobody_has_seen_are_forgotten_inside_too():
    calls = []

    def solve(contexts, losses):
        calls.append(len(losses))
        if len(calls) == 3:
            raise Down
        return lambda context: 0

    oracle = hn.oracles.FunctionOracle(solve, n_actions=K)
    learner = hn.Restarting(hn.ContextSemiBanditFTPL(oracle, range(D), seed=0), Alarms())
    with pytest.raises(Down):
        learner.decide_many([0, 1, 2])
    assert learner.open_decisions == learner.current_learner.open_decisions == []
    assert learner._ledger.discarded == learner.current_learner._ledger.discarded == 2


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
    for base in (
        hn.PlayoutFTPL(ORACLE, [0, 1, 2], seed=0),
        hn.PlayoutBandit(ORACLE, [0, 1, 2], seed=0),
    ):
        with pytest.raises(hn.ParameterError, match=f"does not support {type(base).__name__}"):
            hn.Restarting(base)


def test_what_the_learner_does_not_have_is_refused():
    learner = hn.Restarting(hn.baselines.UniformRandom(K, seed=0))
    learner.act()
    learner.update(np.zeros(K))
    for verb in ("best_policy", "certificate"):
        with pytest.raises(hn.InputTypeError, match=rf"UniformRandom has no {verb}\(\)"):
            getattr(learner, verb)()
    with pytest.raises(hn.DecisionError):
        learner.update(0.0, decision=0)
    base = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, K), seed=0)
    assert hn.Restarting(base).late is base.late is None


def test_propensities_of_any_learner_are_passed_on():
    base = hn.baselines.KalaiVempala(TABLE, seed=0)
    found, expected = (each.propensities(0) for each in (hn.Restarting(base), base))
    assert found.probabilities.tolist() == expected.probabilities.tolist()
    assert found.draws == expected.draws


@pytest.mark.parametrize("detector", [None, hn.adapters.RiverDetector(ADWIN())])
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


@pytest.mark.slow
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


def test_hints_and_predictor_are_those_of_the_learner_at_work():
    learner = hn.Restarting(bandit(), Alarms(10))
    assert learner.hint is learner.current_learner.hint
    first = learner.predictor_
    assert isinstance(first, hn.predictors.Mean)
    play(learner, toy(15))
    assert learner.restarts == [10]
    assert learner.predictor_ is learner.current_learner.predictor_ is not first
    assert learner.hint.W > 0.0
    assert learner.predictor is None
    plain = hn.Restarting(hn.baselines.UniformRandom(K, seed=0), Alarms())
    assert plain.hint is plain.predictor_ is None
