import numpy as np
import pytest
from scipy import sparse

import hannan as hn
from hannan.core import HannanError, InfeasibleError
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
