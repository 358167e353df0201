"""A world that kills the process that first plays it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import hannan as hn


class Assassin(hn.environments.PlantedPolicy):
    """PlantedPolicy; but once, in the middle of a game, its process is killed.

    A file that does not exist yet says that it has not happened.
    """

    def __init__(self, oracle, mark):
        super().__init__(oracle)
        self.mark = mark

    def rounds(self, horizon, rng):
        for t, this_round in enumerate(super().rounds(horizon, rng)):
            if t == horizon // 2 and os.getpid() != self._spared() and self._first():
                os.kill(os.getpid(), signal.SIGKILL)
            yield this_round

    def _spared(self):
        """The process that must live: the one that started the run."""
        return int(Path(self.mark).with_suffix(".pid").read_text())

    def _first(self):
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
