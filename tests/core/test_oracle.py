"""What oracles say of themselves."""

import itertools
import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import loss_spread

RANGES = [(0.0, 1.0), (-1.0, 2.0), (0.5, 3.0), (-2.0, -1.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_the_spread_of_single_actions_is_the_range(low, high):
    assert loss_spread(hn.oracles.AllPolicies(2, 3), low, high) == high - low


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_the_spread_of_sets_bounds_the_difference_of_any_two(low, high):
    oracle = hn.oracles.Subsets(4, 2, exactly=False)
    sets = [s for size in range(3) for s in itertools.combinations(range(4), size)]
    corners = itertools.product((low, high), repeat=4)
    largest = max(np.ptp([sum(losses[i] for i in chosen) for chosen in sets]) for losses in corners)
    assert loss_spread(oracle, low, high) >= largest
    if low <= 0.0 <= high:
        assert loss_spread(oracle, low, high) == largest


def test_the_spread_of_loss_functions_is_their_range():
    assert loss_spread(hn.oracles.Submodular(5), -1.0, 2.0) == 3.0


def test_an_unknown_range_has_an_infinite_spread():
    assert loss_spread(hn.oracles.Subsets(4, 2), -math.inf, math.inf) == math.inf
