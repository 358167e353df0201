"""The exact distribution of a perturbed argmin, against integrals, closed forms and simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import hannan as hn
from hannan.core.oracle import Draw
from hannan.kernels.distribution import argmin_distribution, lesson
from hannan.learners.importance_weights import mean_weight
from hannan.oracles._tables import argmin_distribution_of
from hannan.perturbation import seed_key
from tests import naive_bandit


def integrated(values, scale):
    """q_j = int f(v - g_j) prod_{i != j} (1 - F(v - g_i)) dv, piece by piece between the kinks."""
    g = np.asarray(values, float) / scale
    edges = np.unique(np.concatenate([[g.min() - 60.0], g, [g.max() + 60.0]]))
    q = []
    for j in range(len(g)):

        def integrand(v, j=j):
            others = stats.laplace.sf(v - np.delete(g, j))
            return stats.laplace.pdf(v - g[j]) * others.prod()

        pieces = []
        for a, b in itertools.pairwise(edges):
            cuts = np.linspace(a, b, max(2, math.ceil((b - a) / 5.0) + 1))
            pieces += [
                integrate.quad(integrand, u, v, epsabs=1e-15, epsrel=1e-12)[0]
                for u, v in itertools.pairwise(cuts)
            ]
        q.append(sum(pieces))
    return np.array(q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.0, 1.0, 2.5], 1.0),
        ([3.0, 3.0, 3.0, 3.0], 0.7),
        ([0.0, 0.0, 5.0], 2.0),
        ([0.0, 30.0, 31.0], 1.0),
        ([-7.5, 1.0, 0.25, -7.0, 12.0], 3.0),
        ([1e6, 1e6 + 1.0], 0.5),
        (np.linspace(0, 4, 8), 1.5),
    ],
)
def test_law_equals_numerical_integration(values, scale):
    found = argmin_distribution_of(np.array(values, float), scale)
    assert found.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(found, integrated(values, scale), rtol=1e-8)


@pytest.mark.parametrize("u", [0.0, 1e-9, 0.3, 1.0, 7.0, 35.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 25.0])
def test_two_actions_have_a_closed_form(u, scale):
    # P(zeta - zeta' > u) = (2 + u) exp(-u)/4 for u >= 0.
    worse = (2.0 + u) * math.exp(-u) / 4.0
    found = argmin_distribution_of(np.array([1.0, 1.0 + u * scale]), scale)
    np.testing.assert_allclose(found, [1.0 - worse, worse], rtol=1e-9, atol=1e-20)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 0.4, 3.0, 30.0, 39.0, 700.0, 1e300, np.inf])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_two_actions_have_the_law_of_three_of_which_one_is_hopeless(gap, scale):
    # The formula for two, beside the integral for more.
    for values in ([0.5, 0.5 + gap], [0.5 + gap, 0.5]):
        found = argmin_distribution_of(np.array(values), scale)
        beside = argmin_distribution_of(np.array([*values, np.inf]), scale)
        assert found.sum() == 1.0
        np.testing.assert_allclose(found, beside[:2], rtol=1e-9, atol=1e-16)


def test_one_action_is_certain():
    assert argmin_distribution_of(np.array([3.5]), 2.0).tolist() == [1.0]


@pytest.mark.parametrize("gap", [60.0, 1e3, 1e300])
def test_hopeless_actions_get_a_tiny_probability_and_no_nan(gap):
    found = argmin_distribution_of(np.array([0.0, gap, 0.0]), 1.0)
    assert np.isfinite(found).all()
    assert 0.0 <= found[1] < 1e-20
    assert found[0] == pytest.approx(0.5, rel=1e-9)


def test_actions_no_policy_plays_get_probability_zero():
    found = argmin_distribution_of(np.array([0.0, np.inf, 0.0]), 1.0)
    assert found[1] == 0.0
    assert found[[0, 2]] == pytest.approx([0.5, 0.5])


def test_without_noise_the_first_of_the_best_is_certain():
    assert argmin_distribution_of(np.array([2.0, 1.0, 1.0]), 0.0).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("K", [200, 2000])
def test_law_stays_right_for_many_tied_actions(K):
    # All tied: each has probability 1/K. One better by log 2 scales: compared with quadrature.
    np.testing.assert_allclose(argmin_distribution_of(np.zeros(K), 1.0), 1.0 / K, rtol=1e-9)
    ahead = np.zeros(K)
    ahead[0] = -0.7
    found = argmin_distribution_of(ahead, 1.0)

    def integrand(v):
        return stats.laplace.pdf(v + 0.7) * stats.laplace.sf(v) ** (K - 1)

    cuts = np.linspace(-40, 5, 91)
    expected = sum(
        integrate.quad(integrand, a, b, epsabs=1e-15)[0] for a, b in itertools.pairwise(cuts)
    )
    assert found[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.stat
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["AllPolicies", "FinitePolicies"])
def test_law_agrees_with_simulation_of_the_definition_to_three_standard_errors(kind, seed):
    rng = np.random.default_rng(seed)
    K, scale = 4, 1.5
    if kind == "AllPolicies":
        oracle, rows = hn.oracles.AllPolicies(1, K), [[k] for k in range(K)]
    else:  # several policies play the same action: the best of them counts
        rows = rng.integers(0, K, size=(7, 1)).tolist()
        oracle = hn.oracles.FinitePolicies(rows, n_actions=K)
    total = oracle.objective()
    losses = rng.random(K) * 3
    total.add(0, losses)
    noise = oracle.noise([0], seed_key(0), 0, 2**20)
    exact = total.distribution(0, Draw(noise, 0, scale))
    scores = [losses[row[0]] for row in rows]
    q, _ = naive_bandit.propensities(rows, scores, [0], 0, scale, K, rng, 200_000)
    error = np.sqrt(exact * (1 - exact) / 200_000)
    assert np.all(np.abs(q - exact) <= 3 * error + 1e-15)
    # And with what the learners' own noise does.
    own = total.chosen(0, Draw(noise, 0, scale), 50_000).mean(axis=0)
    assert np.all(np.abs(own - exact) <= 4 * np.sqrt(exact * (1 - exact) / 50_000) + 1e-15)


def test_finite_policies_know_their_law_only_where_one_context_carries_all_noise():
    oracle = hn.oracles.FinitePolicies([[0, 1], [1, 0], [1, 1]])
    total = oracle.objective()
    total.add(0, np.array([0.5, 0.0]))
    one = oracle.noise([0], seed_key(0), 0, 2**20)
    both = oracle.noise([0, 1], seed_key(0), 0, 2**20)
    assert total.distribution(0, Draw(one, 0, 1.0)) is not None
    assert total.distribution(1, Draw(one, 0, 1.0)) is None
    assert total.distribution(0, Draw(both, 0, 1.0)) is None
    slates = hn.oracles.FinitePolicies([[[0, 1]], [[1, 2]]])
    noise = slates.noise([0], seed_key(0), 0, 2**20)
    assert slates.objective().distribution(0, Draw(noise, 0, 1.0)) is None


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e-15, 1e-40, 1e-300, 5e-324])
def test_noise_far_smaller_than_the_values_is_no_trouble(scale):
    near, far = np.empty(3), np.empty(3)
    values = scale * np.array([0.0, 1.0, 3.0])
    argmin_distribution(values, scale, near)
    assert near[0] > near[1] > near[2] > 0.0
    argmin_distribution(np.array([100.0, 100.0, 100.5]), scale, far)
    assert far[0] == far[1] == pytest.approx((1.0 - far[2]) / 2)
    assert far.sum() == pytest.approx(1.0)
    if scale < 1e-3:
        assert far[2] == 0.0
    argmin_distribution(values * 2.0**40 + 2.0**10 * scale, scale, far)
    assert far.tolist() == [1.0, 0.0, 0.0]


def test_a_lesson_is_its_parts_bit_for_bit():
    rng = np.random.default_rng(3)
    for _ in range(300):
        K, L, loss = int(rng.integers(1, 9)), int(rng.integers(1, 200)), float(rng.random())
        values, scale = rng.random(K) * 10.0 ** rng.uniform(-1, 2), 10.0 ** rng.uniform(-1, 1)
        action, distribution = int(rng.integers(K)), np.empty(K)
        weight, lost = lesson(values, scale, action, loss, (L, 0.0, 1.0), distribution)
        before = argmin_distribution_of(values, scale)
        residual = np.zeros(K)
        residual[action] = mean_weight(float(before[action]), L) * loss
        after = argmin_distribution_of(values + residual, scale)
        assert (distribution == before).all()
        assert weight == mean_weight(float(before[action]), L)
        assert lost == max(0.0, float(residual @ (before - after)))
