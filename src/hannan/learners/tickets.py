"""Rounds in flight: decisions whose feedback comes late, out of order or never."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Action, Decision
from hannan.core.arrays import as_rows
from hannan.core.available import IntArray
from hannan.core.decision import open_number
from hannan.core.late import check_each
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.learners.perturbed_leader import PerturbedLeader


@dataclass(slots=True)
class Ticket(Stored):
    """A round in flight: all that its loss estimate will need."""

    context: Any
    action: Action
    limit: int  # L, or 0 where the weights are exact
    scale: float
    hint: FloatArray | None
    baseline: FloatArray | None
    weights: Any = None  # one for each chosen element; a number for a single action
    stands: IntArray | None = None  # what is played for each action, where some were not there


class TicketedLeader(PerturbedLeader):
    """A perturbed leader that may have many rounds open at once.

    Weights always come from the state at decision time: drawn then for tickets, and when the loss
    comes for the immediate form `act`/`update`, unless something else is learned in between.
    """

    _current: Ticket | None
    _tickets: dict[int, Ticket]
    _next_id: int
    _forgotten: int
    _decided: int
    _delayed: bool

    def _open_tickets(self) -> None:
        self._current = None
        self._tickets = {}
        self._next_id = 0
        self._forgotten = 0
        self._decided = 0
        self._delayed = False

    @abstractmethod
    def _choose(self, context: Any, pending: int, available: IntArray | None = None) -> Ticket:
        """Decide on a context while `pending` other rounds are open."""

    @abstractmethod
    def _weigh(self, ticket: Ticket, needed: Any = None) -> None:
        """Draw the weights of the chosen elements."""

    @abstractmethod
    def _learn(self, ticket: Ticket, losses: Any) -> None:
        """Learn what the chosen elements cost."""

    @abstractmethod
    def _check_loss(self, action: Action, loss: Any) -> Any:
        """The losses of the chosen elements, checked."""

    def decide(self, context: Any = None, available: Any = None) -> Decision:
        """An action as a ticket, to be answered by `update(loss, decision=…)` at any time.

        The weights are drawn now, from the state the action was drawn from, and are those of the
        action played among what is `available`.
        """
        open_now = self._current is not None
        pending = len(self._tickets) + open_now
        before = self._draw, self.oracle_calls, self._decided, self._delayed
        checked = self._check_context(context, int(open_now))
        there = None if available is None else self._check_available(available)
        ticket = self._choose(checked, pending, there)
        try:
            if ticket.weights is None:
                self._weigh(ticket)
        except BaseException:
            self._draw, self.oracle_calls, self._decided, self._delayed = before
            raise
        number = self._next_id
        self._next_id += 1
        self._tickets[number] = ticket
        weights = np.atleast_1d(np.array(ticket.weights, dtype=np.float64))
        return Decision(number, ticket.context, ticket.action, weights, there)

    def decide_many(
        self, contexts: Iterable[Any], available: Iterable[Any] | None = None
    ) -> list[Decision]:
        """A decision for each of several contexts, all from the same state.

        `available` says for each of them what is there, or None.
        """
        first = int(self._current is not None)
        given = enumerate(as_rows(contexts), first)
        checked = [self._check_context(context, i) for i, context in given]
        there = check_each(self, available, len(checked))
        return [self.decide(context, some) for context, some in zip(checked, there, strict=True)]

    def update(self, loss: Any, decision: Decision | int | None = None) -> None:
        """Learn what the chosen elements cost: a number, or one for each chosen element.

        Parameters
        ----------
        loss
            In the order of `action`.
        decision
            The ticket (or its id) the loss belongs to; None for the round `act` opened.
        """
        if decision is None:
            super().update(loss)
            return
        number = self._number(decision)
        ticket = self._tickets[number]
        losses = self._check_loss(ticket.action, loss)
        if self._current is not None and self._current.weights is None:
            # The open round's weights belong to the state before this update.
            self._weigh(self._current)
        self._answer(ticket, losses)
        del self._tickets[number]
        self.rounds += 1

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss."""
        del self._tickets[self._number(decision)]
        self._forgotten += 1

    @property
    def _clock(self) -> int:
        return self.rounds + len(self._tickets) + self._forgotten

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the decisions not answered yet."""
        return list(self._tickets)

    def _act(self, context: Any) -> Action:
        # A round that was open is dropped, so it is not waited for.
        self._current = self._choose(context, pending=len(self._tickets))
        return self._current.action

    def _act_restricted(self, context: Any, available: IntArray) -> tuple[int, IntArray]:
        self._current = ticket = self._choose(context, len(self._tickets), available)
        assert ticket.stands is not None
        assert isinstance(ticket.action, int)
        return ticket.action, ticket.stands

    def _update_restricted(self, context: Any, action: Action, loss: Any, stands: IntArray) -> None:
        self._update(context, action, loss)  # the ticket knows what was there

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        assert self._current is not None
        self._answer(self._current, self._check_loss(action, loss))
        self._current = None

    def _remember(self, *seen: Any) -> None:
        """Rounds are remembered where they are learned, late or not."""

    def _answer(self, ticket: Ticket, losses: Any) -> None:
        """Learn; if the oracle fails meanwhile, the round stays open as it was."""
        before = self._draw, self.oracle_calls, ticket.weights
        try:
            self._learn(ticket, losses)
        except BaseException:
            self._draw, self.oracle_calls, ticket.weights = before
            raise

    def _cost(self, action: Action, loss: Any) -> float:
        losses = self._check_loss(action, loss)
        return float(losses if isinstance(losses, float) else losses.sum())

    def _number(self, decision: Decision | int) -> int:
        return open_number(decision, self._tickets, self._next_id, self.oracle.key)
