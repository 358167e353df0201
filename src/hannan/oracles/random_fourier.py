"""Random Fourier features."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hannan.core.params import Parametrised
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_integer, check_positive


class RandomFourier(Parametrised):
    r"""Random cosine features, appended to a feature vector, for `LinearPolicies(features=…)`.

    :math:`\sqrt{2/m} \cos(\langle w, x \rangle + b)` with w normal of size g, b uniform, m for each
    bandwidth g: policies linear in these cosines approximate policies linear in a Gaussian kernel.
    Feature vectors should have length about 1: standardise them and divide by √p.

    Parameters
    ----------
    n_features
        Total number of cosines. Default: 200.
    bandwidths
        Sizes g. Default: (1, 2).
    seed
        Seed of the random cosines, which are part of the policy class. Default: 0.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.LinearPolicies(4, features=hn.oracles.RandomFourier(100))
    >>> learner = hn.ContextFTPL(oracle, seed=0)
    >>> rng = np.random.default_rng(0)
    >>> for t in range(600):
    ...     x = rng.normal(size=2)
    ...     action = learner.act(x)
    ...     learner.update(1.0 - np.eye(4)[(x[0] * x[1] > 0) + 2 * (x[0] > 0)])
    >>> [learner.best_policy()(x) for x in ([1, 1], [1, -1], [-1, 1], [-1, -1])]
    [3, 2, 0, 1]

    References
    ----------
    [rahimi2007]
    """

    stored = State()
    room_for = ("n_features",)

    def __init__(
        self, n_features: int = 200, bandwidths: Sequence[float] = (1.0, 2.0), seed: int = 0
    ) -> None:
        self.n_features = check_integer(self, "n_features", n_features, 1)
        self.bandwidths = tuple(check_positive(self, "bandwidths", g) for g in bandwidths)
        self.seed = check_integer(self, "seed", seed, 0)
        self._waves: FloatArray = np.empty((0, 0))
        self._phases: FloatArray = np.empty(0)

    def __call__(self, row: FloatArray) -> FloatArray:
        """Return the features and their cosines."""
        if len(self._waves) != len(row):
            self._draw(len(row))
        each = math.ceil(self.n_features / len(self.bandwidths))
        cosines = np.cos(row @ self._waves + self._phases)
        return np.concatenate([row, math.sqrt(2.0 / each) * cosines])

    def _draw(self, width: int) -> None:
        rng = np.random.default_rng([self.seed, width])
        sizes = np.resize(self.bandwidths, self.n_features)
        self._waves = rng.standard_normal((width, self.n_features)) * sizes
        self._phases = rng.uniform(0.0, 2.0 * math.pi, self.n_features)
