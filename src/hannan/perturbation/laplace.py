"""Laplace fake outcomes on a context set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.core.validation import FloatArray
from hannan.kernels.noise import laplace_cells


def seed_key(seed: int | None) -> np.uint64:
    """Return the generator key of a seed.

    Parameters
    ----------
    seed
        A non-negative integer. None uses fresh entropy from the system.

    Examples
    --------
    >>> seed_key(7) == seed_key(7), seed_key(7) == seed_key(8)
    (np.True_, np.False_)
    """
    return np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def mean_of_maximum(n: int) -> float:
    """Return the expected largest of n independent unit Laplace variates.

    >>> round(mean_of_maximum(2), 6)
    0.75
    """
    # E max = int_0^inf 1 - F(z)^n - F(-z)^n dz with F(z) = 1 - u, u = exp(-z)/2; the integrand
    # (1 - (1-u)^n - u^n)/u on 0 < u < 1/2 integrates term by term.
    k = np.arange(1, n + 1)
    return float(((1.0 - 0.5**k) / k).sum() - 0.5**n / n)


class LaplaceNoise:
    r"""Laplace fake outcomes :math:`\{(x, \zeta_x)\}_{x \in X}` on a context set.

    Each coordinate of :math:`\zeta_x` is unit Laplace: density :math:`\tfrac12 e^{-|q|}`, mean 0,
    variance 2.

    A learner with parameter ε uses them at scale 1/ε, which gives the paper's distribution with
    density :math:`\tfrac\epsilon2 e^{-\epsilon|q|}`. Draw n is a function of (key, stream, n), and
    does not depend on earlier draws or on blocks. Different streams of one key are independent.

    Parameters
    ----------
    contexts
        Contexts X, without repetition; d = len(X).
    n_actions
        Number of actions, K.
    key
        Key from `seed_key`.
    stream
        Number of the stream, below 2^32. Default 0.

    Examples
    --------
    >>> noise = LaplaceNoise(["rain", "sun"], n_actions=3, key=seed_key(0))
    >>> noise.unit(7).shape
    (2, 3)
    >>> bool((noise.unit(7) == noise.unit(7)).all()), bool((noise.unit(7) == noise.unit(8)).any())
    (True, False)
    """

    def __init__(
        self, contexts: Sequence[Any], n_actions: int, key: np.uint64, stream: int = 0
    ) -> None:
        self.contexts = contexts
        self.n_actions = n_actions
        self.key = key
        self.stream = np.uint64(stream)

    @property
    def n_cells(self) -> int:
        """Number of coordinates of one draw, d K."""
        return len(self.contexts) * self.n_actions

    def unit(self, draw: int) -> FloatArray:
        """Return one draw of the fake losses, [d, K], at scale 1."""
        cells = np.empty(self.n_cells, np.float32)
        laplace_cells(self.key, self.stream, draw, 0, cells)
        return cells.reshape(len(self.contexts), self.n_actions).astype(np.float64)
