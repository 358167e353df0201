"""Ctrl-C takes effect between calls; what is broken off by force is not played on with."""

import signal
import sys
import threading

import numpy as np
import pytest

import hannan as hn
from hannan.core.interrupts import interrupts

ROWS = [[0, 1], [1, 1], [1, 0]]


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def pythons_own_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
    assert not interrupts.waiting


class Pressing:
    """A solver during which Ctrl-C is pressed so many times."""

    def __init__(self, times=0):
        self.times = times

    def __call__(self, contexts, losses):
        times, self.times = self.times, 0
        for _ in range(times):
            press()
        return lambda context: int(np.sum(losses, axis=0).argmin())


def learner(solver):
    return hn.ContextFTPL(
        hn.oracles.FunctionOracle(solver, n_actions=2), range(2), epsilon=0.5, seed=0
    )


def test_it_waits_for_the_end_of_act():
    solver = Pressing(times=1)
    player, twin = learner(solver), learner(Pressing())
    with pytest.raises(KeyboardInterrupt):
        player.act(0)
    twin.act(0)
    for each in (player, twin):
        each.update([0.0, 1.0])
    assert player.rounds == 1
    assert [player.act(1), player.oracle_calls] == [twin.act(1), twin.oracle_calls]


def test_it_waits_for_the_end_of_update():
    solver = Pressing()
    player = hn.ContextFTPL(hn.oracles.FunctionOracle(solver, n_actions=2), range(2), seed=0)
    player.act(0)
    solver.times = 1
    with pytest.raises(KeyboardInterrupt):
        player.update([0.0, 1.0])
    assert player.rounds == 1
    player.act(1)


def test_it_waits_where_a_call_is_refused_too():
    class Odd(list):
        def __array__(self, *args, **options):
            press()
            raise ValueError

    player = hn.FTPL(hn.oracles.FinitePolicies(ROWS), lambda rng: [], seed=0)
    player.act(0)
    with pytest.raises(KeyboardInterrupt) as caught:
        player.update(Odd())
    assert isinstance(caught.value.__context__, hn.InputTypeError)
    player.update([0.0, 1.0])


def test_pressed_again_it_does_not_wait():
    solver = Pressing()
    player = hn.ContextFTPL(hn.oracles.FunctionOracle(solver, n_actions=2), range(2), seed=0)
    player.act(0)
    solver.times = 2
    with pytest.raises(KeyboardInterrupt):
        player.update([0.0, 1.0])
    assert not interrupts.waiting


def test_what_was_broken_off_in_the_middle_is_refused_until_it_starts_anew(tmp_path):
    player = hn.ContextFTPL(hn.oracles.FinitePolicies(ROWS), seed=0)
    player.act(0)

    def raise_in_close(frame, event, arg):
        if frame.f_code.co_name == "learned":
            raise KeyboardInterrupt

    sys.settrace(raise_in_close)
    try:
        with pytest.raises(KeyboardInterrupt):
            player.update([0.0, 1.0])
    finally:
        sys.settrace(None)
    for call in (
        lambda: player.act(0),
        lambda: player.update([0.0, 1.0]),
        lambda: player.save(tmp_path / "half.hannan"),
    ):
        with pytest.raises(hn.OrderError, match="load the file that was saved last"):
            call()
    player.reset()
    assert player.act(0) in (0, 1)


def test_between_calls_it_does_not_wait():
    player = hn.ContextFTPL(hn.oracles.FinitePolicies(ROWS), seed=0)
    player.act(0)
    with pytest.raises(KeyboardInterrupt):
        press()


def test_a_learner_in_a_learner_runs_to_the_end_of_the_outer_call():
    class Pressed(hn.predictors.Mean):
        def learn(self, context, action, loss):
            press()
            super().learn(context, action, loss)

    inner = hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies(ROWS), seed=0)
    player = hn.Restarting(inner, predictor=Pressed())
    player.act(0)
    with pytest.raises(KeyboardInterrupt):
        player.update(0.5)
    assert (player.rounds, player.player.rounds, player.open_decisions) == (1, 1, [])


@pytest.mark.parametrize("call", ["act", "decide"])
def test_a_learner_in_a_learner_is_interrupted_at_the_end_of_unusual_calls_too(call):
    solver = Pressing(times=1)
    player = hn.Restarting(learner(solver))
    with pytest.raises(KeyboardInterrupt):
        getattr(player, call)(0, available=[1])
    assert (len(player.open_decisions), len(player.player.open_decisions)) == (
        (0, 0) if call == "act" else (1, 1)
    )


def test_a_handler_that_a_program_has_set_is_left_alone():
    pressed = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    player = learner(Pressing(times=1))
    player.act(0)
    assert pressed == [signal.SIGINT]


def test_other_threads_neither_wait_nor_take_what_waits():
    players = [hn.ContextFTPL(hn.oracles.FinitePolicies(ROWS), seed=0) for _ in range(2)]
    interrupts.waiting = True
    found = []
    thread = threading.Thread(target=lambda: found.append(players[0].act(0)))
    thread.start()
    thread.join()
    assert len(found) == 1
    assert interrupts.waiting
    with pytest.raises(KeyboardInterrupt):
        players[1].act(0)
