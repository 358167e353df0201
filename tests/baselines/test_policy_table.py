import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.baselines._policy_table import PolicyTable
from hannan.core import OpenRound

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
SLATES = [[(0, 1)], [(1, 2)], [(0, 2)], [(0, 1)]]
UNIT = (0.0, 1.0)


def opened(context, plays=None):
    this_round = OpenRound(context)
    this_round.plays = None if plays is None else np.array(plays)
    return this_round


def test_it_knows_its_policies():
    table = PolicyTable(ROWS, (-1.0, 3.0), "a test")
    assert len(table) == 4
    assert table.oracle.n_actions == 3
    assert (table.range, table.width, table.log_size) == ((-1.0, 3.0), 4.0, math.log(4))
    given = hn.oracles.FinitePolicies(ROWS)
    assert PolicyTable(given, UNIT, "a test").oracle is given


def test_sets_differ_by_the_elements_they_choose():
    sets = np.array([[[True, False]], [[True, True]]])
    for loss_range in ((2, 3), (-3, -2), (-1, 1)):
        assert PolicyTable(sets, loss_range, "a test").width == 4.0


def test_each_policy_is_charged_what_it_plays():
    table = PolicyTable(ROWS, UNIT, "a test")
    losses, low, high = table.check([0.1, 0.9, 0.5])
    assert (low, high) == (0.1, 0.9)
    assert table.charge(0, losses).tolist() == [0.1, 0.9, 0.5, 0.9]
    assert table.charge(1, losses).tolist() == [0.9, 0.9, 0.1, 0.1]
    slates = PolicyTable(SLATES, UNIT, "a test")
    np.testing.assert_allclose(slates.charge(0, losses), [1.0, 1.4, 0.6, 1.0])


def test_weights_add_up_by_action():
    table = PolicyTable(ROWS, UNIT, "a test")
    weights = np.array([1.0, 2.0, 4.0, 8.0])
    assert table.by_action(0, weights).tolist() == [1.0, 10.0, 4.0]
    assert table.by_action(1, weights).tolist() == [12.0, 3.0, 0.0]


def test_the_law_is_that_of_what_is_played_for_each_policy():
    table = PolicyTable(ROWS, UNIT, "a test")
    weights = np.array([1.0, 2.0, 4.0, 8.0])
    np.testing.assert_allclose(table.law(opened(0), weights), np.array([1, 10, 4]) / 15)
    restricted = opened(0, plays=[0, 0, 2])  # action 1 is not available
    np.testing.assert_allclose(table.law(restricted, weights), np.array([11, 0, 4]) / 15)
    elements = PolicyTable(SLATES, UNIT, "a test").law(opened(0), np.ones(4))
    np.testing.assert_allclose(elements, [0.75, 0.75, 0.5])
    assert weights.tolist() == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("N", [5, 8192, 8193, 20_000])
def test_the_policy_is_where_u_falls(N):
    # Every policy has weight 1, so that u = (n + 1/2) / N leads to policy n.
    table = PolicyTable(np.arange(N)[:, None], UNIT, "a test")
    weights = np.ones(N)
    for n in (0, 1, N // 2, N - 2, N - 1):
        assert table.follow(0, weights, (n + 0.5) / N) == n
    assert table.follow(0, weights, np.nextafter(1.0, 0.0)) == N - 1
    assert (weights == 1.0).all()


def test_weights_may_stand_in_the_scratch_array():
    table = PolicyTable(ROWS, UNIT, "a test")
    table.scratch[:] = [1.0, 2.0, 4.0, 8.0]
    assert table.follow(0, table.scratch, 0.4) == 2


@pytest.mark.stat
def test_replays_follow_the_law():
    table, weights = PolicyTable(ROWS, UNIT, "a test"), np.array([1.0, 2.0, 4.0, 8.0])
    for this_round in (opened(0), opened(0, plays=[0, 0, 2])):
        drawn = table.replay(this_round, weights, 4000, np.random.default_rng(0))
        law = table.law(this_round, weights)
        counts = np.bincount(drawn, minlength=3)
        assert not counts[law == 0.0].any()
        kept = law > 0.0
        assert stats.chisquare(counts[kept], 4000 * law[kept]).pvalue > 1e-4


def test_what_is_wrong_is_named_after_the_owner():
    with pytest.raises(hn.ParameterError, match="Someone keeps a weight for each policy"):
        PolicyTable(hn.oracles.AllPolicies(2, 3), UNIT, "Someone")
    with pytest.raises(hn.ParameterError, match="'loss_range' parameter of Someone"):
        PolicyTable(ROWS, None, "Someone")
    with pytest.raises(hn.LossError, match="3 numbers"):
        PolicyTable(ROWS, UNIT, "a test").check([0.5])
