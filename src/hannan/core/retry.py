"""Steps of a round that failed after the round was complete, to be tried again."""

from __future__ import annotations

import copy
from typing import Any

from hannan.core.state import Anything, ListOf, State, Text, TupleOf
from hannan.core.stored import Stored


class Retry(Stored):
    """The steps that the last round of a learner left undone.

    A round is complete once its loss has been learned: an error in a further step, of a detector or
    of one copy among several, must not undo it. Such a step waits here, and the learner does it
    before anything else in its next call.

    Attributes
    ----------
    steps
        For each step the name of a method of the learner, arguments, and the last argument: data of
        the caller, of which a step that failed has its own copy.
    """

    stored = State(steps=ListOf(TupleOf(Text(), Anything(), Anything())))  # owners check them

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Any, ...], Any]] = []

    def keep(self, *steps: tuple[str, tuple[Any, ...], Any]) -> None:
        """Leave steps that failed for `finish`, with their own copy of the caller's data."""
        data = copy.deepcopy([last for _, _, last in steps])
        self.steps = [(*step[:2], last) for step, last in zip(steps, data, strict=True)]

    def finish(self, owner: object) -> None:
        """Do what is left, each step once; a step that fails again raises, and stays."""
        while self.steps:
            name, args, last = self.steps[0]
            getattr(owner, name)(*args, last)
            del self.steps[0]
