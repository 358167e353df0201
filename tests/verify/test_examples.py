"""The paper's examples, and rates that would be right."""

import pytest

from hannan import bounds
from hannan.verify import be_the_leader, examples
from tests.verify.breaks import failures, few_games, says_something, scale_noise, tried

NAMES = (
    "example-shortest-path",
    "example-submodular",
    "example-disjunctions",
    "example-linear-classifiers",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_claims_stand(name):
    finding = tried(examples, name)
    assert failures(finding) == []
    says_something(finding, 5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "factor"), list(zip(NAMES, (30, 10, 4, 10), strict=True)))
def test_too_much_noise_shows(monkeypatch, name, factor):
    scale_noise(monkeypatch, factor)
    found = failures(tried(examples, name))
    assert "regret at the sharp ε" in found
    assert "regret at the printed ε" not in found
    assert tried(be_the_leader, "be-the-leader").passed


@pytest.mark.slow
def test_a_rate_that_follows_from_the_theorem_needs_no_erratum(monkeypatch):
    rate = bounds.claimed_rate

    def mended(result, horizon, **sizes):
        return rate(result, horizon, **sizes) * sizes.get("n", 1) ** 0.25

    monkeypatch.setattr(bounds, "claimed_rate", mended)
    few_games(monkeypatch, examples, 2)
    stated = "printed bound over the stated rate: power of n"
    assert failures(tried(examples, "example-disjunctions")) == [stated]
    assert failures(tried(examples, "example-linear-classifiers")) == [stated]
    assert tried(examples, "example-submodular").passed
