"""Tsallis-INF: its law, its baseline, its regret in both worlds."""

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


def slow_law(totals, eta):
    """The root by bisection."""
    totals = np.asarray(totals, dtype=float)

    def excess(y):
        return (4.0 / (eta * (totals - y)) ** 2).sum() - 1.0

    top = totals.min()
    y = brentq(
        excess, top - 2.0 * math.sqrt(len(totals)) / eta - 1e-9, top - 2.0 / eta + 1e-12, xtol=1e-15
    )
    return 4.0 / (eta * (totals - y)) ** 2


def fast_law(totals, eta):
    out = np.empty(len(totals))
    tsallis.law(np.asarray(totals, dtype=float), eta, out)
    return out


TOTALS = arrays(float, st.integers(1, 6), elements=st.floats(0.0, 1e4))


@given(TOTALS, st.floats(1e-3, 2.0))
def test_the_law_solves_its_equation(totals, eta):
    found = fast_law(totals, eta)
    assert found.sum() == pytest.approx(1.0)
    assert found.min() > 0.0
    np.testing.assert_allclose(found, slow_law(totals, eta), rtol=1e-5, atol=1e-9)


def test_an_action_that_is_not_available_has_no_probability():
    assert fast_law([0.0, np.inf, 1.0], 0.5)[1] == 0.0


@given(TOTALS, st.floats(1e-3, 2.0), st.floats(0.0, 0.95), st.data())
def test_a_capped_baseline_moves_the_law_at_most_half_of_what_it_withstands(
    totals, eta, share, data
):
    K = len(totals)
    values = data.draw(arrays(float, K, elements=st.floats(0.0, 1.0)))
    advice = data.draw(st.integers(0, K - 1))
    Q, law = np.empty(K), np.empty(K)
    tsallis.capped_law(totals, values, advice, share, 1.0, eta, 1.0, Q, law)
    assert (values >= Q).all()
    np.testing.assert_allclose(law, slow_law(totals + Q, eta), rtol=1e-5, atol=1e-9)
    q = (1.0 - share) * law
    q[advice] += share
    assert (eta * np.sqrt(law) * Q / q).max() <= 0.5 + 1e-6


@given(TOTALS, st.floats(0.0, 1e4), st.floats(0.0, 0.9), st.booleans(), st.data())
def test_a_decision_in_one_call_is_that_of_its_steps(totals, visits, share, covered, data):
    K = len(totals)
    values = data.draw(arrays(float, K, elements=st.floats(0.0, 1.0)))
    advice, number = data.draw(st.integers(0, K - 1)), data.draw(st.integers(0, 1000))
    table = np.stack([np.full(K, 7.0), totals])
    Q, law = np.full(K, np.nan), np.empty(K)
    key = np.uint64(11)
    action, weight, cost, scale = tsallis.decide(
        table, 1, visits, values, covered, advice, share, 1.0, 1.0, key, 5, number, Q, law
    )
    assert cost == 1.0 / (1.0 - share)
    eta = 2.0 / math.sqrt(visits + cost)
    assert scale == 1.0 / eta
    expected, baseline = np.empty(K), np.full(K, np.nan)
    if covered:
        tsallis.capped_law(totals, values, advice, share, 1.0, eta, 1.0, baseline, expected)
    else:
        tsallis.law(totals, eta, expected)
    np.testing.assert_array_equal(law, expected)
    np.testing.assert_array_equal(Q, baseline)
    assert (action, weight) == tsallis.play(law, advice, share, key, 5, number)


