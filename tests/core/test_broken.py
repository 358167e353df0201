"""A call that is interrupted while it commits breaks the learner; every later call says so."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.availability import Availability

ROWS = [[0, 1], [1, 1], [1, 0]]
CALLS = {
    "act": lambda learner, path: learner.act(0),
    "decide": lambda learner, path: learner.decide(0),
    "decide_many": lambda learner, path: learner.decide_many([0, 1]),
    "update": lambda learner, path: learner.update([0.0, 1.0]),
    "forget": lambda learner, path: learner.forget(0),
    "would_play": lambda learner, path: learner.would_play(0),
    "save": lambda learner, path: learner.save(path),
}


def full():
    return hn.ContextFTPL(hn.oracles.FinitePolicies(ROWS), seed=0)


def raising(error):
    def stop(*_, **__):
        raise error

    return stop


def assert_broken(learner, path):
    for call in CALLS.values():
        with pytest.raises(hn.OrderError, match=r"broken.*[Ll]oad the last saved file.*reset\(\)"):
            call(learner, path)
    assert not path.exists()
    learner.reset()
    assert learner.act(0) in (0, 1)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, RuntimeError])
@pytest.mark.parametrize("call", ["act", "decide"])
def test_whatever_is_raised_while_an_action_is_committed_breaks_a_learner(
    monkeypatch, tmp_path, call, error
):
    learner = full()
    with monkeypatch.context() as patch:
        patch.setattr(learner, "_played", raising(error))
        with pytest.raises(error):
            CALLS[call](learner, tmp_path)
    assert_broken(learner, tmp_path / "x.hannan")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, RuntimeError])
def test_so_does_what_is_raised_once_the_loss_is_learned(monkeypatch, tmp_path, error):
    learner = full()
    learner.act(0, available=[1])
    with monkeypatch.context() as patch:
        patch.setattr(Availability, "note", raising(error))
        with pytest.raises(error):
            learner.update([0.0, 1.0])
    assert_broken(learner, tmp_path / "x.hannan")


def test_so_does_what_is_raised_while_a_decision_is_forgotten(monkeypatch, tmp_path):
    learner = full()
    learner.decide(0)
    with monkeypatch.context() as patch:
        patch.setattr(learner, "_abandoned", raising(RuntimeError))
        with pytest.raises(RuntimeError):
            learner.forget(0)
    assert_broken(learner, tmp_path / "x.hannan")


class Solver:
    """Raises these errors at its next calls."""

    def __init__(self, *errors):
        self.errors = list(errors)

    def __call__(self, contexts, losses):
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return lambda context: int(np.sum(losses, axis=0).argmin())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("ask", ["act", "decide"])
def test_what_is_raised_while_an_action_is_prepared_changes_nothing(ask, error):
    solver = Solver()
    learner, twin = (
        hn.ContextFTPL(hn.oracles.FunctionOracle(each, n_actions=2), range(2), epsilon=0.5, seed=0)
        for each in (solver, Solver())
    )
    for t in range(6):
        if t == 3:
            solver.errors = [error]
            with pytest.raises(error):
                getattr(learner, ask)(t % 2)
        assert learner.act(t % 2) == twin.act(t % 2)
        for each in (learner, twin):
            each.update([0.0, 1.0])
    assert (learner.rounds, learner.oracle_calls) == (twin.rounds, twin.oracle_calls)


def test_ctrl_c_in_a_solver_that_update_calls_breaks_a_learner(tmp_path):
    solver = Solver()
    learner = hn.ContextFTPL(hn.oracles.FunctionOracle(solver, n_actions=2), range(2), seed=0)
    learner.act(0)
    solver.errors = [KeyboardInterrupt]
    with pytest.raises(KeyboardInterrupt):
        learner.update([0.0, 1.0])
    with pytest.raises(hn.OrderError, match="broken"):
        learner.act(0)


def test_a_learner_in_a_learner_breaks_both(monkeypatch):
    inner = hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies(ROWS), seed=0)
    learner = hn.Restarting(inner)
    learner.act(0, available=[1])
    with monkeypatch.context() as patch:
        patch.setattr(Availability, "note", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            learner.update(0.5)
    for broken in (learner, learner.current_learner):
        with pytest.raises(hn.OrderError, match="broken"):
            broken.act(0)


def test_decisions_before_one_that_fails_are_forgotten():
    solver = Solver(None, ZeroDivisionError)
    learner = hn.ContextFTPL(
        hn.oracles.FunctionOracle(solver, n_actions=2), range(2), epsilon=0.5, seed=0
    )
    with pytest.raises(ZeroDivisionError):
        learner.decide_many([0, 1])
    assert learner.open_decisions == []
    assert learner._ledger.discarded == 1


def test_a_decider_that_was_interrupted_is_broken(monkeypatch, tmp_path):
    path = tmp_path / "shop.journal"
    shop = hn.Decider(["a", "b"], rewards=(0, 1), seed=0)
    shop.journal(path)
    answer = shop.decide()
    with monkeypatch.context() as patch:
        patch.setattr(type(shop._scoreboard), "add_outcome", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            shop.report(answer.id, 1.0)
    for call in (shop.decide, shop.summary, lambda: shop.save(tmp_path / "x.hannan")):
        with pytest.raises(hn.OrderError, match=r"inconsistent state.*or reopen the journal"):
            call()
    shop.close()
    again = hn.Decider.open(path)
    assert again.open_decisions == [answer.id]
    again.report(answer.id, 1.0)
    again.close()
