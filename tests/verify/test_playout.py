"""Random playout, and noise where none should be."""

import numpy as np
import pytest

from hannan.learners import PlayoutFTPL
from hannan.perturbation import FuturePlayout
from hannan.verify import playout
from tests.verify.breaks import failures, few_games, refuted, says_something, tried
from tests.verify.game_breaks import call_twice, perturb_the_past, toss_a_bent_coin


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("playout", 10), ("playout-bandit", 9)])
def test_the_claims_stand(name, checks):
    finding = tried(playout, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_noise_on_the_past_is_seen(monkeypatch):
    perturb_the_past(monkeypatch)
    few_games(monkeypatch, playout, 4)
    assert failures(tried(playout, "playout")) == [
        "share of last visits on which noise changed the action"
    ]
    assert tried(playout, "playout-bandit").passed


def test_no_noise_at_all_is_seen(monkeypatch):
    monkeypatch.setattr(
        FuturePlayout, "fakes", lambda noise, *when: ([], np.empty((0, noise.n_actions)))
    )
    few_games(monkeypatch, playout, 4)
    refuted(playout, "playout", "turns: regret", "share of earlier visits on which it did")


@pytest.mark.slow
def test_an_action_explored_too_often_is_seen(monkeypatch):
    toss_a_bent_coin(monkeypatch)
    few_games(monkeypatch, playout, 4)
    refuted(playout, "playout-bandit", "times played, off those announced, in standard errors")
    assert tried(playout, "playout").passed


@pytest.mark.slow
def test_a_second_call_is_seen(monkeypatch):
    call_twice(monkeypatch, PlayoutFTPL)
    few_games(monkeypatch, playout, 4)
    found = failures(tried(playout, "playout"))
    assert found
    assert all(what.endswith("oracle calls in a round") for what in found)
