"""Noise on contexts still to come. Statistical tests alarm falsely with probability 1e-4 each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hannan.perturbation import FuturePlayout, seed_key
from tests import naive

ORDER = [0, 1, 0, 2, 1, 0, 0, 1]
SURE = 1e-4


def playout(sparse=False, size=2.0, key=0, shares=None, order=ORDER, K=3):
    T = len(ORDER) if order is None else len(order)
    rate = min(1.0, K / size) if sparse else None
    return FuturePlayout("abc", order, shares, T, K, size, rate, seed_key(key))


@given(
    order=st.lists(st.integers(0, 2), min_size=1, max_size=12),
    times=st.lists(st.integers(0, 11), min_size=1, max_size=6),
    sparse=st.booleans(),
)
def test_noise_sits_on_contexts_to_come_and_nowhere_else(order, times, sparse):
    noise = playout(sparse, size=3.0, order=order)
    for time in (t % len(order) for t in times):
        contexts, losses = noise.fakes(time)
        coming = {"abc"[i] for i in order[time + 1 :]}
        assert set(contexts) <= coming
        assert sparse or set(contexts) == coming
        assert losses.shape == (len(contexts), 3)
        assert len(set(contexts)) == len(contexts)


@given(st.permutations(range(len(ORDER))), st.booleans())
def test_a_round_has_its_noise_whatever_was_asked_before(times, sparse):
    used = playout(sparse)
    for time in times:
        contexts, losses = used.fakes(time)
        fresh_contexts, fresh_losses = playout(sparse).fakes(time)
        assert contexts == fresh_contexts
        np.testing.assert_array_equal(losses, fresh_losses)
        assert used.uniform(time) == playout(sparse).uniform(time)


def test_rounds_and_seeds_have_noise_of_their_own():
    noise = playout(order=[0] * 8)
    first = noise.fakes(0)[1] / np.sqrt(7)
    assert not np.isclose(first, noise.fakes(1)[1] / np.sqrt(6)).any()
    assert not np.isclose(first, playout(order=[0] * 8, key=1).fakes(0)[1] / np.sqrt(7)).any()
    assert len({noise.uniform(t) for t in range(8)}) == 8


@pytest.mark.stat
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_sums_have_the_law_of_noise_drawn_round_by_round(sparse, known):
    shares = None if known else np.array([0.5, 0.2, 0.3])
    size, samples = 4.0, 3000
    rng = np.random.default_rng(5)
    found, expected = [], []
    for s in range(samples):
        noise = playout(sparse, size, key=s, shares=shares, order=ORDER if known else None)
        sums = dict(zip(*noise.fakes(1), strict=True))
        found.append([sums.get(x, np.zeros(3)) for x in "ab"])
        future = ORDER[2:] if known else rng.choice(3, size=len(ORDER) - 2, p=shares)
        total = np.zeros((3, 3))
        for i, z in naive.playout_fakes(future, 3, size, sparse, rng):
            total[i] += z
        expected.append(total[:2])
    found, expected = np.array(found), np.array(expected)
    # One coordinate, and two together.
    for direction in ([1, 0, 0], [0, 1, -2]):
        for i in range(2):
            pair = found[:, i] @ direction, expected[:, i] @ direction
            assert stats.ks_2samp(*pair).pvalue > SURE / 4
