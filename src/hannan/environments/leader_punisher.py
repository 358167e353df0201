"""An adversary that punishes the leader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.validation import check_integer
from hannan.environments._planted import GoodAndBad


class LeaderPunisher(GoodAndBad):
    """The action of the best policy so far costs 1.

    A few policies of the class, chosen at random, are good: their elements cost 1 with probability
    `good`, all others with probability `bad`. Then the elements that the leader (the best policy
    for all losses so far, without noise) would choose are made to cost 1. So following the leader
    loses in every round, while the good policies take turns at leading and each pays only for its
    share of the rounds. The losses do not depend on what is played.

    Parameters
    ----------
    oracle, contexts, good, bad
        As in `PlantedPolicy`.
    planted
        Number of good policies.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.LeaderPunisher(hn.oracles.AllPolicies(1, 4))
    >>> leader = hn.baselines.FollowTheLeader(world.oracle)
    >>> float(hn.play(leader, world, horizon=200, seed=0).losses.mean())
    1.0
    >>> float(hn.play(hn.ContextFTPL(world.oracle, seed=0), world, 200, seed=0).losses.mean()) < 0.7
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        planted: int = 3,
        good: float = 0.05,
        bad: float = 0.9,
    ) -> None:
        super().__init__(oracle, contexts, good, bad)
        self.planted = check_integer(self, "planted", planted, 1)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = np.logical_or.reduce(self._plant(self.planted, rng))
        history = self.oracle.objective()
        for i, u in self._draws(horizon, rng):
            context = self.oracle.check_context(self._contexts[i])
            losses = self._losses(table[i], u)
            losses[history.action(context, WITHOUT_NOISE)] = 1.0
            yield Round(self._contexts[i], losses)
            history.add(context, losses)
