"""Learners that may be told late what their actions have cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core.arrays import as_rows
from hannan.core.available import IntArray
from hannan.core.decision import Decision, context_key, open_number
from hannan.core.errors import ParameterError
from hannan.core.learner import Learner
from hannan.core.policy import Action
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray


@dataclass(slots=True)
class OpenRound(Stored):
    """A round in flight, with what the learner needs of the moment it was decided."""

    context: Any
    action: Action
    kept: Any
    stands: IntArray | None = None  # what is played for each action, where some were not there
    chosen: int = -1  # what the learner chose then, for which `action` was played


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

    def decide(self, context: Any = None, available: Any = None) -> Decision:
        """An action as a ticket, to be answered by `update(loss, decision=…)` at any time.

        Parameters
        ----------
        context, available
            As for `act`.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.Hedge([[0], [1]], seed=0)
        >>> first, second = learner.decide(0), learner.decide(0)
        >>> learner.update([1.0, 0.0], decision=second)
        >>> learner.open_decisions
        [0]
        """
        checked = self._check_context(context, int(self._open is not None))
        there = None if available is None else self._check_available(available)
        return self._decide(checked, there)

    def decide_many(
        self, contexts: Iterable[Any], available: Iterable[Any] | None = None
    ) -> list[Decision]:
        """A decision for each of several contexts, all from the same state.

        Parameters
        ----------
        contexts
            As for `act`.
        available
            For each of them what is there, or None.
        """
        first = int(self._open is not None)
        given = enumerate(as_rows(contexts), first)
        checked = [self._check_context(context, i) for i, context in given]
        there = check_each(self, available, len(checked))
        return [self._decide(context, some) for context, some in zip(checked, there, strict=True)]

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
            if ticket.stands is None:
                self._update(ticket.context, ticket.action, loss)
                self._remember(ticket.context, ticket.action, loss)
            else:
                self._update_restricted(ticket.context, ticket.chosen, loss, ticket.stands)
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

    def _inverse_propensities(self, alike: IntArray | None = None) -> FloatArray:
        """The inverse propensities of what `_act` chose, where they are known.

        Of all choices `alike` together, where the same was played for each of them.
        """
        return np.empty(0)

    def _decide(self, context: Any, available: IntArray | None = None) -> Decision:
        now, draw = self._keep(), self._draw
        if self._open is not None and self._numbered is not self._open:
            self._advance()  # the open round's number is not to be used again
        self._aside, self._open = self._open, None
        try:
            ticket = self._chosen(context, available)
            alike = None
            if ticket.stands is not None and not self._ordered:
                alike = np.flatnonzero(ticket.stands == ticket.action)
            weights = self._inverse_propensities(alike)
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
        self._tickets[number] = ticket
        return Decision(number, context, ticket.action, weights, available)

    def _chosen(self, context: Any, available: IntArray | None) -> OpenRound:
        if available is None:
            action = self._act(context)
            return OpenRound(context, action, self._keep())
        chosen, stands = self._act_restricted(context, available)
        return OpenRound(context, int(stands[chosen]), self._keep(), stands, chosen)

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


def check_each(learner: Any, available: Any, count: int) -> list[IntArray | None]:
    """What is there on each of several contexts, checked."""
    if available is None:
        return [None] * count
    given = list(available)
    if len(given) != count:
        raise ParameterError(
            f"decide_many needs available= for each of {count} contexts, a list with None where "
            f"all actions are there; got {len(given)}."
        )
    return [None if some is None else learner._check_available(some) for some in given]
