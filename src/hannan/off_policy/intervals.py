"""Confidence intervals for the mean of the terms of an estimate."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from hannan.core.validation import FloatArray

Interval = tuple[float, float]


def normal(value: float, standard_error: float, level: float) -> Interval:
    """By the central limit theorem: right in the limit of many rounds."""
    width = NormalDist().inv_cdf(0.5 + level / 2.0) * standard_error
    return value - width, value + width


def bootstrap(
    terms: FloatArray, masses: FloatArray, level: float, samples: int, seed: int
) -> Interval:
    """Percentiles of Σ terms / Σ masses over rounds drawn with replacement."""
    rng = np.random.default_rng(seed)
    n = len(terms)
    found = np.empty(samples)
    for i in range(samples):
        drawn = rng.integers(n, size=n)
        mass = masses[drawn].sum()
        found[i] = terms[drawn].sum() / mass if mass else np.nan
    low, high = np.nanquantile(found, [0.5 - level / 2.0, 0.5 + level / 2.0])
    return float(low), float(high)


def bernstein(terms: FloatArray, span: Interval, guesses: Interval, level: float) -> Interval:
    r"""An empirical Bernstein interval for :math:`\frac1n \sum_t E[z_t \mid \text{past}]`.

    With guesses :math:`\hat z_t` known before :math:`z_t`, and :math:`z_t \ge \hat z_t - c`,

    .. math:: \exp\Big(\lambda \sum_t (z_t - E_t[z_t])/c
              - \psi(\lambda) \sum_t (z_t - \hat z_t)^2/c^2\Big),
              \qquad \psi(\lambda) = -\log(1 - \lambda) - \lambda,

    has a mean of at most 1 for each :math:`\lambda \in [0, 1)`, whatever the past does to the
    law of the next term; so for any number of rounds fixed in advance, and for rounds that
    depend on each other. A union over a few λ takes the place of the best one. The terms z lie in
    `span`, their means in `guesses`, where running means are moved to be the :math:`\hat z_t`.
    """
    n, mean = len(terms), float(terms.mean())
    before = np.concatenate(([0.0], np.cumsum(terms)[:-1])) / np.maximum(np.arange(n), 1)
    before[0] = 0.5 * (guesses[0] + guesses[1])
    V = float(((terms - np.clip(before, *guesses)) ** 2).sum())
    over = _deviation(V, n, guesses[1] - span[0], level)
    under = _deviation(V, n, span[1] - guesses[0], level)
    return mean - over, mean + under


def _deviation(V: float, n: int, c: float, level: float) -> float:
    """How far a mean of n terms may lie above its expectation."""
    rates = 2.0 ** -np.arange(1.0, 2.0 + math.ceil(math.log2(n) / 2.0))
    log_odds = math.log(2.0 * len(rates) / (1.0 - level))
    psi = -np.log1p(-rates) - rates
    return float(((log_odds + psi * V / c**2) * c / (rates * n)).min())
