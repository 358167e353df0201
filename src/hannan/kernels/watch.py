"""Sums of a few hundred numbers for each round that a `Watch` sees, and the bounds they leave."""

import math

import numpy as np

from hannan.kernels.compiling import njit


@njit
def centre(targets, chances, values, spread):
    """Return rows V(π), max π/q, max V and min V over a policy's actions; the last is q's own.

    aims[policy] is an action, or -1 for a policy that does as q does. With `spread` the first one
    chooses any of all actions with the same probability. Values are cut off at 0 and 1.
    """
    rows = np.empty((targets.size + 1, 4))
    mean, top, bottom, total, least = 0.0, 0.0, 1.0, 0.0, 1.0
    for a in range(chances.size):
        value = min(max(values[a], 0.0), 1.0)
        total += value
        least = min(least, chances[a])
        if chances[a] > 0.0:
            mean += chances[a] * value
            top, bottom = max(top, value), min(bottom, value)
    for i in range(targets.size + 1):
        if i == targets.size or targets[i] < 0:
            rows[i] = min(mean, 1.0), 1.0, top, bottom
        elif i == 0 and spread:
            # All values count here, those of actions that are never drawn among them.
            rows[i] = total / chances.size, 1.0 / max(chances.size * least, 1e-300), 1.0, 0.0
        else:
            value = min(max(values[targets[i]], 0.0), 1.0)
            rows[i] = value, 1.0 / max(chances[targets[i]], 1e-300), value, value
    return rows


@njit
def _write(out, loss, weighted, ratio, gains, columns, centre, own_mean, own):
    """Write the terms of one policy to out[f, column]; see `add`.

    `weighted` is the ratio times the loss; gains[f] is the ratio times f minus its prediction.
    """
    rates, psi, theta, guess, most, centred = columns
    mean, largest, top, bottom = centre
    for f in range(2):
        share, off = (loss, loss - own) if f == 0 else (1.0 - loss, own - loss)
        shift, base = (mean, own_mean) if f == 0 else (1.0 - mean, 1.0 - own_mean)
        value = weighted if f == 0 else ratio - weighted
        bound = max(1.0, largest * (top if f == 0 else 1.0 - bottom))
        for j in range(rates.size):
            rate = rates[j]
            reach = rate * bound
            if centred[j] > 0.0 and reach < 0.9:
                z = min(gains[f] - theta[j] * off, most[j])
                curve = (-math.log1p(-reach) - reach) / (bound * bound)
                out[f, j] = curve * z * z - rate * (z + shift - theta[j] * base)
            else:
                cut = most[j] / ratio if ratio > most[j] else 1.0
                x = value * cut - theta[j] * share
                out[f, j] = psi[j] * (x - guess[j]) ** 2 - rate * x


@njit
def _count(moments, value, regret, ratio):
    """Add the estimates of a policy's loss and regret, their squares, and the ratio."""
    moments[0] += value
    moments[1] += value * value
    moments[2] += regret
    moments[3] += regret * regret
    moments[4] += ratio
    moments[5] += ratio * ratio


@njit
def add(sums, moments, absent, played, copied, weight, loss, columns, centres, own):
    """Add the terms of a round with this loss to sums[policy, f, column].

    f = 0 stands for the loss, f = 1 for one minus it. The rows of `columns` are rates λ, ψ(λ), θ,
    predictions g, 1/λ, and whether a column is centred. A term is ψ(x - g)² - λx with
    x = f (min(v, 1/λ) - θ), v being the policy's ratio: the `played` share times a weight, plus the
    `copied` share. In a centred column it is ψ_B z² - λ(z + m) with z = (v - θ)(f - V(a)), at most
    1/λ, and m = V(π) - θ<q, V>. centres[policy] is V(π), the largest ratio, and the largest and the
    smallest V of the policy's actions; the last row is for q itself, and `own` is V(a).
    `moments[policy]` sums up doubly robust estimates of the loss and of the regret, their squares,
    the ratios and their squares. `absent` counts rounds in which a policy's choice was unavailable.
    """
    out = np.empty((2, columns.shape[1]))
    base = centres[-1, 0]
    for i in range(played.size):
        ratio = played[i] * weight + copied[i]
        if i < absent.size and copied[i] > 0.0:
            absent[i] += 1
        gain = ratio * (loss - own)
        gains = gain, -gain
        _write(out, loss, ratio * loss, ratio, gains, columns, centres[i], base, own)
        sums[i] += out
        value = centres[i, 0] + gain
        _count(moments[i], value, value - base - (loss - own), ratio)


