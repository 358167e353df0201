import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hannan.kernels.normalhedge import weights
from tests import naive_mixtures

SIZES = st.floats(0.0, 40.0)


@given(st.lists(st.tuples(SIZES, st.floats(-1.0, 1.0)), min_size=1, max_size=6))
def test_weights_equal_the_definition_up_to_their_scale(experts):
    C = np.array([size for size, _ in experts])
    R = np.array([size * part for size, part in experts])
    found = weights(R, C)
    expected = [naive_mixtures.normal_hedge_weight(r, c) for r, c in zip(R, C, strict=True)]
    top = max(math.exp(max(r + 1, 0.0) ** 2 / (3 * (c + 1))) for r, c in zip(R, C, strict=True))
    np.testing.assert_allclose(found, 2 * np.array(expected) / top, rtol=1e-7, atol=1e-15)


def test_one_weight_on_paper():
    # R = 2, C = 5: (e^(9/18) - e^(1/18)) over e^(1/2).
    assert weights(np.array([2.0]), np.array([5.0]))[0] == pytest.approx(1 - math.exp(-4 / 9))


def test_no_regret_is_no_weight():
    assert weights(np.array([-1.0, -3.0]), np.array([1.0, 9.0])).tolist() == [0.0, 0.0]
    half = weights(np.array([-1.0, -0.5]), np.array([1.0, 1.0]))
    assert half[0] == 0.0 < half[1]


def test_large_regrets_do_not_overflow():
    found = weights(np.array([1e8, 9e7, -1e8]), np.array([1e8, 9e7, 1e8]))
    assert found[0] == pytest.approx(1 - math.exp(-4 / 3), rel=1e-6)
    assert found[1:].tolist() == [0.0, 0.0]


def test_what_is_given_is_not_changed():
    R, C = np.array([1.0, -1.0]), np.array([2.0, 2.0])
    weights(R, C)
    assert (R.tolist(), C.tolist()) == ([1.0, -1.0], [2.0, 2.0])
