r"""Unit Laplace noise by counter: every variate is a function of its address alone.

The address of a variate is (key, stream, draw, cell). It is the counter of Philox4x32-10
[salmon2011]: one call of the generator turns a counter of four words into four random words, and
so serves four neighbouring cells of one draw. A word becomes a Laplace variate by inversion: its
lowest bit is the sign and the other 31 bits, as u in (0, 1), give the size :math:`-\log u`.

Sixteen consecutive draws are made together, one in each lane.
"""

import math

import numpy as np
from numba import float32, float64, int32, int64, uint32, uint64

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH

_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)

LARGEST = 22.5
"""No variate is larger: -log u is below 31 log 2 + log 2."""

_ONE = np.float32(1.0)
_HALF = np.float32(0.5)
_LOG_2 = np.float32(np.log(2.0))
# Chebyshev fit of (log(1 + x) - x + x^2/2) / x^3 on [sqrt(1/2) - 1, sqrt(2) - 1], degree 7:
# its error adds at most 1e-8 to the logarithm.
_P7, _P6, _P5, _P4, _P3, _P2, _P1, _P0 = (
    np.float32(c)
    for c in (
        -0.08101558685302734,
        0.12712307274341583,
        -0.12972238659858704,
        0.14202174544334412,
        -0.16642247140407562,
        0.20001468062400818,
        -0.25000298023223877,
        0.333333283662796,
    )
)


@njit(inline="always")  # a call would prevent `_words` from being vectorised
def philox(key, c0, c1, c2, c3):
    """Compute the four random words of a counter; all words are uint64."""
    k0 = key & _LOW
    k1 = key >> _32
    for _ in range(10):
        p0 = _MULTIPLIER_0 * c0
        p1 = _MULTIPLIER_1 * c2
        c0 = (p1 >> _32) ^ c1 ^ k0
        c1 = p1 & _LOW
        c2 = (p0 >> _32) ^ c3 ^ k1
        c3 = p0 & _LOW
        k0 = (k0 + _WEYL_0) & _LOW
        k1 = (k1 + _WEYL_1) & _LOW
    return c0, c1, c2, c3


@njit
def _words(key, stream, first, quad, count, out):
    """Write random words of the cells of `count` quadruples, for sixteen draws from `first` on."""
    for q in range(count):
        at = q * 4 * WIDTH
        for b in range(WIDTH):
            n = uint64(first) + uint64(b)
            w0, w1, w2, w3 = philox(key, uint64(quad + q), stream, n & _LOW, n >> _32)
            out[at + b] = uint32(w0)
            out[at + WIDTH + b] = uint32(w1)
            out[at + 2 * WIDTH + b] = uint32(w2)
            out[at + 3 * WIDTH + b] = uint32(w3)


@njit
def _laplace(words, number, exponent):
    """Turn words into Laplace variates, in `number`."""
    for i in range(words.size):
        number[i] = float32(int32(words[i] >> uint32(1))) + _HALF
    # Split 2^31 u into mantissa in [sqrt(1/2), sqrt(2)) and exponent.
    bits = number.view(np.int32)
    for i in range(words.size):
        k = (bits[i] - int32(0x3F3504F3)) >> int32(23)
        exponent[i] = float32(k - int32(31))
        bits[i] -= k << int32(23)
    for i in range(words.size):
        x = number[i] - _ONE
        p = ((((((_P7 * x + _P6) * x + _P5) * x + _P4) * x + _P3) * x + _P2) * x + _P1) * x + _P0
        log_u = exponent[i] * _LOG_2 + (x - _HALF * x * x + p * x * x * x)
        number[i] = log_u if words[i] & uint32(1) else -log_u


@njit
def fill_laplace(key, stream, first, out):
    """Set out[16 cell + b] to the unit Laplace noise of that cell in draw first + b, b = 0..15.

    The number of cells must be a multiple of four.
    """
    chunk = 16  # quadruples of cells whose intermediate results stay in the first-level cache
    # Flat arrays: views and shapes of others take the compiler half a second.
    size = chunk * 4 * WIDTH
    words, exponent = np.empty(size, np.uint32), np.empty(size, np.float32)
    quads = out.size // (4 * WIDTH)
    for quad in range(0, quads, chunk):
        count = chunk if quad + chunk < quads else quads - quad
        _words(key, stream, first, quad, count, words)
        a, b = quad * 4 * WIDTH, (quad + count) * 4 * WIDTH
        _laplace(words[: b - a], out[a:b], exponent)


