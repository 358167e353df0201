"""All policies on a table of contexts: contexts decouple, so only one row of totals is read."""

import numpy as np

from hannan.kernels.compiling import njit
from hannan.kernels.noise import laplace_cells


@njit
def _row_leader(row, z, scale):
    best = 0
    value = row[0] + scale * z[0]
    for k in range(1, row.size):
        here = row[k] + scale * z[k]
        if here < value:
            value = here
            best = k
    return best


@njit
def act(totals, x, key, stream, draw, place, scale):
    """Return argmin over k of totals[x, k] + scale * noise; `place` is x's index in the noise."""
    z = np.zeros(totals.shape[1], np.float32)
    if scale != 0.0 and place >= 0:
        laplace_cells(key, stream, draw, place * totals.shape[1], z)
    return _row_leader(totals[x], z, scale)


@njit
def settle(totals, x, key, stream, draw, place, scale, losses):
    """Add the losses to row x, then act under the same draw."""
    for k in range(losses.size):
        totals[x, k] += losses[k]
    return act(totals, x, key, stream, draw, place, scale)


@njit
def policy(totals, key, stream, draw, places, scale, out):
    """Find the leader under one draw, an action per context; return its total value."""
    z = np.zeros(totals.shape[1], np.float32)
    value = 0.0
    for x in range(totals.shape[0]):
        if scale != 0.0:
            z[:] = 0.0
            if places[x] >= 0:
                laplace_cells(key, stream, draw, places[x] * totals.shape[1], z)
        out[x] = _row_leader(totals[x], z, scale)
        value += totals[x, out[x]] + scale * z[out[x]]
    return value


@njit
def count_choices(totals, x, key, stream, first, count, place, scale, out):
    """Set out[i] to the action under draw first + i."""
    for i in range(count):
        out[i] = act(totals, x, key, stream, first + i, place, scale)


@njit
def resample(totals, x, key, stream, first, draws, place, scale, target, successes):
    """Draw until `target` was played `successes` times; returns successes and draws used."""
    hits = 0
    for i in range(draws):
        if act(totals, x, key, stream, first + i, place, scale) == target:
            hits += 1
            if hits == successes:
                return hits, i + 1
    return hits, draws
