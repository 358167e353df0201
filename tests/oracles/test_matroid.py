import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError, InfeasibleError
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {"Matroid": hn.oracles.Matroid(4, lambda chosen: len(chosen) <= 2)}


def linear(A):
    """Columns of a matrix, independent as vectors."""
    return lambda columns: np.linalg.matrix_rank(A[:, columns]) == len(columns)


@for_each("seed", range(60))
def test_equals_brute_force_on_columns_of_a_matrix(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 7))
    A = rng.integers(-1, 2, size=(3, K))
    A[0, 0] = 1
    test = linear(A)
    independent = [s for s in naive_combinatorial.all_sets(K) if test(sorted(s))]
    bases = bool(rng.integers(2))
    most = max(map(len, independent))
    sets = [s for s in independent if len(s) == most or not bases]
    naive_combinatorial.agrees(hn.oracles.Matroid(K, test, bases, checks=4), sets, rng)


@for_each("seed", range(30))
def test_agrees_with_the_classes_that_have_kernels(seed):
    rng = np.random.default_rng(seed)
    groups = [0, 1, 0, 2, 1, 0]
    oracles = [
        hn.oracles.Matroid(6, lambda s: all(sum(groups[j] == g for j in s) <= 1 for g in range(3))),
        hn.oracles.PartitionMatroid(groups, 1),
    ]
    losses = rng.integers(-3, 4, size=6).astype(float)
    plays = []
    for oracle in oracles:
        total = oracle.objective()
        total.add(None, losses)
        plays.append(total.leader()(None).tolist())
    assert plays[0] == plays[1]


def test_a_violated_exchange_property_is_named():
    sets = [{0, 1}, {2, 3, 4}]  # not a matroid: nothing of the larger completes the smaller

    def inside(elements):
        return any(set(elements) <= s for s in sets)

    with pytest.raises(HannanError, match="exchange") as error:
        hn.oracles.Matroid(5, inside)
    assert "[0, 1]" in str(error.value) or "[0]" in str(error.value) or "[1]" in str(error.value)
    assert hn.oracles.Matroid(5, inside, checks=0).rank == 2  # taken at its word


def test_subsets_must_be_independent_too():
    with pytest.raises(HannanError, match="its subset"):
        hn.oracles.Matroid(4, lambda s: len(s) != 1 or s == [0])


def test_nothing_to_choose_is_refused():
    with pytest.raises(
        InfeasibleError, match=r"no independent set: independent\(\[\]\) must be True"
    ):
        hn.oracles.Matroid(3, lambda s: len(s) == 2)
    with pytest.raises(InfeasibleError, match="nothing to choose"):
        hn.oracles.Matroid(3, lambda s: not s)


@pytest.mark.parametrize("arguments", [(0, bool), (2, 3), (2, bool, None), (2, bool, True, -1)])
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(HannanError, match="Matroid"):
        hn.oracles.Matroid(*arguments)
