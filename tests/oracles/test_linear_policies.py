"""Linear policies: ridge scores, their noise and the distribution of the action."""

from decimal import Decimal

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.linear_model import Ridge

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key

KEY = seed_key(3)
CONTRACT = {
    "LinearPolicies": (
        hn.oracles.LinearPolicies(n_actions=3),
        np.random.default_rng(1).normal(size=(5, 2)),
    ),
}


def regression(rng, rounds=40, p=4, K=3, **parameters):
    oracle = hn.oracles.LinearPolicies(K, **parameters)
    total = oracle.objective()
    X, L = rng.normal(size=(rounds, p)), rng.normal(size=(rounds, K))
    for x, losses in zip(X, L, strict=True):
        total.add(x, losses)
    return oracle, total, X, L


@pytest.mark.parametrize("ridge", [0.1, 1.0, 7.0])
def test_weights_are_those_of_ridge_regression(ridge):
    _, total, X, L = regression(np.random.default_rng(0), ridge=ridge, intercept=False)
    expected = Ridge(alpha=ridge, fit_intercept=False).fit(X, L).coef_.T
    assert total.leader().weights == pytest.approx(expected)


def test_the_intercept_is_a_penalised_constant_feature():
    _, total, X, L = regression(np.random.default_rng(1))
    with_one = np.column_stack([X, np.ones(len(X))])
    expected = Ridge(alpha=1.0, fit_intercept=False).fit(with_one, L).coef_.T
    assert total.leader().weights == pytest.approx(expected)


def test_action_and_leader_agree_under_every_draw():
    rng = np.random.default_rng(2)
    oracle, total, X, _ = regression(rng)
    noise = oracle.noise(list(X), KEY, 0, 2**20)
    for draw in range(60):
        x = oracle.check_context(rng.normal(size=4))
        assert total.action(x, Draw(noise, draw, 0.8)) == total.leaders(Draw(noise, draw, 0.8), 1)[
            0
        ](x)


@pytest.mark.parametrize("draws", [range(12), [0, 3, 4, 5, 6, 7, 8, 9, 2, 1, 40], [5] * 6])
def test_noise_of_a_draw_does_not_depend_on_which_were_asked_for_before(draws):
    rng = np.random.default_rng(5)
    oracle, _, X, _ = regression(rng)
    noise, v = oracle.noise(list(X), KEY, 1, 2**20), rng.normal(size=5)
    for draw in draws:
        scores, wanted = np.zeros(3), np.zeros(3)
        noise.perturb(draw, v, 0.7, scores)
        g = oracle.noise(list(X), KEY, 1, 2**20).normal(draw, 5)
        for i in range(5):
            wanted += (0.7 * v[i]) * g[i].astype(np.float64)
        assert np.array_equal(scores, wanted)


def test_noise_has_the_covariance_of_fake_losses_on_the_contexts():
    rng = np.random.default_rng(4)
    oracle, _, X, _ = regression(rng, rounds=30, intercept=False)
    noise = oracle.noise(list(X), KEY, 0, 2**24)
    moments = np.array([X.T @ noise.unit(draw)[:, 0] for draw in range(4000)])
    wanted = 2.0 * X.T @ X
    assert np.cov(moments.T) == pytest.approx(wanted, abs=5 * wanted.max() * np.sqrt(2 / 4000))


def test_normal_numbers_are_normal_and_belong_to_their_draw():
    oracle = hn.oracles.LinearPolicies(3)
    noise = oracle.noise([np.zeros(4)] * 2, KEY, 0, 2**24)
    numbers = np.array([noise.normal(draw, 5).copy() for draw in range(3000)])
    assert stats.kstest(numbers.ravel(), "norm").pvalue > 1e-3
    correlation = np.corrcoef(numbers.reshape(3000, -1).T)
    assert np.abs(correlation - np.eye(15)).max() < 4.5 / np.sqrt(3000)
    small = oracle.noise([np.zeros(4)] * 2, KEY, 0, 1)
    for draw in (0, 17, 2999, 5):
        assert (small.normal(draw, 5) == numbers[draw]).all()


def test_law_equals_numerical_integration():
    rng = np.random.default_rng(5)
    oracle, total, X, _ = regression(rng)
    noise = oracle.noise(list(X), KEY, 0, 2**20)
    for scale in (0.05, 0.5, 5.0):
        x = oracle.check_context(rng.normal(size=4))
        scores, _, h = total._solved(x)
        sigma = total._factor(Draw(noise, 0, scale)) * np.sqrt(h)

        def density(v, k, scores=scores, sigma=sigma):
            others = np.delete(scores, k)
            return stats.norm.pdf(v, scores[k], sigma) * stats.norm.sf(v, others, sigma).prod()

        low, high = scores.min() - 9 * sigma, scores.min() + 9 * sigma
        exact = [integrate.quad(density, low, high, (k,), points=[scores[k]])[0] for k in range(3)]
        assert total.distribution(x, Draw(noise, 0, scale)) == pytest.approx(exact, abs=1e-8)


@pytest.mark.stat
def test_law_is_the_frequency_of_the_actions_played():
    rng = np.random.default_rng(6)
    oracle, total, X, _ = regression(rng)
    noise = oracle.noise(list(X), KEY, 0, 2**24)
    x = oracle.check_context(rng.normal(size=4))
    q = total.distribution(x, Draw(noise, 0, 1.5))
    counts = total.chosen(x, Draw(noise, 0, 1.5), 4000).sum(axis=0)
    assert stats.chisquare(counts, 4000 * q).pvalue > 1e-3


