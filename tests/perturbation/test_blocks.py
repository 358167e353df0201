import threading
import time

import numpy as np
import pytest

from hannan.perturbation import Blocks


def numbered(first, block):
    block[:] = first + np.arange(block.shape[0])[:, None]


@pytest.mark.parametrize("memory", [1, 100, 4 * 5 * 17, 4 * 5 * 64, 2**26])
def test_every_draw_is_found_in_its_row(memory):
    blocks = Blocks(numbered, 5, memory)
    for draw in [*range(200), 3, 1000, 2**33, 0]:
        row = blocks.locate(draw)
        expected = np.float32(draw)
        assert (blocks.block[row] == expected).all()


@pytest.mark.parametrize("memory", [4 * 5, 4 * 5 * 17, 4 * 5 * 64, 2**26])
def test_blocks_stay_within_their_memory(memory):
    blocks = Blocks(numbered, 5, memory)
    largest = 0
    for draw in range(100_000):
        blocks.locate(draw)
        largest = max(largest, blocks.block.nbytes + blocks._spare.nbytes)
    assert largest <= memory


@pytest.mark.parametrize("memory", [1, 4 * 5 * 17, 2**26])
@pytest.mark.parametrize("count", [0, 1, 16, 17, 300])
def test_spans_hold_all_draws_in_order(memory, count):
    blocks = Blocks(numbered, 5, memory)
    blocks.locate(3)
    found = [block[start:stop, 0].copy() for block, start, stop in blocks.spans(7, count)]
    assert all(len(rows) for rows in found)
    assert np.concatenate([[], *found]).tolist() == list(range(7, 7 + count))


def test_one_draw_is_held_even_without_memory():
    blocks = Blocks(numbered, 1000, 1)
    blocks.locate(0)
    assert blocks.block.shape == (1, 1000)


def test_blocks_start_small_and_grow():
    blocks = Blocks(numbered, 4, 2**20)
    sizes = []
    for draw in range(2000):
        blocks.locate(draw)
        if not sizes or sizes[-1] != len(blocks.block):
            sizes.append(len(blocks.block))
    assert sizes[:4] == [16, 32, 64, 128]


def some_columns(first, block, start, stop):
    block[:, start:stop] = first + np.arange(block.shape[0])[:, None] + np.arange(start, stop) / 64


@pytest.mark.parametrize("memory", [1, 4 * 40 * 17, 4 * 40 * 64, 2**26])
@pytest.mark.parametrize("piece", [7, 16, 40, 100])
def test_blocks_in_pieces_hold_the_same_draws(memory, piece):
    blocks = Blocks(some_columns, 40, memory, piece)
    for draw in [*range(400), 3, *range(1000, 1200), 2**20, 1001, 1002]:
        row = blocks.locate(draw)
        assert (blocks.block[row] == np.float32(draw + np.arange(40) / 64)).all()
        assert blocks.block.nbytes + blocks._spare.nbytes <= max(memory, 160)


def test_both_threads_fill_a_block_that_is_the_only_one():
    names = set()

    def fill(first, block, start, stop):
        names.add(threading.current_thread().name)
        time.sleep(0.002)
        some_columns(first, block, start, stop)

    blocks = Blocks(fill, 64, 4 * 64 * 16, 4)
    for draw in range(64):
        blocks.locate(draw)
    assert len(names) == 2


def test_rows_of_wide_blocks_begin_with_a_cache_line():
    blocks = Blocks(some_columns, 64, 2**20, 16)
    for draw in range(600):
        blocks.locate(draw)
        assert blocks.block.ctypes.data % 64 == 0
