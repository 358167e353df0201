import math

import numpy as np
import pytest

import hannan as hn
from tests import naive_bandit, problems

SLATES = [[(0, 1), (2, 3)], [(1, 2), (0, 3)], [(0, 3), (0, 1)], [(2, 3), (1, 2)]]


def learner_at(kind, epsilon=0.5, **options):
    """A learner whose history is one round, and the rows and scores behind it."""
    if kind == "slates":
        oracle, rows = hn.oracles.FinitePolicies(SLATES, n_actions=4), SLATES
    else:
        oracle, rows = problems.make(kind, d=2, K=4, N=6, seed=3)
    learner = hn.ContextSemiBanditFTPL(oracle, range(2), epsilon=epsilon, seed=0, **options)
    losses = np.array([0.0, 1.5, 3.0, 0.5])
    learner._history.add(1, losses)
    return learner, rows, [naive_bandit.loss(losses, row[1]) for row in rows]


@pytest.mark.stat
@pytest.mark.parametrize("kind", [*problems.KINDS, "slates"])
def test_propensities_agree_with_the_definition(kind):
    # 4.5 standard errors, those of the answer and those of the simulation.
    learner, rows, scores = learner_at(kind)
    rng = np.random.default_rng(1)
    q, error = naive_bandit.propensities(rows, scores, [0, 1], 1, 2.0, 4, rng, 100_000)
    draws = 1000 if kind == "FunctionOracle" else 20_000
    found = learner.propensities(1, draws=draws)
    assert np.all(
        np.abs(found.probabilities - q) <= 4.5 * np.hypot(found.standard_errors, error) + 1e-12
    )
    assert found.probabilities.sum() == pytest.approx(learner.oracle.max_chosen)
    if kind == "AllPolicies":
        assert found.draws == 0
        assert not found.standard_errors.any()
    else:
        p = found.probabilities
        assert found.draws == draws
        np.testing.assert_allclose(found.standard_errors, np.sqrt(p * (1 - p) / draws))


@pytest.mark.stat
def test_standard_errors_are_the_spread_of_the_answers():
    answers, errors = [], []
    for seed in range(200):
        learner, _, _ = learner_at("FinitePolicies")
        learner = learner.clone(seed=seed)
        found = learner.propensities(1, draws=100)
        answers.append(found.probabilities)
        errors.append(found.standard_errors)
    spread = np.std(answers, axis=0)
    # The spread of 200 answers is known to 1/sqrt(400) = 5 %; 4.5 times that.
    busy = spread > 0
    assert busy.sum() >= 2
    np.testing.assert_allclose(np.mean(errors, axis=0)[busy], spread[busy], rtol=0.225)


@pytest.mark.parametrize("kind", [*problems.KINDS, "slates"])
@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.5])
def test_asking_never_changes_what_is_played(kind, epsilon):
    asking, _, _ = learner_at(kind, epsilon)
    silent, _, _ = learner_at(kind, epsilon)
    for t in range(40):
        asking.propensities(t % 2, draws=7 + t)
        a, b = asking.act(t % 2), silent.act(t % 2)
        assert np.array_equal(a, b)
        asking.propensities(1 - t % 2, draws=5)
        for each in (asking, silent):
            each.update(0.5 * (t % 3) if isinstance(a, int) else np.full(len(a), 0.5 * (t % 3)))
    assert asking._draw == silent._draw
    assert asking.certificate() == silent.certificate()


def test_without_noise_the_leader_is_certain():
    learner, _, _ = learner_at("FinitePolicies", "adaptive")
    found = learner.propensities(1)
    expected = np.zeros(4)
    expected[learner.best_policy()(1)] = 1.0
    np.testing.assert_array_equal(found.probabilities, expected)
    assert found.draws == 0


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
def test_they_are_those_of_the_hinted_play(kind):
    class Guess:
        def predict(self, context):
            return np.array([1.0, 0.0, 0.0, 1.0])

        def learn(self, context, action, loss):
            pass

    learner, _, _ = learner_at(kind, predictor=Guess())
    found = learner.propensities(1, draws=4000)
    actions = [learner.decide(1).action for _ in range(2000)]
    shares = np.bincount(actions, minlength=4) / 2000
    error = np.hypot(found.standard_errors, np.sqrt(shares * (1 - shares) / 2000))
    assert np.all(np.abs(shares - found.probabilities) <= 4.5 * error + 1e-12)
    plain, _, _ = learner_at(kind)
    assert plain.propensities(1, draws=4000).probabilities[1] < found.probabilities[1]


@pytest.mark.parametrize("draws", [0, 1, 2.5, "many"])
def test_too_few_draws_are_refused(draws):
    learner, _, _ = learner_at("FinitePolicies")
    with pytest.raises(hn.ParameterError, match="draws"):
        learner.propensities(0, draws=draws)


def test_the_anytime_schedule_is_ready_before_the_first_round():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 4), epsilon="anytime", seed=0)
    learner.act()
    learner.update(1.0)
    found = learner.propensities()
    assert math.isclose(found.probabilities.sum(), 1.0)
