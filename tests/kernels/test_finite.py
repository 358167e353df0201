import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hannan.kernels import finite


@given(
    sixteens=st.integers(1, 40),
    levels=st.integers(1, 5),
    scale=st.sampled_from([0.5, 1.0, 3.0, -1.0]),
    seed=st.integers(0, 10**6),
)
def test_the_leader_is_the_first_minimum_however_many_are_tied(sixteens, levels, scale, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, size=16 * sixteens).astype(float)
    noise = rng.integers(0, levels, size=16 * sixteens).astype(np.float32)
    assert finite.leader(scores, noise, scale) == int(np.argmin(scores + scale * noise))
    assert finite.leader(scores, noise[:0], 0.0) == int(np.argmin(scores))


@pytest.mark.parametrize("at", [0, 15, 16, 127, 128, 129, 255, 256, 303])
def test_the_leader_is_found_wherever_it_is(at):
    scores, noise = np.ones(304), np.zeros(304, np.float32)
    scores[at] = 0.0
    scores[304 - 1] = 0.0
    assert finite.leader(scores, noise, 1.0) == at


def test_padding_never_leads():
    scores = np.full(32, np.inf)
    scores[:17] = 1e300
    noise = np.full(32, -1e30, np.float32)
    noise[:17] = 1e30
    assert finite.leader(scores, noise, 2.0) == 0


def test_adding_looks_up_the_loss_of_each_policy():
    scores = np.arange(16.0)
    column = (np.arange(16) % 3).astype(np.uint8)
    finite.add(scores, np.array([0.5, -1.0, 2.0]), column)
    assert scores.tolist() == [n + [0.5, -1.0, 2.0][n % 3] for n in range(16)]
