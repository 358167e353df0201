"""Baselines and hints, and a learner that believes without limit."""

import pytest

from hannan.verify import predictors
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, says_something, tried

CLAIMS = {"predictor-baseline": 6, "over-prediction": 5, "hint-budget": 7}


@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(predictors, name)
    assert failures(finding) == []
    says_something(finding, checks)


def test_hints_without_a_budget_are_found_out(monkeypatch):
    bandit_breaks.ignore_the_budget(monkeypatch)
    found = failures(tried(predictors, "hint-budget"))
    assert "largest excess over the budget, in steps of 2L" in found
    assert {f"{voice} hints: pseudo-regret" for voice in ("malicious", "turncoat")} <= set(found)
    assert "good hints: pseudo-regret" not in found
    # The certificate counts what hints cost, so it stays above the regret.
    assert failures(tried(predictors, "over-prediction")) == [
        "the same guess as a hint, trust='strict': regret"
    ]
    assert tried(predictors, "predictor-baseline").passed


def test_so_are_estimates_from_noise_that_is_used_again(monkeypatch):
    bandit_breaks.reuse_the_noise_that_chose(monkeypatch)
    found = failures(tried(predictors, "predictor-baseline"))
    assert found == ["guess: bad news of the best policy; hardest policy"]
