"""Late feedback, and weights from the wrong moment."""

import numpy as np
import pytest

import hannan as hn
from hannan.learners import ContextSemiBanditFTPL
from hannan.verify import delay, proxy_losses
from hannan.verify._bandits import totals_of
from tests.verify import bandit_breaks, game_breaks
from tests.verify.breaks import failures, refuted, says_something, tried


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("delayed-weights", 2), ("price-of-delay", 4)])
def test_the_claims_stand(name, checks):
    finding = tried(delay, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_weights_drawn_at_arrival_are_found_out(monkeypatch):
    bandit_breaks.draw_weights_at_arrival(monkeypatch)
    found = failures(tried(delay, "delayed-weights"))
    assert found == ["drawn at decision: mean estimate less (1-(1-q)^L)ℓ, in standard errors"]
    assert tried(proxy_losses, "proxy-mean").passed


def test_so_is_a_schedule_that_never_widens(monkeypatch):
    game_breaks.widen(monkeypatch, 0.0)
    refuted(delay, "price-of-delay")


def test_losses_come_after_their_delay_in_any_order():
    oracle = hn.oracles.FinitePolicies([[0], [1]])
    seen = []

    class Watched(ContextSemiBanditFTPL):
        def update(self, loss, decision=None):
            seen.append(None if decision is None else decision.id)
            super().update(loss, decision)

    learner = Watched(oracle, epsilon=1.0, seed=0)
    delays = [5, 0, 1, 0, 0, 0]
    pending = []
    world = delay.Late(hn.environments.PlantedPolicy(oracle), delays)
    trace = hn.play(
        learner, world, 6, 0, progress=lambda t: pending.append(len(learner.open_decisions))
    )
    # Without a delay no ticket is needed; of the two, the later one is answered first.
    assert seen == [None, None, 1, None, None, 0]
    assert world.total == sum(pending[:-1]) == 1 + 1 + 2 + 1 + 1
    assert len(trace) == 6


def test_totals_are_read_off_the_objective():
    learner = ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), epsilon=1.0, seed=0)
    learner.leader.total.add(0, np.array([3.0, 1.0, 2.5]))
    assert totals_of(learner) == pytest.approx([3.0, 1.0, 2.5])
