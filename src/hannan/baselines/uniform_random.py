"""Uniform random play."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, Self

import numpy as np

from hannan.core import Action, ContextError, Learner, Menu, OpenRound
from hannan.core.availability import Availability
from hannan.core.learner import learner_rng
from hannan.core.policy import loss_of
from hannan.core.state import Count, Generator, State
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_loss_range,
    check_losses,
    check_seed,
)


class Unlearned(Availability):
    """Availability for a learner that accepts any feedback and learns from none."""

    def note(self, opened: OpenRound, losses: Any, full: bool) -> None:
        pass


class UniformRandom(Learner):
    r"""Play each of K actions with probability 1/K in every round.

    If some actions are unavailable, the learner plays each available action with equal probability.
    It does not learn, so `update` accepts the losses of all actions or the loss of the chosen
    action.

    Parameters
    ----------
    n_actions
        Number of actions K. None for actions with features, which each round offers.
    seed
        Seed of the sampled actions, an integer >= 0. None (default) uses fresh entropy.
    loss_range
        Range (low, high) of the losses, (0, 1) by default. None accepts any finite losses.

    Guarantee
    ---------
    The expected loss is the mean loss over the actions.

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

    learns = False  # `update` takes either feedback
    _scores_actions = True

    stored = State(_rng=Generator())

    class Round(OpenRound):
        """A round with the number of available actions."""

        choices: int = 1

        stored = State(choices=Count(low=1))

        @property
        def inverse(self) -> FloatArray:
            """Inverse propensity of the action."""
            return np.array([float(self.choices)])

    def __init__(
        self,
        n_actions: int | None,
        *,
        seed: int | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
    ) -> None:
        super().__init__()
        known = n_actions is not None
        self.n_actions = check_integer(self, "n_actions", n_actions, 1) if known else None
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._rng = learner_rng(seed)
        self._availability = Unlearned()

    @property
    def takes_items(self) -> bool:
        """Whether each round offers its actions."""
        return self.n_actions is None

    def actions_on(self, context: Any) -> int:
        return self.n_actions or len(context)

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        if not self.takes_items:
            return super().check_context(context, ahead)
        if not isinstance(context, Menu):
            raise ContextError(
                "UniformRandom(None) needs the actions of the round: call act(actions=rows)."
            )
        return context

    def _prepare(self, opened: Round) -> None:
        some, K = opened.available, self.actions_on(opened.context)
        opened.choices = K if some is None else len(some)

    def _act(self, opened: Round) -> None:
        some, place = opened.available, int(self._rng.integers(opened.choices))
        opened.play(place if some is None else int(some[place]))

    def _update(self, opened: Round, loss: Any) -> None:
        self._check(loss, self.actions_on(opened.context))

    def _action_distribution(self, opened: Round) -> FloatArray:
        some, K = opened.available, self.actions_on(opened.context)
        if some is None:
            some = np.arange(K)
        return np.bincount(some, minlength=K) / opened.choices

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._rng = rng
        return twin

    def loss_suffered(self, action: Action, loss: Any) -> float:
        known = None if isinstance(loss, Real) else np.size(loss)
        K = self.n_actions or known or np.max(action) + 1
        return loss_of(self._check(loss, int(K)), action)

    def _check(self, loss: Any, n_actions: int) -> FloatArray:
        """Return the losses of all actions; a single loss counts for all of them."""
        if isinstance(loss, Real):
            loss = np.full(n_actions, loss)
        return check_losses(loss, n_actions, self._range)[0]
