"""Losses drawn independently, low on one policy's actions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.environments._planted import GoodAndBad


class PlantedPolicy(GoodAndBad):
    """A stochastic environment in which a randomly chosen policy of the class is best.

    Contexts are drawn uniformly from a set. Each element's loss is 1 with probability `good` if
    the planted policy chooses it and with probability `bad` otherwise, else 0.

    Parameters
    ----------
    oracle
        The policy class.
    contexts
        The contexts that may arrive; by default the oracle's own.
    good, bad
        Probabilities of a loss where the planted policy chooses an element and elsewhere.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(5, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=500, seed=0)
    >>> bool(trace.losses.mean() < 0.5)
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        super().__init__(oracle, contexts, good, bad)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = self._plant(1, rng)[0]
        for i, u in self._draws(horizon, rng):
            yield Round(self._contexts[i], self._losses(table[i], u))
