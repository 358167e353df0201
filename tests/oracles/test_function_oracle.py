import itertools
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import networkx as nx
import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
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
    "FunctionOracle, available": hn.oracles.FunctionOracle(problems.two_of, 4, max_chosen=2),
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
    total.leaders(Draw(noise, 3, 2.0), 1)
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
    assert total.minima()[0] == naive.best_value(ROWS, history)
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


@pytest.mark.parametrize(
    "answer",
    [[0, 1, 0, 1], np.array([1, 0, 0, 1]), np.array([True, False, False, True]), [1.0, 0.0, 1.0],
     [2, 2], [0, 1, 2, 3], [0, [1]], [None, 1], {0, 9}, "ab"],
)  # fmt: skip
def test_a_vector_of_zeros_and_ones_is_no_list_of_elements(answer):
    total = FunctionOracle(lambda losses: answer, n_actions=4, max_chosen=3).objective()
    with pytest.raises(hn.ParameterError, match=r"max_chosen=3 integers.*flatnonzero"):
        total.leader()()


def test_elements_may_come_in_any_order_as_a_set_and_in_an_array_used_again():
    for answer in ([2, 0], {2, 0}, frozenset({0, 2}), np.array([[2], [0]]), (2, 0)):
        total = FunctionOracle(lambda losses, a=answer: a, n_actions=4, max_chosen=3).objective()
        assert total.leader()().tolist() == [0, 2]
    buffer = np.zeros(2, int)

    def solve(losses):
        buffer[:] = np.argsort(losses)[:2]
        return buffer

    total = FunctionOracle(solve, n_actions=4, max_chosen=2).objective()
    total.add(None, np.array([1.0, 2.0, 3.0, 4.0]))
    first = total.leader()
    total.add(None, np.array([9.0, 9.0, 0.0, 0.0]))
    assert total.leader()().tolist() == [2, 3]
    assert first().tolist() == [0, 1]


def test_actions_that_are_said_to_be_of_one_size_are():
    oracle = FunctionOracle(
        lambda losses: np.flatnonzero(losses < 0.0), n_actions=3, max_chosen=3, equal_size=True
    )
    total = oracle.objective()
    total.add(None, np.array([-1.0, -1.0, 1.0]))
    assert total.leader()().tolist() == [0, 1]
    total.add(None, np.array([0.0, 0.0, -5.0]))
    with pytest.raises(hn.ParameterError, match="solve chose 2 elements before and 3 now"):
        total.leader()
    total.add(None, np.array([0.0, 0.0, 5.0]))
    assert total.leader()().tolist() == [0, 1]


def test_a_function_of_too_many_arguments_is_refused():
    for solve in (lambda: [], lambda a, b, c: [], lambda losses, *, model: [], lambda **more: []):
        with pytest.raises(hn.InputTypeError, match=r"solve\(losses\) or solve\(contexts, losses"):
            FunctionOracle(solve, n_actions=2)
    alone = FunctionOracle(lambda losses=None, *, time_limit=1.0: [], n_actions=2, max_chosen=2)
    assert alone.contexts == (None,)


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


def shortest(losses, ends=((0, 1), (0, 2), (1, 3), (2, 3), (0, 3))):
    """Dijkstra's rule, which refuses negative numbers."""
    graph = nx.DiGraph()
    for edge, ((u, v), loss) in enumerate(zip(ends, losses, strict=True)):
        if loss < 0.0:
            raise ValueError("negative")
        graph.add_edge(u, v, weight=loss, number=edge)
    nodes = nx.dijkstra_path(graph, 0, 3)
    return [graph.edges[pair]["number"] for pair in itertools.pairwise(nodes)]


def cheap(losses):
    """All elements that cost less than nothing, none perhaps."""
    return np.flatnonzero(losses < 0.0)


def two_best(losses):
    """Two elements, by a solver that cannot take negative numbers."""
    assert losses.min() >= 0.0
    return np.argsort(losses, kind="stable")[:2]


def test_a_solver_of_one_argument_has_no_contexts():
    oracle = FunctionOracle(cheap, n_actions=4, max_chosen=4)
    assert oracle.contexts == (None,)
    learner = hn.ContextFTPL(oracle, loss_range=(-1.0, 1.0), seed=0)
    for _ in range(40):
        learner.act()
        learner.update([0.5, -0.5, 0.9, -0.9])
    assert learner.best_policy()().tolist() == [1, 3]
    with pytest.raises(hn.ContextError, match="no contexts"):
        learner.act("x")
    learner.act()
    learner.update([1.0] * 4)
    hn.checks.check_oracle(oracle)


