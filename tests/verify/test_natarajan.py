"""Classes of finite dimension: counted, and played against."""

import pytest

from hannan import bounds
from hannan.oracles import Thresholds
from hannan.verify import natarajan, ties
from tests.verify.breaks import failures, refuted, says_something, scale_noise, tried


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("natarajan-size", 8), ("natarajan", 14)])
def test_the_claims_stand(name, checks):
    finding = tried(natarajan, name)
    assert failures(finding) == []
    says_something(finding, checks)


def test_a_dimension_one_too_small_is_refuted(monkeypatch):
    count = bounds.natarajan_dimension
    monkeypatch.setattr(bounds, "natarajan_dimension", lambda table: count(table) - 1)
    assert "all: log N, as a share of Sauer's sum" in failures(tried(natarajan, "natarajan-size"))


def test_an_oracle_that_miscounts_is_found_out(monkeypatch):
    monkeypatch.setattr(Thresholds, "log_size", lambda oracle, contexts: 3.0)
    found = failures(tried(natarajan, "natarajan-size"))
    assert found == ["all: what oracles say log N is, distance"]


@pytest.mark.slow
def test_a_learner_with_far_too_much_noise_is_found_out(monkeypatch):
    scale_noise(monkeypatch, 30.0)
    refuted(natarajan, "natarajan", "regret, against the sharp form with G")
    assert tried(natarajan, "natarajan-size").passed
    assert tried(ties, "ties").passed
