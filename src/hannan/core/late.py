"""Learners that may be told late what their actions have cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core.decision import Decision, context_key, open_number
from hannan.core.learner import Learner
from hannan.core.policy import Action
from hannan.core.validation import FloatArray


@dataclass(slots=True)
class OpenRound:
    """A round in flight, with what the learner needs of the moment it was decided."""

    context: Any
    action: Action
    kept: Any


class LateLearner(Learner):
    """A learner that may have many rounds open at once.

    For those who learn a round from its context, action and loss alone: they learn losses in the
    order in which these arrive. What else `_update` needs of the moment of decision, such as the
    probability of the action, `_act` leaves in attributes that `_keep` takes and `_recall` puts
    back. Theory is for losses that come at once: where they did not, nothing is promised.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tickets: dict[int, OpenRound] = {}
        self._next_id = 0
        self._forgotten = 0
        self._aside: tuple[Any, Action] | None = None
        self._draw = 0
        self._numbered: tuple[Any, Action] | None = None
        self._delayed = False  # whether a round was learned while others were open

    def decide(self, context: Any = None) -> Decision:
        """An action as a ticket, to be answered by `update(loss, decision=…)` at any time.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.Hedge([[0], [1]], seed=0)
        >>> first, second = learner.decide(0), learner.decide(0)
        >>> learner.update([1.0, 0.0], decision=second)
        >>> learner.open_decisions
        [0]
        """
        return self._decide(self._check_context(context, int(self._open is not None)))

    def decide_many(self, contexts: Iterable[Any]) -> list[Decision]:
        """A decision for each of several contexts, all from the same state."""
        first = int(self._open is not None)
        checked = [self._check_context(context, i) for i, context in enumerate(contexts, first)]
        return [self._decide(context) for context in checked]

    def update(self, loss: Any, decision: Decision | int | None = None) -> None:
        """Learn the losses of a round.

        Parameters
        ----------
        loss
            As the learner takes it.
        decision
            The ticket (or its id) the loss belongs to; None for the round `act` opened.
        """
        if decision is None:
            opened = self._open
            super().update(loss)
            if self._numbered is not opened:
                self._advance()
            self._delayed |= bool(self._tickets)
            return
        number = self._number(decision)
        ticket = self._tickets[number]
        now = self._keep()
        self._recall(ticket.kept)
        try:
            self._update(ticket.context, ticket.action, loss)
        finally:
            self._recall(now)
        del self._tickets[number]
        self._delayed |= bool(self._tickets) or self._open is not None
        self.rounds += 1

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss."""
        del self._tickets[self._number(decision)]
        self._forgotten += 1

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the decisions not answered yet."""
        return list(self._tickets)

    @abstractmethod
    def _cost(self, action: Action, loss: Any) -> float:
        """What an action has cost, by a loss that `_update` would accept; else its error."""

    def _keep(self) -> Any:
        """What `_update` will need of this moment, just after `_act`."""
        return None

    def _recall(self, kept: Any) -> None:
        """Put back what `_keep` took."""

    def _inverse_propensities(self) -> FloatArray:
        """The inverse propensities of what `_act` chose, where they are known."""
        return np.empty(0)

    def _decide(self, context: Any) -> Decision:
        now, draw = self._keep(), self._draw
        if self._open is not None and self._numbered is not self._open:
            self._advance()  # the open round's number is not to be used again
        self._aside, self._open = self._open, None
        try:
            action = self._act(context)
            kept, weights = self._keep(), self._inverse_propensities()
        except BaseException:
            self._draw = draw
            raise
        finally:
            self._open, self._aside = self._aside, None
            self._recall(now)
        self._numbered = self._open
        self._advance()
        number = self._next_id
        self._next_id += 1
        self._tickets[number] = OpenRound(context, action, kept)
        return Decision(number, context, action, weights)

    def _advance(self) -> None:
        """Go on to the next number of noise: `_act` may draw its coins by the number `_draw`.

        A round that is acted on again keeps its number, and no two rounds share one.
        """
        self._draw += 1

    @property
    def _pending(self) -> int:
        """How many rounds wait for their losses while `_act` decides another one."""
        return len(self._tickets) + (self._aside is not None)

    @property
    def _clock(self) -> int:
        return self.rounds + len(self._tickets) + self._forgotten

    def _number(self, decision: Decision | int) -> int:
        return open_number(decision, self._tickets, self._next_id, self._context_key)

    def _context_key(self, context: Any) -> Hashable:
        return context_key(context) if self.oracle is None else self.oracle.key(context)
