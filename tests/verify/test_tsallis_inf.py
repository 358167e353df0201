"""Tsallis-INF in both worlds, and with a learning rate that is wrong."""

import pytest

from hannan.verify import tsallis_inf
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, refuted, says_something, tried


@pytest.mark.slow
def test_the_claim_stands():
    finding = tried(tsallis_inf, "tsallis-both-worlds")
    assert failures(finding) == []
    says_something(finding, 21)


@pytest.mark.slow
def test_a_learning_rate_that_is_too_large_is_found_out(monkeypatch):
    bandit_breaks.scale_the_learning_rate(monkeypatch, 50.0)
    refuted(tsallis_inf, "tsallis-both-worlds", "the last action costs 1, d = 1, K = 2")


@pytest.mark.slow
def test_so_is_one_that_is_too_small(monkeypatch):
    bandit_breaks.scale_the_learning_rate(monkeypatch, 0.05)
    expected = ("fixed means, no predictor: growth", "fixed means, no predictor: regret")
    refuted(tsallis_inf, "tsallis-both-worlds", *expected)


@pytest.mark.slow
def test_so_are_hints_without_a_budget(monkeypatch):
    bandit_breaks.ignore_the_budget(monkeypatch)
    refuted(tsallis_inf, "tsallis-both-worlds", "malicious hints: largest excess")
