"""The price of resampling, and learners that draw too much or too little."""

import pytest

from hannan.verify import oracle_calls
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, says_something, tried


@pytest.mark.slow
def test_the_claim_stands():
    finding = tried(oracle_calls, "oracle-calls")
    assert failures(finding) == []
    says_something(finding, 11)


@pytest.mark.slow
def test_a_cap_that_is_ignored_is_found_out(monkeypatch):
    bandit_breaks.ignore_the_cap(monkeypatch)
    found = failures(tried(oracle_calls, "oracle-calls"))
    assert "one action: most in a round / L-1" in found
    assert "sets of 3: mean / min{K, m(L-1)}" in found
    assert "no losses: calls in all rounds" not in found


@pytest.mark.slow
def test_so_are_draws_for_losses_of_zero(monkeypatch):
    bandit_breaks.weigh_what_costs_nothing(monkeypatch)
    found = failures(tried(oracle_calls, "oracle-calls"))
    assert found == ["an element in all sets, the only one that costs: most in a round"]


@pytest.mark.slow
def test_so_are_draws_that_were_used_before(monkeypatch):
    bandit_breaks.reuse_the_noise_that_chose(monkeypatch)
    found = failures(tried(oracle_calls, "oracle-calls"))
    assert found == ["one action: mean less Σ 1-(1-q)^(L-1), in standard errors"]
