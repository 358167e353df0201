"""Restarts of a learner when a detector finds drift."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any, Self

from hannan.core import Action, InputTypeError, Learner, ParameterError, Policy
from hannan.core.availability import PassedOn, complete
from hannan.core.learner import Propensities
from hannan.core.oracle import Timed
from hannan.core.rounds import OpenRound, Retry, chooses_sets, is_action
from hannan.core.state import Count, ListOf, Number, Object, Part, State, require
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.learners.drift_monitor import DriftMonitor
from hannan.learners.statements import Certificate


class Restarting(Learner):
    r"""Replace a learner by a fresh copy whenever a detector finds drift.

    After each round the detector reads :math:`(\ell - \hat\ell)^2 - \hat\ell(1 - \hat\ell)`: the
    squared error of a prediction of the action's loss, minus the variance of a 0/1 loss with that
    mean. The prediction is made before the learner observes the loss. When the detector finds that
    this number has risen, the learner, its predictor and the detector start again. Until the first
    restart, all actions are those of the learner alone.

    Parameters
    ----------
    learner
        The learner to restart. `Restarting` plays copies of it that have learned nothing.
    detector
        Drift detector. Default: `detectors.Bernstein()`. Any object with a method `update(value)`
        that returns whether there is drift, or that sets an attribute `drift_detected`, as river's
        detectors do. The values lie in [0, 1] if the learner has a `loss_range`. Detectors that
        also react to falling errors, such as river's ADWIN, restart because a learner learns;
        `adapters.RiverDetector` makes them react to rising errors only.
    predictor
        Predictor whose errors the detector reads. Default: the learner's own predictor; without
        one, the detector reads the loss itself. A predictor passed here learns separately and
        never changes the actions.
    max_restarts
        Maximum number of restarts. None (default): no limit.

    Attributes
    ----------
    restarts
        For each restart, the number of rounds before it.

    Guarantee
    ---------
    With max_restarts=m, and a learner whose bound on expected regret against a fixed policy is of
    order :math:`\sqrt T`: at most :math:`\sqrt{m+1}` times this bound, plus m + 1 times its
    constant term, for any detector. With full information the bound holds against the best policy
    of each segment. Regret itself may grow by a factor m + 1. Without a limit, an adversary can
    force a restart every hundred rounds; then only the certificate, a sum over segments, remains.
    There is no guarantee that restarts come in time, because the losses of the chosen actions may
    not show the drift.

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

    stored = State(
        current_learner=Object(Learner, like="learner", but=["seed"]),
        _monitor=Part().where(lambda self, monitor: monitor.watches(self.current_learner)),
        restarts=ListOf(Count()),
        _retry=Part(),
        _closed=ListOf(Object(Certificate)),
        _closed_bounds=ListOf(Number() | None, length=lambda self: len(self.restarts)),
        _late=Count(),
        _late_loss=Number(),
    )

    class Round(OpenRound):
        """A round of the current learner."""

        segment: int = 0  # number of restarts before the decision
        inner: Any = None  # the round of the current learner; None after a restart

        stored = State(
            segment=Count(lambda self: len(self.restarts) + 1), inner=Object(OpenRound) | None
        )

        def action_distribution(self) -> FloatArray | None:
            return None if self.inner is None else self.inner.action_distribution()  # type: ignore[no-any-return]

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
        if getattr(learner, "knows_future", False):
            raise ParameterError(
                f"Restarting does not support {type(learner).__name__}, whose noise needs the "
                "contexts of the whole run; a learner that starts later does not have them. Use "
                "ContextFTPL or ContextSemiBanditFTPL."
            )
        self.learner = learner
        self.detector = detector
        self.predictor = predictor
        self.max_restarts = max_restarts
        self._most = math.inf
        if max_restarts is not None:
            self._most = self.max_restarts = check_integer(self, "max_restarts", max_restarts, 0)
        self.oracle = learner.oracle
        self._timed = self.oracle is not None and isinstance(self.oracle, Timed)
        self.feedback = learner.feedback  # type: ignore[misc]
        self.late = learner.late
        self.restarts: list[int] = []
        self._availability = PassedOn()
        self.restricts_sets = chooses_sets(learner) and hasattr(learner, "restricts_sets")
        self.current_learner: Learner = learner.clone()  # the learner since the last restart
        self.oracle_calls = self.current_learner.oracle_calls
        self._monitor = self._new_monitor(self.current_learner)
        # Steps of predictor and detector that failed after the learner had learned a round.
        self._retry = Retry()
        self._closed: list[Any] = []
        self._closed_bounds: list[float | None] = []
        self._late = 0
        self._late_loss = 0.0

    def _check_state(self) -> None:
        rounds: Any = self._ledger.opened
        inner = [id(opened.inner) for opened in rounds if opened.inner is not None]
        # No two rounds share the feedback of one inner round.
        require(self, rounds=len(set(inner)) == len(inner))
        require(self, steps=all(map(self._left, self._retry.steps)))
        for opened in rounds:
            over = opened.segment < len(self.restarts)
            require(self, rounds=opened.inner is None if over else self._waits(opened))

    def _waits(self, opened: Any) -> bool:
        """Return whether the inner round is open in the current learner."""
        inner = opened.inner
        waiting = inner is not None and inner is self.current_learner.open_round(inner.number)
        return waiting and (inner.number is None) == (opened.number is None)

    def _left(self, step: Any) -> bool:
        """Return whether this can be an unfinished step of the last round."""
        name, args, said = step
        if name == "_restart":
            return args == () and Count().fits(said)
        size, counts = {"_teach": (4, 0), "_look_for_drift": (3, 1)}.get(name, (0, 0))
        if type(said) is not tuple or not 0 < len(said) == size or type(args) is not tuple:
            return False
        sized = len(args) == counts and all(map(Count().fits, args))
        return sized and is_action(said[size - 3], self.action_count, chooses_sets(self))

    @property
    def loss_range(self) -> tuple[float, float] | None:
        """Loss range of the learner, or None."""
        return getattr(self.learner, "loss_range", None)

    # The round --------------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """Play the current learner's action; its inner round gets the same feedback as this one."""
        if self._retry.steps:
            self._retry.finish(self)
        opened.segment = len(self.restarts)
        some = None if opened.plays is None else opened.available
        inner = self.current_learner.choose(opened.context, some, opened.number is not None)
        opened.inner, opened.values = inner, inner.values
        opened.action, opened.record = inner.action, inner.record

    def _played(self, opened: Round) -> None:
        player = self.current_learner
        before = player.oracle_calls
        player.commit(opened.inner)
        opened.calls = player.oracle_calls - before

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the current learner learn, and let the detector read the error of its prediction."""
        if self._retry.steps:
            self._retry.finish(self)
        if opened.segment < len(self.restarts):  # the current learner cannot use this loss
            shown = loss if opened.plays is None else complete(loss, opened.plays)
            self._late_loss += self.current_learner.loss_suffered(opened.action, shown)
            self._late += 1
            return
        monitor, action, inner = self._monitor, opened.action, opened.inner
        expected = inner.values
        if monitor.asks or opened.plays is not None:
            expected = monitor.expect(opened.context, action, expected)
        player, before = self.current_learner, self.current_learner.oracle_calls
        player.close(inner, loss)
        opened.calls = player.oracle_calls - before
        if len(self.restarts) >= self._most:
            return
        # The round is complete: a step that fails from here on is tried again before the next one.
        rounds, drifted = self.rounds + 1, False
        left: list[Any] = [("_look_for_drift", (rounds,), (action, loss, expected))]
        try:
            if monitor.teaches:
                lesson = opened.context, action, loss, opened.available
                left.insert(0, ("_teach", (), lesson))
                monitor.learn(*lesson)
                del left[0]
            drifted = monitor.drift(action, loss, expected)
            if drifted:
                self._restart(rounds)
        except Exception:
            self._retry.keep(*([("_restart", (), rounds)] if drifted else left))

    def _abandoned(self, opened: Round) -> None:
        if opened.number is not None and opened.inner is not None:
            self.current_learner.forget(opened.inner.number)

    def _teach(self, lesson: tuple[Any, ...]) -> None:
        """Let the monitor's own predictor learn from a round."""
        self._monitor.learn(*lesson)

    def _look_for_drift(self, rounds: int, news: tuple[Any, ...]) -> None:
        """Let the detector read the last of `rounds` rounds."""
        if self._monitor.drift(*news):
            self._retry.steps.append(("_restart", (), rounds))

    def _restart(self, rounds: int) -> None:
        """Replace the current learner by a fresh one, after `rounds` rounds."""
        player: Any = self.current_learner
        successor = player.fresh(len(self.restarts) + 1)
        monitor = self._new_monitor(successor)
        bound = player.regret_bound()
        self._closed += [player.certificate()] if hasattr(player, "certificate") else []
        self._closed_bounds.append(bound)
        self.oracle_calls += successor.oracle_calls
        self.current_learner, self._monitor = successor, monitor
        self.restarts.append(rounds)
        open_rounds: Any = self._ledger.opened
        for opened in open_rounds:
            opened.inner = None

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """Check a context by the current learner; add its time if the class changes with time."""
        if self._timed:
            context = super().check_context(context, ahead)
        return self.current_learner.check_context(context, ahead)

    # Future rounds ----------------------------------------------------------------------------

    def would_play(self, context: Any = None, *args: Any, **options: Any) -> list[Any]:
        self._retry.finish(self)
        return self.current_learner.would_play(self._at(context), *args, **options)

    def propensities(self, context: Any = None, *args: Any, **options: Any) -> Propensities:
        self._retry.finish(self)
        return self.current_learner.propensities(self._at(context), *args, **options)

    def _at(self, context: Any) -> Any:
        """Return a context with its time if the class changes with time."""
        return super().check_context(context) if self._timed else context

    # Statements -------------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """Return the best policy for the losses since the last restart."""
        return self._asked("best_policy")  # type: ignore[no-any-return]

    def certificate(self) -> Certificate:
        """Return the statements on the regret so far: sums of the learner's certificates.

        With full information they are about the regret against the best policy of each segment. A
        statement holds only if it holds for all segments.
        """
        found: Certificate = self._asked("certificate")
        if self._closed:
            m = len(self.restarts)
            restarts = "1 restart" if m == 1 else f"{m} restarts"
            notes = [f"{restarts}: statements are sums over {m + 1} segments"]
            if self.max_restarts is None:
                notes.append("max_restarts is not set: there is no bound in advance")
            found = Certificate.combined([*self._closed, found], notes)
        if self._late:  # the certificates of their segments count them at the largest loss
            losses = "1 loss" if self._late == 1 else f"{self._late} losses"
            note = (
                f"{losses} came after a restart and the learner did not learn from them: the "
                "statements count these rounds at the largest possible loss"
            )
            facts = {kind: None for kind in found.values if kind == "realised_regret"}
            found = dataclasses.replace(
                found.changed(**facts),
                rounds=found.rounds + self._late,
                loss=found.loss + self._late_loss,
                notes=(*found.notes, note),
            )
        return found

    def regret_bound(self) -> float | None:
        """Return a bound over all segments, or None; self-tuning needs max_restarts for it."""
        most, player = self.max_restarts, self.current_learner
        bounds = [*self._closed_bounds, player.regret_bound()]
        if None in bounds:
            return None
        if most == 0:
            return bounds[0]
        if isinstance(getattr(player, "learner", None), Learner):
            return None  # bounds of nested learners may not add up
        if self.rounds and hasattr(player, "worst_case"):
            late = self._ledger.total_delay, self._ledger.without_feedback + self._late
            worst = player.worst_case(self.rounds - self._late, most or 0, *late)
            if worst is not None:
                return worst if most is not None and worst < math.inf else None
        return sum(bound for bound in bounds if bound is not None)

    @property
    def hint(self) -> Any:
        """The record of hints since the last restart, or None without hints."""
        return getattr(self.current_learner, "hint", None)

    @property
    def predictor_(self) -> Any:
        """The predictor of the current learner, or None; `predictor` is the monitor's own."""
        return getattr(self.current_learner, "predictor_", None)

    def extended(self, n_actions: int, **changes: Any) -> Self:
        twin = super().extended(n_actions, **changes)
        twin.oracle_calls = (
            self.oracle_calls
            - self.current_learner.oracle_calls
            + twin.current_learner.oracle_calls
        )
        for number in [None, *twin.open_decisions]:
            opened: Any = twin.open_round(number)
            if opened is not None and opened.inner is not None:
                opened.inner = twin.current_learner.open_round(opened.inner.number)
        return twin

    def _extended(self, n_actions: int, changes: dict[str, Any]) -> Self:
        twin = self.clone(learner=self.learner.clone(**changes))
        player = self.current_learner.extended(n_actions, **changes)
        carried = "restarts", "_retry", "_closed", "_closed_bounds", "_late", "_late_loss"
        vars(twin).update(copy.deepcopy({name: getattr(self, name) for name in carried}))
        twin.current_learner, twin._monitor = player, self._monitor.extended(player, n_actions)
        return twin

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        self._retry.finish(self)
        self.current_learner.learn(context, action, loss, propensity)

    # Parts ------------------------------------------------------------------------------------

    def _total(self) -> Any:
        return self.current_learner._total()

    @property
    def _scores_actions(self) -> bool:
        return not self.restricts_sets or self.current_learner._scores_actions

    @property
    def action_count(self) -> int | None:
        return self.current_learner.action_count

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.current_learner.loss_suffered(action, loss)

    def _new_monitor(self, player: Learner) -> DriftMonitor:
        return DriftMonitor(player, self.detector, self.predictor)

    def _asked(self, verb: str) -> Any:
        if not hasattr(self.current_learner, verb):
            raise InputTypeError(f"{type(self.learner).__name__} has no {verb}().")
        return getattr(self.current_learner, verb)()
