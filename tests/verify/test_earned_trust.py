"""Hints within their budget and what is measured of them, and mechanisms that are spoiled."""

import pytest

from hannan.verify import earned_trust
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, few_learners, refuted, says_something, tried

CLAIMS = {"hint-budget": 32, "earned-trust-bandit": 13}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(earned_trust, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_hints_without_a_budget_are_found_out(monkeypatch):
    bandit_breaks.ignore_the_budget(monkeypatch)
    few_learners(monkeypatch, earned_trust, 1)
    voices = ("malicious", "turncoat")
    refuted(
        earned_trust,
        "hint-budget",
        *[f"{kind}, {v} hints: largest excess" for kind in ("listed", "table") for v in voices],
    )


@pytest.mark.slow
def test_so_are_hints_that_are_paid_only_when_their_losses_come(monkeypatch):
    bandit_breaks.reserve_nothing(monkeypatch)
    few_learners(monkeypatch, earned_trust, 1)
    refuted(
        earned_trust,
        "hint-budget",
        "listed, malicious hints, late: largest excess",
        "table, malicious hints, late: largest excess",
    )


@pytest.mark.slow
def test_so_is_a_cost_of_hints_that_is_not_measured(monkeypatch):
    bandit_breaks.believe_what_hints_are_said_to_cost(monkeypatch)
    few_learners(monkeypatch, earned_trust, 4)
    refuted(earned_trust, "earned-trust-bandit", "bias of S", "table, malicious hints: regret")


@pytest.mark.slow
def test_so_is_a_cost_that_forgets_what_the_base_would_have_done(monkeypatch):
    bandit_breaks.forget_what_the_base_would_have_done(monkeypatch)
    few_learners(monkeypatch, earned_trust, 1)
    refuted(earned_trust, "earned-trust-bandit", "bias of S")
    refuted(earned_trust, "hint-budget", "table, good hints: S, below zero")


@pytest.mark.slow
def test_so_is_a_baseline_for_actions_that_are_never_seen(monkeypatch):
    bandit_breaks.cover_nothing(monkeypatch)
    refuted(earned_trust, "earned-trust-bandit", "a baseline above what a good action costs")
