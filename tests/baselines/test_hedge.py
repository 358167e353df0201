import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.baselines import Hedge
from tests import naive, problems
from tests.cases import Match

CONTRACT = {"Hedge": Match(Hedge(problems.FINITE, seed=0), problems.PUNISHER)}


@pytest.mark.stat
def test_a_hand_worked_run():
    # After losses 1 and 0 at η = log 3 the weights are 1/3 and 1: probabilities 1/4 and 3/4;
    # after another loss of 1/2 for the second they are 1/3 and 3^(-1/2).
    first, second = 0, 0
    for seed in range(2000):
        learner = Hedge([[0, 0], [1, 0]], learning_rate=math.log(3), seed=seed)
        learner.act(0)
        learner.update([1.0, 0.0])
        first += learner.act(0)
        learner.update([0.0, 0.5])
        second += learner.act(0)
    assert stats.binomtest(first, 2000, 3 / 4).pvalue > 1e-4
    weights = [1 / 3, 3**-0.5]
    assert stats.binomtest(second, 2000, weights[1] / sum(weights)).pvalue > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize("rate", [0.4, 20.0])
def test_policies_are_followed_in_proportion_to_their_weights(rate):
    rows = [[i] for i in range(4)]
    learner = Hedge(rows, learning_rate=rate, seed=0)
    history = problems.rounds(1, 4, 12, seed=2)
    problems.play(learner, history)
    found = np.bincount(problems.play(learner, [(0, np.zeros(4))] * 4000), minlength=4)
    expected = 4000 * np.array(naive.hedge_weights(rows, history, rate))
    kept = expected > 5
    assert found[~kept].sum() <= 20
    scaled = expected[kept] * found[kept].sum() / expected[kept].sum()
    if kept.sum() > 1:
        assert stats.chisquare(found[kept], scaled).pvalue > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-1.0, 3.0)])
def test_the_anytime_rate_falls_like_the_root_of_the_round(loss_range):
    rows = [[i] for i in range(3)]
    history = [(0, np.array([1.0, 0.5, 0.0]))] * 4
    found = []
    for seed in range(2500):
        learner = Hedge(rows, seed=seed, loss_range=loss_range)
        problems.play(learner, history)
        found.append(learner.act(0))
    rate = math.sqrt(8 * math.log(3) / 5) / (loss_range[1] - loss_range[0])
    expected = 2500 * np.array(naive.hedge_weights(rows, history, rate))
    assert stats.chisquare(np.bincount(found, minlength=3), expected).pvalue > 1e-4


def test_long_runs_with_large_totals_neither_overflow_nor_vanish():
    learner = Hedge([[0], [1]], learning_rate=5.0, seed=0)
    rounds = [(0, np.array([1.0, 0.99]))] * 3000
    plays = problems.play(learner, rounds)
    # The second policy leads by 30, 150 times the inverse rate.
    assert set(plays[-200:]) == {1}
    assert np.isfinite(learner._totals).all()


@pytest.mark.slow
@pytest.mark.stat
def test_regret_stays_below_its_bound():
    # E regret <= sqrt(T log N / 2) at the best rate; mean of seeds plus three standard errors.
    N, T = 16, 400
    rate = math.sqrt(8 * math.log(N) / T)
    oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, 2, size=(N, 5)))
    world = hn.environments.LeaderPunisher(oracle)
    for learning_rate, factor in ((rate, 1.0), (None, 2.0)):
        regrets = [
            hn.play(Hedge(oracle, learning_rate=learning_rate, seed=s), world, T, seed=s).regret()
            for s in range(30)
        ]
        bound = factor * math.sqrt(T * math.log(N) / 2)
        assert np.mean(regrets) + 3 * np.std(regrets) / math.sqrt(30) < bound


def test_the_seed_fixes_the_play():
    rounds = problems.rounds(3, 3, 100)
    _, rows = problems.make("FinitePolicies")
    plays = [problems.play(Hedge(rows, seed=s), rounds) for s in (1, 1, 2)]
    assert plays[0] == plays[1] != plays[2]


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, "fast"])
def test_a_rate_that_is_not_positive_is_refused(rate):
    with pytest.raises(hn.ParameterError, match="'learning_rate' parameter of Hedge"):
        Hedge([[0], [1]], learning_rate=rate)


@pytest.mark.parametrize("N", [5000, 9000, 20_000])
@pytest.mark.stat
def test_many_policies_are_followed_in_proportion_to_their_weights(N):
    # Policy n plays n % 3; a loss on action 0 makes those policies e^-1 times as likely.
    learner = Hedge((np.arange(N) % 3)[:, None], learning_rate=1.0, seed=1)
    learner.act(0)
    learner.update([1.0, 0.0, 0.0])
    found = np.bincount(problems.play(learner, [(0, np.zeros(3))] * 3000), minlength=3)
    sizes = np.bincount(np.arange(N) % 3) * np.exp([-1.0, 0.0, 0.0])
    assert stats.chisquare(found, 3000 * sizes / sizes.sum()).pvalue > 1e-4


@pytest.mark.parametrize(
    "kind",
    [
        hn.baselines.Hedge,
        hn.baselines.Exp4,
        hn.baselines.FixedShare,
        hn.baselines.AdaNormalHedge,
        hn.baselines.OptimisticHedge,
    ],
)
def test_a_class_that_is_not_listed_is_refused_with_what_to_give_instead(kind):
    with pytest.raises(
        hn.ParameterError, match=r"list of policies; AllPolicies is.*FinitePolicies\.routes"
    ):
        kind(hn.oracles.AllPolicies(2, 3))
