import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.learner import learner_rng
from tests import problems
from tests.cases import Match

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
CONTRACT = {"Exp4": Match(hn.baselines.Exp4(problems.FINITE, seed=0), problems.PLANTED)}


def by_hand(rows, rounds, K, rate, seed):
    """Actions and estimated totals, from the definition."""
    rng = learner_rng(seed)
    totals, actions = [0.0] * len(rows), []
    for t, (context, losses) in enumerate(rounds, start=1):
        eta = rate or math.sqrt(math.log(len(rows)) / (t * K))
        weights = [math.exp(-eta * total) for total in totals]
        p = [0.0] * K
        for weight, row in zip(weights, rows, strict=True):
            p[row[context]] += weight / sum(weights)
        u, action = rng.random(), 0
        while u >= sum(p[: action + 1]) and action < K - 1:
            action += 1
        actions.append(action)
        for n, row in enumerate(rows):
            if row[context] == action:
                totals[n] += losses[action] / p[action]
    return actions, totals


@pytest.mark.parametrize("rate", [None, 0.2])
def test_play_equals_a_run_by_hand(rate):
    rng = np.random.default_rng(0)
    rounds = [(int(rng.integers(2)), rng.random(3)) for _ in range(80)]
    learner = hn.baselines.Exp4(ROWS, learning_rate=rate, seed=4)
    actions = []
    for context, losses in rounds:
        actions.append(learner.act(context))
        learner.update(float(losses[actions[-1]]))
    expected, totals = by_hand(ROWS, rounds, 3, rate, 4)
    assert actions == expected
    np.testing.assert_allclose(learner._totals, totals)
    assert len(set(actions)) == 3


def test_one_round_on_paper():
    # Three of four policies play action 1 on context 0 or 1 ... on context 1: two play 1, two 0.
    learner = hn.baselines.Exp4(ROWS, learning_rate=0.5, seed=0)
    action = learner.act(1)
    learner.update(1.0)
    players = [row[1] == action for row in ROWS]
    assert learner._totals.tolist() == [2.0 if plays else 0.0 for plays in players]
    # Weights e^-1 and 1: the other action now has probability 1/(1 + e^-1).
    learner.act(1)
    other = 1 / (1 + math.exp(-1))
    assert min(abs(learner._ledger.current.probability - q) for q in (other, 1 - other)) < 1e-12


@pytest.mark.slow
@pytest.mark.stat
def test_mean_regret_is_below_its_bound():
    # sqrt(2 T K log N) at the tuned rate, twice sqrt(T K log N) without a horizon; 10 seeds.
    rows = np.random.default_rng(1).integers(3, size=(30, 4))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=3)
    T, K, N = 800, 3, 30
    rate = math.sqrt(2 * math.log(N) / (T * K))
    for options, bound in (
        ({"learning_rate": rate}, math.sqrt(2 * T * K * math.log(N))),
        ({}, 2 * math.sqrt(T * K * math.log(N))),
    ):
        world = hn.environments.LeaderPunisher(oracle)
        regrets = [
            hn.play(hn.baselines.Exp4(oracle, seed=s, **options), world, T, seed=s).regret()
            for s in range(10)
        ]
        assert np.mean(regrets) + 4.5 * np.std(regrets) / math.sqrt(10) <= bound
        assert np.mean(regrets) > 0


def test_a_larger_loss_range_only_rescales():
    rounds = [(t % 2, np.random.default_rng(t).random(3)) for t in range(50)]
    small, large = (
        hn.baselines.Exp4(ROWS, seed=0),
        hn.baselines.Exp4(ROWS, loss_range=(0, 4), seed=0),
    )
    for context, losses in rounds:
        action = small.act(context)
        assert action == large.act(context)
        small.update(float(losses[action]))
        large.update(4 * float(losses[action]))
    np.testing.assert_allclose(large._totals, 4 * small._totals)


def test_bad_settings_and_losses_are_refused():
    with pytest.raises(hn.ParameterError, match="losses >= 0"):
        hn.baselines.Exp4(ROWS, loss_range=(-1, 1))
    with pytest.raises(hn.ParameterError, match="sets"):
        hn.baselines.Exp4([[[0, 1]], [[1, 2]]])
    with pytest.raises(hn.ParameterError, match="learning_rate"):
        hn.baselines.Exp4(ROWS, learning_rate=0.0)
    learner = hn.baselines.Exp4(ROWS, seed=0)
    learner.act(0)
    for loss in (np.nan, -0.1, 1.1, [0.1, 0.2], None):
        with pytest.raises(hn.HannanError):
            learner.update(loss)
    assert not learner._totals.any()
    learner.update(0.5)
    with pytest.raises(hn.OrderError):
        learner.update(0.5)


def test_huge_totals_do_not_overflow():
    learner = hn.baselines.Exp4(ROWS, learning_rate=50.0, seed=0)
    for t in range(300):
        learner.act(t % 2)
        assert 0 < learner._ledger.current.probability <= 1
        learner.update(1.0)
    assert np.isfinite(learner._totals).all()


def test_a_choice_that_is_not_available_is_charged_what_was_played_for_it():
    # Every policy plays one action; 2 is not available, and 0 or 1 is played for it.
    learner = hn.baselines.Exp4([[0], [1], [2]], learning_rate=0.3, seed=3)
    rng, totals, losses = learner_rng(3), np.zeros(3), np.array([0.2, 0.9])
    for _ in range(60):
        substitute = learner.prepare(0, [0, 1]).plays[2]
        w = np.exp(-0.3 * (totals - totals.min()))
        p = w / w.sum()
        chosen = int(np.searchsorted(p.cumsum(), rng.random(), side="right"))
        action = learner.act(0, available=[0, 1])
        assert action == (substitute if chosen == 2 else chosen)
        learner.update(float(losses[action]))
        totals[chosen] += losses[action] / p[chosen]
    np.testing.assert_allclose(learner._totals, totals)
    assert totals.all()
