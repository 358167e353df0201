"""Theorem 2, and an adversary that learns noise that is not fresh."""

import pytest

from hannan.verify import be_the_leader, theorem_2
from tests.verify.breaks import (
    failures,
    few_games,
    refuted,
    says_something,
    scale_noise,
    tried,
)
from tests.verify.game_breaks import draw_once

OBLIVIOUS = ("theorem-2-any-losses", "theorem-2-linear-losses", "theorem-2-separator")
SETTINGS = ("linear losses", "losses ±1", "separator")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "checks"), [*((name, 5) for name in OBLIVIOUS), ("theorem-2-adaptive", 15)]
)
def test_the_claims_stand(name, checks):
    finding = tried(theorem_2, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_an_adaptive_adversary_learns_stale_noise(monkeypatch):
    draw_once(monkeypatch)
    sharp = ("the same, sharp bound at that ε", "regret at the sharp ε, sharp bound")
    refuted(
        theorem_2,
        "theorem-2-adaptive",
        "linear losses: regret at the paper's ε, printed bound",
        *(f"{where}: {what}" for where in SETTINGS for what in sharp),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", OBLIVIOUS[1:])
def test_an_oblivious_world_does_not(monkeypatch, name):
    draw_once(monkeypatch)
    few_games(monkeypatch, theorem_2, 6)
    assert failures(tried(theorem_2, name)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OBLIVIOUS)
def test_noise_that_is_too_large_shows(monkeypatch, name):
    scale_noise(monkeypatch, 4.0)
    refuted(theorem_2, name, "sharp ε")


@pytest.mark.slow
@pytest.mark.parametrize("name", OBLIVIOUS[1:])
def test_noise_that_is_too_small_shows(monkeypatch, name):
    scale_noise(monkeypatch, 0.001)
    refuted(theorem_2, name, "sharp ε")
    assert tried(be_the_leader, "be-the-leader").passed