def test_the_empty_set_may_be_chosen():
    total = FunctionOracle(cheap, n_actions=3, max_chosen=3).objective()
    total.add(None, np.ones(3))
    assert total.leader()().shape == (0,)
    assert total.minima()[0] == 0.0
    by_context = FunctionOracle(lambda contexts, losses: lambda x: [], n_actions=3, max_chosen=2)
    assert by_context.objective().leader()("x").shape == (0,)
    single = FunctionOracle(lambda contexts, losses: lambda x: [], n_actions=3)
    with pytest.raises(hn.ParameterError, match="an integer from 0 to"):
        single.objective().leader()("x")


def test_a_heuristic_says_so_in_its_certificate():
    for exact in (True, False):
        oracle = FunctionOracle(cheap, n_actions=3, max_chosen=3, exact=exact)
        learner = hn.ContextFTPL(oracle, loss_range=(-1.0, 1.0), seed=0)
        learner.act()
        learner.update([0.1, -0.2, 0.3])
        assert oracle.exact == exact
        assert any("inexact" in note for note in learner.certificate().notes) != exact


def test_shifted_losses_are_not_negative():
    """Exact where actions are of equal size; Dijkstra's rule is not, and says so."""
    pairs = FunctionOracle(two_best, n_actions=5, max_chosen=2, equal_size=True, shift=True)
    assert pairs.exact
    rng = np.random.default_rng(0)
    for losses in rng.integers(-3, 4, size=(30, 5)).astype(float):
        total = pairs.objective()
        total.add(None, losses)
        assert total.minima()[0] == np.sort(losses)[:2].sum()
    routes = FunctionOracle(shortest, n_actions=5, max_chosen=2, shift=True)
    assert not routes.exact
    learner = hn.ContextFTPL(routes, seed=0)
    for losses in rng.random((50, 5)):
        assert learner.act().tolist() in ([0, 2], [1, 3], [4])
        learner.update(losses)
    total = routes.clone(shift=False).objective()
    total.add(None, np.full(5, -1.0))
    with pytest.raises(ValueError, match="negative"):
        total.leader()
    single = FunctionOracle(lambda losses: int(losses.argmin()), n_actions=3, shift=True)
    assert single.exact


def test_who_runs_out_of_time_plays_the_best_found_before():
    answers = iter([[0, 1], [2], None, None])

    def solve(losses, time_limit):
        assert time_limit == 0.5
        return next(answers)

    oracle = FunctionOracle(solve, n_actions=3, max_chosen=3, time_limit=0.5)
    assert not oracle.exact
    total = oracle.objective()
    total.add(None, np.array([1.0, 1.0, 3.0]))
    found = [total.leader()().tolist() for _ in range(3)]
    assert found == [[0, 1], [2], [0, 1]]
    total.add(None, np.array([5.0, 0.0, 0.0]))
    assert total.leader()().tolist() == [2]

    def never(losses, time_limit):
        return None

    with pytest.raises(hn.InfeasibleError, match="in time"):
        FunctionOracle(never, n_actions=3, time_limit=1.0).objective().leader()
    with pytest.raises(hn.InputTypeError, match=r"solve\(losses\) must return the numbers"):
        FunctionOracle(lambda losses: None, n_actions=3).objective().leader()()


@pytest.mark.parametrize(
    "wrong", [{"exact": 1}, {"shift": "yes"}, {"time_limit": 0}, {"equal_size": 2}]
)
def test_bad_options_are_refused(wrong):
    with pytest.raises(hn.HannanError, match=next(iter(wrong))):
        FunctionOracle(cheap, n_actions=3, **wrong)


