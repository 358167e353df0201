"""The Natarajan dimension from its definition, and the size it allows."""

import itertools
import math

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import natarajan_dimension, natarajan_log_size


def shattered(rows, columns):
    """The definition: f and g on the columns, and a policy for every subset."""
    K = max(map(max, rows)) + 1
    pairs = list(itertools.permutations(range(K), 2))
    seen = {tuple(row[x] for x in columns) for row in rows}
    for choice in itertools.product(pairs, repeat=len(columns)):
        wanted = itertools.product(*choice)
        if all(pattern in seen for pattern in wanted):
            return True
    return False


def dimension(rows):
    d = len(rows[0])
    return max(
        size
        for size in range(d + 1)
        if any(shattered(rows, columns) for columns in itertools.combinations(range(d), size))
    )


def test_dimension_matches_the_definition_and_bounds_the_size():
    rng = np.random.default_rng(0)
    for _ in range(150):
        N, d, K = int(rng.integers(1, 25)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
        table = rng.integers(K, size=(N, d))
        found = natarajan_dimension(table)
        assert found == dimension(table.tolist())
        size = len(np.unique(table, axis=0))
        assert math.log(size) <= natarajan_log_size(found, d, K) + 1e-9


def test_two_actions_give_the_vc_dimension():
    thresholds = np.tri(7, 6, k=-1, dtype=int)
    assert natarajan_dimension(thresholds) == 1
    assert math.exp(natarajan_log_size(1, 6, 2)) == pytest.approx(7)  # Sauer's lemma is tight
    intervals = [[int(i <= x < j) for x in range(6)] for i in range(7) for j in range(i, 7)]
    assert natarajan_dimension(intervals) == 2
    assert math.exp(natarajan_log_size(2, 6, 2)) == pytest.approx(len(np.unique(intervals, axis=0)))


def test_all_maps_shatter_everything():
    table = list(itertools.product(range(3), repeat=3))
    assert natarajan_dimension(table) == 3
    assert natarajan_log_size(3, 3, 3) == pytest.approx(3 * math.log(3))


def test_disjunctions_have_dimension_n():
    n = 4
    oracle = hn.oracles.Disjunctions(n)
    masks = range(2**n)
    rows = [[oracle.plays(S, x) for x in masks] for S in masks]
    assert natarajan_dimension(rows) == n


def test_the_bound_is_below_the_simple_form_of_the_corollary():
    for nu, d, K in itertools.product((1, 2, 5), (5, 20, 1000), (2, 3, 10)):
        printed = nu * math.log(d * math.e * (K + 1) ** 2 / (2 * nu))
        assert natarajan_log_size(nu, d, K) <= printed


@pytest.mark.parametrize("bad", [[1, 2, 3], np.zeros((0, 2), int), [[]]])
def test_what_is_no_table_is_refused(bad):
    with pytest.raises(hn.ParameterError):
        natarajan_dimension(bad)


def test_bad_numbers_are_refused():
    with pytest.raises(hn.InputTypeError):
        natarajan_dimension([[0.5, 1.0]])
    with pytest.raises(hn.ParameterError, match="dimension"):
        natarajan_log_size(-1, 3, 2)


def test_the_corollary_in_its_three_forms():
    T, nu, d, K = 10_000, 2, 1000, 3
    log = math.log(d * math.e * (K + 1) ** 2 / (2 * nu))
    size = natarajan_log_size(nu, d, K)
    errors = {
        "printed": 10 * math.sqrt(d * nu * math.log(K) * log),
        "corrected": 10 * math.sqrt(d) * nu * log,
        "sharp": hn.bounds.chernoff_complexity(size, d),
    }
    for form, error in errors.items():
        bound = hn.bounds.natarajan(T, dimension=nu, d=d, n_actions=K, form=form)
        assert bound.value == pytest.approx(2 * math.sqrt(T * error))
        assert bound.epsilon == pytest.approx(math.sqrt(error / T))


def test_a_class_that_shatters_everything_is_the_class_of_all_policies():
    bound = hn.bounds.natarajan(100, dimension=5, d=3, n_actions=2, form="sharp")
    exact = hn.bounds.laplace_complexity(hn.oracles.AllPolicies(3, 2)).value
    assert bound.value == pytest.approx(2 * math.sqrt(100 * exact))
    printed = hn.bounds.natarajan(100, dimension=5, d=3, n_actions=2, form="corrected")
    C = 10 * math.sqrt(3) * 3 * math.log(2)
    assert printed.value == pytest.approx(2 * math.sqrt(100 * C))


def test_a_separator_of_such_a_class_serves_too():
    options = {"dimension": 2, "d": 20, "n_actions": 3, "form": "sharp"}
    near = hn.bounds.natarajan(100, **options)
    far = hn.bounds.natarajan(100, setting="separator", **options)
    assert far.value == pytest.approx(math.sqrt(20) * near.value)
