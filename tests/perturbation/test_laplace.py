import numpy as np
import pytest
from scipy import stats

from hannan.perturbation import LaplaceNoise, seed_key

# Each statistical test here fails for a right distribution with probability below 1e-4.
SURE = 1e-4


def sample(draws=4000, d=3, K=5, seed=0, stream=0):
    noise = LaplaceNoise(range(d), K, seed_key(seed), stream)
    return np.array([noise.unit(n).ravel() for n in range(draws)])


@pytest.mark.stat
def test_unit_noise_has_the_laplace_law():
    assert stats.kstest(sample().ravel(), stats.laplace.cdf).pvalue > SURE


@pytest.mark.stat
def test_every_cell_has_the_laplace_law():
    cells = sample().T
    assert min(stats.kstest(c, stats.laplace.cdf).pvalue for c in cells) > SURE / len(cells)


@pytest.mark.stat
def test_mean_and_variance_are_zero_and_two():
    z = sample().ravel()
    # Variances of z and z^2 are 2 and 20.
    assert abs(z.mean()) < 4 * np.sqrt(2 / z.size)
    assert abs((z**2).mean() - 2) < 4 * np.sqrt(20 / z.size)


@pytest.mark.stat
def test_the_tail_is_exponential():
    far = np.abs(sample().ravel())
    for level in (3.0, 5.0, 7.0):
        count = int((far > level).sum())
        assert stats.binomtest(count, far.size, np.exp(-level)).pvalue > SURE / 3


def correlations(a, b):
    """Largest correlation of values, and of sizes, in standard errors."""
    pairs = [(a, b), (np.abs(a), np.abs(b))]
    return max(abs(np.corrcoef(x, y)[0, 1]) * np.sqrt(len(x)) for x, y in pairs)


@pytest.mark.stat
def test_cells_of_a_draw_are_uncorrelated():
    z = sample().T
    pairs = [(i, j) for i in range(len(z)) for j in range(i)]
    bound = stats.norm.isf(SURE / (4 * len(pairs)))
    assert max(correlations(z[i], z[j]) for i, j in pairs) < bound


@pytest.mark.stat
@pytest.mark.parametrize("lag", [1, 2, 4, 15, 16, 17])
def test_draws_are_uncorrelated(lag):
    z = sample()
    bound = stats.norm.isf(SURE / 4)
    assert correlations(z[:-lag].ravel(), z[lag:].ravel()) < bound


@pytest.mark.stat
@pytest.mark.parametrize("other", [{"stream": 1}, {"seed": 1}])
def test_streams_and_seeds_are_uncorrelated(other):
    bound = stats.norm.isf(SURE / 4)
    assert correlations(sample().ravel(), sample(**other).ravel()) < bound


def test_a_draw_is_a_function_of_key_stream_and_number():
    noise = LaplaceNoise("ab", 3, seed_key(7), 2)
    later = LaplaceNoise("ab", 3, seed_key(7), 2)
    later.unit(100)
    assert (noise.unit(5) == later.unit(5)).all()
    for other in (seed_key(8), 2), (seed_key(7), 3):
        assert not (LaplaceNoise("ab", 3, *other).unit(5) == noise.unit(5)).any()


def test_more_contexts_do_not_change_the_noise_of_the_first_ones():
    few = LaplaceNoise(range(2), 3, seed_key(0)).unit(4)
    many = LaplaceNoise(range(9), 3, seed_key(0)).unit(4)
    assert (many[:2] == few).all()


def test_without_a_seed_keys_differ():
    assert seed_key(None) != seed_key(None)