# A knapsack of twelve items by the solvers that people have.
RNG = np.random.default_rng(7)
WEIGHTS = RNG.integers(5, 30, size=12)
ROOM = int(WEIGHTS.sum() // 3)


def by_or_tools(losses):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model", exc_type=ImportError)
    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{k}") for k in range(12)]
    model.add(sum(int(w) * x[k] for k, w in enumerate(WEIGHTS)) <= ROOM)
    model.minimize(sum(round(1e6 * loss) * x[k] for k, loss in enumerate(losses)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.solve(model)
    return [k for k in range(12) if solver.value(x[k])]


def by_cvxpy(losses):
    cvxpy = pytest.importorskip("cvxpy", exc_type=ImportError)
    x = cvxpy.Variable(12, boolean=True)
    problem = cvxpy.Problem(cvxpy.Minimize(losses @ x), [WEIGHTS @ x <= ROOM])
    problem.solve(solver=cvxpy.SCIPY)
    return np.flatnonzero(x.value > 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("solve", [by_or_tools, by_cvxpy])
def test_solvers_of_others_play_what_linear_program_plays(solve):
    # In a process of its own: OR-tools and highspy cannot be loaded together.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        outcome = process.submit(plays_alike, solve.__name__).result()
    if outcome == "not installed":
        pytest.skip(f"{solve.__name__} is not installed")
    assert outcome == "alike"


def plays_alike(name):
    try:
        solve = {"by_or_tools": by_or_tools, "by_cvxpy": by_cvxpy}[name]
        solve(np.zeros(12))
    except pytest.skip.Exception:
        return "not installed"
    mine = hn.oracles.LinearProgram([WEIGHTS], [ROOM])
    theirs = FunctionOracle(solve, n_actions=12, max_chosen=12)
    rng = np.random.default_rng(0)
    learners = [
        hn.ContextFTPL(oracle, epsilon=0.3, loss_range=(-1.0, 1.0), seed=0)
        for oracle in (mine, theirs)
    ]
    for losses in -rng.random((10, 12)):
        actions = [learner.act().tolist() for learner in learners]
        if actions[0] != actions[1]:
            return f"{actions[0]} and {actions[1]}"
        for learner in learners:
            learner.update(losses)
    return "alike"


def test_a_time_limit_needs_a_solver_that_takes_one():
    with pytest.raises(hn.ParameterError, match="Add this argument"):
        hn.oracles.FunctionOracle(lambda losses: 0, n_actions=2, time_limit=1.0)
    hn.oracles.FunctionOracle(lambda losses, **options: 0, n_actions=2, time_limit=1.0)


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("reward", [False, True])
def test_a_solver_that_takes_available_plays_as_the_class_it_solves(kind, reward):
    """Each round like `Subsets`, with and without unavailable elements."""
    oracle, rng = FunctionOracle(problems.two_of, 5, max_chosen=2, equal_size=True), np.random
    loss_range = (-1.0, 0.0) if reward else (0.0, 1.0)
    options = {"epsilon": 0.5, "loss_range": loss_range, "seed": 0}
    learner, rng = kind(oracle, **options), rng.default_rng(0)
    total, totals = oracle.objective(), np.zeros(5)
    for n in range(40):
        is_open = rng.random(5) < 0.7
        if is_open.sum() < 2:
            with pytest.raises(hn.InfeasibleError):
                learner.act(available=is_open)
            continue
        action = learner.act(available=is_open if n % 3 else None)
        assert len(action) == 2
        assert is_open[action].all() or n % 3 == 0
        losses = rng.random(5) - reward
        learner.update(losses if kind is hn.ContextFTPL else losses[action])
        total.add(None, losses)
        totals += losses
        plays = np.where(is_open, np.arange(5), -1)
        for plus in (None, rng.normal(size=5)):
            costs = np.where(is_open, totals + (0.0 if plus is None else plus), np.inf)
            best = np.sort(np.argsort(costs, kind="stable")[:2])
            np.testing.assert_array_equal(total.action(None, Draw(None, 0, 0.0), plus, plays), best)
    assert any("unavailable" in note for note in learner.certificate().notes)


def test_a_solver_with_contexts_takes_available():
    def solve(contexts, losses, *, available=None):
        costs = np.where(available, losses, np.inf)
        best = {x: int(row.argmin()) for x, row in zip(contexts, costs, strict=True)}
        return lambda x: best.get(x, int(available.argmax()))

    learner = hn.ContextFTPL(FunctionOracle(solve, 4), ["a", "b"], seed=0)
    for n in range(60):
        action = learner.act("ab"[n % 2], available=[0, 1, 3] if n % 4 > 1 else [2, 3])
        assert action in ([0, 1, 3] if n % 4 > 1 else [2, 3])
        learner.update([0.9, 0.8, 0.1, 0.5])
    assert learner.would_play("a", 20, available=[0, 1, 3]).count(3) > 15
    assert learner.best_policy()("a") == 2


def test_a_solver_that_ignores_available_raises():
    def solve(losses, available):
        return [0, 1]

    ignores = FunctionOracle(solve, 4, max_chosen=2)
    with pytest.raises(
        hn.ParameterError, match=r"but \[0\] are not available.*add this constraint"
    ):
        hn.ContextFTPL(ignores, seed=0).act(available=[1, 2, 3])
    cannot = FunctionOracle(lambda losses: [0, 1], 4, max_chosen=2)
    with pytest.raises(hn.ParameterError, match=r"not with FunctionOracle.*solve\(…, available\)"):
        hn.ContextFTPL(cannot, seed=0).act(available=[1, 2, 3])


def test_a_solver_out_of_time_plays_the_best_known_action_that_is_available():
    answers = [[0, 1], [1, 2], [2, 3]]

    def solve(losses, available, time_limit):
        return answers.pop(0) if answers else None

    oracle = FunctionOracle(solve, 4, max_chosen=2, time_limit=1.0)
    total = oracle.objective()
    for _ in range(3):
        total.leader()
    total.add(None, np.array([0.0, 1.0, 2.0, 3.0]))
    draw = Draw(None, 0, 0.0)
    assert total.action(None, draw).tolist() == [0, 1]
    assert total.action(None, draw, None, np.array([-1, 1, 2, 3])).tolist() == [1, 2]
    with pytest.raises(hn.InfeasibleError, match="time_limit"):
        total.action(None, draw, None, np.array([0, -1, 2, -1]))
