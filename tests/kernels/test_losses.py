import math

import numpy as np
import pytest

from hannan.kernels.losses import LARGEST, copy_usable, extremes


def test_the_smallest_and_the_largest_entry():
    assert extremes(np.array([0.5, -2.0, 3.0, 0.0])) == (-2.0, 3.0)
    assert extremes(np.array([1.0])) == (1.0, 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_entry_that_is_not_finite_is_noticed_wherever_it_is(bad, place):
    losses = np.zeros(3)
    losses[place] = bad
    assert all(math.isnan(x) for x in extremes(losses))


def test_a_usable_row_is_copied_without_negative_zeros():
    row, copy = np.array([-0.0, 2.5, -LARGEST]), np.empty(3)
    assert copy_usable(row, copy)
    assert (copy == row).all()
    assert not np.signbit(copy[0])
    assert not copy_usable(np.empty(0), np.empty(0))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.01 * LARGEST])
def test_a_row_that_is_not_usable_is_noticed(bad):
    for place in range(3):
        row = np.zeros(3)
        row[place] = bad
        assert not copy_usable(row, np.empty(3))
