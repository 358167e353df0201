"""Starting over when the world has changed."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Self

from hannan.core import Action, InputTypeError, Learner, ParameterError, Policy
from hannan.core.availability import PassedOn, complete
from hannan.core.kept import expect, is_action, is_count, is_number, same
from hannan.core.learner import Propensities
from hannan.core.rounds import Odds, OpenRound
from hannan.core.validation import check_integer, refuse
from hannan.learners.certificates import Certificate, SemiBanditCertificate, is_certificate
from hannan.learners.drift_monitor import DriftMonitor


class Restarting(Learner):
    r"""Plays through a learner and replaces it by a fresh one when drift is found.

    After each round a detector is shown :math:`(\ell - \hat\ell)^2 - \hat\ell(1 - \hat\ell)`, the
    squared error of a prediction of the played action's loss, made before it was learned, less
    the variance of a 0/1 loss with that mean. When it finds that this has risen, the learner, its
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
        `adapters.RiverDetector` makes them answer to rising errors only.
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
    [314]
    >>> learner.best_policy()(0)
    2

    References
    ----------
    [syrgkanis2016], [bifet2007]
    """

    class Round(OpenRound):
        segment: int = 0  # how many restarts had come
        inner: int | None = None  # the decision of the learner at work, where this is one too

        def check(self, n_actions: int | None, sets: bool) -> None:
            super().check(n_actions, sets)
            expect(
                self,
                segment=is_count(self.segment),
                inner=self.inner is None or is_count(self.inner),
            )

    _derived = frozenset({"_timed", "_most"})
    _varying = frozenset({"player", "_lesson", "_news", "_closed", "_closed_bounds", "restarts"})

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
        if learner.knows_future:
            raise ParameterError(
                f"Restarting cannot play through {type(learner).__name__}: its noise belongs to a "
                "sequence of contexts known from its first round on, which a learner started later "
                "does not have. Use ContextFTPL or ContextSemiBanditFTPL."
            )
        self.learner = learner
        self.detector = detector
        self.predictor = predictor
        self.max_restarts = max_restarts
        self._most = math.inf
        if max_restarts is not None:
            self._most = self.max_restarts = check_integer(self, "max_restarts", max_restarts, 0)
        self.oracle = learner.oracle
        self._timed = self.oracle is not None and self.oracle.timed
        self.feedback = learner.feedback  # type: ignore[misc]
        self.restarts: list[int] = []
        self._availability = PassedOn()
        self.player: Learner = learner.clone()  # the learner at work since the last restart
        self._monitor = self._new_monitor(self.player)
        # Of a round that the learner has learned: what the predictor and the detector have not.
        self._lesson: tuple[Any, ...] | None = None
        self._news: tuple[Any, ...] | None = None
        self._alarm = False  # whether a restart is due
        self._unfinished = False  # whether there is any of the three
        self._closed: list[Any] = []
        self._closed_bounds: list[float | None] = []
        self._past_calls = 0
        self._late = 0
        self._late_loss = 0.0

    def _check_stored(self) -> None:
        bounds = self._closed_bounds
        expect(
            self,
            player=same(self.player, self.learner, but=["seed"]),
            _monitor=self._monitor.watches(self.player),
            restarts=type(self.restarts) is list and all(map(is_count, self.restarts)),
            _closed=type(self._closed) is list and all(map(is_certificate, self._closed)),
            _closed_bounds=type(bounds) is list
            and len(bounds) == len(self.restarts)
            and all(bound is None or is_number(bound) for bound in bounds),
            _lesson=self._lesson is None or self._left(self._lesson, 4),
            _news=self._news is None or self._left(self._news, 3),
        )
        super()._check_stored()
        rounds: Any = self._ledger.waiting.values()
        inner = [opened.inner for opened in rounds if opened.segment == len(self.restarts)]
        expect(self, _ledger=len(set(inner)) == len(inner))  # no two wait for the same answer

    def _left(self, said: Any, size: int) -> bool:
        """Whether this can be left of the last round; a lesson begins with its context."""
        sets = self.oracle is not None and self.oracle.chooses_sets
        whole = type(said) is tuple and len(said) == size
        return whole and is_action(said[size - 3], self.action_count, sets)

    def check_round(self, opened: Round) -> None:
        super().check_round(opened)
        expect(self, round=opened.segment <= len(self.restarts))
        if opened.segment == len(self.restarts):
            player, inner = self.player, opened.inner
            waits = inner is None and player.current is not None
            expect(self, round=waits if opened.number is None else inner in player.open_decisions)

    @property
    def oracle_calls(self) -> int:  # type: ignore[override]
        """Those of all learners that have played."""
        return self._past_calls + self.player.oracle_calls

    @oracle_calls.setter
    def oracle_calls(self, count: int) -> None:
        """Calls are counted by who makes them."""

    def _state(self) -> dict[str, Any]:
        return super()._state() | {"oracle_calls": self.oracle_calls}

    @property
    def loss_range(self) -> tuple[float, float] | None:
        """That of the learner at work."""
        return getattr(self.learner, "loss_range", None)

    # The round --------------------------------------------------------------------------------

    # As any learner does, but for what the one at work does anyway. Nor do the two run the same
    # code in turns: Python adapts code to one kind of object, and is slower where there are two.

    def open_round(self, context: Any, available: Any = None) -> Any:
        ledger = self._ledger
        usual = available is None and ledger.current is None and not ledger.waiting
        if not usual or self._unfinished or self._timed:
            return super().open_round(context, available)
        made = self.player.open_round(context)
        opened = self.Round(made.context)
        opened.action, opened.segment = made.action, len(self.restarts)
        ledger.current = opened
        return opened

    def open_decision(self, context: Any, available: Any = None) -> Any:
        if available is not None or self._unfinished or self._timed:
            return super().open_decision(context, available)
        ledger = self._ledger
        ledger.check_room(1)
        opened = self.Round(context)
        opened.number, opened.late, opened.arrived_before = ledger.made, True, ledger.closed
        opened.segment = len(self.restarts)
        self._act(opened)
        ledger.enter(opened)
        return opened

    def close_round(self, decision: int | None, loss: Any) -> Any:
        ledger = self._ledger
        opened: Any = ledger.current if decision is None else ledger.waiting[decision]
        late = opened.segment < len(self.restarts)
        if late or self._unfinished or opened.plays is not None:
            return super().close_round(decision, loss)
        try:
            self._learn(opened, loss)
            self.rounds += 1
            ledger.close(opened)
        except BaseException as error:
            self._broken_off(error, opened)
            raise
        return opened

    def _prepare(self, opened: Round) -> None:
        if self._unfinished:
            self._look_for_drift(self.rounds)
        opened.segment = len(self.restarts)

    def _act(self, opened: Round) -> None:
        """What the learner at work plays; its own rounds wait for the same losses as these."""
        player = self.player
        some = None if opened.plays is None else opened.available
        if opened.number is None:
            made = player.open_round(opened.context, some)
        else:
            made = player.open_decision(opened.context, some)
            opened.inner, opened.odds = made.number, made.odds
        opened.action, opened.context = made.action, made.context

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner at work learn, and show the detector how wrong its prediction was."""
        if self._unfinished:
            self._look_for_drift(self.rounds)
        if opened.segment < len(self.restarts):  # of no use to the learner that plays now
            shown = loss if opened.plays is None else complete(loss, opened.plays)
            self._late_loss += self.player.loss_suffered(opened.action, shown)
            self._late += 1
            return
        self._learn(opened, loss)

    def _learn(self, opened: Round, loss: Any) -> None:
        """The learner at work learns a round; is there drift?

        What fails after it has learned is tried again before the next round, and fails then, if it
        must; by then the caller may have used its array again.
        """
        player, monitor = self.player, self._monitor
        action, inner = opened.action, opened.inner
        if monitor.asks or opened.plays is not None:
            expected = monitor.expect(opened.context, action, player.expected(inner))
            player.close_round(inner, loss)
        else:
            expected = player.close_round(inner, loss).values
        if len(self.restarts) < self._most:
            left = 2  # of what the monitor is shown
            try:
                if monitor.teaches:
                    monitor.learn(opened.context, action, loss, opened.available)
                left = 1
                if monitor.drift(action, loss, expected):
                    self._alarm, left = True, 0
                    self._restart(self.rounds + 1)
            except Exception:
                self._unfinished = True
                lesson = (opened.context, action, loss, opened.available) if left == 2 else None
                news = (action, loss, expected) if left else None
                self._lesson, self._news = copy.deepcopy((lesson, news))

    def _abandoned(self, opened: Round) -> None:
        if opened.inner is not None and opened.segment == len(self.restarts):
            self.player.forget(opened.inner)

    def _look_for_drift(self, rounds: int) -> None:
        """Do what is left of the last of so many rounds, each step once.

        A step that fails again is done next time.
        """
        if self._lesson is not None:
            self._monitor.learn(*self._lesson)
            self._lesson = None
        if self._news is not None:
            self._alarm = self._monitor.drift(*self._news)
            self._news = None
        if self._alarm:
            self._restart(rounds)
        self._unfinished = False

    def _restart(self, rounds: int) -> None:
        player: Any = self.player
        successor = player.fresh(len(self.restarts) + 1)
        monitor = self._new_monitor(successor)
        bound = player.regret_bound()
        self._closed += [player.certificate()] if hasattr(player, "certificate") else []
        self._closed_bounds.append(bound)
        self._past_calls += player.oracle_calls
        self.player, self._monitor, self._alarm = successor, monitor, False
        self.restarts.append(rounds)

    def waiting(self, decision: int) -> OpenRound:
        """That of the learner at work, which knows more, unless a restart has come since."""
        opened: Any = super().waiting(decision)
        current = opened.segment == len(self.restarts)
        return self.player.waiting(opened.inner) if current else opened

    @property
    def late(self) -> str | None:
        return self.learner.late

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """By the learner at work, unless it matters how many rounds came before it."""
        if self._timed:
            return super().check_context(context, ahead)
        checked = self.player.check_context(context, ahead)
        return checked if self.described else context  # which is read once more when it decides

    # What is to come --------------------------------------------------------------------------

    def _would_play(self, context: Any, copies: int, seed: int, available: Any) -> list[Action]:
        if self._unfinished:
            self._look_for_drift(self.rounds)
        return self.player.would_play(self.check_context(context), copies, seed, available)

    def _propensities(self, context: Any, draws: int, available: Any, decide: bool) -> Propensities:
        if self._unfinished:
            self._look_for_drift(self.rounds)
        context = self.check_context(context)
        return self.player.propensities(context, draws, available, decide=decide)

    def _odds(self, opened: Round) -> Odds:
        assert opened.odds is not None  # those of the learner at work
        return opened.odds

    # What is said -----------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """The best policy for the losses since the last restart."""
        return self._asked("best_policy")  # type: ignore[no-any-return]

    def certificate(self) -> Certificate | SemiBanditCertificate:
        """What can be said about regret so far: the learner's certificates, added up.

        With full information it is about regret against the best policy of each segment; a
        statement stands only where it stands for all segments.
        """
        found = self._asked("certificate")
        if self._closed:
            m = len(self.restarts)
            notes = [f"{m} restarts: statements are sums over {m + 1} segments"]
            if self.max_restarts is None:
                notes.append("restarts were not capped: nothing is promised in advance")
            found = _add_up([*self._closed, found], notes)
        if self._late:  # in the segment that decided them, rounds without a loss were charged for
            note = (
                f"{self._late} losses came after a restart and were not learned: in statements "
                "their rounds cost the most that they could"
            )
            facts = {"realised_regret": None} if hasattr(found, "realised_regret") else {}
            found = dataclasses.replace(
                found,
                rounds=found.rounds + self._late,
                loss=found.loss + self._late_loss,
                notes=(*found.notes, note),
                **facts,
            )
        return found  # type: ignore[no-any-return]

    def regret_bound(self) -> float | None:
        """What theory promises over all segments; self-tuning needs max_restarts for it."""
        most, player = self.max_restarts, self.player
        bounds = [*self._closed_bounds, player.regret_bound()]
        if None in bounds:
            return None
        if most == 0:
            return bounds[0]
        if isinstance(getattr(player, "learner", None), Learner):
            return None  # what is proved of a learner in a learner need not add up
        if self.rounds:
            ledger = self._ledger
            late = ledger.total_delay, ledger.unanswered + self._late
            worst = player.worst_case(self.rounds - self._late, most or 0, *late)
            if worst is not None:
                return worst if most is not None and worst < math.inf else None
        return sum(bound for bound in bounds if bound is not None)

    @property
    def hint(self) -> Any:
        """What hints and baselines have cost since the last restart; None where there are none."""
        return getattr(self.player, "hint", None)

    @property
    def predictor_(self) -> Any:
        """The predictor of the learner at work, or None; `predictor` is the monitor's own."""
        return getattr(self.player, "predictor_", None)

    def _changed(self, changes: dict[str, Any]) -> Self:
        return self.clone(learner=self.learner.clone(**changes))

    def _take_over(self, other: Any, n_actions: int, changes: dict[str, Any]) -> None:
        player = other.player.extended(n_actions, **changes)
        vars(self).update(copy.deepcopy({name: getattr(other, name) for name in _CARRIED}))
        self.player, self._monitor = player, other._monitor.extended(player, n_actions)

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        if self._unfinished:
            self._look_for_drift(self.rounds)
        self.player.learn(context, action, loss, propensity)

    # Parts ------------------------------------------------------------------------------------

    @property
    def _scores_actions(self) -> bool:
        return True  # handled by the learner inside

    @property
    def action_count(self) -> int | None:
        return self.player.action_count

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.player.loss_suffered(action, loss)

    def _new_monitor(self, player: Learner) -> DriftMonitor:
        return DriftMonitor(player, self.detector, self.predictor)

    def _asked(self, verb: str) -> Any:
        if not hasattr(self.player, verb):
            raise InputTypeError(f"{type(self.learner).__name__} has no {verb}().")
        return getattr(self.player, verb)()


_CARRIED = (
    "restarts", "_lesson", "_news", "_alarm", "_unfinished", "_closed",
    "_closed_bounds", "_past_calls", "_late", "_late_loss",
)  # fmt: skip


def _add_up(certificates: Sequence[Any], notes: Sequence[str]) -> Any:
    """The sum of certificates of segments; None where one of them has nothing to say.

    High-probability statements keep their confidence: each adds a bound on the deviation of one
    and the same martingale to something certain, and the bounds add up to more than one for all.
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
