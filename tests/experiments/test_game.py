"""Rounds as they are played: late feedback, no feedback, and who is told of whom."""

from __future__ import annotations

import numpy as np
import pytest

import hannan as hn
from hannan.core import Feedback, Round
from hannan.experiments.game import Game


class Diary(hn.Learner):
    """Plays 0 and writes down the order of what it is asked and shown."""

    feedback = Feedback.FULL

    def __init__(self):
        super().__init__()
        self.seen = []

    def _act(self, opened):
        self.seen.append(("act" if opened.number is None else "decide", opened.context))
        opened.play(0)

    def _update(self, opened, loss):
        self.seen.append(("update" if opened.number is None else "late", opened.context))


class Prompt(Diary):
    """The same for feedback that comes at once."""

    late = "Prompt cannot learn late."


class Delays(hn.Environment):
    """Round t has context t and the t-th delay."""

    n_actions = 2

    def __init__(self, delays):
        self.delays = delays
        self.met = None

    def meet(self, learner):
        self.met = learner

    def rounds(self, horizon, rng):
        for t in range(horizon):
            yield Round(t, np.zeros(2), self.delays[t])


class Silent(Round):
    """A round that tells nothing."""

    def reveal(self, action, feedback=Feedback.FULL):
        super().reveal(action, feedback)


def test_feedback_comes_as_many_rounds_later_as_the_delay_says():
    learner = Diary()
    game = Game(learner, Delays([2, 0, 1, 0]), 4, np.random.default_rng(0))
    assert [r.context for r in game] == [0, 1, 2, 3]
    assert learner.seen == [
        ("decide", 0),
        ("act", 1),
        ("update", 1),
        ("decide", 2),
        ("late", 0),  # after two further rounds were played
        ("act", 3),
        ("update", 3),
        ("late", 2),
    ]
    assert game.waiting == 0


def test_what_has_not_come_by_the_end_never_does():
    learner = Diary()
    game = Game(learner, Delays([5, 5]), 2, np.random.default_rng(0))
    list(game)
    assert game.waiting == 2
    assert ("late", 0) not in learner.seen


def test_a_learner_that_refuses_decisions_cannot_learn_late():
    learner = Prompt()
    game = Game(learner, Delays([0, 3]), 2, np.random.default_rng(0))
    with pytest.raises(
        hn.ParameterError, match=r"round 2 arrives 3 rounds.*Prompt cannot learn late"
    ):
        list(game)
    assert learner.seen == [("act", 0), ("update", 0)]


def test_no_feedback_is_no_update():
    class Half(Delays):
        def rounds(self, horizon, rng):
            for t in range(horizon):
                yield (Silent if t % 2 else Round)(t, np.zeros(2))

    learner = Diary()
    rounds = list(Game(learner, Half([]), 4, np.random.default_rng(0)))
    assert [t for verb, t in learner.seen if verb == "update"] == [0, 2]
    assert learner.rounds == 2
    assert [r.action for r in rounds] == [0, 0, 0, 0]


def test_the_environment_is_told_who_plays_before_the_first_round():
    world, learner = Delays([0]), Diary()
    list(Game(learner, world, 1, np.random.default_rng(0)))
    assert world.met is learner
    world.met = None
    hn.play(learner, world, horizon=1)
    assert world.met is learner


def test_the_time_counted_is_the_learners():
    import time

    class Slow(Diary):
        def _act(self, opened):
            time.sleep(0.01)
            opened.play(0)

    class SlowWorld(Delays):
        def rounds(self, horizon, rng):
            for this_round in super().rounds(horizon, rng):
                time.sleep(0.03)
                yield this_round

    game = Game(Slow(), SlowWorld([0] * 5), 5, np.random.default_rng(0))
    started = time.perf_counter()
    list(game)
    assert 0.05 <= game.seconds <= time.perf_counter() - started - 0.15


KNOWN = hn.PlayoutFTPL(hn.oracles.AllPolicies(1, 2), [0] * 9, seed=0)
SLOW = hn.environments.Delayed(hn.environments.FromArrays(None, np.eye(2)), 5)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (KNOWN, "round 1 arrives 5 rounds later.*PlayoutFTPL does not support delayed feedback"),
        (hn.off_policy.Recorder(KNOWN), "PlayoutFTPL does not support delayed feedback"),
    ],
)
def test_who_cannot_learn_late_is_named_and_why(learner, words):
    twin = learner.clone()
    with pytest.raises(hn.ParameterError, match=words):
        hn.play(twin, SLOW)
    assert twin.rounds == 0
    assert twin.would_play() == learner.would_play()


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (hn.baselines.LinUCB(2), "LinUCB chooses among 2 actions, and FromArrays has 3.*LinUCB n_"),
        (hn.baselines.EpsilonGreedy(4, seed=0), "EpsilonGreedy chooses among 4"),
        (hn.baselines.UniformRandom(2, seed=0), "UniformRandom chooses among 2"),
        (hn.baselines.VowpalWabbit(2, seed=0), "VowpalWabbit chooses among 2"),
        (hn.Restarting(hn.baselines.LinUCB(2)), r"Restarting\(LinUCB\) chooses among 2"),
        (
            hn.baselines.Exp4([[0], [1]], seed=0),
            "Exp4 chooses among 2 actions.*Pass FinitePolicies n_actions=3",
        ),
        (hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 5), seed=0), "AllPolicies n_actions=3"),
    ],
)
def test_a_learner_for_another_number_of_actions_is_refused(learner, words):
    world = hn.environments.FromArrays(None, np.eye(3))
    with pytest.raises(hn.ParameterError, match=words):
        hn.play(learner, world)
    assert learner.rounds == 0
    with pytest.raises(hn.ParameterError, match=words):
        Game(learner, world, 3, np.random.default_rng(0))


def test_an_oracle_that_learns_its_number_of_actions_plays():
    oracle = hn.oracles.FunctionOracle(lambda contexts, losses: lambda context: 2)
    learner = hn.baselines.FollowTheLeader(oracle)
    assert hn.play(learner, hn.environments.FromArrays([0, 0], np.eye(3)[:2])).losses.sum() == 0.0


def test_a_round_that_tells_nothing_is_not_waited_for():
    class Quiet(hn.Environment):
        n_actions = 2

        def rounds(self, horizon, rng):
            for _ in range(horizon):
                yield Silent(None, np.zeros(2), delay=3)

    for learner in (hn.baselines.LinUCB(2), hn.ContextSemiBanditFTPL(KNOWN.oracle, seed=0)):
        list(Game(learner, Quiet(), 20, np.random.default_rng(0)))
        assert learner.rounds == 0
        assert learner.open_decisions == []
