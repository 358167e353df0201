"""Random playout: noise on the contexts to come, none on the past, one oracle call per round."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan import bounds
from hannan.learners.future import Playout
from hannan.perturbation import FuturePlayout
from hannan.verify.adversaries import Repeats, turns
from hannan.verify.round_by_round import Deviations, Plays
from tests.statistics.means import below, fails, further, games, regrets

pytestmark = [pytest.mark.stat, pytest.mark.slow]
Z = 5.0  # standard errors; two-sided, a false alarm has probability 6e-7
PAIR = hn.oracles.FinitePolicies([[0], [1]])
TABLE = hn.oracles.FinitePolicies(np.random.default_rng(8).integers(3, size=(30, 8)), n_actions=3)
WORLDS = {
    "turns": lambda T: (PAIR, turns(T, T // 2), [0] * T),
    "settled": lambda T: (PAIR, turns(T, T), [0] * T),
    "adaptive": lambda T: (PAIR, Repeats(PAIR), [0] * T),
    "thirty policies": lambda T: (
        TABLE,
        turns(T, T // 2, range(8), 3, together=True),
        [t % 8 for t in range(T)],
    ),
}


def play(kind, T, where, bound):
    """Hold the regret of ten games to a bound, with one oracle call per round."""
    oracle, world, order = WORLDS[where](T)
    played = games(kind, oracle, world, T, range(10), contexts=order)
    below(regrets(played), bound(oracle).value)
    assert max(trace.oracle_calls for _, trace in played) <= T


@pytest.mark.parametrize("where", WORLDS)
def test_regret_is_at_most_root_2_pi_T_log_N(where):
    """Whatever the number of contexts; means over fixed seeds."""
    T = 400
    play(
        hn.PlayoutFTPL,
        T,
        where,
        lambda oracle: bounds.playout(T, log_size=math.log(len(oracle.table))),
    )


@pytest.mark.parametrize("where", ["turns", "settled", "thirty policies"])
def test_regret_of_bandits_is_of_order_T_to_two_thirds(where):
    """Means over fixed seeds."""
    T = 300

    def bound(oracle):
        size = math.log(len(oracle.table))
        return bounds.playout_bandit(T, n_actions=oracle.n_actions, log_size=size)

    play(hn.PlayoutBandit, T, where, bound)


def test_noise_is_on_the_future_only():
    """Contexts of a table are games of their own: on its last visit each is without noise."""
    d, visits = 20, 6
    order = [t // visits for t in range(d * visits)]
    moved = np.zeros((5, d, visits), dtype=bool)
    for seed in range(5):
        learner = hn.PlayoutFTPL(hn.oracles.AllPolicies(d, 2), order, seed=seed)
        for t, x in enumerate(order):
            leader = learner.best_policy()(x)
            moved[seed, x, t % visits] = learner.act(x) != leader
            learner.update([0.3, 0.0])
    assert not moved[:, :, -1].any()
    assert moved[:, :, :-1].mean() >= 0.1


def test_bandits_play_as_they_announce_and_weigh_exactly():
    """Weights are 1/q; frequencies within 5 standard errors, a false alarm below 1e-5."""
    T = 1000
    _, world, order = WORLDS["thirty policies"](T)
    learner = hn.PlayoutBandit(TABLE, order, seed=0)
    losses = np.asarray(world.losses)
    surplus, spread, weighed, variance = (np.zeros(3) for _ in range(4))
    for t, x in enumerate(order):
        q = learner.propensities(x).probabilities
        decision = learner.decide(x)
        a, weight = int(decision.action), float(decision.weights[0])
        learner.update(float(losses[t, a]), decision=decision)
        assert weight * q[a] == pytest.approx(1.0, abs=1e-9)
        played = np.arange(3) == a
        surplus += played - q
        spread += q * (1.0 - q)
        weighed += weight * played
        variance += 1.0 / q - 1.0
    assert np.abs(surplus / np.sqrt(spread)).max() <= Z
    assert np.abs((weighed - T) / np.sqrt(variance)).max() <= Z


def test_the_noise_of_each_round_is_gaussian_of_the_announced_size():
    """In round t the leader under fresh Gaussian noise of variance (T-t)/ε² is played.

    Sums of differences from their means by that distribution, in standard errors; 5.5 are allowed.
    """
    T, count = 60, 50
    size = 1.0 / bounds.playout(T, log_size=math.log(2.0)).epsilon
    sums = Deviations()
    plays = Plays(sums)
    for number in range(count):
        learner = hn.PlayoutFTPL(hn.oracles.AllPolicies(1, 2), horizon=T, seed=number)
        totals = np.zeros(2)
        for t in range(T):
            gap, scale = totals[0] - totals[1], size * math.sqrt(2.0 * (T - 1 - t))
            p = 0.5 * math.erfc(gap / scale / math.sqrt(2.0)) if scale else float(gap <= 0.0)
            plays.add(learner.act(), p, gap)
            losses = np.array([1.0, 0.0] if gap <= scale else [0.0, 1.0])
            learner.update(losses)
            totals += losses
    checks = list(sums.checks("playout"))
    assert len(checks) == 5
    assert [check for check in checks if not check.passed] == []


# What breaks it ------------------------------------------------------------------------------


def test_noise_on_the_past_shows(monkeypatch):
    to_come = FuturePlayout._to_come
    monkeypatch.setattr(
        FuturePlayout, "_to_come", lambda noise, time, rng: to_come(noise, time, rng) + 1
    )
    fails(test_noise_is_on_the_future_only)


@pytest.mark.parametrize("test", ["regret", pytest.param("future", marks=further)])
def test_no_noise_at_all_shows(monkeypatch, test):
    monkeypatch.setattr(
        FuturePlayout, "fakes", lambda noise, *when: ([], np.empty((0, noise.n_actions)))
    )
    if test == "regret":
        fails(test_regret_is_at_most_root_2_pi_T_log_N, "turns")
    else:
        fails(test_noise_is_on_the_future_only)


def test_an_action_explored_too_often_shows(monkeypatch):
    uniform = FuturePlayout.uniform
    monkeypatch.setattr(FuturePlayout, "uniform", lambda noise, *when: uniform(noise, *when) ** 1.5)
    fails(test_bandits_play_as_they_announce_and_weigh_exactly)


@pytest.mark.nightly
def test_a_second_call_shows(monkeypatch):
    act = hn.PlayoutFTPL._act

    def again(self, opened):
        act(self, opened)
        opened.calls += 1

    monkeypatch.setattr(hn.PlayoutFTPL, "_act", again)
    fails(test_regret_is_at_most_root_2_pi_T_log_N, "settled")


def test_less_noise_than_announced_shows(monkeypatch):
    put = Playout._put_noise
    monkeypatch.setattr(
        Playout, "_put_noise", lambda self, size, rate, key: put(self, 0.8 * size, rate, key)
    )
    fails(test_the_noise_of_each_round_is_gaussian_of_the_announced_size)
