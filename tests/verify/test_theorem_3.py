"""Theorem 3 in both settings and without tuning, and how a wrong learner fails it."""

import numpy as np
import pytest

import hannan as hn
from hannan.verify import be_the_leader, theorem_3
from hannan.verify._bandits import Habits, best_total, pseudo_regret, traces
from tests.verify import bandit_breaks, game_breaks
from tests.verify.breaks import failures, refuted, says_something, tried

CLAIMS = {
    "theorem-3-transductive": 8,
    "theorem-3-separator": 7,
    "theorem-3-self-tuned": 12,
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(theorem_3, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_noise_that_is_used_again_costs_linear_regret(monkeypatch):
    bandit_breaks.reuse_the_noise_that_chose(monkeypatch)
    worlds = theorem_3.worlds  # of which the steady one is enough
    monkeypatch.setattr(theorem_3, "worlds", lambda *given: {"steady": worlds(*given)["steady"]})
    refuted(
        theorem_3,
        "theorem-3-transductive",
        "one action, tuned to the sharp bound, hardest world: sharp bound",
        "sets of two, tuned to the sharp bound, hardest world: sharp bound",
    )
    refuted(
        theorem_3,
        "theorem-3-self-tuned",
        "one action, world steady: 2 D + Σ K/(eL)",
        "sets of two, world steady: 2 D + Σ K/(eL)",
        "separator, world steady: 2 D + Σ K/(eL)",
    )
    assert tried(be_the_leader, "be-the-leader").passed


@pytest.mark.slow
def test_a_cap_that_is_ignored_costs_no_regret(monkeypatch):
    bandit_breaks.ignore_the_cap(monkeypatch)
    assert tried(theorem_3, "theorem-3-transductive").passed


def test_instability_that_is_under_reported_is_found_out(monkeypatch):
    game_breaks.measure(monkeypatch, 0.1)
    refuted(theorem_3, "theorem-3-self-tuned", "one action, world steady: 2 D + Σ K/(eL)")


def test_pseudo_regret_compares_with_one_policy_for_all_games():
    oracle = hn.oracles.FinitePolicies([[0, 1], [1, 0]])
    world = Habits(oracle, [0, 1])
    played = traces(lambda seed: hn.baselines.UniformRandom(2, seed=seed), world, 30, [3, 4])
    totals = np.zeros(2)
    for game in played:
        for x, losses in zip(game.contexts, game.outcomes, strict=True):
            totals += losses[oracle.table[:, x]]
    suffered = sum(game.losses.sum() for game in played)
    assert pseudo_regret(played, oracle) == pytest.approx((suffered - totals.min()) / 2)
    pairs = [(game.contexts, game.outcomes) for game in played]
    assert best_total(oracle, pairs) == pytest.approx(totals.min())


def test_habits_are_charged_for():
    oracle = hn.oracles.FinitePolicies([[0], [1], [2]])
    world = Habits(oracle, [0], others=0.0)
    stubborn = hn.baselines.FollowTheLeader(hn.oracles.FinitePolicies([[2]], n_actions=3))
    losses = hn.play(stubborn, world, 20, seed=0).outcomes
    assert losses[0].tolist() == [1.0, 0.0, 0.0]
    assert losses[1:].tolist() == [[0.0, 0.0, 1.0]] * 19
