"""Exp3-IX: its distribution, its estimates, its bias and its regret."""

import math

import numpy as np
import pytest

import hannan as hn
from tests.cases import Match
from tests.problems import ALL, PLANTED

CONTRACT = {
    "Exp3IX": Match(hn.Exp3IX(ALL, seed=0), PLANTED),
    "Exp3IX, earned trust": Match(
        hn.Exp3IX(ALL, predictor=hn.predictors.Mean(alpha=1.0), seed=0), PLANTED
    ),
    "Exp3IX, explores": Match(hn.Exp3IX(ALL, exploration=0.02, seed=0), PLANTED),
}
ARMS = hn.oracles.AllPolicies(1, 4)


def test_two_rounds_on_paper():
    learner = hn.Exp3IX(hn.oracles.AllPolicies(1, 2), seed=0)
    first = learner.decide()
    assert first.propensity == 0.5
    learner.update(1.0, decision=first)
    # η = √(log 2/2), γ = η/2: the estimate is 1/(1/2 + γ), the next η is √(log 2/4).
    estimate = 1.0 / (0.5 + math.sqrt(math.log(2.0) / 2.0) / 2.0)
    other = 1.0 / (1.0 + math.exp(-math.sqrt(math.log(2.0) / 4.0) * estimate))
    assert learner.propensities().probabilities[1 - first.action] == pytest.approx(other)


@pytest.mark.parametrize("top", [1.0, 5.0])
def test_play_is_that_of_the_definition(top):
    learner = hn.Exp3IX(hn.oracles.AllPolicies(2, 3), loss_range=(0.0, top), seed=3)
    rng, L, visits, D = np.random.default_rng(0), np.zeros((2, 3)), [0, 0], 0.0
    for t in range(80):
        x = t % 2
        visits[x] += 1
        eta = math.sqrt(math.log(3) / (3 * visits[x])) / top
        weights = np.exp(-eta * L[x])
        p = weights / weights.sum()
        np.testing.assert_allclose(learner.propensities(x).probabilities, p)
        decision = learner.decide(x)
        assert decision.propensity == pytest.approx(p[decision.action])
        loss = float(top * rng.random())
        learner.update(loss, decision=decision)
        a, q = decision.action, p[decision.action]
        estimate = loss / (q + eta * top / 2.0)
        L[x, a] += estimate
        weights = np.exp(-eta * L[x])
        D += estimate * (q - weights[a] / weights.sum()) + (loss - q * estimate)
    np.testing.assert_allclose(learner._past.totals, L)
    entropy = math.log(3) * sum(top / math.sqrt(math.log(3) / (3 * v)) for v in visits)
    assert learner.certificate().stability_estimate == pytest.approx(D + entropy)


def test_without_feedback_of_others_the_bound_is_that_of_the_docstring():
    learner = hn.Exp3IX(hn.oracles.AllPolicies(2, 3), loss_range=(0.0, 2.0), seed=0)
    for _ in range(10):
        learner.act(0)
        learner.update(0.5)
    assert learner.regret_bound() == pytest.approx(2.0 * 3.0 * math.sqrt(2 * 3 * 10 * math.log(3)))


@pytest.mark.stat
@pytest.mark.parametrize("predictor", [None, hn.predictors.Mean(alpha=1.0), hn.predictors.Last()])
def test_against_an_adversary_regret_is_below_its_bound_and_its_certificate(predictor):
    gaps, stability, variance = [], [], []
    for seed in range(10):
        learner = hn.Exp3IX(ARMS, predictor=predictor, seed=seed)
        trace = hn.play(learner, hn.environments.FrequencyPunisher(ARMS), 600, seed=seed)
        gaps.append(learner.regret_bound() - trace.regret())
        said = learner.certificate()
        stability.append(said.stability_estimate - trace.regret())
        variance.append(said.variance_estimate - trace.regret())
    assert min(gaps) > 0.0
    assert np.mean(stability) > 0.0
    assert np.mean(variance) > 0.0


@pytest.mark.stat
def test_its_regret_varies_less_than_that_of_unlimited_weights():
    # What implicit exploration is for: no estimate exceeds 1/γ.
    learner = hn.Exp3IX(ARMS, seed=0)
    for t in range(500):
        action = learner.act()
        before = learner._past.totals.copy()
        learner.update(float(action != 2))
        gamma = math.sqrt(math.log(4) / (4 * (t + 1))) / 2.0
        assert (learner._past.totals - before).max() <= 1.0 / gamma


def test_one_action_is_always_played():
    learner = hn.Exp3IX(hn.oracles.AllPolicies(1, 1), seed=0)
    for _ in range(3):
        assert learner.act() == 0
        learner.update(0.5)
    assert learner.propensities().probabilities.tolist() == [1.0]


def test_it_goes_on_with_more_actions_and_learns_from_logs():
    learner = hn.Exp3IX(ARMS, predictor=hn.predictors.Mean(), seed=0)
    for _ in range(50):
        learner.update(0.0 if learner.act() == 1 else 1.0)
    more = learner.extended(5)
    more.learn(None, 4, 0.0, 0.2)
    assert more.propensities().probabilities.shape == (5,)
    assert more.best_policy()(0) == 1
    assert hn.Restarting(more).act() in range(5)
