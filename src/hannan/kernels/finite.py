"""Finite policy classes: noise projected on every policy, and the argmin over policies.

Scores are float64 and padded with +inf to a multiple of sixteen policies, so no loop has a
remainder. Ties go to the smallest index: comparisons are strict and go in ascending order.
"""

import numpy as np
from numba import float32, float64, int64, uint64
from numpy.typing import NDArray

from hannan.kernels import lanes
from hannan.kernels.compiling import njit
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import fill_laplace, laplace_one, transpose
from hannan.kernels.weights import chance, count_hit, count_short, take

CHUNK = 256  # policies projected before their noise is transposed from lanes into rows
_MARGIN = 1.5  # the next losses may be so many times further apart than these
_FORGETTING = 0.99  # of how far apart losses have been
_ROUNDING = 1e-15  # eight units in the last place
_TINY = 1e-300
_BLOCK = 128  # policies whose minimum is taken before it is compared with the best so far


@njit
def _entries(raw, starts, cells, out):
    """Set out[e] to the sum of the raw noise of the cells of entry e."""
    for e in range(starts.size - 1):
        total = lanes.splat(float32(0.0))
        for k in range(starts[e], starts[e + 1]):
            total = lanes.add(total, lanes.load(raw, cells[k] * WIDTH))
        lanes.store(out, e * WIDTH, total)


@njit
def _tables(entry, first_entry, group_start, row_start, out):
    """Compute the noise of every combination of entries, for each group of contexts.

    Combinations are numbered with the first context of the group as the leading digit.
    """
    for g in range(group_start.size - 1):
        base = row_start[g] * WIDTH
        lanes.store(out, base, lanes.splat(float32(0.0)))
        size = 1
        for x in range(group_start[g], group_start[g + 1]):
            first = first_entry[x] * WIDTH
            width = first_entry[x + 1] * WIDTH - first
            for c in range(size - 1, -1, -1):
                old = lanes.load(out, base + c * WIDTH)
                place = base + c * width
                for i in range(0, width, WIDTH):
                    lanes.store(out, place + i, lanes.add(old, lanes.load(entry, first + i)))
            size *= width // WIDTH


