"""Losses that are functions of the whole action, not sums over its elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.stored import NO_STATE


class LossFunction(Parametrised, ABC):
    """A loss f(action) of a set of elements, for oracles that take such losses."""

    n_actions: int
    """K, the number of elements."""

    stored = NO_STATE
    room_for = ("n",)

    @abstractmethod
    def __call__(self, action: Action) -> float:
        """Return the loss of choosing these elements."""

    @abstractmethod
    def extremes(self) -> tuple[float, float]:
        """Return a lower and an upper bound on the loss over all actions."""


Losses = Any
"""A loss vector [K], or a `LossFunction`."""
