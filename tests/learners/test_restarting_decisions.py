"""Decisions and the clock of a learner that starts over."""

import copy
import dataclasses

import pytest

import hannan as hn
from hannan.core.oracle import Timed
from hannan.core.storage import reread
from tests.drifting import Alarms, D, K, Recorder, bandit, play, toy


def test_decisions_answered_at_once_play_like_rounds():
    contexts, losses = toy(150)
    learner, twin = hn.Restarting(bandit(), Alarms(40)), bandit()
    direct = twin
    for t, (context, row) in enumerate(zip(contexts, losses, strict=True)):
        decision, expected = learner.decide(context), direct.decide(context)
        assert decision.id == t
        assert decision.action == expected.action
        assert decision.weights.tolist() == expected.weights.tolist()
        learner.update(row[decision.action], decision=decision)
        direct.update(row[expected.action], decision=expected)
        if (t + 1) % 40 == 0:
            direct = direct.fresh((t + 1) // 40)
    assert learner.restarts == [40, 80, 120]


def test_a_file_whose_round_the_learner_inside_does_not_know_is_refused():
    learner = hn.Restarting(bandit())
    play(learner, toy(5))
    learner.act(0)
    learner.decide(1)
    assert reread(learner).open_decisions == [0]
    for lost in ({"current": None}, {"waiting": {}}):
        forged = copy.deepcopy(learner)
        vars(forged.current_learner)["_ledger"] = dataclasses.replace(
            forged.current_learner._ledger, **lost
        )
        with pytest.raises(hn.DamagedFileError, match="round"):
            reread(forged)


def test_late_answers_to_an_earlier_learner_are_counted_and_dropped():
    learner, twin = (hn.Restarting(bandit(), Alarms(10)) for _ in range(2))
    early = learner.decide_many([0, 1, 2])
    play(learner, toy(10))
    assert learner.restarts == [10]
    assert learner.open_decisions == [0, 1, 2]
    twin.decide_many([0, 1, 2])
    play(twin, toy(10))

    with pytest.raises(hn.LossError):
        learner.update(2.0, decision=early[0])
    learner.update(1.0, decision=early[0])
    learner.update(0.5, decision=early[2].id)
    learner.forget(early[1])
    assert learner.rounds == 12
    assert learner.open_decisions == []
    for again in early:
        with pytest.raises(hn.DecisionError, match="already"):
            learner.update(0.0, decision=again)
    assert play(learner, toy(8, seed=1)) == play(twin, toy(8, seed=1))

    certificate = learner.certificate()
    lost = toy(10)[1], toy(8, seed=1)[1]
    assert certificate.rounds == learner.rounds == 20
    closed = learner._closed[0]  # three of its rounds had no loss
    assert certificate.stability_estimate == pytest.approx(
        closed.stability_estimate + learner.current_learner.certificate().stability_estimate
    )
    assert closed.stability_estimate > 3.0
    assert any("2 losses came after a restart" in note for note in certificate.notes)
    assert 1.5 <= certificate.loss <= 1.5 + sum(row.max(axis=1).sum() for row in lost)


def test_a_round_opened_before_a_restart_is_dropped_too():
    learner = hn.Restarting(bandit(), Alarms(1))
    waiting = learner.decide(0)
    learner.act(1)
    learner.update(1.0, decision=waiting)
    assert learner.restarts == [1]
    with pytest.raises(hn.LossError):
        learner.update(7.0)
    learner.update(1.0)
    assert learner.rounds == 2
    assert learner.current_learner.rounds == 0
    with pytest.raises(hn.OrderError):
        learner.update(1.0)


def test_forgotten_decisions_of_the_current_learner_are_forgotten_there():
    learner = hn.Restarting(bandit(), Alarms())
    learner.forget(learner.decide(0))
    assert learner.current_learner.open_decisions == learner.open_decisions == []
    with pytest.raises(hn.DecisionError):
        learner.forget(0)


def test_a_decision_of_another_learner_is_refused():
    learner, other = hn.Restarting(bandit()), hn.Restarting(bandit())
    learner.decide(0)
    with pytest.raises(hn.DecisionError, match="another"):
        learner.update(0.0, decision=other.decide(1))


def test_propensities_are_those_of_the_current_learner():
    learner = hn.Restarting(bandit(), Alarms(20))
    play(learner, toy(30))
    found, expected = (x.propensities(1, draws=50) for x in (learner, learner.current_learner))
    assert found.probabilities.tolist() == expected.probabilities.tolist()


class Dated(Timed, hn.oracles.AllPolicies):
    """Context x of round t is number t D + x; one already dated stays what it is."""

    def at(self, time, context):
        return self.check_context(context if context >= D else time * D + context)


def test_the_clock_runs_on_over_restarts():
    oracle = Dated(D * 40, K)
    for base in (hn.ContextFTPL(oracle, seed=0), hn.ContextSemiBanditFTPL(oracle, seed=0)):
        learner = hn.Restarting(base, Alarms(10), predictor=Recorder())
        contexts, losses = toy(27)
        play(learner, (contexts, losses))
        seen = [context for context, _, _ in learner._monitor._own.learned]
        assert seen == [D * t + contexts[t] for t in range(20, 27)]


def test_the_clock_counts_decisions_that_wait():
    base = hn.ContextSemiBanditFTPL(Dated(D * 40, K), seed=0)
    learner = hn.Restarting(base, Alarms(2))
    first, second, third = learner.decide_many([1, 1, 1])
    assert [first.context, second.context, third.context] == [1, D + 1, 2 * D + 1]
    learner.forget(second)
    learner.update(1.0, decision=first)
    learner.update(1.0, decision=third)
    assert learner.restarts == [2]
    assert learner.decide(1).context == 3 * D + 1


@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_switching_classes_keep_their_time(feedback):
    contexts, losses = toy(27)
    policies = hn.oracles.FinitePolicies([[0, 1, 2], [1, 1, 1], [2, 0, 1]])
    oracle = hn.oracles.Switching(policies, 1, sequence=contexts)
    make = hn.ContextFTPL if feedback == "full" else hn.ContextSemiBanditFTPL
    learner = hn.Restarting(make(oracle, seed=0), Alarms(10), predictor=Recorder())
    play(learner, (contexts, losses))
    assert learner.restarts == [10, 20]
    seen = [context for context, _, _ in learner._monitor._own.learned]
    assert seen == [(t, contexts[t]) for t in range(20, 27)]


def test_a_decision_of_a_closed_segment_was_counted_when_it_was_closed():
    learner = hn.Restarting(bandit(epsilon="anytime", predictor=None), Alarms(10), max_restarts=3)
    early = learner.decide(0)
    play(learner, toy(15))
    assert learner.restarts == [10]
    promised = learner.regret_bound()
    assert promised > 1.0
    learner.forget(early)
    assert learner.regret_bound() == promised
