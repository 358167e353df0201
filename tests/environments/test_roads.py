"""Congestion and replay of measured speeds."""

import numpy as np
import pytest
from examples.worlds import MeasuredSpeeds

import hannan as hn
from hannan.environments import Congestion
from hannan.networks import RoadNetwork
from hannan.oracles import Paths

ROADS = RoadNetwork(
    [1, 1, 2, 3, 2], [2, 3, 4, 4, 3], [1.0, 2.0, 2.0, 1.0, 0.5], capacity=[9.0, 5.0, 5.0, 9.0, 3.0]
)
ROUTES = Paths.towards(ROADS, 1, 4)
TRIANGLE = RoadNetwork([1, 1, 2], [2, 3, 3], [1.0, 3.0, 1.0], capacity=100.0)
CONTRACT = {
    "Congestion": Congestion(TRIANGLE, Paths.towards(TRIANGLE, 1, 3)),
    "MeasuredSpeeds": MeasuredSpeeds([[30, 60], [60, 20]] * 50, length=[1.0, 1.0]),
}


def losses_of(world, horizon, seed=0):
    return np.array([r._losses for r in world.rounds(horizon, np.random.default_rng(seed))])


@pytest.mark.parametrize(
    "world",
    [
        Congestion(ROADS, ROUTES),
        Congestion(
            ROADS, flow=[9.0, 5.0, 5.0, 9.0, 3.0], swing=1.0, wander=1.0, step=0.5, period=7
        ),
        Congestion(RoadNetwork([1], [2], 3.0)),
        MeasuredSpeeds(np.random.default_rng(0).uniform(0, 60, (200, 5)), np.ones(5), ROUTES),
        MeasuredSpeeds([[1.0], [2.0]] * 50, [1.0, 2.0], sensors=[0, 0]),
    ],
    ids=repr,
)
def test_the_contract_is_kept(world):
    hn.checks.check_environment(world)


def test_losses_are_travel_times_over_one_unit():
    world = Congestion(ROADS, swing=0.0, wander=0.0, step=0.0, flow=[9.0, 5.0, 0.0, 0.0, 0.0])
    assert world.unit == pytest.approx(2.3)
    np.testing.assert_allclose(losses_of(world, 3) * world.unit, [[1.15, 2.3, 2.0, 1.0, 0.5]] * 3)


def test_demand_swings_with_its_period_and_wanders_within_its_bounds():
    wave = Congestion(ROADS, swing=0.5, wander=0.0, period=20)
    losses = losses_of(wave, 100)
    np.testing.assert_allclose(losses[:80], losses[20:], rtol=1e-12)
    assert (losses.max(axis=0) > 1.1 * losses.min(axis=0)).all()
    walk = Congestion(ROADS, swing=0.0, wander=0.3, step=0.1)
    times = losses_of(walk, 2000) * walk.unit
    for share, bound in ((0.7, times.min(axis=0)), (1.3, times.max(axis=0))):
        np.testing.assert_allclose(bound, ROADS.travel_time(share * 0.9 * ROADS.capacity))


def test_the_flow_is_the_network_s_where_it_knows_it():
    roads = RoadNetwork([1], [2], 1.0, capacity=10.0, flow=20.0)
    world = Congestion(roads, swing=0.0, wander=0.0)
    assert world.unit == pytest.approx(1.0 + 0.15 * 16)


def test_speeds_are_those_of_the_sensors():
    world = MeasuredSpeeds(
        [[10.0, 30.0, 0.0], [20.0, 20.0, 40.0]],
        [100.0, 60.0],
        sensors=[[0, 1], [2, 2]],
        slowest=2.0,
    )
    assert world.horizon == 2
    assert world.unit == 30.0
    np.testing.assert_allclose(losses_of(world, 2) * 30.0, [[5.0, 30.0], [5.0, 1.5]])


def test_learners_find_good_routes():
    world = Congestion(ROADS, ROUTES)
    trace = hn.play(hn.ContextFTPL(ROUTES, seed=0), world, 2000, seed=0)
    chance = hn.play(hn.ContextFTPL(ROUTES, epsilon=1e-6, seed=0), world, 2000, seed=0)
    assert trace.regret() < 0.2 * chance.regret()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Congestion(ROADS, Paths([(0, 1)], 0, 1)), "5 links and an oracle of 1"),
        (lambda: Congestion(ROADS, hn.oracles.AllPolicies(2, 5)), "contexts of AllPolicies"),
        (lambda: Congestion(ROADS, flow=[1.0]), "'flow'"),
        (lambda: Congestion(ROADS, flow=[-1.0] * 5), "'flow'"),
        (lambda: Congestion(ROADS, period=0), "'period'"),
        (lambda: Congestion(ROADS, swing=1.5), "'swing'"),
        (lambda: Congestion(RoadNetwork([1], [2], 0.0)), "positive travel time"),
        (lambda: MeasuredSpeeds([[1.0]], [1.0, 2.0]), "sensors="),
        (lambda: MeasuredSpeeds([1.0], [1.0]), r"speeds \[T, S\]"),
        (lambda: MeasuredSpeeds([[1.0], [np.nan]], [1.0]), "row 1"),
        (lambda: MeasuredSpeeds([[1.0]], [-1.0]), "'length'"),
        (lambda: MeasuredSpeeds([[1.0]], [0.0]), "'length'"),
        (lambda: MeasuredSpeeds([[1.0]], []), "'length'"),
        (lambda: MeasuredSpeeds([[1.0]], [1.0], sensors=[1]), "'sensors'"),
        (lambda: MeasuredSpeeds([[1.0]], [1.0], sensors=[0.5]), "'sensors'"),
        (lambda: MeasuredSpeeds([[1.0]], [1.0], slowest=0.0), "'slowest'"),
        (lambda: losses_of(MeasuredSpeeds([[1.0]], [1.0]), 2), "holds 1 rounds"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(hn.HannanError, match=message):
        make()
