"""A policy that looks bad until it is too late."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.core.validation import check_probability
from hannan.environments._planted import PlantedWorld


class Bait(PlantedWorld):
    """One policy is the worst in the first part of the game and by far the best afterwards.

    A policy of the class, chosen at random, has elements that cost `early` in the mean during
    the first part of the rounds and `late` in the rest; all other elements cost `other`
    throughout. A learner that abandons the policy in the first part pays `other` to the end.

    Parameters
    ----------
    oracle, contexts
        As in `PlantedPolicy`.
    early, late, other
        Mean losses of the policy's elements in the two parts, and of all others.
    part
        How long the first part is, as a share of the game.
    noisy
        Whether losses are 0 or 1 with these means, or the means themselves.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Bait(hn.oracles.AllPolicies(5, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=2000, seed=0)
    >>> bool(trace.losses[:400].mean() > 0.4 > 0.2 > trace.losses[-400:].mean())
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        early: float = 0.9,
        late: float = 0.1,
        other: float = 0.5,
        part: float = 0.2,
        noisy: bool = True,
    ) -> None:
        super().__init__(oracle, contexts)
        self.early = check_probability(self, "early", early)
        self.late = check_probability(self, "late", late)
        self.other = check_probability(self, "other", other)
        self.part = check_probability(self, "part", part)
        self.noisy = noisy

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = self._plant(1, rng)[0]
        turn = round(self.part * horizon)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            means = np.where(table[i], self.early if t < turn else self.late, self.other)
            yield Round(self._contexts[i], (u < means).astype(np.float64) if self.noisy else means)
