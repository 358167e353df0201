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
