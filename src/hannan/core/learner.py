"""Learners: act on a context, then learn from what it cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from hannan.core.environment import Feedback
from hannan.core.errors import OrderError
from hannan.core.oracle import Oracle
from hannan.core.params import Parametrised
from hannan.core.policy import Action


class Learner(Parametrised, ABC):
    """Two calls a round: `action = act(context)`, then `update(loss)`.

    Subclasses write `_act` and `_update`; here is only the order of calls. A refused call
    changes nothing. A second `act` before `update` starts the round anew: the unanswered
    context is dropped.
    """

    feedback: ClassVar[Feedback] = Feedback.FULL
    oracle: Oracle | None = None

    def __init__(self) -> None:
        self.rounds = 0
        self.oracle_calls = 0
        self._open: tuple[Any, Action] | None = None

    def act(self, context: Any = None) -> Action:
        """The action for this context: an int, or the sorted indices of the chosen elements."""
        context = self._check_context(context)
        action = self._act(context)
        self._open = (context, action)
        return action

    def update(self, loss: Any) -> None:
        """Learn the losses of the round `act` opened."""
        if self._open is None:
            raise OrderError(
                "update() needs a round to answer: call act(context) first, then update(loss) once."
            )
        context, action = self._open
        self._update(context, action, loss)
        self._open = None
        self.rounds += 1

    def reset(self) -> None:
        """Forget everything learned; equal to a fresh clone with the same seed."""
        self.__init__(**self.params)  # type: ignore[misc]

    def fresh(self, number: int) -> Self:
        """A new learner like this one, with nothing learned and randomness of its own.

        Its seed is a function of this one's and of `number`.
        """
        seed = self.params.get("seed")
        if seed is None:
            return self.clone()
        state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)
        return self.clone(seed=int(state[0] >> np.uint64(1)))

    @property
    def _clock(self) -> int:
        """The number of the round that comes next."""
        return self.rounds

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        """The context of the next round, or of one that many rounds later."""
        return context if self.oracle is None else self.oracle.at(self._clock + ahead, context)

    @abstractmethod
    def _act(self, context: Any) -> Action: ...

    @abstractmethod
    def _update(self, context: Any, action: Action, loss: Any) -> None:
        """Check the loss, then learn; must change nothing if it raises."""
