"""Sums of a few hundred numbers for each round that a `Watch` sees, and the bounds they leave."""

import math

import numpy as np

from hannan.kernels.compiling import njit


@njit
def add(sums, absent, played, copied, weight, loss, columns):
    """Add the terms of a round with this loss to sums[policy, f, column].

    f = 0 stands for the loss, f = 1 for one minus it. The rows of `columns` are rates λ, ψ(λ), θ,
    guesses g and 1/λ: a term is ψ(x - g)² - λx with x = f (min(v, 1/λ) - θ), v the policy's ratio:
    what of it is `played`, times a weight, and what is `copied`. `absent` counts rounds in which
    what a policy chooses was not available.
    """
    rates, psi, theta, guess, most = columns[0], columns[1], columns[2], columns[3], columns[4]
    for i in range(played.size):
        ratio = played[i] * weight + copied[i]
        if i < absent.size and copied[i] > 0.0:
            absent[i] += 1
        for f in range(2):
            share = loss if f == 0 else 1.0 - loss
            row = sums[i, f]
            for j in range(row.size):
                x = share * (min(ratio, most[j]) - theta[j])
                row[j] += psi[j] * (x - guess[j]) ** 2 - rates[j] * x


@njit
def lowest(sums, kinds, reserves, rates, log_prior, start, stop, log_odds, steps, out):
    """out[policy, f]: the least sum of targets that the columns from start to stop of sums allow.

    It is the root T of Σ_j prior_j exp(-λ_j T - V_j) = exp(log_odds), V being the sums and, for
    kinds[policy, kind] rounds without an answer, their reserves[kind, column]. The logarithm of the
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