@njit
def laplace_cells(key, stream, draw, start, out):
    """Set out[i] to the unit Laplace noise of cell start + i in one draw."""
    words = np.empty(4, np.uint32)
    number, exponent = np.empty(4, np.float32), np.empty(4, np.float32)
    n = uint64(draw)
    end = start + out.size
    quad = start // 4
    while 4 * quad < end:
        w0, w1, w2, w3 = philox(key, uint64(quad), stream, n & _LOW, n >> _32)
        words[0], words[1], words[2], words[3] = uint32(w0), uint32(w1), uint32(w2), uint32(w3)
        _laplace(words, number, exponent)
        for i in range(4):
            cell = 4 * quad + i
            if start <= cell < end:
                out[cell - start] = number[i]
        quad += 1


@njit
def laplace_one(key, stream, draw, cell):
    """Compute unit Laplace noise of one cell in one draw, to more digits than `fill_laplace`."""
    n = uint64(draw)
    words = philox(key, uint64(cell // 4), uint64(stream), n & _LOW, n >> _32)
    word = words[cell % 4]
    size = -math.log((float64(word >> uint64(1)) + 0.5) / 2.0**31)
    return -size if word & uint64(1) else size


@njit
def uniform(key, stream, draw):
    """Return a number in [0, 1) for a draw."""
    n = uint64(draw)
    high, low, _, _ = philox(key, uint64(0), uint64(stream), n & _LOW, n >> _32)
    return ((high << uint64(21)) ^ (low >> uint64(11))) * 2.0**-53


@njit
def uniforms(key, stream, first, out):
    """Write `uniform` numbers for a block of draws, from the first on."""
    for i in range(out.size):
        out[i] = uniform(key, stream, first + i)


@njit
def _shuffle(src, src_step, src_start, dst, dst_step, dst_start):
    """Make one of the four passes that transpose sixteen vectors of sixteen lanes."""
    for i in range(WIDTH // 2):
        a = lanes.load(src, src_start + i * src_step)
        b = lanes.load(src, src_start + (i + WIDTH // 2) * src_step)
        lanes.store(dst, dst_start + 2 * i * dst_step, lanes.zip_low(a, b))
        lanes.store(dst, dst_start + (2 * i + 1) * dst_step, lanes.zip_high(a, b))


@njit
def _shuffle_away(src, dst, dst_step, dst_start):
    """Make the last pass of the transposition, past the caches."""
    for i in range(WIDTH // 2):
        a = lanes.load(src, i * WIDTH)
        b = lanes.load(src, (i + WIDTH // 2) * WIDTH)
        lanes.stream(dst, dst_start + 2 * i * dst_step, lanes.zip_low(a, b))
        lanes.stream(dst, dst_start + (2 * i + 1) * dst_step, lanes.zip_high(a, b))


@njit
def transpose(tile, policies, out, width, column, past_caches):
    """Set out[b, column + n] to tile[n, b] for n < policies (a multiple of sixteen).

    `past_caches`: written around the caches; rows of `out` and the column then begin with a cache
    line.
    """
    s, t = lanes.aligned(WIDTH * WIDTH), lanes.aligned(WIDTH * WIDTH)
    step, start = int64(WIDTH), int64(0)  # as constants they would be compiled for separately
    for n in range(0, policies, WIDTH):
        _shuffle(tile, step, n * step, s, step, start)
        _shuffle(s, step, start, t, step, start)
        _shuffle(t, step, start, s, step, start)
        if past_caches:
            _shuffle_away(s, out, width, column + n)
        else:
            _shuffle(s, step, start, out, width, column + n)


@njit(nogil=True)
def fill_rows(key, stream, first, block):
    """Set block[i, k] to the unit Laplace noise of cell k in draw first + i.

    The width must be a multiple of sixteen; cells beyond the last element are not used.
    """
    draws, width = block.shape
    tile = lanes.aligned(width * WIDTH)
    spare = np.empty((WIDTH, width if draws % WIDTH else 0), np.float32)
    for i in range(0, draws, WIDTH):
        fill_laplace(key, stream, first + i, tile)
        whole = i + WIDTH <= draws
        rows = block[i : i + WIDTH] if whole else spare
        transpose(tile, width, rows.reshape(-1), width, int64(0), False)
        if not whole:
            block[i:] = spare[: draws - i]
