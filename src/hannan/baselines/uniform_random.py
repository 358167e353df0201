"""Uniform play."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, Self

import numpy as np

from hannan.baselines._known_law import KnownLaw
from hannan.core import Action, LateLearner
from hannan.core.available import IntArray
from hannan.core.learner import own_coins
from hannan.core.policy import loss_of
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_loss_range,
    check_losses,
    check_seed,
)


class UniformRandom(KnownLaw, LateLearner):
    r"""Play each of K actions with probability 1/K, whatever happens.

    Where only some are there, each of them is as likely as the others. As nothing is learned,
    `update` takes the losses of all actions as well as that of the one played.

    Parameters
    ----------
    n_actions
        K.
    seed
        Fixes the play; None takes fresh entropy.
    loss_range
        Range of the losses, or None to accept any finite ones.

    Guarantee
    ---------
    Expected loss is the mean loss over the actions.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.UniformRandom(3, seed=0)
    >>> learner.act("any context") in (0, 1, 2)
    True

    References
    ----------
    None needed.
    """

    learns = False

    def __init__(
        self,
        n_actions: int,
        *,
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.n_actions = check_integer(self, "n_actions", n_actions, 1)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._rng = own_coins(seed)
        self._choices = self.n_actions

    def _act(self, context: Any) -> Action:
        self._choices = self.n_actions
        return int(self._rng.integers(self.n_actions))

    @property
    def _ordered(self) -> bool:
        return True

    def _act_among(self, context: Any, available: IntArray) -> int:
        self._choices = len(available)
        return int(available[self._rng.integers(self._choices)])

    def _chances(self, context: Any, available: IntArray | None) -> FloatArray:
        there = np.arange(self.n_actions) if available is None else available
        return np.bincount(there, minlength=self.n_actions) / len(there)

    def _twin(self, coins: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._rng = coins
        return twin

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        self._checked(loss)

    def _cost(self, action: Action, loss: Any) -> float:
        return loss_of(self._checked(loss), action)

    def _checked(self, loss: Any) -> FloatArray:
        """The losses of all actions; that of the action played may stand for them."""
        if isinstance(loss, Real):
            loss = np.full(self.n_actions, float(loss))
        return check_losses(loss, self.n_actions, self._range)[0]

    def _remember(self, *seen: Any) -> None:
        pass

    def _inverse_propensities(self, alike: IntArray | None = None) -> FloatArray:
        return np.array([float(self._choices)])
