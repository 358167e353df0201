"""Starting over when the world has changed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

from hannan.core import Action, Decision, InputTypeError, Learner, ParameterError, Policy
from hannan.core.arrays import as_rows
from hannan.core.available import IntArray, awake, filled_in, standing_in
from hannan.core.decision import context_key, open_number
from hannan.core.late import check_each
from hannan.core.propensities import Propensities
from hannan.core.stored import Stored
from hannan.core.validation import check_integer, refuse
from hannan.detectors import Bernstein
from hannan.learners.certificate import Certificate, SemiBanditCertificate
from hannan.learners.watch import Watch


class Restarting(Learner):
    r"""Plays through a learner and replaces it by a fresh one when drift is found.

    After each round a detector is shown :math:`(\ell - \hat\ell)^2 - \hat\ell(1 - \hat\ell)`, the
    squared error of a prediction of the played action's loss, made before it was learned, less
    what a coin with that mean would show. When it finds that this has risen, the learner, its
    predictor and the detector start anew. Until the first restart the play is that of the learner
    alone.

    Parameters
    ----------
    learner
        What plays; a copy of it, with nothing learned.
    detector
        By default `detectors.Bernstein()`. Any object will do whose `update(value)` returns
        whether there is drift, or which says so in an attribute `drift_detected` afterwards, as
        river's do; values lie in [0, 1] if the learner has a `loss_range`. Detectors that also
        answer to falling errors, such as river's own ADWIN, restart because a learner learns:
        `detectors.Adwin` does not.
    predictor
        Whose errors are watched: by default the learner's own predictor, and where it has none
        the loss itself takes the place of the error. One given here learns beside the learner
        and never changes what is played.
    max_restarts
        At most so many restarts; by default as many as are asked for.

    Attributes
    ----------
    restarts
        After how many rounds each restart came.

    Guarantee
    ---------
    With max_restarts=m, and a learner whose expected regret against a fixed policy is of order
    :math:`\sqrt T`: at most :math:`\sqrt{m+1}` times that, plus m + 1 times what is constant in
    it, whatever the detector does; against the best policy of each segment in place of a fixed
    one with full information. That is the bound: regret itself may grow m + 1 times. Without a
    cap an adversary can force a restart every hundred rounds, and only the certificate, a sum
    over segments, remains. That restarts come when they should is not guaranteed: drift need not
    show in the losses of what is played.

    Examples
    --------
    >>> import hannan as hn
    >>> base = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.AllPolicies(2, 3), predictor=hn.predictors.Mean(), seed=0
    ... )
    >>> learner = hn.Restarting(base, max_restarts=3)
    >>> for t in range(600):
    ...     action = learner.act(t % 2)
    ...     learner.update(float(action != (0 if t < 300 else 2)))
    >>> learner.restarts
    [313]
    >>> learner.best_policy()(0)
    2

    References
    ----------
    [syrgkanis2016], [bifet2007]
    """

    def __init__(
        self,
        learner: Learner,
        detector: Any = None,
        *,
        predictor: Any = None,
        max_restarts: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner, such as ContextFTPL(oracle)", learner)
        if detector is not None and not callable(getattr(detector, "update", None)):
            raise refuse(self, "detector", "an object with update(value)", detector)
        if getattr(learner, "perturbation", None) == "playout":
            raise ParameterError(
                "Restarting cannot play through a learner with perturbation='playout': its noise "
                "belongs to a sequence of contexts known from its first round on, which a learner "
                "started later does not have. Use perturbation='laplace'."
            )
        self.learner = learner
        self.detector = detector
        self.predictor = predictor
        self.max_restarts = (
            None if max_restarts is None else check_integer(self, "max_restarts", max_restarts, 0)
        )
        self.oracle = learner.oracle
        self.feedback = learner.feedback  # type: ignore[misc]
        self.restarts: list[int] = []
        self._player: Any = learner.clone()
        self._watch = self._new_watch()
        self._news: tuple[Any, ...] | None = None
        self._alarm = False
        self._acted_in = 0
        self._tickets: dict[int, _Ticket] = {}
        self._next_id = 0
        self._forgotten = 0
        self._closed: list[Any] = []
        self._closed_bounds: list[float | None] = []
        self._past_calls = 0
        self._late = 0
        self._late_loss = 0.0

    @property
    def loss_range(self) -> tuple[float, float] | None:
        """That of the learner at work."""
        found: tuple[float, float] | None = getattr(self.learner, "loss_range", None)
        return found

    def fresh(self, number: int) -> Self:
        """A new learner like this one, with nothing learned and randomness of its own."""
        return self.clone(learner=self.learner.fresh(number))

    # The round --------------------------------------------------------------------------

    def _act(self, context: Any) -> Action:
        return self._act_inside(context)

    @property
    def _ordered(self) -> bool:
        return True  # the learner at work sees to it

    @property
    def _size(self) -> int | None:
        known: int | None = self._player._size
        return known

    def _act_among(self, context: Any, available: IntArray) -> int:
        return int(self._act_inside(context, available))

    def _act_inside(self, context: Any, available: IntArray | None = None) -> Action:
        action: Action = self._player.act(context, available)
        self._acted_in = len(self.restarts)
        self._count_calls()
        return action

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        """What copies of the learner at work would play on a context now."""
        checked = self._check_context(context)
        found: list[Action] = self._player.would_play(checked, copies, seed, available)
        return found

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        there = None if self._stands is None else awake(self._stands)
        if self._acted_in < len(self.restarts):
            self._drop(action, loss)
        else:
            self._learn(context, action, loss, there)

    def _learn(
        self, context: Any, action: Action, loss: Any, there: IntArray | None, **answer: Any
    ) -> None:
        expected = self._watch.expect(context, action)
        self._player.update(loss, **answer)
        self._news = context, action, loss, expected, there
        self._count_calls()

    def _look_for_drift(self) -> None:
        """Only after a round has been counted: what fails here leaves no round half answered."""
        news, self._news = self._news, None
        if self.max_restarts is not None and len(self.restarts) >= self.max_restarts:
            return
        if news is not None and self._watch.drift(*news):
            self._alarm = True
        if self._alarm:
            self._restart()

    def _restart(self) -> None:
        successor = self._player.fresh(len(self.restarts) + 1)
        bound = self._player.regret_bound()
        if hasattr(self._player, "certificate"):
            self._closed.append(self._player.certificate())
        self._closed_bounds.append(bound)
        self._past_calls += self._player.oracle_calls
        self._player = successor
        self._watch = self._new_watch()
        self._alarm = False
        self.restarts.append(self.rounds)
        self._count_calls()

    def _drop(self, action: Action, loss: Any) -> None:
        """The loss of a decision made before a restart: counted, and of no use to the new one."""
        self._late_loss += self._cost(action, loss)
        self._late += 1

    # Decisions, where the learner makes them --------------------------------------------

    def decide(self, context: Any = None, available: Any = None) -> Decision:
        """An action as a ticket, to be answered by `update(loss, decision=…)` at any time.

        One answered only after a restart counts as a round, but nothing is learned from it.
        """
        player = self._able("decide")
        made: Decision = player.decide(self._check_context(context), available)
        self._count_calls()
        number = self._next_id
        self._next_id += 1
        self._tickets[number] = _Ticket(made, len(self.restarts))
        return dataclasses.replace(made, id=number)

    def decide_many(
        self, contexts: Iterable[Any], available: Iterable[Any] | None = None
    ) -> list[Decision]:
        """A decision for each of several contexts, all from the same state."""
        self._able("decide")
        checked = [self._check_context(context, i) for i, context in enumerate(as_rows(contexts))]
        there = check_each(self, available, len(checked))
        return [self.decide(context, some) for context, some in zip(checked, there, strict=True)]

    def update(self, loss: Any, decision: Decision | int | None = None) -> None:
        """Learn what was seen, and look for drift.

        Parameters
        ----------
        loss
            As the learner takes it.
        decision
            The ticket (or its id) the loss belongs to; None for the round `act` opened.
        """
        if decision is None:
            super().update(loss)
        else:
            self._answer(self._number(decision), loss)
        self._look_for_drift()

    def _answer(self, number: int, loss: Any) -> None:
        ticket = self._tickets[number]
        if ticket.segment < len(self.restarts):
            self._drop(ticket.action, ticket.complete(loss, self._size))
        else:
            there, number_there = ticket.decision.available, ticket.decision.id
            self._learn(ticket.context, ticket.action, loss, there, decision=number_there)
        del self._tickets[number]
        self.rounds += 1

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss."""
        number = self._number(decision)
        ticket = self._tickets[number]
        if ticket.segment == len(self.restarts):
            self._player.forget(ticket.decision.id)
        del self._tickets[number]
        self._forgotten += 1

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the decisions not answered yet."""
        return list(self._tickets)

    def propensities(
        self, context: Any = None, draws: int = 1000, available: Any = None
    ) -> Propensities:
        """The probability of each element to be chosen on a context now."""
        player = self._able("propensities")
        found: Propensities = player.propensities(self._check_context(context), draws, available)
        return found

    # What can be said -------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """The best policy for the losses since the last restart."""
        found: Policy = self._able("best_policy").best_policy()
        return found

    def certificate(self) -> Certificate | SemiBanditCertificate:
        """What can be said about regret so far: the learner's certificates, added up.

        With full information it is about regret against the best policy of each segment; a
        statement stands only where it stands for all segments.
        """
        current: Certificate | SemiBanditCertificate = self._able("certificate").certificate()
        if not self._closed:
            return current
        m = len(self.restarts)
        notes = [f"{m} restarts: statements are sums over {m + 1} segments"]
        if self.max_restarts is None:
            notes.append("restarts were not capped: nothing is promised in advance")
        total = _add_up([*self._closed, current], notes)
        found: Certificate | SemiBanditCertificate
        found = self._with_late_losses(total) if self._late else total
        return found

    def regret_bound(self) -> float | None:
        """What theory promises for expected regret so far, over all segments together.

        For a learner that tunes itself that takes max_restarts, whether or not they came.
        """
        most, player = self.max_restarts, self._player
        bounds: list[float | None] = [*self._closed_bounds, player.regret_bound()]
        if self._late or None in bounds:
            return None
        if most == 0:
            return bounds[0]
        if isinstance(getattr(player, "learner", None), Learner):
            return None  # what is proved of a learner in a learner need not add up
        if self.rounds and hasattr(player, "_worst_case"):
            worst: float | None = player._worst_case(self.rounds, most or 0)
            if worst is not None:
                return worst if most is not None and worst < math.inf else None
        return sum(bound for bound in bounds if bound is not None)

    # Parts ------------------------------------------------------------------------------

    @property
    def _clock(self) -> int:
        return self.rounds + len(self._tickets) + self._forgotten

    def _new_watch(self) -> Watch:
        detector = Bernstein() if self.detector is None else self.detector
        return Watch(self._player, detector, self.predictor)

    def _count_calls(self) -> None:
        self.oracle_calls = self._past_calls + self._player.oracle_calls

    def _able(self, verb: str) -> Any:
        if not hasattr(self._player, verb):
            raise InputTypeError(f"{type(self.learner).__name__} has no {verb}().")
        return self._player

    def _number(self, decision: Decision | int) -> int:
        return open_number(decision, self._tickets, self._next_id, self._key)

    def _key(self, context: Any) -> Hashable:
        return context_key(context) if self.oracle is None else self.oracle.key(context)

    def _cost(self, action: Action, loss: Any) -> float:
        cost: float = self._player._cost(action, loss)
        return cost

    def _with_late_losses(self, total: Any) -> Any:
        """Rounds that no segment has learned are counted; nothing is said about their regret."""
        known = {"rounds": total.rounds + self._late, "loss": total.loss + self._late_loss}
        void = dict.fromkeys(f.name for f in dataclasses.fields(total) if f.default is None)
        note = f"{self._late} losses came after a restart and were not learned: statements void"
        return dataclasses.replace(total, **known, **void, notes=(*total.notes, note))


@dataclasses.dataclass(slots=True)
class _Ticket(Stored):
    """A decision of the learner that played in a segment, under the number it has there."""

    decision: Decision
    segment: int

    @property
    def context(self) -> Any:
        return self.decision.context

    @property
    def action(self) -> Action:
        return self.decision.action

    def complete(self, loss: Any, n_actions: int | None) -> Any:
        """The loss, with what was played for actions that were not there."""
        there, action = self.decision.available, self.decision.action
        if there is None or n_actions is None or not isinstance(action, int):
            return loss
        return filled_in(loss, standing_in(there, action, n_actions))


def _add_up(certificates: Sequence[Any], notes: Sequence[str]) -> Any:
    """The sum of certificates of segments; None where one of them has nothing to say.

    High-probability statements keep their confidence: each adds a bound on the deviation of one
    and the same martingale to something certain, and the sum of the bounds is at least the bound
    for the whole game.
    """
    last = certificates[-1]
    total: dict[str, Any] = {}
    for field in dataclasses.fields(last):
        values = [getattr(certificate, field.name) for certificate in certificates]
        if field.name == "notes":
            total["notes"] = (*dict.fromkeys(note for found in values for note in found), *notes)
        elif field.name != "confidence":
            total[field.name] = None if None in values else sum(values)
    return dataclasses.replace(last, **total)
