"""Self-tuning and the anytime schedule, and what they would say if they measured wrongly."""

import pytest

from hannan.oracles.all_policies import TableObjective
from hannan.verify import self_tuning
from tests.verify.breaks import (
    failures,
    few_games,
    refuted,
    says_something,
    scale_noise,
    tried,
)
from tests.verify.game_breaks import foresee_with_other_noise, measure, never_less_noise, widen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "checks"), [("self-tuning", 9), ("self-tuning-scale", 5), ("anytime-schedule", 5)]
)
def test_the_claims_stand(name, checks):
    finding = tried(self_tuning, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_half_of_what_instability_cost_does_not_cover_regret(monkeypatch):
    measure(monkeypatch, 0.5)
    refuted(self_tuning, "self-tuning", "turns: regret, as measured")
    few_games(monkeypatch, self_tuning, 12)
    assert tried(self_tuning, "anytime-schedule").passed


def test_the_same_noise_must_be_used_twice(monkeypatch):
    foresee_with_other_noise(monkeypatch, TableObjective)
    few_games(monkeypatch, self_tuning, 12)
    refuted(self_tuning, "self-tuning", "what instability cost in a round, at the least")


def test_a_size_of_its_own_makes_the_unit_matter(monkeypatch):
    never_less_noise(monkeypatch, 0.5)
    few_games(monkeypatch, self_tuning, 12)
    refuted(
        self_tuning,
        "self-tuning-scale",
        "losses times 0.000976562: actions not the same as in the first unit",
    )


@pytest.mark.slow
def test_too_slow_a_schedule_shows(monkeypatch):
    widen(monkeypatch, 1e-3)
    refuted(self_tuning, "anytime-schedule", "regret after 800 rounds")
    few_games(monkeypatch, self_tuning, 24)
    assert tried(self_tuning, "self-tuning").passed


@pytest.mark.slow
def test_too_much_noise_shows_in_the_schedule(monkeypatch):
    widen(monkeypatch, 16.0)
    refuted(self_tuning, "anytime-schedule", "regret after 800 rounds")


@pytest.mark.slow
def test_a_scale_set_once_does_not_matter_to_what_tunes_itself(monkeypatch):
    scale_noise(monkeypatch, 2.0)
    few_games(monkeypatch, self_tuning, 24)
    assert tried(self_tuning, "self-tuning").passed
