import math

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import chernoff_complexity, closed_complexity, laplace_complexity
from hannan.perturbation import seed_key
from tests import naive, problems


@pytest.mark.parametrize(("d", "K"), [(1, 1), (1, 2), (10, 2), (4, 5)])
def test_the_closed_form_of_all_policies_is_the_mean_maximum(d, K):
    found = laplace_complexity(hn.oracles.AllPolicies(d, K))
    assert found.standard_error == 0.0
    assert found.oracle_calls == 0
    mean, error = naive.laplace_complexity(
        naive.all_policies(1, K), [0], K, 200_000, np.random.default_rng(0)
    )
    assert abs(found.value - d * mean) <= 4 * d * error


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "FunctionOracle"])
@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_the_mean_maximum(kind, seed):
    oracle, rows = problems.make(kind, d=4, K=3, N=9, seed=seed)
    found = laplace_complexity(oracle, [2, 0, 3], pairs=300, seed=seed)
    mean, error = naive.laplace_complexity(rows, [2, 0, 3], 3, 40_000, np.random.default_rng(seed))
    assert abs(found.value - mean) <= 4 * math.hypot(error, found.standard_error)
    assert 0 < found.standard_error <= math.sqrt(2 * 3 / 300)
    assert found.upper == found.value + 3 * found.standard_error


def test_the_estimate_averages_both_signs_of_each_draw():
    oracle, rows = problems.make("FinitePolicies", d=3, K=2, N=5)
    found = laplace_complexity(oracle, pairs=10, seed=4)
    noise = oracle.noise(range(3), seed_key(4), 1, 2**20)
    draws = []
    for n in range(10):
        values = [sum(noise.unit(n)[x][row[x]] for x in range(3)) for row in rows]
        draws.append((max(values) - min(values)) / 2)
    assert found.value == pytest.approx(np.mean(draws), rel=1e-5)
    assert found.standard_error == pytest.approx(np.std(draws, ddof=1) / math.sqrt(10), rel=1e-4)
    assert found.oracle_calls == 20


def test_the_estimate_is_positive_for_two_policies_whatever_the_draws():
    # A one-sided mean of 64 draws would be negative in nearly half of these cases.
    rng = np.random.default_rng(0)
    common = rng.integers(0, 2, size=400)
    other = common.copy()
    other[0] = 1 - other[0]
    oracle = hn.oracles.FinitePolicies([common, other], n_actions=2)
    found = [laplace_complexity(oracle, pairs=2, seed=s).value for s in range(50)]
    assert min(found) > 0
    assert np.mean(found) == pytest.approx(0.75, abs=4 * np.std(found) / math.sqrt(50))


def test_one_policy_has_no_complexity():
    oracle = hn.oracles.FinitePolicies([[0, 1, 1]])
    assert laplace_complexity(oracle).value == 0.0


@pytest.mark.stat
def test_random_policies_of_a_known_example():
    rng = np.random.default_rng(0)
    oracle = hn.oracles.FinitePolicies(rng.integers(0, 5, size=(1000, 50)), n_actions=5)
    found = laplace_complexity(oracle, pairs=2000)
    assert found.value == pytest.approx(28.7, abs=0.5)
    assert chernoff_complexity(math.log(1000), 50) == pytest.approx(38.4, abs=0.05)
    assert found.value < chernoff_complexity(oracle.log_size(range(50)), 50)


@pytest.mark.parametrize(
    ("N", "d", "m", "expected"), [(1000, 50, 1, 38.4), (16, 100, 1, 33.5), (200, 10, 3, 26.3)]
)
def test_upper_bounds_of_known_examples(N, d, m, expected):
    size = math.log(N)
    assert chernoff_complexity(size, d, m) == pytest.approx(expected, abs=0.05)
    assert chernoff_complexity(size, d, m) <= closed_complexity(size, d, m)
    assert closed_complexity(size, d, m) < hn.bounds.printed_complexity(size, d, m)


def test_the_seed_fixes_the_estimate_and_memory_does_not_matter():
    oracle, _ = problems.make("FinitePolicies", N=40)
    first = laplace_complexity(oracle, seed=1)
    assert first == laplace_complexity(oracle, seed=1, memory=1)
    assert first != laplace_complexity(oracle, seed=2)


def test_repeated_contexts_count_once():
    oracle = hn.oracles.AllPolicies(3, 2)
    assert laplace_complexity(oracle, [0, 1, 0]).value == pytest.approx(1.5)


def test_contexts_outside_the_class_are_refused():
    with pytest.raises(hn.ContextError):
        laplace_complexity(hn.oracles.AllPolicies(3, 2), [0, 3])


def test_an_oracle_without_contexts_needs_some():
    oracle, _ = problems.make("FunctionOracle")
    with pytest.raises(hn.ParameterError, match="contexts="):
        laplace_complexity(oracle)


@pytest.mark.parametrize("pairs", [0, 1, 2.5])
def test_pairs_must_be_at_least_two(pairs):
    with pytest.raises(hn.ParameterError, match="'pairs' parameter"):
        laplace_complexity(hn.oracles.AllPolicies(3, 2), pairs=pairs)


@pytest.mark.parametrize("K", [1, 2, 3, 10])
def test_the_tabular_complexity_is_that_of_all_policies(K):
    exact = laplace_complexity(hn.oracles.AllPolicies(7, K)).value
    assert hn.bounds.tabular_complexity(7, K) == pytest.approx(exact)


def test_the_tabular_complexity_of_sets_is_that_of_all_sets():
    exact = laplace_complexity(hn.oracles.Subsets(6, 6, exactly=False)).value
    assert hn.bounds.tabular_complexity(1, 6, 6, antichain=False) == pytest.approx(exact)
    assert laplace_complexity(hn.oracles.Subsets(6, 2)).value < hn.bounds.tabular_complexity(
        1, 6, 2
    )


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3, 1e6])
def test_chernoff_finds_the_infimum(ratio):
    d, size = 1000, 1000 * ratio
    u = 1 / (1 + np.exp(-np.linspace(-20, 20, 200_001)))  # dense towards both ends
    naive = ((size - d * np.log1p(-u * u)) / u).min()
    assert chernoff_complexity(size, d) == pytest.approx(naive, rel=1e-7)
    assert chernoff_complexity(0.0, d) == 0.0


def test_the_smallest_bound_is_used():
    bound = hn.bounds.complexity_bound
    assert bound(6 * math.log(2), d=6, n_actions=2) == 4.5
    assert bound(math.log(2), d=6, n_actions=2) == chernoff_complexity(math.log(2), 6)
    assert bound(60.0, d=6, n_actions=1) == chernoff_complexity(60.0, 6)
    assert bound(60.0, d=6, m=1, n_actions=2, antichain=False) == 6.0