def test_a_round_changes_the_scores_of_its_own_context_at_once():
    oracle, total, X, _ = regression(np.random.default_rng(10))
    x = oracle.check_context(X[0])
    for k in (2, 0):
        before = total.scores(x, WITHOUT_NOISE)
        total.add(x, 50.0 * (np.arange(3) != k))
        assert (total.scores(x, WITHOUT_NOISE) != before).all()
        assert total.action(x, WITHOUT_NOISE) == total.leader()(x)


def test_a_tilt_moves_the_score_by_its_leverage_and_changes_nothing_else():
    rng = np.random.default_rng(7)
    oracle, total, _, _ = regression(rng)
    x = oracle.check_context(rng.normal(size=4))
    scores, _, h = total._solved(x)
    tilt = np.array([0.0, 2.0, -1.0])
    moved = total.scores(x, WITHOUT_NOISE, tilt)
    assert moved == pytest.approx(scores + h * tilt)
    assert total.action(x, WITHOUT_NOISE, tilt) == moved.argmin()
    assert total._solved(x)[0] == pytest.approx(scores)
    assert total.leverage(x) == h


def test_the_array_of_a_context_may_be_used_again_by_its_owner():
    learners = [
        hn.ContextSemiBanditFTPL(
            hn.oracles.LinearPolicies(3), seed=0, predictor=hn.predictors.Ridge()
        )
        for _ in range(2)
    ]
    rng = np.random.default_rng(8)
    buffer = np.empty(3)
    for _ in range(200):
        buffer[:] = rng.normal(size=3)
        fresh = buffer.copy()
        actions = [learners[0].act(buffer), learners[1].act(fresh)]
        assert actions[0] == actions[1]
        loss = float(rng.random() < 0.3 + 0.2 * actions[0])
        for learner in learners:
            learner.update(loss)


def test_contexts_of_another_length_are_refused_and_change_nothing():
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)
    learner.act([0.0, 1.0])
    learner.update([0.0, 1.0])
    with pytest.raises(hn.ContextError, match="2 features"):
        learner.act([0.0, 1.0, 2.0])
    with pytest.raises(hn.ContextError, match="finite"):
        learner.act([0.0, np.nan])
    assert learner.act([0.0, 1.0]) in (0, 1)


def test_open_world_certificates_say_that_no_theorem_applies():
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)
    for _ in range(5):
        learner.act([0.5])
        learner.update([0.2, 0.4])
    certificate = learner.certificate()
    assert certificate.measured is None
    assert any("not known in advance" in note for note in certificate.notes)
    assert any("inexact" in note for note in certificate.notes)


@pytest.mark.stat
def test_a_linear_world_is_learned_from_bandit_feedback_in_an_open_world():
    rng = np.random.default_rng(9)
    weights = rng.normal(size=(5, 4))
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(4), seed=0, predictor=hn.predictors.Ridge(alpha=0.1)
    )
    losses = []
    for _ in range(3000):
        x = rng.normal(size=5)
        action = learner.act(x)
        losses.append(float(action != np.argmin(x @ weights)))
        learner.update(losses[-1])
    # Uniform play has mean loss 0.75: a third of that shows learning.
    assert np.mean(losses[-1000:]) < 0.25


def test_features_whose_squares_overflow_are_refused():
    oracle = hn.oracles.LinearPolicies(2)
    for call in (
        lambda: oracle.check_context([1.0, -1e200]),
        lambda: oracle.check_contexts([[1.0, 0.0], [1.0, -1e200]]),
    ):
        with pytest.raises(
            hn.ContextError, match=r"feature 1 of row \d, counting from 0, is -1e\+200. Scale"
        ):
            call()
    with np.errstate(all="raise"):
        learner = hn.ContextFTPL(oracle, seed=0)
        for _ in range(20):
            learner.act([1e100, 1.0])
            learner.update([0.0, 1.0])


def test_no_context_is_no_row_with_a_hole():
    with pytest.raises(hn.ContextError, match="LinearPolicies needs a feature vector"):
        hn.ContextSemiBanditFTPL(hn.oracles.LinearPolicies(2), seed=0).act()


@pytest.mark.parametrize("number", [3, 0.5, True, np.int64(3), np.float32(0.5), Decimal(2)])
def test_a_number_is_no_row(number):
    oracle = hn.oracles.LinearPolicies(2)
    with pytest.raises(hn.ContextError, match=r"n_contexts=n \(hn\.bandit\) or AllPolicies"):
        oracle.check_context(number)
    assert oracle.check_context([number]).tolist() == [float(number)]


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 50.0])
def test_the_smoother_by_singular_values_is_the_smoother(ridge, monkeypatch):
    rows = list(np.random.default_rng(3).normal(size=(12, 3)))
    oracle = hn.oracles.LinearPolicies(2, ridge=ridge)
    expected = oracle.smoother(rows)

    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", singular)
    assert oracle.smoother(rows) == pytest.approx(expected, abs=1e-7)


@pytest.mark.stat
@pytest.mark.parametrize("size", [1.7e9, 1e15, 1e100])
def test_features_as_large_as_unix_times_can_be_played(size):
    learner, rng = hn.bandit(3, seed=0), np.random.default_rng(0)
    wrong = 0
    for t in range(400):
        x = size * (1.0 + 1e-6 * rng.normal(size=4))
        action = learner.act(x)
        learner.update(float(action != int(x[0] > size)))
        wrong += t >= 200 and action != int(x[0] > size)
    assert wrong < 20
    assert np.isfinite(learner.best_policy().weights).all()
