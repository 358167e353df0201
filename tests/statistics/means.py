"""Means of games beside their limits, and tests that must fail."""

import numpy as np
import pytest

from hannan.verify.trial import Trial, standard_error

SIGMAS = 4.5
"""Standard errors allowed to chance: one-sided, a false alarm has probability 3e-6."""


def below(values, limits, sigmas=0.0):
    """Require that a mean is at most its limit, or the mean of one limit for each value."""
    excess = np.asarray(values, dtype=float) - limits
    assert excess.mean() <= 1e-9 + sigmas * (standard_error(excess) if sigmas else 0.0)


def games(learner, oracle, environment, horizon, seeds, /, **options):
    """Play one game for each seed of a learner and of its environment."""
    return Trial("", oracle, environment, horizon, None, learner, options).games(seeds)


def regrets(played):
    """Return the regret of each game."""
    return np.array([trace.regret() for _, trace in played])


def fails(test, *given, **named):
    """Require that a test fails."""
    with pytest.raises(AssertionError):
        test(*given, **named)


further = [pytest.mark.slow, pytest.mark.nightly]
"""Marks of all mutants but the first of a test: they are tried nightly."""
