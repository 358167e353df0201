"""The adversary that knows the algorithm and the past, but not the learner's randomness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.core import Oracle, Round
from hannan.core.arrays import Contexts
from hannan.core.validation import check_integer
from hannan.environments._punisher import Copies, Punisher


class CopyPunisher(Punisher):
    """The action that copies of the learner would most likely play now costs 1.

    This is the adaptive adversary of the theorems on adversarial learning. In each round it draws a
    context, asks a few copies of the learner, with the same past and independent randomness, what
    they would play (`Learner.would_play`), and puts loss 1 on the most frequent answer. All other
    elements cost 1 with probability `low`, else 0. So a deterministic learner loses in every round;
    uniform play over K actions, and in the long run any learner without regret against the constant
    policies, loses 1/K + (1 - 1/K) `low` a round.

    Parameters
    ----------
    oracle
        A policy class to measure regret against; may be left out.
    contexts
        The contexts that may arrive; by default the oracle's own.
    n_actions
        K; by default the oracle's.
    n_contexts
        Where neither contexts nor an oracle are given, contexts are the integers below this.
    features
        Contexts are `n_contexts` random vectors of this length instead, with standard normal
        entries.
    copies
        How many copies are asked. Ties among their answers go to the smallest action.
    low
        The probability of a loss on all other elements.
    seed
        Of the vectors.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.CopyPunisher(hn.oracles.AllPolicies(20, 3))
    >>> leader = hn.baselines.FollowTheLeader(world.oracle)
    >>> float(hn.play(leader, world, horizon=200, seed=0).losses.mean())
    1.0
    >>> learner = hn.ContextFTPL(world.oracle, seed=0)
    >>> float(hn.play(learner, world, horizon=1000, seed=0).losses.mean()) < 0.6
    True
    """

    def __init__(
        self,
        oracle: Oracle | None = None,
        contexts: Contexts | None = None,
        *,
        n_actions: int | None = None,
        n_contexts: int = 20,
        features: int | None = None,
        copies: int = 8,
        low: float = 0.2,
        seed: int | None = 0,
    ) -> None:
        super().__init__(
            oracle,
            contexts,
            n_actions=n_actions,
            n_contexts=n_contexts,
            features=features,
            low=low,
            seed=seed,
        )
        self.copies = check_integer(self, "copies", copies, 1)
        self._asked = Copies(self, self.copies)

    def meet(self, learner: Any) -> None:
        self._asked.meet(learner)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Rounds against the last learner given to `meet`."""
        self._asked.check_met()
        seed = int(rng.integers(2**62))
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            x = self._contexts[i]
            yield Round(x, self._losses(u, self._asked.favourite(x, seed + t)))
