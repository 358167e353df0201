"""Tsallis-INF: one learner for adversaries and for losses of a distribution that stays."""

import math
from functools import partial

import numpy as np
import pytest

import hannan as hn
from hannan.environments import CopyPunisher, FromArrays
from hannan.verify.adversaries import turns
from hannan.verify.trial import Trial, pseudo_regret
from tests.statistics.advised import Advised, Told, advised_game
from tests.statistics.means import fails, further
from tests.statistics.test_hints import ignore_the_budget

pytestmark = [pytest.mark.stat, pytest.mark.slow]
T = 1500
SEEDS = range(4)
# Half of the rounds, whatever hints may cost.
GULLIBLE = hn.Trust(budget=1.0, prior=10.0, share=0.5)


@pytest.mark.parametrize("where", ["the last action costs 1", "turns"])
@pytest.mark.parametrize(("d", "K"), [(1, 2), (1, 5), (3, 3)])
def test_regret_against_adversaries(d, K, where):
    """Pseudo-regret is at most 4√(dKT); means over fixed seeds."""
    oracle = hn.oracles.AllPolicies(d, K)
    punisher = where != "turns"
    world = CopyPunisher(oracle, range(d)) if punisher else turns(T, T // 2, range(d), K)
    trial = Trial("", oracle, world, T, None, hn.TsallisINF, pseudo=True)
    assert trial.regret(SEEDS) <= 4.0 * math.sqrt(d * K * T)


@pytest.mark.parametrize("voice", Advised.VOICES)
def test_hints_stay_within_their_budget_and_regret_within_its_bound(voice):
    """S ≤ √(Gt) on every path; pseudo-regret ≤ S + 4.67√(dKW), a mean over fixed seeds."""
    oracle = hn.oracles.AllPolicies(2, 3)

    def make(told, seed):
        return hn.TsallisINF(oracle, predictor=told, trust=GULLIBLE, seed=seed)

    world = partial(Advised, oracle=oracle, best=[2, 0], voice=voice)
    played = [advised_game(make, world, T, seed, SEEDS[0]) for seed in SEEDS]
    allowed = np.sqrt(oracle.complexity(range(2)) * np.arange(1, T + 1))
    assert all((game.spent <= allowed + 1e-9).all() for game in played)
    spent = np.mean([game.spent[-1] for game in played])
    regret = pseudo_regret([game.trace for game in played], oracle)
    assert regret <= spent + 4.67 * math.sqrt(6 * 2 * T)


class Overrated(Told):
    """Expects the worst of the good action."""

    now = (0.0, 1.0)


def test_a_baseline_above_the_loss_of_a_good_action():
    """Costs at most 0.1 per round, a mean over fixed seeds."""
    flat = FromArrays([0] * T, np.tile([0.5, 0.0], (T, 1)))
    options = {"predictor": Overrated()}
    oracle = hn.oracles.AllPolicies(1, 2)
    trial = Trial("", oracle, flat, T, None, hn.TsallisINF, options, pseudo=True)
    assert trial.regret(SEEDS) <= 0.1 * T


@pytest.mark.parametrize("predictor", [None, hn.predictors.Mean()], ids=["none", "Mean"])
def test_regret_is_of_order_log_T_where_the_law_of_the_losses_stays(predictor):
    """Growth like a root would be 2.8 over eight times the rounds; means over fixed seeds."""
    means = np.array([0.2, 0.6, 0.6])
    curves = []
    for seed in SEEDS:
        rng = np.random.default_rng([seed, 7])
        oracle = hn.oracles.AllPolicies(1, 3)
        learner, total, curve = hn.TsallisINF(oracle, predictor=predictor, seed=seed), 0.0, []
        for row in rng.random((8000, 3)) < means:
            action = learner.act()
            learner.update(float(row[action]))
            total += means[action] - 0.2
            curve.append(total)
        curves.append(curve)
    curve = np.mean(curves, axis=0)
    assert curve[-1] <= 2.2 * curve[999]
    assert curve[-1] <= 20.0 * (2.0 / 0.4)  # far below 4√(KT), of the order that gaps allow


# What breaks it ------------------------------------------------------------------------------


def scale_the_learning_rate(patch, factor):
    """Let Tsallis-INF learn faster or more slowly than it should."""
    rate = hn.TsallisINF._rate
    patch.setattr(hn.TsallisINF, "_rate", lambda learner, W: factor * rate(learner, W))


def test_a_learning_rate_that_is_too_large_shows(monkeypatch):
    scale_the_learning_rate(monkeypatch, 50.0)
    fails(test_regret_against_adversaries, 1, 2, "the last action costs 1")


@pytest.mark.nightly
def test_a_learning_rate_that_is_too_small_shows(monkeypatch):
    scale_the_learning_rate(monkeypatch, 0.05)
    fails(test_regret_is_of_order_log_T_where_the_law_of_the_losses_stays, None)


@pytest.mark.parametrize("voice", ["malicious", pytest.param("turncoat", marks=further)])
def test_hints_without_a_budget_show(monkeypatch, voice):
    ignore_the_budget(monkeypatch)
    fails(test_hints_stay_within_their_budget_and_regret_within_its_bound, voice)
