"""What a semi-bandit learner measures of a round when it adds its loss estimate."""

from __future__ import annotations

from hannan.core import Objective
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray
from hannan.learners.speaking_bandit import SpeakingBandit
from hannan.learners.substituted import restricted, settle
from hannan.learners.tickets import Ticket


class MeasuringBandit(SpeakingBandit):
    """Instability and what hints cost, by an independent draw or by the law itself.

    Where scores decide among the actions there, both are those of what is played. Where a
    substitute stands in they are those of the choices: estimates are equal for choices that lead
    to the same.
    """

    resampling: str
    _signed: bool

    def _absorb(self, ticket: Ticket, residual: FloatArray) -> None:
        """Add baseline + residual; measure with an independent draw what instability costs."""
        context, base = ticket.context, ticket.baseline
        estimate = residual if base is None else base + residual
        if not self._adaptive and ticket.hint is None:
            self._history.add(context, estimate)
            return
        draw, scale = self._draw, self._scale
        before = self._history if base is None else self._history.tilted(context, base)
        before = self._sorted_view(ticket, before)
        if self.resampling in ("auto", "exact"):
            q = before.law(context, self._fakes, scale)
            if q is not None:
                self._absorb_exactly(ticket, residual, estimate, q)
                return
        calm = before.action(context, self._fakes, draw, scale)
        self.oracle_calls += 1
        boldness = 0.0
        if ticket.hint is not None:
            bold = self._played(ticket).action(context, self._fakes, draw, scale)
            boldness = loss_of(estimate, bold) - loss_of(estimate, calm)
            self.oracle_calls += 1
        at_first = loss_of(residual, calm)
        instability = 0.0
        if at_first == 0.0 and not self._signed:
            # The new leader then suffers nothing either: it would not have been preferred.
            self._history.add(context, estimate)
        else:
            if self._adaptive:
                _ = self._G  # found now, so that a failing oracle leaves the totals alone
            noise = self._fakes, draw, scale
            after = settle(self._history, context, estimate, noise, ticket.stands)
            self.oracle_calls += 1
            instability = max(0.0, at_first - loss_of(residual, after))
        self._draw += 1
        self._measured(ticket, boldness, instability)

    def _absorb_exactly(
        self, ticket: Ticket, residual: FloatArray, estimate: FloatArray, calm: FloatArray
    ) -> None:
        """The same with laws in place of draws: `calm` is the law of the unhinted action."""
        context, scale = ticket.context, self._scale
        tilted = self._sorted_view(ticket, self._history.tilted(context, estimate))
        after = tilted.law(context, self._fakes, scale)
        assert after is not None
        instability = max(0.0, float(residual @ (calm - after)))
        self.oracle_calls += 2
        boldness = 0.0
        if ticket.hint is not None:
            bold = self._played(ticket).law(context, self._fakes, scale)
            assert bold is not None
            boldness = float(estimate @ (bold - calm))
            self.oracle_calls += 1
        self._history.add(context, estimate)
        self._measured(ticket, boldness, instability)

    def _measured(self, ticket: Ticket, boldness: float, instability: float) -> None:
        """Charge the hint's budget with what it cost, and self-tuning with the instability."""
        if ticket.hint is not None and self._advice is not None:
            self._advice.S += boldness
            self._advice.over += instability
        if self._adaptive:
            self._tune(instability)

    def _sorted_view(self, ticket: Ticket, total: Objective) -> Objective:
        return restricted(total, ticket.context, ticket.stands) if self._ordered else total
