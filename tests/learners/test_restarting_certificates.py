"""What is said about regret over several segments."""

import numpy as np
import pytest

import hannan as hn
from tests.drifting import Alarms, D, K, bandit, full, play, toy


def test_without_a_restart_the_certificate_is_the_learners_own():
    stream = toy(100)
    learner, alone = hn.Restarting(full(), Alarms()), full()
    play(learner, stream)
    play(alone, stream)
    assert learner.certificate() == alone.certificate()


@pytest.mark.parametrize("cap", [None, 7])
@pytest.mark.parametrize("make", [full, bandit])
def test_certificates_add_up(make, cap):
    contexts, losses = toy(250)
    learner = hn.Restarting(make(), Alarms(100), max_restarts=cap)
    play(learner, (contexts, losses))
    parts, player = [], make()
    for segment, start in enumerate((0, 100, 200)):
        if segment:
            player = player.fresh(segment)
        play(player, (contexts[start : start + 100], losses[start : start + 100]))
        parts.append(player.certificate())
    total = learner.certificate()
    assert type(total) is type(parts[0])
    for name in {"rounds", "loss", *total.values} - {"confidence"}:
        values = [getattr(part, name) for part in parts]
        expected = None if None in values else pytest.approx(sum(values))
        assert getattr(total, name) == expected, name
    assert total.rounds == 250
    assert "2 restarts: statements are sums over 3 segments" in total.notes
    assert any("max_restarts is not set" in note for note in total.notes) == (cap is None)


def test_realised_regret_is_against_the_best_policy_of_each_segment():
    contexts, losses = toy(200, [100])
    learner = hn.Restarting(full(), Alarms(100), max_restarts=1)
    actions = play(learner, (contexts, losses))
    suffered = losses[np.arange(200), actions].sum()
    best = 0.0
    for start in (0, 100):
        totals = np.zeros((D, K))
        np.add.at(totals, contexts[start : start + 100], losses[start : start + 100])
        best += totals.min(axis=1).sum()
    assert learner.certificate().realised_regret == pytest.approx(suffered - best)
    assert learner.certificate().high_probability >= learner.certificate().measured


def test_a_statement_that_one_segment_lacks_is_not_made():
    learner = hn.Restarting(bandit(predictor=None), Alarms(10), max_restarts=1)
    waiting = learner.decide_many([0, 1])  # late feedback: no variance is known of this segment
    play(learner, toy(8))
    for decision in waiting:
        learner.update(0.5, decision=decision)
    assert learner.restarts == [10]
    play(learner, toy(20))
    assert learner.current_learner.certificate().variance_estimate is not None
    assert learner.certificate().variance_estimate is None
    assert learner.certificate().stability_estimate is not None
    assert any("overlapped" in note for note in learner.certificate().notes)
