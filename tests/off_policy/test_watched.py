"""Learners whose decisions are watched: they play the same, and the watch knows all rounds."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.off_policy import Watch, Watched
from tests import problems
from tests.cases import Match

CONTRACT = {
    "Watched": Match(
        Watched(
            hn.ContextSemiBanditFTPL(problems.ALL, epsilon="anytime", seed=0),
            Watch({"always 0": 0, "always 2": 2}),
        ),
        problems.PLANTED,
    ),
    "Watched, sampled, full information": Match(
        Watched(hn.ContextFTPL(problems.FINITE, epsilon=0.5, seed=0), Watch(n_actions=3), draws=10),
        problems.PLANTED,
        no_regret=False,
    ),
    "Recorder": Match(
        hn.off_policy.Recorder(hn.ContextSemiBanditFTPL(problems.ALL, seed=0)),
        problems.PLANTED,
        no_regret=False,
    ),
}


def content(thing):
    return b"".join(packed(thing, Encoder()))


def exact(**options):
    return hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0, **options)


def sampled(**options):
    table = [[0, 1], [1, 2], [2, 2], [0, 0]]
    oracle = hn.oracles.FinitePolicies(table, n_actions=3)
    return hn.ContextSemiBanditFTPL(oracle, seed=0, **options)


def watched(make=exact, draws=30, **options):
    return Watched(make(**options), Watch({"always 0": 0, "by context": by_context}), draws)


def by_context(context):
    return int(context)


def losses(count, seed=0):
    return np.random.default_rng(seed).random((count, 3)).round(2)


@pytest.mark.parametrize("make", [exact, sampled])
def test_it_plays_as_the_learner_does(make):
    plain, ours = make(), watched(make)
    for t, row in enumerate(losses(60)):
        if t % 3:
            one, other = plain.act(t % 2), ours.act(t % 2)
            assert one == other
            plain.update(row[one])
            ours.update(row[one])
        else:
            one, other = plain.decide(t % 2), ours.decide(t % 2)
            assert (one.id, one.action) == (other.id, other.action)
            assert one.weights.tolist() == other.weights.tolist()
            plain.update(row[one.action], decision=one)
            ours.update(row[one.action], decision=other)
    assert (ours.rounds, ours.oracle_calls) == (plain.rounds, plain.oracle_calls)
    assert ours.watch.progress == (60, 0, 0)
    assert ours.best_policy()(0) == plain.best_policy()(0)


@pytest.mark.parametrize("make", [exact, sampled])
def test_the_watch_is_told_what_one_would_tell_it(make):
    ours, plain, told = watched(make), make(), Watch({"always 0": 0, "by context": by_context})
    waiting = []
    for t, row in enumerate(losses(40)):
        known = plain.propensities(t % 2, 30)
        decision, other = plain.decide(t % 2), ours.decide(t % 2)
        weight = 1.0 / known.given(decision.action)[decision.action]
        told.add_decision(decision, weight=max(1.0, weight))
        waiting.append((decision, other, row[decision.action]))
        if t % 4 == 3:
            mine, its, loss = waiting.pop(t % 3)
            plain.update(loss, decision=mine)
            told.add_loss(mine, loss)
            ours.update(loss, decision=its)
        elif t % 7 == 5:
            mine, its, _ = waiting.pop(0)
            plain.forget(mine)
            told.abandon(mine)
            ours.forget(its)
    assert ours.watch.progress == told.progress
    assert ours.watch.intervals() == told.intervals()
    assert ours.watch.open_decisions == told.open_decisions


def test_rounds_that_are_dropped_count_as_never_answered():
    ours = watched()
    ours.act(0)
    ours.act(1)
    ours.update(0.5)
    assert ours.watch.progress == (1, 1, 0)
    decision = ours.decide(0)
    ours.act(1)
    assert ours.watch.progress == (1, 1, 2)
    ours.forget(decision)
    ours.update(0.25)
    assert ours.watch.progress == (2, 2, 0)


def test_restricted_rounds_are_watched():
    ours = watched()
    for t, row in enumerate(losses(20)):
        action = ours.act(t % 2, available=[1, 2] if t % 2 else None)
        ours.update(row[action])
    found = ours.watch.intervals()
    assert (found["always 0"].unavailable, found["by context"].unavailable) == (10, 0)


def test_with_full_information_the_loss_of_the_action_counts():
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), epsilon=0.5, seed=0)
    ours, told = Watched(learner.clone(), Watch(n_actions=3)), Watch(n_actions=3)
    for t, row in enumerate(losses(30)):
        q = learner.propensities(t % 2).probabilities
        action = ours.act(t % 2)
        assert learner.act(t % 2) == action
        told.add_decision(t, t % 2, action, propensity=float(q[action]))
        told.add_loss(t, row[action])
        ours.update(row)
        learner.update(row)
    assert ours.watch.intervals() == told.intervals()


# Refused calls change nothing -------------------------------------------------------------------


@pytest.mark.parametrize("loss", [float("nan"), 7.0, -1.0, "bad", [0.1, 0.2], None, [[]], {}])
def test_a_refused_loss_changes_nothing(loss):
    ours = watched()
    decision = ours.decide(0)
    ours.act(1)
    before = content(ours)
    with pytest.raises(hn.HannanError):
        ours.update(loss)
    with pytest.raises(hn.HannanError):
        ours.update(loss, decision=decision)
    assert content(ours) == before
    ours.update(0.5)
    ours.update(0.5, decision=decision)
    with pytest.raises(hn.DecisionError):
        ours.update(0.5, decision=decision)
    assert ours.watch.progress == (2, 0, 0)


def test_losses_beyond_the_range_of_the_watch_reach_neither():
    learner = exact(loss_range=(0.0, 2.0))
    ours = Watched(learner, Watch({"always 0": 0}))
    ours.act(0)
    before = content(ours)
    with pytest.raises(hn.LossError, match="loss_range"):
        ours.update(1.5)
    assert content(ours) == before


def test_a_policy_that_fails_stops_nothing_half_way():
    ours = Watched(exact(), Watch({"fails": lambda context: 1 // context}))
    before = content(ours)
    for call in (ours.act, ours.decide):
        with pytest.raises(ZeroDivisionError):
            call(0)
    assert content(ours) == before
    with pytest.raises(ZeroDivisionError):
        ours.decide_many([1, 1, 0])
    assert ours.watch.progress == (0, 2, 0)
    assert ours.open_decisions == ours.learner.open_decisions == []
    ours.decide_many([1, 1])
    assert ours.watch.progress == (0, 2, 2)
    plain = exact()
    for decision in plain.decide_many([1, 1]):
        plain.forget(decision)
    assert [one.action for one in plain.decide_many([1, 1])] == [
        opened.action for opened in ours._ledger.opened
    ]


def test_a_policy_outside_the_actions_is_refused():
    with pytest.raises(hn.ParameterError, match="must have the 3 actions"):
        Watched(exact(), Watch(n_actions=2))
    with pytest.raises(hn.ParameterError, match="an action from 0 to 2; got 3"):
        Watched(exact(), Watch({"always 3": 3})).act(0)
    with pytest.raises(hn.ParameterError, match="'watch'"):
        Watched(exact(), {"always 0": 0})
    with pytest.raises(hn.ParameterError, match="'learner'"):
        Watched("learner", Watch(n_actions=3))


def test_a_watch_may_know_other_rounds():
    watch = Watch({"always 0": 0})
    watch.add_decision(0, None, 0, propensity=0.5)
    watch.add_decision(1, None, 0, propensity=0.5)
    ours = Watched(exact(), watch)
    decision = ours.decide(0)
    assert watch.open_decisions == [0, 1, 2]
    ours.update(0.5, decision=decision)
    watch.add_loss(1, 0.5)
    assert watch.progress == (2, 0, 1)


# Files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [exact, sampled])
def test_it_goes_on_from_a_file(make, tmp_path):
    ours = Watched(make(), Watch({"always 0": 0, "always 1": 1}), 30)
    rows = losses(40)
    for t, row in enumerate(rows[:20]):
        ours.update(row[ours.act(t % 2)])
    late = ours.decide(0)
    gone = ours.decide(1)
    ours.act(1)
    ours.save(tmp_path / "watched.hannan")
    loaded = hn.load(tmp_path / "watched.hannan")
    assert content(loaded) == content(ours)
    for one in (ours, loaded):
        one.forget(gone.id)
        one.update(0.5)
        for t, row in enumerate(rows[20:]):
            one.update(row[one.act(t % 2)])
        one.update(0.25, decision=late.id)
    assert content(loaded) == content(ours)
    assert loaded.watch.intervals() == ours.watch.intervals()
    again = ours.clone()
    ours.reset()
    assert again.watch.rounds == ours.watch.rounds == ours.rounds == 0
    assert ours.fresh(1).watch is not ours.watch


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.watch.abandon(w.watch.open_decisions[0]),
        lambda w: setattr(w._ledger.current, "place", 10**6),
        lambda w: setattr(w._ledger.current, "place", 0),
        lambda w: setattr(w._ledger.current, "weight", 2.0),
        lambda w: setattr(w, "_opened", 1),
        lambda w: setattr(w, "watch", 3),
    ],
)
def test_files_in_which_rounds_and_watch_differ_are_refused(change):
    ours = Watched(exact(), Watch({"always 0": 0}))
    ours.decide(0)
    ours.act(1)
    assert reread(ours).watch.progress == (0, 0, 2)
    change(ours)
    with pytest.raises(hn.HannanError):
        reread(ours)


def test_games_are_played_as_with_any_learner():
    ours = Watched(exact(epsilon=0.05), Watch(n_actions=3))
    world = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(2, 3))
    hn.play(ours, hn.environments.Delayed(world, 20), horizon=300, seed=0)
    answered, forgotten, waiting = ours.watch.progress
    assert answered + forgotten + waiting == 300
    assert answered >= 280
