import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hannan.kernels.noise import _laplace, fill_laplace, laplace_cells, philox
from tests import naive

VECTORS = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]
word = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_philox_and_its_twin_know_the_published_answers(counter, key, words):
    assert naive.philox4x32(counter, key) == words
    packed = np.uint64(key[0] | key[1] << 32)
    assert [int(w) for w in philox(packed, *map(np.uint64, counter))] == words


@given(st.tuples(word, word, word, word), st.tuples(word, word))
def test_philox_equals_its_twin(counter, key):
    found = philox(np.uint64(key[0] | key[1] << 32), *map(np.uint64, counter))
    assert [int(w) for w in found] == naive.philox4x32(counter, key)


@given(
    key=st.integers(0, 2**64 - 1),
    stream=word,
    draw=st.integers(0, 2**40),
    start=st.integers(0, 30),
    count=st.integers(1, 30),
)
def test_cells_are_inverted_philox_words(key, stream, draw, start, count):
    found = np.empty(count, np.float32)
    laplace_cells(np.uint64(key), np.uint64(stream), draw, start, found)
    expected = naive.unit_noise(key, stream, draw, start + count)[start:]
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=2e-7)


@pytest.mark.parametrize("first", [0, 5, 2**32 - 7])
@pytest.mark.parametrize("cells", [4, 60, 64, 68, 200])
def test_sixteen_draws_at_once_are_the_single_draws_bit_for_bit(first, cells):
    key, stream = np.uint64(12345678901234567), np.uint64(3)
    together = np.empty((cells, 16), np.float32)
    fill_laplace(key, stream, first, together.reshape(-1))
    for b in range(16):
        single = np.empty(cells, np.float32)
        laplace_cells(key, stream, first + b, 0, single)
        assert (together[:, b] == single).all()


@given(st.lists(word, min_size=1, max_size=40))
@example([0, 1, 2, 3, 2**32 - 1, 2**32 - 2, 2**31, 2**31 - 1])
def test_words_are_inverted_over_their_whole_range(words):
    number = np.empty(len(words), np.float32)
    spare = np.empty(len(words), np.float32)
    _laplace(np.array(words, np.uint32), number, spare)
    expected = [naive.laplace_of_word(w) for w in words]
    np.testing.assert_allclose(number, expected, rtol=3e-7, atol=2e-7)
