import numpy as np
import pytest

import hannan as hn
from hannan.oracles import FunctionOracle
from tests import naive, problems

ROWS = [[0, 0], [0, 1], [1, 1]]
CONTRACT = {
    "FunctionOracle": (
        problems.FUNCTION,
        range(4),
        [problems.FINITE.policy(n) for n in range(len(problems.FINITE.actions))],
    ),
    "FunctionOracle, sets": (problems.PAIRS, ["rain", "sun"]),
}


class Recorder:
    """A solver that keeps what it was asked, and can be told to fail."""

    def __init__(self, rows):
        self.solve = naive.solver(rows)
        self.asked = []
        self.fails = False

    def __call__(self, contexts, losses):
        if self.fails:
            raise RuntimeError("no licence today")
        self.asked.append((list(contexts), losses.copy()))
        return self.solve(contexts, losses)


def test_losses_are_summed_for_each_distinct_context():
    recorder = Recorder(ROWS)
    total = FunctionOracle(recorder, n_actions=2).objective()
    for t in range(100):
        total.add(t % 2, np.array([1.0, 0.5 * (t % 2)]))
    total.leader()
    contexts, losses = recorder.asked[-1]
    assert contexts == [0, 1]
    assert losses.tolist() == [[50.0, 0.0], [50.0, 25.0]]


def test_noise_is_added_to_its_contexts_once():
    recorder = Recorder(ROWS)
    oracle = FunctionOracle(recorder, n_actions=2)
    noise = oracle.noise([1, 0], np.uint64(5), 0, 1)
    total = problems.total(oracle, [(0, np.array([1.0, 2.0]))])
    total.leaders(noise, 3, 1, 2.0)
    contexts, losses = recorder.asked[-1]
    unit = dict(zip([1, 0], 2.0 * noise.unit(3), strict=True))
    assert sorted(contexts) == [0, 1]
    for context, row in zip(contexts, losses, strict=True):
        real = [1.0, 2.0] if context == 0 else [0.0, 0.0]
        np.testing.assert_allclose(row, unit[context] + real)
    total.leader()
    assert recorder.asked[-1][1].sum() == 3.0


def test_a_solver_that_writes_into_its_arguments_does_no_harm():
    def solve(contexts, losses):
        policy = naive.solver(ROWS)(contexts, losses)
        losses[:] = 1e9
        contexts.clear()
        return policy

    oracle = FunctionOracle(solve, n_actions=2)
    history = problems.rounds(2, 2, 20, seed=1)
    total = problems.total(oracle, history)
    total.leader()
    assert total.minima(None, 0, 1, 0.0)[0] == naive.best_value(ROWS, history)
    assert [total.leader()(x) for x in (0, 1)] == ROWS[naive.leader(ROWS, history)]


@pytest.mark.parametrize("epsilon", ["adaptive", 0.5])
def test_a_solver_that_fails_leaves_the_learner_as_it_was(epsilon):
    recorder = Recorder(ROWS)
    oracle = FunctionOracle(recorder, n_actions=2)
    learner = hn.ContextFTPL(oracle, contexts=[0, 1], epsilon=epsilon, seed=1)
    twin = learner.clone(oracle=FunctionOracle(Recorder(ROWS), n_actions=2))
    for context, losses in problems.rounds(2, 2, 40, seed=2):
        recorder.fails = True
        with pytest.raises(RuntimeError, match="licence"):
            learner.act(context)
        recorder.fails = False
        assert learner.act(context) == twin.act(context)
        recorder.fails = True
        if epsilon == "adaptive":
            with pytest.raises(RuntimeError, match="licence"):
                learner.update(losses)
            recorder.fails = False
            learner.update(losses)
        else:
            learner.update(losses)
        twin.update(losses)
    recorder.fails = False
    assert learner.certificate() == twin.certificate()


class FailsAt(Recorder):
    """Fails at one call only."""

    def __init__(self, rows, call):
        super().__init__(rows)
        self.call = call

    def __call__(self, contexts, losses):
        if len(self.asked) == self.call:
            self.call = -1
            raise RuntimeError("no licence today")
        return super().__call__(contexts, losses)


@pytest.mark.parametrize("n_actions", [2, None])
@pytest.mark.parametrize("call", range(0, 150, 7))
def test_a_solver_that_fails_at_any_call_leaves_the_learner_as_it_was(call, n_actions):
    # The first calls estimate the Laplace complexity, in the middle of an update.
    rounds = [(0, np.array([1.0, 0.0])), (1, np.array([0.0, 1.0])), (0, np.array([0.0, 1.0]))]
    twin = hn.ContextFTPL(FunctionOracle(naive.solver(ROWS), n_actions), [0, 1], seed=1)
    expected = problems.play(twin, rounds)
    learner = hn.ContextFTPL(FunctionOracle(FailsAt(ROWS, call), n_actions), [0, 1], seed=1)
    failures = 0
    found = []
    for context, losses in rounds:
        try:
            action = learner.act(context)
        except RuntimeError:
            failures += 1
            action = learner.act(context)
        try:
            learner.update(losses)
        except RuntimeError:
            failures += 1
            learner.update(losses)
        found.append(action)
    try:
        certificate = learner.certificate()
    except RuntimeError:
        failures += 1
        certificate = learner.certificate()
    assert found == expected
    assert certificate == twin.certificate()
    assert failures == (call < 2 * 64 + 7)


