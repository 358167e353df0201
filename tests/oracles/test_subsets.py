import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError
from hannan.core.oracle import Draw
from hannan.kernels.inclusion import inclusion
from hannan.oracles.subsets import mean_of_largest
from hannan.perturbation import seed_key
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {
    "Subsets": hn.oracles.Subsets(5, 2),
    "Subsets, at most": hn.oracles.Subsets(4, 1, exactly=False),
}


@for_each("seed", range(150))
def test_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    m = int(rng.integers(1, n + 1))
    exactly = bool(rng.integers(2))
    oracle = hn.oracles.Subsets(n, m, exactly)
    naive_combinatorial.agrees(oracle, naive_combinatorial.subsets(n, m, exactly), rng)


@for_each("seed", range(100))
def test_ties_go_to_the_smallest_item(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    m = int(rng.integers(1, n + 1))
    costs = rng.integers(-2, 3, size=n).astype(float)
    order = sorted(range(n), key=lambda j: (costs[j], j))[:m]
    total = hn.oracles.Subsets(n, m).objective()
    total.add(None, costs)
    assert np.atleast_1d(total.leader()(None)).tolist() == sorted(order)
    total = hn.oracles.Subsets(n, m, exactly=False).objective()
    total.add(None, costs)
    assert total.leader()(None).tolist() == sorted(j for j in order if costs[j] < 0)


def test_plays_as_the_listed_sets_do():
    sets = list(itertools.combinations(range(6), 2))
    listed = hn.oracles.FinitePolicies([[s] for s in sets], n_actions=6)
    ours = hn.oracles.Subsets(6, 2)
    assert ours.log_size([None]) == pytest.approx(listed.log_size([0]))
    estimate = hn.bounds.laplace_complexity(listed, pairs=2000)
    assert abs(estimate.value - ours.complexity([None])) < 4.5 * estimate.standard_error
    rng = np.random.default_rng(0)
    learners = [hn.ContextFTPL(oracle, epsilon=0.2, seed=3) for oracle in (ours, listed)]
    for losses in rng.random((300, 6)):
        first, second = (learner.act() for learner in learners)
        assert first.tolist() == second.tolist()
        for learner in learners:
            learner.update(losses)
    assert learners[0].best_policy()(None).tolist() == learners[1].best_policy()(None).tolist()


def propensities(totals, scale, m, below=np.inf):
    """Of each item, asked for together where they may be and alone."""
    K = len(totals)
    silence = np.zeros(K, np.float32)
    alone = np.empty(K)
    for j in range(K):
        inclusion(totals, silence, scale, m, below, np.array([j]), alone[j : j + 1])
    together = np.empty(m)
    inclusion(totals, silence, scale, m, below, np.arange(m), together)
    np.testing.assert_allclose(together, alone[:m], rtol=2e-5, atol=1e-9)
    return alone


@for_each("seed", range(60))
def test_propensities_add_up(seed):
    """Exactly m items are chosen, whatever the totals, the scale and the ties."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 40))
    m = int(rng.integers(1, min(K, 12) + 1))
    totals = rng.normal(size=K) * 10.0 ** rng.uniform(-2, 3)
    if seed % 3 == 0:
        totals = np.round(totals)
    q = propensities(totals, 10.0 ** rng.uniform(-1, 2), m)
    assert q.sum() == pytest.approx(m, rel=1e-5)
    assert (q >= 0.0).all()
    assert (q <= 1.0 + 1e-5).all()


@pytest.mark.parametrize("below", [np.inf, 0.0])
@pytest.mark.parametrize("seed", range(6))
def test_propensities_are_frequencies(seed, below):
    rng = np.random.default_rng(seed)
    K, m, draws = 30, 5, 40_000
    totals, scale = rng.normal(size=K) * (1, 10, 100)[seed % 3], 3.0
    x = totals + scale * rng.laplace(size=(draws, K))
    lowest = np.sort(x, axis=1)[:, m - 1 : m]
    frequency = ((x <= lowest) & (x < below)).mean(axis=0)
    q = propensities(totals, scale, m, below)
    assert (np.abs(q - frequency) < 4.5 * np.sqrt(q * (1 - q) / draws) + 1e-4).all()


def test_propensities_of_one_item_are_the_law_of_the_smallest():
    totals = np.random.default_rng(0).normal(size=7) * 3
    total = hn.oracles.AllPolicies(1, 7).objective()
    total.add(0, totals)
    noise = hn.oracles.AllPolicies(1, 7).noise([0], seed_key(0), 0, 1)
    np.testing.assert_allclose(
        propensities(totals, 2.0, 1), total.distribution(0, Draw(noise, 0, 2.0)), rtol=1e-5
    )


def test_large_sets_are_resampled_as_the_draws_say():
    """Beyond the size to which propensities are computed, the kernel counts draws."""
    oracle = hn.oracles.Subsets(90, 70)
    total = oracle.objective()
    total.add(None, np.random.default_rng(0).normal(size=90) * 5)
    noise = oracle.noise([None], seed_key(0), 0, 2**20)
    chosen = total.action(None, Draw(noise, 0, 3.0))
    for r, limit in ((1, 50), (2, 8), (3, 400)):
        found = total.weights(None, chosen, Draw(noise, 5, 3.0), limit, r)
        expected = super(type(total), total).weights(None, chosen, Draw(noise, 5, 3.0), limit, r)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1] == expected[1]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (5, 2), (9, 9), (12, 4)])
def test_the_mean_of_the_largest(n, m):
    z = np.sort(np.random.default_rng(0).laplace(size=(100_000, n)))[:, n - m :]
    for exactly, sums in ((True, z.sum(axis=1)), (False, np.maximum(z, 0).sum(axis=1))):
        error = 4.5 * sums.std() / np.sqrt(len(sums))
        assert abs(mean_of_largest(n, m, exactly) - sums.mean()) < error


@pytest.mark.parametrize(
    "arguments",
    [(0, 1), (3, 0), (3, 4), (3.5, 1), (True, 1), ("3", 1), (3, None), (3, 2, "yes")],
)
def test_bad_sizes_are_refused(arguments):
    with pytest.raises(HannanError, match="Subsets"):
        hn.oracles.Subsets(*arguments)


def test_losses_of_the_wrong_length_are_refused():
    learner = hn.ContextFTPL(hn.oracles.Subsets(4, 2))
    learner.act()
    with pytest.raises(HannanError, match="4 numbers"):
        learner.update([0.1, 0.2])
    bandit = hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2))
    bandit.act()
    with pytest.raises(HannanError, match="2 numbers"):
        bandit.update([0.1, 0.2, 0.3])
