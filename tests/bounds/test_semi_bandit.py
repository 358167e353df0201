"""Theorem 3 as printed."""

import itertools
import math

import pytest

import hannan as hn

SIZE = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}


@pytest.mark.parametrize("m", [1, 3])
def test_transductive_bound_is_the_printed_one(m):
    T, K = 20_000, 5
    C = 10 * math.sqrt(50 * m) * math.log(1000)
    L = math.ceil(math.sqrt(K * T))
    bound = hn.bounds.semi_bandit(T, m=m, **SIZE)
    assert bound.epsilon == pytest.approx(math.sqrt(C / (2 * m * K * T)))
    assert bound.value == pytest.approx(2 * math.sqrt(2 * m * K * T * C) + K * T / (math.e * L))
    assert bound.terms["stability"] == pytest.approx(2 * bound.epsilon * m * K * T)
    assert bound.terms["error"] == pytest.approx(C / bound.epsilon)


@pytest.mark.parametrize("L", [None, 7])
def test_separator_bound_is_the_printed_one(L):
    T, K, d, m = 20_000, 5, 50, 2
    C = 10 * math.sqrt(d * m) * math.log(1000)
    used = L or math.ceil(T ** (1 / 3))
    bound = hn.bounds.semi_bandit(T, m=m, max_resamples=L, setting="separator", **SIZE)
    slope = 8 * K**2 * d * used * m * T
    assert bound.epsilon == pytest.approx(math.sqrt(C / slope))
    assert bound.value == pytest.approx(2 * math.sqrt(slope * C) + K * T / (math.e * used))


def test_the_bound_is_the_sum_of_its_terms_and_smallest_at_its_epsilon():
    bound = hn.bounds.semi_bandit(5000, **SIZE)
    assert bound.value == pytest.approx(sum(bound.terms.values()))
    for factor in (0.9, 1.1):
        moved = bound.terms["stability"] * factor + bound.terms["error"] / factor
        assert moved > bound.terms["stability"] + bound.terms["error"]


def test_losses_up_to_b_multiply_the_bound_by_b():
    one, ten = (hn.bounds.semi_bandit(5000, loss_bound=b, **SIZE) for b in (1.0, 10.0))
    assert ten.value == pytest.approx(10 * one.value)
    assert ten.epsilon == pytest.approx(one.epsilon / 10)


@pytest.mark.parametrize(
    "change",
    [
        {"horizon": 0},
        {"d": 0},
        {"n_actions": 0},
        {"m": 0},
        {"loss_bound": 0.0},
        {"max_resamples": 0},
        {"setting": "open"},
    ],
)
def test_bad_arguments_are_refused_by_name(change):
    with pytest.raises(hn.ParameterError, match=next(iter(change))):
        hn.bounds.semi_bandit(**{"horizon": 100} | SIZE | change)


def test_a_class_of_one_policy_has_no_bound():
    with pytest.raises(hn.ParameterError, match="N >= 2"):
        hn.bounds.semi_bandit(100, d=1, n_actions=2, log_size=0.0)


def test_the_bound_grows_like_the_root_of_the_horizon():
    values = [hn.bounds.semi_bandit(T, **SIZE).value for T in (10**4, 10**6, 10**8)]
    for small, large in itertools.pairwise(values):
        assert large / small == pytest.approx(10.0, rel=0.01)


# The sharp form, and L chosen together with ε --------------------------------------------------


@pytest.mark.parametrize("setting", ["transductive", "separator"])
@pytest.mark.parametrize("antichain", [True, False])
@pytest.mark.parametrize("c", [2.0, 1.34])
def test_sharp_has_no_limit_in_the_stability_term(setting, antichain, c):
    T, K, d, m, B = 20_000, 5, 50, 2, 3.0
    options = {"setting": setting, "antichain": antichain, "second_moment": c, "form": "sharp"}
    bound = hn.bounds.semi_bandit(T, m=m, loss_bound=B, **options, **SIZE)
    G = hn.bounds.complexity_bound(SIZE["log_size"], d, m, K, antichain)
    kappa = 1 if setting == "transductive" else d * (m if antichain else K)
    L = math.ceil(math.sqrt(K * T))
    assert bound.max_resamples == L
    assert bound.terms["truncation"] == pytest.approx(B * K * T / (math.e * L))
    rest = bound.value - bound.terms["truncation"]
    assert rest == pytest.approx(2 * B * math.sqrt(c * kappa * m * K * T * G))
    assert bound.epsilon == pytest.approx(math.sqrt(G / (c * kappa * m * K * T)) / B)


@pytest.mark.parametrize("T", [10, 10**5, 10**9])
@pytest.mark.parametrize("epsilon", [None, 1e-4])
def test_the_best_limit_is_the_best_of_all(T, epsilon):
    options = {"d": 2, "n_actions": 3, "log_size": 1.0, "setting": "separator", "epsilon": epsilon}
    best = hn.bounds.semi_bandit(T, max_resamples="best", **options)
    others = [hn.bounds.semi_bandit(T, max_resamples=L, **options).value for L in range(1, 400)]
    assert best.value == pytest.approx(min(others))
    assert best.max_resamples == 1 + others.index(min(others))


def test_the_best_limit_has_the_value_of_the_notes():
    T, K, d, m, size = 10**12, 3, 2, 2, 1.0
    best = hn.bounds.semi_bandit(
        T, d=d, n_actions=K, m=m, log_size=size, setting="separator", max_resamples="best"
    )
    value = 3 * (80 / math.e) ** (1 / 3) * K * math.sqrt(d * m) * T ** (2 / 3) * size ** (1 / 3)
    limit = T ** (1 / 3) / ((80 * math.e**2) ** (1 / 3) * math.sqrt(d * m) * size ** (1 / 3))
    assert best.value == pytest.approx(value, rel=1e-4)
    assert abs(best.max_resamples - limit) <= 1


def test_a_separator_has_root_regret_in_the_sharp_form_only():
    slope = {}
    for form in ("printed", "sharp"):
        small, large = (
            hn.bounds.semi_bandit(T, setting="separator", form=form, **SIZE).value
            for T in (10**8, 10**12)
        )
        slope[form] = math.log(large / small) / math.log(10**4)
    assert slope["sharp"] == pytest.approx(1 / 2, abs=1e-3)
    assert slope["printed"] == pytest.approx(2 / 3, abs=1e-3)
