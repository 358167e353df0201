"""Tsallis-INF: its distribution, its baseline, its regret in both worlds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

import hannan as hn
from hannan.kernels import tsallis
from tests.cases import Match
from tests.problems import ALL, PLANTED

CONTRACT = {
    "TsallisINF": Match(hn.TsallisINF(ALL, seed=0), PLANTED),
    "TsallisINF, earned trust": Match(
        hn.TsallisINF(ALL, predictor=hn.predictors.Mean(alpha=1.0), seed=0), PLANTED
    ),
}


def slow_distribution(totals, eta):
    """The root by bisection."""
    totals = np.asarray(totals, dtype=float)

    def excess(y):
        return (4.0 / (eta * (totals - y)) ** 2).sum() - 1.0

    top = totals.min()
    y = brentq(
        excess, top - 2.0 * math.sqrt(len(totals)) / eta - 1e-9, top - 2.0 / eta + 1e-12, xtol=1e-15
    )
    return 4.0 / (eta * (totals - y)) ** 2


def fast_distribution(totals, eta):
    out = np.empty(len(totals))
    tsallis.distribution(np.asarray(totals, dtype=float), eta, out)
    return out


TOTALS = arrays(float, st.integers(1, 6), elements=st.floats(0.0, 1e4))


@given(TOTALS, st.floats(1e-3, 2.0))
def test_the_law_solves_its_equation(totals, eta):
    found = fast_distribution(totals, eta)
    assert found.sum() == pytest.approx(1.0)
    assert found.min() > 0.0
    np.testing.assert_allclose(found, slow_distribution(totals, eta), rtol=1e-5, atol=1e-9)


def test_an_action_that_is_not_available_has_no_probability():
    assert fast_distribution([0.0, np.inf, 1.0], 0.5)[1] == 0.0


@given(TOTALS, st.floats(1e-3, 2.0), st.floats(0.0, 0.95), st.data())
def test_a_capped_baseline_moves_the_law_at_most_half_of_what_it_withstands(
    totals, eta, share, data
):
    K = len(totals)
    values = data.draw(arrays(float, K, elements=st.floats(0.0, 1.0)))
    advice = data.draw(st.integers(0, K - 1))
    Q, distribution = np.empty(K), np.empty(K)
    tsallis.capped_distribution(totals, values, advice, share, 1.0, eta, 1.0, Q, distribution)
    assert (values >= Q).all()
    np.testing.assert_allclose(
        distribution, slow_distribution(totals + Q, eta), rtol=1e-5, atol=1e-9
    )
    q = (1.0 - share) * distribution
    q[advice] += share
    assert (eta * np.sqrt(distribution) * Q / q).max() <= 0.5 + 1e-6


def test_without_a_predictor_play_is_that_of_the_definition():
    learner = hn.TsallisINF(hn.oracles.AllPolicies(2, 3), seed=3)
    F, visits = np.zeros((2, 3)), [0, 0]
    rng = np.random.default_rng(0)
    for t in range(80):
        x = t % 2
        visits[x] += 1
        distribution = slow_distribution(F[x], 2.0 / math.sqrt(visits[x]))
        np.testing.assert_allclose(learner.propensities(x).probabilities, distribution, rtol=1e-5)
        decision = learner.decide(x)
        assert decision.propensity == pytest.approx(distribution[decision.action], rel=1e-5)
        loss = float(rng.random())
        learner.update(loss, decision=decision)
        F[x, decision.action] += loss / decision.propensity
    np.testing.assert_allclose(learner._past.totals, F, rtol=1e-6)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("predictor", [None, hn.predictors.Mean()])
def test_what_is_measured_is_that_of_the_definition(predictor, late):
    learner = hn.TsallisINF(hn.oracles.AllPolicies(2, 3), predictor=predictor, seed=3)
    rng, D, tops = np.random.default_rng(0), 0.0, [0.0, 0.0]
    covered = 0
    for t in range(120):
        x = t % 2
        action = learner.act(x)
        opened, decision = learner.open_round(), learner.decide(1 - x) if late else None
        totals, decided, loss = (
            learner._past.totals[x].copy(),
            opened.distribution,
            float(rng.random()),
        )
        Q = np.zeros(3) if opened.baseline is None else opened.baseline
        covered += bool(Q.any())
        estimate = Q.copy()
        estimate[action] += opened.weight * (loss - Q[action])
        tops[x] = max(tops[x], opened.scale)
        foreseen = slow_distribution(totals + Q, 1.0 / tops[x]) if late else decided
        D += Q @ (decided - foreseen)
        moved = slow_distribution(totals + estimate, 1.0 / tops[x])[action]
        D += (estimate - Q)[action] * (decided[action] - moved)
        learner.update(loss)
        np.testing.assert_allclose(learner._past.totals[x], totals + estimate, rtol=1e-12)
        if late:
            learner.forget(decision)
    assert pytest.approx(D, rel=1e-5) == learner._D
    assert (covered > 20) == (predictor is not None)


def regret(learner, means, T, seed):
    """Pseudo-regret on arms whose losses are drawn around fixed means."""
    losses = (np.random.default_rng([seed, 3]).random((T, len(means))) < means).astype(float)
    total = 0.0
    for row in losses:
        action = learner.act()
        learner.update(float(row[action]))
        total += means[action] - min(means)
    return total


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("predictor", [None, hn.predictors.Mean(alpha=1.0)])
def test_on_losses_of_one_law_regret_grows_like_a_logarithm(predictor):
    means = np.array([0.3, 0.5, 0.5, 0.5])
    short, long = (
        np.mean(
            [
                regret(hn.TsallisINF(ARMS, predictor=predictor, seed=s), means, T, s)
                for s in range(6)
            ]
        )
        for T in (1000, 9000)
    )
    assert long < 2.6 * short  # three times as much if it grew like a root
    assert long < 110


ARMS = hn.oracles.AllPolicies(1, 4)


@pytest.mark.stat
@pytest.mark.parametrize("predictor", [None, hn.predictors.Mean(alpha=1.0), hn.predictors.Last()])
def test_against_an_adversary_regret_is_below_its_bound_and_its_certificate(predictor):
    gaps, estimates = [], []
    for seed in range(10):
        learner = hn.TsallisINF(ARMS, predictor=predictor, seed=seed)
        trace = hn.play(learner, hn.environments.FrequencyPunisher(ARMS), 600, seed=seed)
        gaps.append(learner.regret_bound() - trace.regret())
        estimates.append(float(learner.certificate()) - trace.regret())
    assert min(gaps) > 0.0
    assert np.mean(estimates) > 0.0


@pytest.mark.parametrize("wrong", [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
def test_hints_cost_no_more_than_their_budget(wrong):
    class Wrong:
        def predict(self, context):
            return wrong

        def learn(self, context, action, loss):
            pass

    learner = hn.TsallisINF(ARMS, predictor=Wrong(), seed=0)
    for t in range(1500):
        action = learner.act()
        learner.update(1.0 if action == int(np.argmin(wrong)) else 0.0)
        budget = 3.0 * math.sqrt(learner._G * (t + 1))
        assert budget >= learner.hint.S
    assert learner.hint.S > 20.0


def test_late_feedback_voids_what_is_promised_but_not_what_is_measured():
    learner = hn.TsallisINF(ARMS, seed=0)
    first, second = learner.decide_many([None, None])
    assert learner.regret_bound() == 0.0
    learner.update(0.5, decision=second)
    learner.update(0.5, decision=first)
    assert learner.regret_bound() is None
    said = learner.certificate()
    assert said.variance_estimate is None
    assert said.stability_estimate > 0.0
    assert "feedback was delayed" in str(said)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oracle": hn.oracles.FinitePolicies([[0], [1]])}, "AllPolicies"),
        ({"loss_range": (-1, 1)}, "0 <= low"),
        ({"loss_range": None}, "0 <= low"),
        ({"trust": "baseline"}, "with hints"),
        ({"trust": "blind"}, "trust"),
    ],
)
def test_what_it_cannot_play_is_refused(options, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.TsallisINF(**({"oracle": ARMS, "predictor": hn.predictors.Mean()} | options))


def test_losses_of_any_range_are_played_alike():
    one, large = (hn.TsallisINF(ARMS, seed=0, loss_range=(0, top)) for top in (1, 8))
    rng = np.random.default_rng(1)
    for _ in range(100):
        action = large.act()
        assert one.act() == action
        loss = float(rng.random() * (action + 1) / 4)
        one.update(loss)
        large.update(8.0 * loss)
    assert large.regret_bound() == pytest.approx(8.0 * one.regret_bound())
