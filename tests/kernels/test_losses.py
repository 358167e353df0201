import math

import numpy as np
import pytest

from hannan.kernels.losses import extremes


def test_the_smallest_and_the_largest_entry():
    assert extremes(np.array([0.5, -2.0, 3.0, 0.0])) == (-2.0, 3.0)
    assert extremes(np.array([1.0])) == (1.0, 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_entry_that_is_not_finite_is_noticed_wherever_it_is(bad, place):
    losses = np.zeros(3)
    losses[place] = bad
    assert all(math.isnan(x) for x in extremes(losses))