@njit
def add_sets(sums, moments, losses, weighted, ratios, gains, columns, centres):
    """Add the terms of a round in which sets were chosen, and losses of elements may be missing.

    As `add` does, with V(π) in place of V(a) and <q, V>. losses[end], weighted[end, policy] and
    gains[f, end, policy] are the smallest and the largest values for any missing losses, and
    gains[2] are those of the estimate. A term is convex in x, so it is largest at an end.
    """
    low, high = np.empty((2, columns.shape[1])), np.empty((2, columns.shape[1]))
    for i in range(ratios.size):
        ratio, centre, own = ratios[i], centres[i], centres[i, 0]
        first, last = (gains[0, 0, i], gains[1, 0, i]), (gains[0, 1, i], gains[1, 1, i])
        _write(low, losses[1], weighted[0, i], ratio, first, columns, centre, own, own)
        _write(high, losses[0], weighted[1, i], ratio, last, columns, centre, own, own)
        sums[i] += np.maximum(low, high)
        value = own + gains[2, 1, i]
        _count(moments[i], value, value - losses[1], ratio)


@njit
def reserve(sums, played, copied, weight, columns, centres, own):
    """Add the largest terms that a round without feedback may have, for any loss in [0, 1].

    A term is convex in the loss up to the cap on z, beyond which it is constant, so it is largest
    at an end.
    """
    low, high = np.empty((2, columns.shape[1])), np.empty((2, columns.shape[1]))
    for i in range(played.size):
        ratio = played[i] * weight + copied[i]
        base, least, most = centres[-1, 0], ratio * own, ratio * (1.0 - own)
        _write(low, 0.0, 0.0, ratio, (-least, least), columns, centres[i], base, own)
        _write(high, 1.0, ratio, ratio, (most, -most), columns, centres[i], base, own)
        sums[i] += np.maximum(low, high)


@njit
def lowest(sums, kinds, reserves, rates, log_prior, start, stop, log_odds, steps, out):
    """Set out[policy, f] to the least sum of targets that columns start to stop of sums allow.

    It is the root T of Σ_j prior_j exp(-λ_j T - V_j) = exp(log_odds), V being the sums and, for
    kinds[policy, kind] rounds without feedback, their reserves[kind, column]. The logarithm of the
    left side is convex and falls, so Newton's method climbs to the root, from where the largest
    term alone would reach it: every step is a bound.
    """
    rest = np.empty(rates.size)
    for i in range(sums.shape[0]):
        for f in range(2):
            found = -np.inf
            for j in range(start, stop):
                total = sums[i, f, j]
                for kind in range(kinds.shape[1]):
                    total += kinds[i, kind] * reserves[kind, j]
                rest[j] = log_prior[j] - total - log_odds
                found = max(found, rest[j] / rates[j])
            for _ in range(steps):
                top = -np.inf
                for j in range(start, stop):
                    top = max(top, rest[j] - rates[j] * found)
                total, slope = 0.0, 0.0
                for j in range(start, stop):
                    share = math.exp(rest[j] - rates[j] * found - top)
                    total += share
                    slope += share * rates[j]
                found += max(top + math.log(total), 0.0) * total / slope
            out[i, f] = found