@given(TOTALS, st.floats(0.5, 100.0), st.booleans(), st.booleans(), st.data())
def test_learning_in_one_call_is_that_of_the_definition(totals, scale, covered, late, data):
    K = len(totals)
    Q = data.draw(arrays(float, K, elements=st.floats(0.0, 1.0)))
    action, loss = data.draw(st.integers(0, K - 1)), data.draw(st.floats(0.0, 1.0))
    top = data.draw(st.floats(0.5, 100.0))
    decided = fast_law(totals, 1.0 / scale)
    weight = 1.0 / decided[action]
    table, tops = np.stack([totals, totals + 1.0]), np.array([top, 3.0])
    cost = tsallis.learn(table, 0, tops, scale, Q, covered, decided, action, weight, loss, late)

    baseline = Q if covered else np.zeros(K)
    estimate = baseline.copy()
    estimate[action] += weight * (loss - baseline[action])
    eta = 1.0 / max(top, scale)
    foreseen = fast_law(totals + baseline, eta) if late else decided
    paid = baseline @ (decided - foreseen)
    moved = fast_law(totals + estimate, eta)[action]
    paid += (estimate - baseline)[action] * (decided[action] - moved)
    assert cost == pytest.approx(paid, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(table, [totals + estimate, totals + 1.0])
    np.testing.assert_array_equal(tops, [max(top, scale), 3.0])


@pytest.mark.stat
def test_choices_follow_the_law():
    law, u = np.array([0.2, 0.0, 0.5, 0.3]), np.random.default_rng(0).random(20_000)
    counts = np.bincount([tsallis.choose(law, v) for v in u], minlength=4)
    assert counts[1] == 0
    expected = 20_000 * law[law > 0]
    chi2 = ((counts[law > 0] - expected) ** 2 / expected).sum()
    assert chi2 < 16.3  # 0.999 of two degrees of freedom is 13.8


def test_without_a_predictor_play_is_that_of_the_definition():
    learner = hn.TsallisINF(hn.oracles.AllPolicies(2, 3), seed=3)
    F, visits = np.zeros((2, 3)), [0, 0]
    rng = np.random.default_rng(0)
    for t in range(80):
        x = t % 2
        visits[x] += 1
        law = slow_law(F[x], 2.0 / math.sqrt(visits[x]))
        np.testing.assert_allclose(learner.propensities(x).probabilities, law, rtol=1e-5)
        decision = learner.decide(x)
        assert decision.propensity == pytest.approx(law[decision.action], rel=1e-5)
        loss = float(rng.random())
        learner.update(loss, decision=decision)
        F[x, decision.action] += loss / decision.propensity
    np.testing.assert_allclose(learner._past.totals, F, rtol=1e-6)


class OtherMean(hn.predictors.Mean):
    """The same, for which no step is compiled together with another."""


@pytest.mark.parametrize("exploration", [0.0, 0.05])
@pytest.mark.parametrize("top", [1.0, 0.4])
def test_means_that_hint_in_one_call_play_as_those_of_any_predictor(exploration, top):
    made, twin = (
        hn.TsallisINF(
            hn.oracles.AllPolicies(2, 3),
            predictor=kind(),
            exploration=exploration,
            loss_range=(0.0, top),
            seed=4,
        )
        for kind in (hn.predictors.Mean, OtherMean)
    )
    assert type(made.hint) is not type(twin.hint)
    rng, waiting = np.random.default_rng(5), []
    for t in range(300):
        x, some, loss = t % 2, [0, 2] if t % 7 == 0 else None, float(top * rng.random())
        if t % 5 == 0:
            both = made.decide(x, some), twin.decide(x, some)
            assert both[0].propensity == both[1].propensity
            waiting.append(both)
        elif t % 11 == 0:
            assert made.act(x, some) == twin.act(x, some)  # never answered
        else:
            assert made.act(x, some) == twin.act(x, some)
            made.update(loss)
            twin.update(loss)
        if len(waiting) > 3:
            late = waiting.pop(int(rng.integers(4)))
            made.update(loss, late[0])
            twin.update(loss, late[1])
        assert made.hint.S == twin.hint.S
        assert made.hint.advantage == twin.hint.advantage
    np.testing.assert_array_equal(made._past.totals, twin._past.totals)
    for x in range(2):
        np.testing.assert_array_equal(made.predictor_.predict(x), twin.predictor_.predict(x))
    assert (made.hint.hinted, made.hint.refused) == (twin.hint.hinted, twin.hint.refused)
    assert made.hint.hinted > 100


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
    assert "feedback was late" in str(said)


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
