import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

import hannan as hn
from hannan.core import HannanError, InfeasibleError
from hannan.core.oracle import Draw
from hannan.oracles import _relaxation as relaxation
from hannan.perturbation import seed_key
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {"LinearProgram": hn.oracles.LinearProgram([[2, 3, 4]], [5])}


@for_each("seed", range(60))
def test_equals_enumeration(seed):
    """Knapsacks, covers and equations; about one in three has a fractional relaxation."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 7))
    A_ub, b_ub, A_eq, b_eq = None, None, None, None
    inside = rng.integers(2, size=K)
    if seed % 4 != 3:
        A_ub = rng.integers(-2, 5, size=(int(rng.integers(1, 3)), K))
        b_ub = A_ub @ inside + rng.integers(0, 3, size=len(A_ub))
    if seed % 4 in (2, 3):
        A_eq = rng.integers(0, 2, size=(1, K))
        b_eq = A_eq @ inside
    oracle = hn.oracles.LinearProgram(A_ub, b_ub, A_eq, b_eq)
    sets = naive_combinatorial.points(K, A_ub, b_ub, A_eq, b_eq)
    naive_combinatorial.agrees(oracle, sets, rng, rounds=3)


def test_branch_and_bound_takes_over_where_the_relaxation_is_fractional():
    # Three pairwise exclusive elements: the relaxation takes half of each.
    program = hn.oracles.LinearProgram([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1])
    total = program.objective()
    total.add(None, np.array([-2.0, -2.0, -3.0]))
    best = total.leader()
    assert best(None).tolist() == [2]
    assert best.gap == total.gap == 0.0


def test_sparse_matrices_are_taken():
    dense = np.array([[1, 1, 0], [0, 1, 1]])
    costs = np.array([-1.0, -3.0, -1.5])
    for matrix in (dense, sparse.csr_array(dense), sparse.coo_matrix(dense)):
        total = hn.oracles.LinearProgram(matrix, [1, 1]).objective()
        total.add(None, costs)
        assert total.leader()(None).tolist() == [1]


def test_time_limits_and_gaps_void_exactness():
    A, b = [[3, 5, 4, 2]], [8]
    assert hn.oracles.LinearProgram(A, b).exact
    limited = hn.oracles.LinearProgram(A, b, time_limit=10.0)
    assert not limited.exact
    assert not hn.oracles.LinearProgram(A, b, gap=0.1).exact
    learner = hn.ContextFTPL(limited, loss_range=(-1.0, 1.0), seed=0)
    learner.act()
    learner.update([-0.5, -0.7, 0.1, -0.2])
    assert any("inexact" in note for note in learner.certificate().notes)


def test_what_is_not_found_in_time_is_replaced_by_a_feasible_point():
    program = hn.oracles.LinearProgram([[3, 5, 4, 2]], [8], time_limit=10.0)

    class NotFound:
        x, status, mip_gap = None, 1, None

    program._highs = lambda costs, integral: NotFound()
    total = program.objective()
    chosen = total.leader()
    assert np.array([3, 5, 4, 2])[chosen(None)].sum() <= 8
    assert chosen.gap == total.gap == np.inf


def test_one_element_is_an_int_where_it_is_always_one():
    total = hn.oracles.LinearProgram(A_eq=[[1, 1, 1]], b_eq=[1]).objective()
    total.add(None, np.array([0.5, 0.2, 0.3]))
    assert total.leader()(None) == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"A_ub": [[1, 1]], "b_ub": [-1]}, InfeasibleError, "no feasible action"),
        ({"A_eq": [[2, 2]], "b_eq": [1]}, InfeasibleError, "no feasible action"),
        ({}, HannanError, "needs constraints"),
        ({"A_ub": [[1, 1]]}, HannanError, "together"),
        ({"b_eq": [1]}, HannanError, "together"),
        ({"A_ub": [[1, 1]], "b_ub": [1, 2]}, HannanError, "shapes"),
        ({"A_ub": [1, 1], "b_ub": [1]}, HannanError, "shapes"),
        ({"A_ub": [["a", "b"]], "b_ub": [1]}, HannanError, "numbers"),
        ({"A_ub": [[1, np.nan]], "b_ub": [1]}, HannanError, "finite"),
        ({"A_ub": [[1, 1]], "b_ub": [1], "A_eq": [[1]], "b_eq": [1]}, HannanError, "2 and 1"),
        ({"A_ub": [[1]], "b_ub": [1], "time_limit": 0}, HannanError, "time_limit"),
        ({"A_ub": [[1]], "b_ub": [1], "gap": -1}, HannanError, "gap"),
    ],
)
def test_bad_programs_are_refused(arguments, kind, words):
    with pytest.raises(kind, match=words):
        hn.oracles.LinearProgram(**arguments)


def programs(rng, n_programs):
    """Flows, covers, packings, knapsacks and equations, with a feasible point each."""
    for i in range(n_programs):
        K = int(rng.integers(2, 9))
        inside = rng.integers(2, size=K)
        rows = int(rng.integers(1, 5))
        kind = i % 4
        if kind == 0:
            A = rng.integers(0, 9, size=(rows, K))
        elif kind == 1:
            A = -rng.integers(0, 2, size=(rows, K))
        elif kind == 2:
            A = rng.integers(-3, 4, size=(rows, K))
        else:
            A = rng.integers(0, 2, size=(rows, K))
        slack = rng.integers(0, 3, size=rows)
        A_eq = b_eq = None
        if i % 3 == 2:
            A_eq = rng.integers(-1, 2, size=(2, K))
            b_eq = A_eq @ inside
        yield K, A, A @ inside + slack, A_eq, b_eq


@for_each("seed", range(8))
def test_a_solver_that_is_warm_answers_as_one_that_is_not(seed):
    """Costs of any sign, with ties; the other program solves these costs first of all."""
    rng = np.random.default_rng(seed)
    for K, *given in programs(rng, 12):
        warm = hn.oracles.LinearProgram(*given)
        untouched = copy.deepcopy(warm)
        sets = naive_combinatorial.points(K, *given)
        for trial in range(12):
            costs = rng.integers(-2, 3, size=K) if trial % 3 == 0 else rng.normal(size=K)
            if trial % 3 == 1:  # nearly tied: closer than HiGHS looks
                costs = rng.integers(-2, 3, size=K) + 1e-7 * rng.normal(size=K)
            costs = costs.astype(float) * 10.0 ** rng.integers(-3, 4)
            chosen = warm.solve(costs).chosen
            best = naive_combinatorial.best_value(sets, costs)
            assert set(chosen.tolist()) in sets
            near = 1e-6 if trial % 3 == 1 else 1e-9
            assert abs(costs[chosen].sum() - best) <= near * max(1.0, np.abs(costs).max())
            again = copy.deepcopy(untouched).solve(costs).chosen
            assert chosen.tolist() == again.tolist()


def test_most_leaders_need_no_solver_from_scratch(monkeypatch):
    rng = np.random.default_rng(0)
    weights = rng.integers(10, 60, size=50)
    knapsack = hn.oracles.LinearProgram([weights], [weights.sum() // 3])
    costs = -rng.random((50, 50))
    expected = [knapsack._cold(row).chosen.tolist() for row in costs[:5]]
    assert "highspy" not in sys.modules or knapsack._relaxation._model is None
    monkeypatch.setattr(knapsack, "_cold", None)
    found = [knapsack.solve(row).chosen.tolist() for row in costs]
    assert found[:5] == expected


@pytest.mark.parametrize("installed", [True, False])
def test_large_programs_stay_in_highs(installed, monkeypatch):
    if installed:
        pytest.importorskip("highspy", exc_type=ImportError)
    else:
        monkeypatch.setitem(sys.modules, "highspy", None)
    rng = np.random.default_rng(1)
    n = 140  # more rows than the compiled simplex method takes
    A = np.eye(n) + np.eye(n, k=1)
    program = hn.oracles.LinearProgram(sparse.csr_array(A), np.ones(n))
    for costs in rng.normal(size=(5, n)):
        assert program.solve(costs).chosen.tolist() == program._cold(costs).chosen.tolist()
    assert program._relaxation._basis is None
    assert (program._relaxation._model is not None) == installed


def test_a_warm_program_can_be_copied():
    rng = np.random.default_rng(2)
    program = hn.oracles.LinearProgram([[3, 5, 4, 2]], [8])
    costs = rng.normal(size=(6, 4))
    before = [program.solve(row).chosen.tolist() for row in costs]
    for twin in (copy.deepcopy(program), pickle.loads(pickle.dumps(program))):
        assert [twin.solve(row).chosen.tolist() for row in costs] == before


def test_threads_may_share_a_program():
    rng = np.random.default_rng(3)
    program = hn.oracles.LinearProgram(rng.integers(1, 9, size=(3, 20)), [40, 40, 40])
    costs = rng.normal(size=(40, 20))
    alone = [program.solve(row).chosen.tolist() for row in costs]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda row: program.solve(row).chosen.tolist(), costs))
    assert together == alone


def test_rows_without_entries_change_nothing():
    program = hn.oracles.LinearProgram([[0, 0, 0]], [1])
    assert program.solve(np.array([-1.0, 1.0, -2.0])).chosen.tolist() == [0, 2]


@for_each("seed", range(40))
def test_elements_that_are_better_than_others_go_first(seed):
    """Many columns and costs are equal, rows have both signs or are equations: by enumeration."""
    rng = np.random.default_rng([seed, 7])
    K, rows = 10, int(rng.integers(1, 3))
    A = rng.integers(-1, 4, size=(rows, K))
    b = A.clip(0).sum(axis=1) // 2
    equation = None if seed % 3 else rng.integers(1, 3, size=(1, K))
    sum_of = None if equation is None else equation.sum(axis=1) // 2
    program = hn.oracles.LinearProgram(A, b, equation, sum_of)
    sets = naive_combinatorial.points(K, A, b, equation, sum_of)
    for _ in range(60):
        costs = rng.integers(-3, 3, size=K) + rng.choice([0.0, 1e-3, 1.0]) * rng.normal(size=K)
        closed = rng.random(K) < 0.1
        open_sets = [each for each in sets if not closed[list(each)].any()]
        if not open_sets:
            continue
        chosen = program.solve(np.where(closed, np.inf, costs)).chosen
        assert set(chosen.tolist()) in open_sets
        least = naive_combinatorial.best_value(open_sets, costs)
        assert abs(costs[chosen].sum() - least) <= 1e-6


@for_each("seed", range(12))
def test_a_point_that_led_by_more_than_costs_have_changed_still_leads(seed, monkeypatch):
    """Costs that change little, with elements closed and opened, against enumeration."""
    rng = np.random.default_rng(seed)
    K, rows = 9, int(rng.integers(1, 3))
    A = rng.integers(1, 9, size=(rows, K))
    b = A.sum(axis=1) // 3 + 5
    program = hn.oracles.LinearProgram(A, b)
    sets = naive_combinatorial.points(K, A, b, None, None)
    led, best = [], relaxation.kernel.best

    def watched(*given):
        found, pivots, lead, moved = best(*given)
        led.append(moved < given[-2])
        return found, pivots, lead, moved

    monkeypatch.setattr(relaxation.kernel, "best", watched)
    costs, closed = -rng.random(K), np.zeros(K, dtype=bool)
    for t in range(200):
        costs += 10.0 ** rng.uniform(-6, -2) * rng.normal(size=K)
        if t % 10 == 0:
            closed = rng.random(K) < 0.2
        chosen = program.solve(np.where(closed, np.inf, costs)).chosen
        open_sets = [each for each in sets if not closed[list(each)].any()]
        assert set(chosen.tolist()) in open_sets
        least = naive_combinatorial.best_value(open_sets, costs)
        assert abs(costs[chosen].sum() - least) <= 1e-9
    assert sum(led) > 10


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e-9, 1e-6, 1e6, 1e15, 1e20, 1e300])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.coo_matrix])
def test_constraints_may_be_in_any_unit(unit, kind):
    weights, limit = np.array([[3.0, 4.0, 2.0, 5.0, 1.0, 2.0], [0.0] * 5 + [1.0]]), [7.0, 1e9]
    weights[0] *= unit
    given = kind(weights)
    oracle = hn.oracles.LinearProgram(given, [limit[0] * unit, limit[1]])
    total = oracle.objective()
    total.add(None, np.array([-3.0, -4.0, -2.5, -5.0, -1.0, -2.2]))
    assert total.leader()().tolist() == [0, 2, 5]
    assert (given != kind(weights)).sum() == 0
    with pytest.raises(hn.InfeasibleError):
        hn.oracles.LinearProgram(given, [-unit, 1.0])
    assert len(hn.oracles.LinearProgram(given, [1e300, 1.0]).objective().leader()()) == 0


def test_constraints_that_are_changed_later_are_kept_as_they_were(tmp_path):
    weights, limit = [np.array([1.0, 2.0, 3.0])], [3.0]
    learner = hn.ContextFTPL(hn.oracles.LinearProgram(weights, limit), loss_range=(-1, 0), seed=0)
    learner.act()
    learner.update([-1.0, -1.0, -1.0])
    weights[0][:], limit[0] = 0.0, 9.0
    learner.save(tmp_path / "program")
    assert hn.load(tmp_path / "program").best_policy()().tolist() == [0, 1]


@for_each("seed", range(40))
def test_programs_of_each_context_equal_enumeration(seed):
    """Budgets and demands of the day: leaders, values and actions, with noise and without."""
    rng = np.random.default_rng(seed)
    K, contexts = int(rng.integers(2, 6)), ["low", ("high", 2), 3.5]
    A_ub, A_eq = rng.integers(0, 5, size=(2, K)), np.ones((1, K))
    sizes = {x: [int(rng.integers(0, 3))] for x in contexts}
    b_ub = {x: 4 * np.full(2, sizes[x][0]) + rng.integers(0, 4, size=2) for x in contexts}
    b_eq = (sizes, [min(2, K)], None)[seed % 3]
    if seed % 3 == 1:
        b_ub = {x: b + 8 for x, b in b_ub.items()}
    A_eq = None if b_eq is None else A_eq
    shared = bool(seed % 2)
    oracle = hn.oracles.LinearProgram.per_context(A_ub, b_ub, A_eq, b_eq, shared=shared)
    assert oracle.contexts == contexts
    total, sums = oracle.objective(), {x: np.zeros(K) for x in contexts}
    for _ in range(6):
        context, losses = contexts[rng.integers(3)], rng.integers(-3, 3, size=K).astype(float)
        total.add(context, losses)
        for x in contexts if shared else [context]:
            sums[x] += losses
    noise, leader, value = oracle.noise(contexts, seed_key(seed), 0, 2**16), total.leader(), 0.0
    for i, x in enumerate(contexts):
        sets = naive_combinatorial.points(
            K, A_ub, b_ub[x], A_eq, b_eq[x] if isinstance(b_eq, dict) else b_eq
        )
        for scale in (0.0, 1.5):
            costs = sums[x] + scale * noise.unit(4)[i]
            best = naive_combinatorial.best_value(sets, costs)
            chosen = naive_combinatorial.as_set(total.action(x, Draw(noise, 4, scale)))
            assert chosen in sets
            assert sum(costs[list(chosen)]) <= best + 1e-6
        best = naive_combinatorial.best_value(sets, sums[x])
        assert sum(sums[x][list(naive_combinatorial.as_set(leader(x)))]) <= best + 1e-6
        value += best
    assert total.minima()[0] == pytest.approx(value / (3 if shared else 1), abs=1e-5)


def test_a_budget_of_the_day_continues_from_a_file(tmp_path):
    program = hn.oracles.LinearProgram.per_context([[3, 2, 2]], {"poor": [2], "rich": [5]})
    hn.checks.check_oracle(program)
    learner = hn.ContextSemiBanditFTPL(program, loss_range=(-1.0, 0.0), seed=0)

    def play(each):
        actions = []
        for t in range(12):
            actions.append(each.act(("poor", "rich")[t % 2]).tolist())
            each.update(np.full(len(actions[-1]), -0.5))
        return actions

    assert all(
        sum([3, 2, 2][j] for j in chosen) <= (2, 5)[t % 2] for t, chosen in enumerate(play(learner))
    )
    learner.save(tmp_path / "budgets")
    assert play(hn.load(tmp_path / "budgets")) == play(learner)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 1]], [1]), "b_ub or b_eq as a mapping"),
        (([[1, 1]], {}), "LinearProgram|at least one context"),
        (([[1, 1]], {1: [1]}, [[1, 1]], {2: [1]}), "the same keys"),
        (([[-1, -1]], {"x": [-1], "y": [-3]}), "On context 'y': .*no feasible action"),
        (([[1, 1]], {"x": [1, 2]}), r"A_ub must be \[n, K\]"),
    ],
)
def test_bad_tables_of_right_hand_sides_raise(arguments, message):
    with pytest.raises(HannanError, match=message):
        hn.oracles.LinearProgram.per_context(*arguments)
    with pytest.raises(HannanError, match=r"use LinearProgram\.per_context"):
        hn.oracles.LinearProgram([[1, 1]], {"x": [1]})
