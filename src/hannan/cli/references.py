"""What a replay is compared with: play that learns nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Environment, Learner, OpenRound, OrderError
from hannan.core.validation import check_integer


class Always(Learner):
    """The same action in every round."""

    learns = False

    def __init__(self, action: int) -> None:
        super().__init__()
        self.action = check_integer(self, "action", action, 0)

    def _act(self, opened: OpenRound) -> None:
        opened.play(self.action)

    def _update(self, opened: OpenRound, loss: Any) -> None:
        """Nothing is learned."""


class Taken(Learner):
    """What was really done: the column `current` of the file that is played, read along."""

    learns = False

    def __init__(self, environment: Environment, horizon: int) -> None:
        super().__init__()
        self.environment = environment
        self.horizon = check_integer(self, "horizon", horizon, 1)
        self._rounds: Any = None

    def _act(self, opened: OpenRound) -> None:
        if self._rounds is None:
            self._rounds = self.environment.rounds(self.horizon, np.random.default_rng(0))
        try:
            opened.action = int(next(self._rounds).current)
        except StopIteration:
            raise OrderError("The file has no further action.") from None

    def _update(self, opened: OpenRound, loss: Any) -> None:
        """Nothing is learned."""