@njit
def fill_tables(key, stream, first, n_cells, plan, out):
    """Compute projected noise of draws first..first+15 for every table row; see `_tables`."""
    starts, cells, first_entry, group_start, row_start = plan
    raw = lanes.aligned((n_cells + 3) // 4 * 4 * WIDTH)
    fill_laplace(key, stream, first, raw)
    entry = lanes.aligned((starts.size - 1) * WIDTH)
    _entries(raw, starts, cells, entry)
    _tables(entry, first_entry, group_start, row_start, out)


@njit
def project(tables, codes, start, stop, out):
    """Set out[n - start, b] to the noise of policy n in draw b: one table row for each group.

    Four policies at a time, to hide the latency of additions; start and stop are multiples of
    four.
    """
    groups = uint64(codes.shape[1])
    flat = codes.reshape(-1)
    shift, one = uint64(4), uint64(1)
    zero = lanes.splat(float32(0.0))
    for n in range(start, stop, 4):
        k0 = uint64(n) * groups
        k1 = k0 + groups
        k2 = k1 + groups
        k3 = k2 + groups
        a, b, c, d = zero, zero, zero, zero
        for _ in range(codes.shape[1]):
            a = lanes.add(a, lanes.load(tables, uint64(flat[k0]) << shift))
            b = lanes.add(b, lanes.load(tables, uint64(flat[k1]) << shift))
            c = lanes.add(c, lanes.load(tables, uint64(flat[k2]) << shift))
            d = lanes.add(d, lanes.load(tables, uint64(flat[k3]) << shift))
            k0 += one
            k1 += one
            k2 += one
            k3 += one
        here = (n - start) * WIDTH
        lanes.store(out, here, a)
        lanes.store(out, here + WIDTH, b)
        lanes.store(out, here + 2 * WIDTH, c)
        lanes.store(out, here + 3 * WIDTH, d)


@njit(nogil=True)
def fill_rows(key, stream, first, n_cells, plan, n_rows, codes, block, begin, end, past_caches):
    """Set block[i, n] to the noise of policy n in draw first + i, for policies begin .. end - 1.

    Both are multiples of sixteen; `past_caches` as for `transpose`.
    """
    draws, policies = block.shape
    tables = lanes.aligned(n_rows * WIDTH)
    tile = lanes.aligned(CHUNK * WIDTH)
    spare = lanes.aligned(CHUNK * WIDTH)
    flat = block.reshape(-1)
    for i in range(0, draws, WIDTH):
        fill_tables(key, stream, first + i, n_cells, plan, tables)
        whole = i + WIDTH <= draws
        out, width = (flat, policies) if whole else (spare, int64(CHUNK))
        for n in range(begin, end, CHUNK):
            stop = n + CHUNK if n + CHUNK < end else end
            project(tables, codes, n, stop, tile)
            column = i * policies + n if whole else 0
            transpose(tile, stop - n, out, width, column, whole and past_caches)
            if not whole:
                for row in range(draws - i):
                    for m in range(n, stop):
                        block[i + row, m] = spare[row * CHUNK + m - n]


@njit
def leader(scores, z, scale):
    """Return argmin over n of scores[n] + scale * z[n]; z is not read at scale 0."""
    if scale == 0.0:
        return scores.argmin()
    factor = lanes.splat(float64(scale))
    infinite = lanes.splat(np.inf)
    best = np.inf
    at = 0
    for start in range(0, scores.size, _BLOCK):
        low = infinite
        end = start + _BLOCK if start + _BLOCK < scores.size else scores.size
        for n in range(start, end, WIDTH):
            noise = lanes.mul(factor, lanes.widen(lanes.load(z, n)))
            value = lanes.add(lanes.load(scores, n), noise)
            low = lanes.where_less(value, low, value, low)
        value_here = lanes.smallest(low)
        if value_here < best:
            best = value_here
            at = start
    for n in range(at, scores.size):
        if scores[n] + scale * float64(z[n]) == best:
            return n
    return 0


@njit(nogil=True)
def act(scores, block, row, scale, column):
    """Return the action of the leader under one draw; `column` holds each policy's action."""
    return column[leader(scores, block[row], scale)]


@njit(nogil=True)
def sweep(scores, waits, adds, block, row, scale, column, note):
    """Add a round that waits, find the leader under one draw, and note who is near it.

    One pass: a round whose losses wait in the note is added by the actions `waits`, where `adds`
    says so. Returns the leader's action on a context with the actions `column`. `note` is left as

        best, reach, limit, how many actions are noted, smallest perturbed score of each action,
        the actions that are noted, losses that wait, smallest perturbed score of each block of
        policies, number of actions

    An action is noted if a policy that plays it is below the limit, best + reach. All of this is
    one array, for calls take longer with every one.
    """
    z = block[row]
    minima, noted, waiting, lows = _parts(note)
    factor = lanes.splat(float64(scale))
    infinite = lanes.splat(np.inf)
    best = np.inf
    for start in range(0, scores.size, _BLOCK):
        low = infinite
        end = start + _BLOCK if start + _BLOCK < scores.size else scores.size
        for n in range(start, end, WIDTH):
            score = lanes.load(scores, n)
            if adds:
                score = lanes.add(score, lanes.gather(waiting, lanes.load(waits, n)))
                lanes.store(scores, n, score)
            noise = lanes.mul(factor, lanes.widen(lanes.load(z, n)))
            value = lanes.add(score, noise)
            low = lanes.where_less(value, low, value, low)
        smallest = lanes.smallest(low)
        lows[start // _BLOCK] = smallest
        if smallest < best:
            best = smallest
    limit = best + note[1]
    for i in range(int64(note[3])):
        minima[int64(noted[i])] = np.inf
    count = 0
    found = int64(-1)
    for b in range(lows.size):
        if lows[b] <= limit:
            start = b * _BLOCK
            end = start + _BLOCK if start + _BLOCK < scores.size else scores.size
            for n in range(start, end):
                value = scores[n] + scale * float64(z[n])
                if value <= limit:
                    action = column[n]
                    if minima[action] == np.inf:
                        noted[count] = action
                        count += 1
                    if value < minima[action]:
                        minima[action] = value
                    if value == best and found < 0:
                        found = int64(action)
    note[0], note[2], note[3] = best, limit, count
    return found


@njit
def _parts(note):
    """Return the arrays in a note."""
    K = int64(note[-1])
    a, b, c = 4 + K, 4 + 2 * K, 4 + 3 * K
    return note[4:a], note[a:b], note[b:c], note[c:-1]


def new_note(n_policies: int, n_actions: int) -> NDArray[np.float64]:
    """Return an empty note; see `sweep`."""
    note = np.full(5 + 3 * n_actions + -(-n_policies // _BLOCK), np.inf)
    note[1], note[3], note[-1] = 0.0, 0.0, n_actions
    return note


def losses_in(n_actions: int) -> slice:
    """Return the slice of a note with the pending losses."""
    return slice(4 + 2 * n_actions, 4 + 3 * n_actions)


@njit(nogil=True)
def foresee(note, losses, largest):
    """Return the leader's action after one more round on a note's context, -1 if that is close.

    The leader's value is the smallest of minimum plus loss over actions. Adding in another order
    changes it by a few units in the last place of the numbers involved: the losses, the value, and
    noise of at most `largest`. An action that is not noted is not below the limit. So if none
    comes closer than that, the leader of the new scores plays this action. The losses are stored as
    pending ones, and the reach of the next note follows their spread.
    """
    minima, noted, waiting, _ = _parts(note)
    low, high = np.inf, -np.inf
    for a in range(losses.size):
        waiting[a] = losses[a]
        low, high = min(low, losses[a]), max(high, losses[a])
    best = second = np.inf
    found = int64(-1)
    for i in range(int(note[3])):
        a = int64(noted[i])
        value = minima[a] + losses[a]
        if value < best:
            best, second = value, best
            found = a
        else:
            second = min(second, value)
    if int(note[3]) < losses.size:
        second = min(second, note[2] + low)
    note[1] = max(_MARGIN * (high - low), _FORGETTING * note[1])
    slack = _ROUNDING * (abs(best) + 2.0 * largest + max(abs(low), abs(high)))
    return found if second - best > slack else int64(-1)


@njit
def add(scores, losses, column):
    """Add losses[column[n]] to scores[n]."""
    for n in range(column.size):
        scores[n] += losses[column[n]]


@njit(nogil=True)
def act_all(scores, block, scales, column, out):
    """Return the action of the leader of each row of scores, under the same row of the block."""
    for i in range(scores.shape[0]):
        out[i] = column[leader(scores[i], block[i], scales[i])]


@njit(nogil=True)
def settle_all(scores, block, scales, column, losses, discounts, out):
    """Add the losses to each row of scores; write its leader's action; discount the row."""
    for i in range(scores.shape[0]):
        add(scores[i], losses, column)
        out[i] = column[leader(scores[i], block[i], scales[i])]
        fade = discounts[i]
        if fade != 1.0:
            for n in range(column.size):
                scores[i, n] *= fade


@njit(nogil=True)
def leaders(scores, block, start, stop, scale, codes, minima):
    """Find the leader under each of some rows of the block, with its value."""
    for row in range(start, stop):
        z = block[row]
        n = leader(scores, z, scale)
        codes[row - start, 0] = n
        minima[row - start] = scores[n] if scale == 0.0 else scores[n] + scale * float64(z[n])


@njit
def _gaps(scores, z, scale, column, action):
    """Return the lead of `action` over all others under z and under -z, in units of the noise."""
    factor = lanes.splat(float64(scale))
    infinite = lanes.splat(np.inf)
    ours, others, ours_back, others_back = infinite, infinite, infinite, infinite
    for n in range(0, scores.size, WIDTH):
        codes = lanes.load(column, n)
        score = lanes.load(scores, n)
        noise = lanes.mul(factor, lanes.widen(lanes.load(z, n)))
        value = lanes.add(score, noise)
        one = lanes.where_equal(codes, action, value, infinite)
        other = lanes.where_equal(codes, action, infinite, value)
        ours = lanes.where_less(one, ours, one, ours)
        others = lanes.where_less(other, others, other, others)
        value = lanes.sub(score, noise)
        one = lanes.where_equal(codes, action, value, infinite)
        other = lanes.where_equal(codes, action, infinite, value)
        ours_back = lanes.where_less(one, ours_back, one, ours_back)
        others_back = lanes.where_less(other, others_back, other, others_back)
    gap = (lanes.smallest(others) - lanes.smallest(ours)) / abs(scale)
    return gap, (lanes.smallest(others_back) - lanes.smallest(ours_back)) / abs(scale)


@njit
def _free_gaps(scores, z, scale, column, action, key, stream, draw, cell):
    """Compute `_gaps` without the action's own noise on the context, in `cell`, -1 for none.

    Every policy that plays the action there has this coordinate once, and other policies do not.
    Given all other coordinates, the action leads under z with probability F(gap).
    """
    gap, back = _gaps(scores, z, scale, column, action)
    if cell < 0:
        if gap == 0.0:  # policies that differ nowhere but here: the first one leads
            gap = _TINY if column[leader(scores, z, scale)] == action else -_TINY
        if back == 0.0:
            back = _TINY if column[leader(scores, z, -scale)] == action else -_TINY
        return gap, back
    own = laplace_one(key, stream, draw, cell) * (1.0 if scale > 0.0 else -1.0)
    return gap + own, back - own


@njit(nogil=True)
def weigh(
    scores, block, start, stop, scale, column, action, cell, key, stream, stop_key, first, share,
    most, enough, used, state,
):  # fmt: skip
    """Go through rows, draw `first` and on, until the weight of an action is known.

    Each row counts with the probability of the action given all noise but its own on the context,
    averaged over the row and its negative; in a `share` of the trials success is certain. See
    `weights.take`. Returns how many rows were used, and whether more are needed.
    """
    for row in range(start, stop):
        i = row - start
        draw = first + i
        gap, back = _free_gaps(scores, block[row], scale, column, action, key, stream, draw, cell)
        p = 0.5 * (chance(gap, cell >= 0) + chance(back, cell >= 0))
        p = share + (1.0 - share) * p
        if not take(state, used + i, p, most, enough, stop_key, draw):
            return i + 1, False
    return stop - start, True


@njit(nogil=True)
def unrest(scores, block, row, scale, column, action, cell, key, stream, draw, amount):
    """Return the decrease of an action's probability at `amount` more cost, times the amount.

    Uses one row and its negative, given all noise except the action's own on the context.
    """
    gap, back = _free_gaps(scores, block[row], scale, column, action, key, stream, draw, cell)
    step, smooth = amount / abs(scale), cell >= 0
    lost = chance(gap, smooth) - chance(gap - step, smooth)
    lost_back = chance(back, smooth) - chance(back - step, smooth)
    return 0.5 * amount * (lost + lost_back)


@njit(nogil=True)
def resample_many(
    scores, block, start, stop, scale, column, member, successes, hits, reached, used
):
    """Go through rows until each element was in the leader's action `successes` times.

    member[a, e] says whether action a holds element e.
    Updates `hits`, and `reached` (the draw at which an element had enough, counted from `used`);
    returns the number of rows used and of elements still short.
    """
    short = count_short(hits, successes)
    row = start
    while row < stop and short > 0:
        action = column[leader(scores, block[row], scale)]
        row += 1
        for e in range(hits.size):
            if member[action, e] and hits[e] < successes:
                short -= count_hit(e, used + row - start, successes, hits, reached)
    return row - start, short


@njit
def best_by_action(scores, column, out):
    """Set out[a] to the smallest score among the policies that play action a."""
    out[:] = np.inf
    for n in range(column.size):
        if scores[n] < out[column[n]]:
            out[column[n]] = scores[n]
