"""Exponents of regret, and fits that must tell one from another."""

import pytest

from hannan.verify import growth
from tests.verify.breaks import failures, few_games, refuted, says_something, tried
from tests.verify.game_breaks import fix_epsilon

NAMES = ("growth-full-information", "growth-separator", "growth-bandit", "growth-switching")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_claims_stand(name):
    finding = tried(growth, name)
    assert failures(finding) == []
    says_something(finding, 1)
    assert finding.note.startswith("slope")


@pytest.mark.parametrize(
    ("name", "epsilon"), [*((name, 1e-5) for name in NAMES), *((name, 30.0) for name in NAMES[:3])]
)
def test_noise_that_does_not_follow_the_horizon_is_linear(monkeypatch, name, epsilon):
    fix_epsilon(monkeypatch, epsilon)
    few_games(monkeypatch, growth, 4)
    refuted(growth, name, "upper end")
