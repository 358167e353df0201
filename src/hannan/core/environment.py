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
    """The losses that a learner observes after it has acted."""

    FULL = "full"  # the losses of all elements
    BANDIT = "bandit"  # the loss of the chosen action, or one loss per chosen element
    SEMI_BANDIT = "bandit"  # another name for BANDIT

    @classmethod
    def _missing_(cls, value: object) -> Any:
        """Accept other names of bandit feedback."""
        return cls.BANDIT if value in ("semi", "semi-bandit") else None


class Round:
    """One round: the context, and losses fixed before the learner acts.

    Attributes
    ----------
    context
        Information that the learner sees before it acts.
    delay
        Number of further rounds that are played before the learner learns from this round.
    weight
        Weight of the round: 1, except in estimates from a log. The estimate of a mean loss is Σ
        weight · loss / Σ weight.
    current
        Action of your current rule in this round, if the data record it; else None.
    available
        Sorted indices of the available actions, or of the elements that sets may contain; None if
        all are available. The losses of unavailable actions do not matter.

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
        """Record the action played, and return the feedback that the learner observes.

        None means that there is no feedback: the learner does not learn from the round. The loss of
        an unavailable action or element is NaN.
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
        """All losses; before the learner acts, this raises an `OrderError`.

        An unavailable action has the loss of the action played. A policy is therefore compared with
        the learner only in the rounds in which the policy's action was available. Unavailable
        elements of sets are NaN: the loss of a set that contains one is unknown, and no losses of
        elements would make it equal to the loss of the set played.
        """
        if self.action is None:
            raise OrderError("The losses of a round are hidden until an action is revealed to it.")
        if self.available is None:
            return self._losses
        return self._completed(self.loss if self.comparable else np.nan)

    @property
    def comparable(self) -> bool:
        """Whether `losses` define every policy's loss: not for sets with unavailable elements."""
        return self.available is None or isinstance(self.action, int | np.integer)

    @property
    def loss(self) -> float:
        """Loss of the action played."""
        if self.action is None:
            raise OrderError("A round has no loss until an action is revealed to it.")
        return loss_of(self._losses, self.action)

    @property
    def current_loss(self) -> float | None:
        """Loss of your current rule's action, or None if it is not recorded."""
        return None if self.current is None else loss_of(self.losses, self.current)

    def _completed(self, value: float) -> FloatArray:
        """Return the losses, with one value for all unavailable actions."""
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

    `rounds` is a generator: it fixes the losses of a round, yields the round, and may read
    `round.action` afterwards. An adaptive adversary therefore knows all past actions, but not the
    learner's present random numbers.
    """

    oblivious: ClassVar[bool] = True
    """Whether neither the rounds nor the losses charged to policies depend on the actions played.

    An environment whose rounds restrict the available actions is not oblivious.
    """

    oracle: Oracle | None = None
    """Policy class for measuring regret, if the environment was made from one; else None."""

    n_actions: int

    def meet(self, learner: Any) -> None:
        """Receive the learner before the first round of a run.

        An adversary that knows the algorithm may call `learner.would_play`, and nothing else.
        """

    @property
    def horizon(self) -> int | None:
        """Number of rounds if it is fixed, else None."""
        return None

    @property
    def contexts(self) -> Sequence[Any] | None:
        """Contexts that may arrive if they are known, else None."""
        return None

    @abstractmethod
    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Yield the rounds of one run."""


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(
            value, max_line_width=1000, precision=3, separator=", ", threshold=6, edgeitems=2
        )
    return str(value) if isinstance(value, np.generic) else short(value)
