import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.baselines._weighted_policies import WeightedPolicies, choose
from hannan.core import OpenRound

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
SLATES = [[(0, 1)], [(1, 2)], [(0, 2)], [(0, 1)]]
UNIT = (0.0, 1.0)


class Someone(WeightedPolicies):
    """Weights that never change, and the random numbers it is given."""

    def __init__(self, actions, loss_range=UNIT, weights=(1.0, 2.0, 4.0, 8.0)):
        super().__init__(actions, 0, loss_range)
        self.weights = np.array(weights)

    def _weights(self, opened):
        return self.weights

    def _update(self, opened, loss):
        pass


def opened(context, plays=None):
    this_round = OpenRound(context)
    this_round.plays = None if plays is None else np.array(plays)
    return this_round


def test_it_knows_its_policies():
    table = Someone(ROWS, (-1.0, 3.0))
    assert len(table._totals) == len(table._scratch) == 4
    assert table.oracle.n_actions == 3
    assert (table._range, table._width, table._log_size) == ((-1.0, 3.0), 4.0, math.log(4))
    given = hn.oracles.FinitePolicies(ROWS)
    assert Someone(given).oracle is given


def test_sets_differ_by_the_elements_they_choose():
    sets = np.array([[[True, False]], [[True, True]]])
    for loss_range in ((2, 3), (-3, -2), (-1, 1)):
        assert Someone(sets, loss_range)._width == 4.0


def test_each_policy_is_charged_what_it_plays():
    table = Someone(ROWS)
    losses, low, high = table._check([0.1, 0.9, 0.5])
    assert (low, high) == (0.1, 0.9)
    assert table._charge(0, losses).tolist() == [0.1, 0.9, 0.5, 0.9]
    assert table._charge(1, losses).tolist() == [0.9, 0.9, 0.1, 0.1]
    np.testing.assert_allclose(Someone(SLATES)._charge(0, losses), [1.0, 1.4, 0.6, 1.0])


def test_weights_add_up_by_action():
    table = Someone(ROWS)
    masses = [table._mass(table._columns[x], table.weights).tolist() for x in (0, 1)]
    assert masses == [[1.0, 10.0, 4.0], [12.0, 3.0, 0.0]]


def test_the_law_is_that_of_what_is_played_for_each_policy():
    table = Someone(ROWS)
    np.testing.assert_allclose(table._action_distribution(opened(0)), np.array([1, 10, 4]) / 15)
    restricted = opened(0, plays=[0, 0, 2])  # action 1 is not available
    np.testing.assert_allclose(table._action_distribution(restricted), np.array([11, 0, 4]) / 15)
    elements = Someone(SLATES, weights=np.ones(4))._action_distribution(opened(0))
    np.testing.assert_allclose(elements, [0.75, 0.75, 0.5])
    assert table.weights.tolist() == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("N", [5, 8192, 8193, 20_000])
def test_the_policy_is_where_u_falls(N):
    class Fixed:
        def random(self):
            return self.u

    # Every policy has weight 1, so that u = (n + 1/2) / N leads to policy n.
    table = Someone(np.arange(N)[:, None], weights=np.ones(N))
    table._rng = Fixed()
    for n in (0, 1, N // 2, N - 2, N - 1):
        table._rng.u = (n + 0.5) / N
        assert table.act(0) == n
    table._rng.u = np.nextafter(1.0, 0.0)
    assert table.act(0) == N - 1
    assert (table.weights == 1.0).all()


def test_weights_may_stand_in_the_scratch_array():
    scratch = np.array([1.0, 2.0, 4.0, 8.0])
    assert choose(scratch, 0.4, scratch) == 2


@pytest.mark.stat
def test_replays_follow_the_law():
    table = Someone(ROWS)
    for this_round in (opened(0), opened(0, plays=[0, 0, 2])):
        drawn = table._replay(this_round, 4000, np.random.default_rng(0))
        distribution = table._action_distribution(this_round)
        counts = np.bincount(drawn, minlength=3)
        assert not counts[distribution == 0.0].any()
        kept = distribution > 0.0
        assert stats.chisquare(counts[kept], 4000 * distribution[kept]).pvalue > 1e-4


def test_what_is_wrong_is_named_after_the_owner():
    with pytest.raises(hn.ParameterError, match="Someone stores a weight for each policy"):
        Someone(hn.oracles.AllPolicies(2, 3))
    with pytest.raises(hn.ParameterError, match="'loss_range' parameter of Someone"):
        Someone(ROWS, None)
    with pytest.raises(hn.LossError, match="3 numbers"):
        Someone(ROWS)._check([0.5])
