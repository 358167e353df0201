"""Regret over fixed seeds; the full-size study is in benchmarks/."""

import numpy as np
import pytest

import hannan as hn

T, SEEDS = 2500, 6


def oracle():
    rng = np.random.default_rng(0)
    return hn.oracles.FinitePolicies(rng.integers(0, 3, size=(60, 10)), n_actions=3)


def regrets(world, **options):
    found = []
    for seed in range(SEEDS):
        learner = hn.ContextFTPL(world.oracle, seed=seed, **options)
        trace = hn.play(learner, world, T, seed=seed)
        found.append((trace.regret(), float(learner.certificate())))
    return np.array(found)


@pytest.mark.stat
@pytest.mark.slow
@pytest.mark.parametrize("make", [hn.environments.PlantedPolicy, hn.environments.LeaderPunisher])
def test_self_tuning_is_as_good_as_the_best_fixed_epsilon(make):
    # Margin: a quarter of the best and 15, half of what the full-size study allows.
    world = make(oracle())
    tuned = regrets(world)
    fixed = {e: regrets(world, epsilon=e)[:, 0] for e in (0.03, 0.1, 0.3, 1.0, 3.0)}
    best = min(fixed, key=lambda e: fixed[e].mean())
    assert tuned[:, 0].mean() <= 1.25 * fixed[best].mean() + 15
    assert tuned[:, 0].mean() < tuned[:, 1].mean()
    # A sweep whose values did not matter would prove nothing.
    assert max(f.mean() for f in fixed.values()) > 2 * fixed[best].mean()


@pytest.mark.stat
def test_theorem_epsilon_stays_below_the_bound():
    world = hn.environments.LeaderPunisher(oracle())
    bound = hn.bounds.complete_information(
        T, d=10, n_actions=3, log_size=world.oracle.log_size(range(10))
    )
    found = regrets(world, epsilon="theorem", horizon=T)
    assert found[:, 0].mean() < bound.value
    assert found[:, 0].mean() < found[:, 1].mean() < bound.value


@pytest.mark.stat
def test_following_the_leader_is_ruined_where_the_learner_is_not():
    world = hn.environments.LeaderPunisher(oracle())
    leader = hn.play(hn.baselines.FollowTheLeader(world.oracle), world, T, seed=0)
    assert leader.losses.mean() == 1.0
    assert regrets(world)[:, 0].max() < 0.25 * leader.regret()
