"""Losses that favour a policy which changes now and then."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.core.validation import check_integer
from hannan.environments._planted import GoodAndBad


class Switching(GoodAndBad):
    """`PlantedPolicy` with a policy that is replaced k times, at equal distances.

    Parameters
    ----------
    oracle, contexts, good, bad
        As in `PlantedPolicy`.
    switches
        k, the number of changes.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Switching(hn.oracles.AllPolicies(5, 3), switches=2)
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=300, seed=0)
    >>> len(trace.losses)
    300
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        switches: int = 3,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        super().__init__(oracle, contexts, good, bad)
        self.switches = check_integer(self, "switches", switches, 0)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        tables = self._plant(self.switches + 1, rng)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            table = tables[t * len(tables) // horizon]
            yield Round(self._contexts[i], self._losses(table[i], u))
