"""The law of a learner's next action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import InputTypeError, Learner
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Law(Stored):
    """The probability of each action, from so many draws; 0 where it is exact."""

    probabilities: FloatArray
    draws: int

    def given(self, action: int) -> FloatArray:
        """The probabilities once an action was drawn, which counts as one more draw.

        That makes one over its probability nearly unbiased: see `Recorder`.
        """
        if not self.draws:
            return self.probabilities
        counts = np.rint(self.probabilities * self.draws)
        counts[action] += 1.0
        return np.asarray(counts / (self.draws + 1))


def law(
    learner: Learner, context: Any, n_actions: int, draws: int, seed: int = 0, **some: Any
) -> Law:
    """What `act(context)` would choose now; asking changes nothing.

    From the learner's `propensities` if it has them, else from copies that play with other coins.
    `some` may hold available=.
    """
    if learner.oracle is not None and learner.oracle.max_chosen > 1:
        raise _sets(learner)
    ask = getattr(learner, "propensities", None)
    if ask is not None:
        try:
            found = ask(context, draws=draws, **some)
        except InputTypeError:  # a learner that plays through one without
            pass
        else:
            return Law(np.array(found.probabilities, dtype=np.float64), int(found.draws))
    played = np.asarray(learner.would_play(context, copies=draws, seed=seed, **some))
    if played.ndim != 1:
        raise _sets(learner)
    return Law(np.bincount(played, minlength=n_actions) / draws, draws)


def _sets(learner: Learner) -> InputTypeError:
    return InputTypeError(
        f"Logs are for single actions; {type(learner).__name__} chooses sets of elements."
    )
