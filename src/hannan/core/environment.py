"""Environments: an adversary, its contexts and its horizon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from hannan.core.availability import check_available
from hannan.core.errors import OrderError, ParameterError
from hannan.core.oracle import Oracle
from hannan.core.params import Parametrised, short
from hannan.core.policy import Action, loss_of
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray


class Feedback(Enum):
    """What a learner is shown after it has acted."""

    FULL = "full"  # the losses of all elements
    BANDIT = "bandit"  # the loss of the chosen action, or of each chosen element
    SEMI_BANDIT = "bandit"  # another name for BANDIT

    @classmethod
    def _missing_(cls, value: object) -> Any:
        """Other words for the same."""
        return cls.BANDIT if value in ("semi", "semi-bandit") else None


class Round:
    """One round: the context, and losses fixed before the learner acts.

    Attributes
    ----------
    context
        What the learner is told before it acts.
    delay
        How many further rounds are played before the learner learns from this one.
    weight
        How much the round counts: 1, but where play is only estimated from a log. The estimate of
        a mean loss is Σ weight · loss / Σ weight.
    current
        The action that was really taken, where data tell what a present system did.
    available
        The actions that are there, sorted, or the elements that sets may be made of; None where all
        are. What the losses say of others does not matter.

    Examples
    --------
    >>> this_round = Round("rain", np.array([0.2, 0.7]))
    >>> this_round.losses
    Traceback (most recent call last):
    ...
    hannan.core.errors.OrderError: The losses of a round are hidden until an action is revealed...
    >>> this_round.reveal(1, Feedback.BANDIT), this_round.loss
    (0.7, 0.7)
    """

    __slots__ = ("_losses", "action", "available", "context", "current", "delay", "weight")

    def __init__(
        self,
        context: Any,
        losses: FloatArray,
        delay: int = 0,
        current: Action | None = None,
        available: Any = None,
    ) -> None:
        self.context = context
        self.delay = delay
        self.current = current
        self.available: IntArray | None = (
            None if available is None else check_available(self, available, len(losses))
        )
        self.weight = 1.0
        self._losses = losses
        self.action: Action | None = None

    def reveal(
        self, action: Action, feedback: Feedback = Feedback.FULL
    ) -> FloatArray | float | None:
        """Tell the round what was played; returns the feedback the rule allows.

        None means that nothing can be told: the learner does not learn from the round. The loss
        of an action or element that was not there is NaN.
        """
        if self.available is not None and not np.isin(action, self.available).all():
            raise ParameterError(
                f"Action {action!r} was played, and only {self.available.tolist()} were available: "
                "pass round.available to act(context, available=...)."
            )
        self.action = action
        if feedback is Feedback.FULL:
            return self._losses if self.available is None else self._completed(np.nan)
        if isinstance(action, int | np.integer):
            return float(self._losses[action])
        return self._losses[action]

    @property
    def losses(self) -> FloatArray:
        """All losses; only once the learner has acted.

        An action that was not there counts with the loss of the one played: so a policy is
        compared with the learner in those rounds alone in which its action was there. Elements of
        sets that were not there are NaN: what a set with one of them lost is not known, and no
        losses of elements would make it that of the set played.
        """
        if self.action is None:
            raise OrderError("The losses of a round are hidden until an action is revealed to it.")
        if self.available is None:
            return self._losses
        return self._completed(self.loss if self.comparable else np.nan)

    @property
    def comparable(self) -> bool:
        """Whether `losses` say what every policy is charged: not for sets with closed elements."""
        return self.available is None or isinstance(self.action, int | np.integer)

    @property
    def loss(self) -> float:
        """The loss of the action played."""
        if self.action is None:
            raise OrderError("A round has no loss until an action is revealed to it.")
        return loss_of(self._losses, self.action)

    @property
    def current_loss(self) -> float | None:
        """The loss of the action that was really taken; None where nothing tells of one."""
        return None if self.current is None else loss_of(self.losses, self.current)

    def _completed(self, value: float) -> FloatArray:
        """The losses, with one value for all actions that were not there."""
        found = np.full(len(self._losses), value)
        found[self.available] = self._losses[self.available]
        return found

    def __repr__(self) -> str:
        facts = [] if self.context is None else [f"context {_brief(self.context)}"]
        if self.action is not None:
            facts += [f"action {_brief(self.action)}", f"loss {self.loss:.4g}"]
            if self.weight != 1.0:
                facts.append(f"weight {self.weight:.4g}")
        return f"<round: {', '.join(facts)}>" if facts else "<round>"


class Environment(Parametrised, ABC):
    """A source of rounds.

    `rounds` is a generator: it fixes the losses of a round, yields it, and may look at
    `round.action` afterwards. So an adaptive adversary knows all past play and none of the
    learner's present randomness.
    """

    oblivious: ClassVar[bool] = True
    """Whether the rounds never depend on what is played, nor what policies are charged in them.

    That is: not where rounds say which actions are available.
    """

    oracle: Oracle | None = None
    """A policy class to measure regret against, where the environment was made from one."""

    n_actions: int

    def meet(self, learner: Any) -> None:
        """Told who plays, before the first round of a game.

        An adversary that knows the algorithm may ask `learner.would_play`, and nothing else.
        """

    @property
    def horizon(self) -> int | None:
        """The number of rounds where it is fixed, else None."""
        return None

    @property
    def contexts(self) -> Sequence[Any] | None:
        """The contexts that may arrive, where they are known."""
        return None

    @abstractmethod
    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """The rounds of one game."""


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(
            value, max_line_width=1000, precision=3, separator=", ", threshold=6, edgeitems=2
        )
    return str(value) if isinstance(value, np.generic) else short(value)
