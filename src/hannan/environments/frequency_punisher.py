"""The adversary that counts past actions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Round
from hannan.environments._punisher import Punisher, Tally


class FrequencyPunisher(Punisher):
    """On each context, the action played most often so far costs 1.

    An adaptive adversary that needs to know only the past actions of the learner. All other
    elements cost 1 with probability `low`, else 0; on a context that arrives for the first time
    this holds for all elements. Ties go to the smallest action.

    It is cheap, and hurts learners that are slow to leave an action.

    Parameters
    ----------
    oracle, contexts, n_actions, n_contexts, features, low, seed
        As in `CopyPunisher`.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FrequencyPunisher(n_actions=3, n_contexts=5)
    >>> chance = hn.baselines.UniformRandom(3, seed=0)
    >>> round(float(hn.play(chance, world, horizon=3000, seed=0).losses.mean()), 1)
    0.5
    """

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        played = [Tally() for _ in self._contexts]
        for i, u in self._draws(horizon, rng):
            this_round = Round(self._contexts[i], self._losses(u, played[i].favourite))
            yield this_round
            if this_round.action is not None:
                played[i].add(this_round.action)
