"""Losses around a policy that changes now and then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hannan.core import Environment, Oracle, Round
from hannan.core.validation import check_integer, check_probability
from hannan.environments.planted_policy import (
    chosen_elements,
    draws,
    random_policies,
    world_of,
)


class Switching(Environment):
    """A planted policy that is replaced k times, at equal distances.

    Between changes this is `PlantedPolicy`.

    Parameters
    ----------
    oracle
        The policy class.
    contexts
        The contexts that may arrive; by default the oracle's own.
    switches
        k, the number of changes.
    good, bad
        Probabilities of a loss where the planted policy chooses an element and elsewhere.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Switching(hn.oracles.AllPolicies(5, 3), switches=2)
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=300, seed=0)
    >>> len(trace.losses)
    300
    """

    oracle: Oracle

    def __init__(
        self,
        oracle: Oracle,
        contexts: Sequence[Any] | None = None,
        *,
        switches: int = 3,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        self.oracle = oracle
        self.n_actions, self._contexts = world_of(self, oracle, contexts)
        self.switches = check_integer(self, "switches", switches, 0)
        self.good = check_probability(self, "good", good)
        self.bad = check_probability(self, "bad", bad)

    @property
    def contexts(self) -> list[Any]:
        """The contexts that may arrive."""
        return self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Independent rounds around one policy after another."""
        policies = random_policies(self, self.switches + 1, rng)
        tables = [chosen_elements(self, policy) for policy in policies]
        for t, (i, u) in enumerate(draws(self, horizon, rng)):
            table = tables[t * len(tables) // horizon]
            losses = (u < np.where(table[i], self.good, self.bad)).astype(np.float64)
            yield Round(self._contexts[i], losses)
