"""Items that come and go."""

import numpy as np
import pytest
from examples.worlds import Items

import hannan as hn

CONTRACT = {
    "Items": Items(),
    "Items, changing": Items(3, 20, changes=10, lifetime=50.0),
    "ItemPunisher": hn.environments.ItemPunisher(4, copies=3),
}


def rounds(world, count, seed=0):
    return list(world.rounds(count, np.random.default_rng(seed)))


def test_items_are_born_and_die():
    found = rounds(Items(10, 30, lifetime=300.0), 2000)
    rows = {}
    for this in found:
        for name, row in zip(this.context.ids, this.context.rows, strict=True):
            assert rows.setdefault(name, row.tolist()) == row.tolist()  # ids are never given again
    born = len(rows) - 30
    assert 140 < born < 270  # 200 on average
    assert len({this.context.ids for this in found}) > 1900


@pytest.mark.stat
def test_clicks_lie_in_their_range_and_follow_taste():
    found = rounds(Items(clicks=(0.1, 0.5)), 3000)
    rate = 1.0 - np.mean([this._losses for this in found])
    assert 0.25 < rate < 0.35


def test_taste_changes_when_it_should():
    """The same world up to the change, another one from there on."""
    steady = rounds(Items(), 60)
    changing = rounds(Items(changes=40), 60)
    same = [
        a.context.key == b.context.key and (a._losses == b._losses).all()
        for a, b in zip(steady, changing, strict=True)
    ]
    assert all(same[:40])
    assert not all(same[40:])


def test_the_likeliest_item_costs_one():
    world = hn.environments.ItemPunisher(5, low=0.0)
    learner = hn.baselines.ItemLinUCB()
    assert hn.play(learner, world, 50, seed=0).losses.mean() == 1.0
    uniform = hn.baselines.UniformRandom(None, seed=0)
    loss = hn.play(uniform, world, 2000, seed=0).losses.mean()
    assert loss == pytest.approx(0.2, abs=0.04)


@pytest.mark.stat
@pytest.mark.slow
def test_the_recommended_learner_is_close_to_uniform_play_against_it():
    world = hn.environments.ItemPunisher()
    learner = hn.bandit(actions="items", seed=0)
    loss = hn.play(learner, world, 5000, seed=0).losses.mean()
    assert loss < 0.28 + 0.05


@pytest.mark.parametrize(
    "given",
    [{"offered": 0}, {"offered": 201}, {"pool": 0}, {"features": 0}, {"lifetime": 0},
     {"clicks": (0.5, 0.1)}, {"clicks": 3}, {"changes": 0}],
)  # fmt: skip
def test_parameters_are_checked(given):
    with pytest.raises(hn.ParameterError):
        Items(**given)


def test_a_learner_for_other_actions_is_refused_by_name():
    with pytest.raises(
        hn.HannanError, match="LinearPolicies needs the same actions in every round"
    ):
        hn.play(hn.bandit(10, seed=0), Items(), 10, seed=0)
