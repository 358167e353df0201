"""Policies: maps from contexts to actions."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Action = int | NDArray[np.intp]


class Policy(ABC):
    """A map from contexts to actions: `policy(context)`.

    An action is an int if one element is chosen, else the sorted indices of the chosen elements.
    Problems without contexts call `policy(None)`.
    """

    @abstractmethod
    def __call__(self, context: Any = None) -> Action:
        """Return the action of this policy for a context."""


def loss_of(losses: Any, action: Action) -> float:
    """Return the loss of an action: the sum over its elements, or the value of a loss function."""
    if not isinstance(losses, np.ndarray):
        return float(losses(action))
    if isinstance(action, int):
        return losses.item(action)  # type: ignore[no-any-return]
    return float(np.add.reduce(losses[action]))


def same_action(a: Action, b: Action) -> bool:
    """Return whether two actions choose the same elements."""
    if type(a) is int and type(b) is int:
        return a == b
    return bool(np.array_equal(a, b))