def test_a_refused_first_round_does_not_fix_the_number_of_actions():
    solver = FailsAt(ROWS, 1)
    learner = hn.ContextFTPL(FunctionOracle(solver), [0, 1], seed=0)
    learner.act(0)
    with pytest.raises(RuntimeError):
        learner.update([1.0, 0.0, 0.5])
    learner.update([1.0, 0.0])
    with pytest.raises(hn.LossError):
        learner.act(0), learner.update([1.0, 0.0, 0.5])


@pytest.mark.parametrize("epsilon", ["adaptive", 0.7])
def test_the_number_of_actions_is_read_off_the_first_loss_vector(epsilon):
    recorder = Recorder(ROWS)
    learner = hn.ContextFTPL(FunctionOracle(recorder), [0, 1], epsilon=epsilon, seed=3)
    known = hn.ContextFTPL(
        FunctionOracle(naive.solver(ROWS), n_actions=2), [0, 1], epsilon=epsilon, seed=3
    )
    rounds = problems.rounds(2, 2, 60, seed=4)
    found, expected = problems.play(learner, rounds), problems.play(known, rounds)
    assert recorder.asked[0][1].size == 0
    assert found[1:] == expected[1:]
    learner.act(0)
    with pytest.raises(hn.LossError):
        learner.update([0.0, 0.0, 1.0])


@pytest.mark.parametrize("make", [hn.baselines.FollowTheLeader, lambda o: hn.FTPL(o, lambda r: [])])
def test_a_later_loss_vector_of_another_length_is_refused(make):
    learner = make(FunctionOracle(naive.solver(ROWS)))
    learner.act(0)
    learner.update([1.0, 0.0])
    learner.act(1)
    with pytest.raises(hn.LossError):
        learner.update([1.0, 0.0, 1.0])
    learner.update([1.0, 0.0])
    assert [learner.best_policy()(x) for x in (0, 1)] == [1, 1]


def subsets(contexts, losses):
    """The two cheapest of four elements, on all contexts."""
    chosen = np.argsort(losses.sum(axis=0), kind="stable")[:2]
    return lambda context: chosen


def test_actions_may_be_sets_of_elements():
    oracle = FunctionOracle(subsets, n_actions=4, max_chosen=2)
    learner = hn.ContextFTPL(oracle, contexts=["a", "b"], seed=0)
    world = hn.environments.PlantedPolicy(oracle, contexts=["a", "b"], good=0.1, bad=0.9)
    trace = hn.play(learner, world, 200, seed=0)
    for action, losses, suffered in zip(trace.actions, trace.outcomes, trace.losses, strict=True):
        assert action.tolist() == sorted(set(action.tolist()))
        assert len(action) == 2
        assert suffered == losses[action].sum()
    best = min(trace.outcomes[:, [i, j]].sum() for i in range(4) for j in range(i))
    assert trace.regret() == pytest.approx(trace.losses.sum() - best)
    assert learner.certificate().realised_regret == pytest.approx(trace.regret())


@pytest.mark.parametrize("action", [2, -1, 0.5, "0", None, [0, 1], []])
def test_an_action_outside_the_range_is_refused(action):
    oracle = FunctionOracle(lambda contexts, losses: lambda x: action, n_actions=2)
    learner = hn.ContextFTPL(oracle, contexts=[0], seed=0)
    with pytest.raises(hn.ParameterError, match="policy returned by solve"):
        learner.act(0)


def test_a_solver_that_returns_no_policy_is_refused():
    learner = hn.ContextFTPL(FunctionOracle(lambda c, l: 3, n_actions=2), contexts=[0])
    with pytest.raises(hn.InputTypeError, match="must return a policy"):
        learner.act(0)


def test_something_that_is_no_function_is_refused():
    with pytest.raises(hn.InputTypeError, match="solve"):
        FunctionOracle([1, 2])


def test_contexts_must_be_hashable():
    oracle = FunctionOracle(naive.solver(ROWS), n_actions=2)
    with pytest.raises(hn.ContextError, match="hashable"):
        oracle.check_context([1, 2])


@pytest.mark.parametrize("name", ["n_actions", "max_chosen", "n_policies"])
@pytest.mark.parametrize("bad", [0, -1, 0.5, "2", True])
def test_sizes_that_are_no_positive_integers_are_refused(name, bad):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of FunctionOracle"):
        FunctionOracle(naive.solver(ROWS), **{name: bad})


def test_noise_needs_the_number_of_actions():
    with pytest.raises(hn.ParameterError, match="n_actions"):
        FunctionOracle(naive.solver(ROWS)).noise([0], np.uint64(0), 0, 1)


def test_size_is_as_given_or_that_of_all_maps():
    solve = naive.solver(ROWS)
    assert FunctionOracle(solve, 2, n_policies=3).log_size([0, 1]) == pytest.approx(np.log(3))
    assert FunctionOracle(solve, 2).log_size([0, 1]) == pytest.approx(np.log(4))
    assert FunctionOracle(solve, 2, max_chosen=2).log_size([0, 1]) is None
    assert FunctionOracle(solve).log_size([0, 1]) is None
