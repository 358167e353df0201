"""Starting over when the world has changed."""

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
        """A round of the learner at work."""

        segment: int = 0  # how many restarts had come
        inner: Any = None  # the round of the learner at work; None once a restart has come

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
        self._timed = self.oracle is not None and isinstance(self.oracle, Timed)
        self.feedback = learner.feedback  # type: ignore[misc]
        self.late = learner.late
        self.restarts: list[int] = []
        self._availability = PassedOn()
        self.current_learner: Learner = (
            learner.clone()
        )  # the learner at work since the last restart
        self.oracle_calls = self.current_learner.oracle_calls
        self._monitor = self._new_monitor(self.current_learner)
        # Of a round that the learner has learned: what the predictor and the detector have not.
        self._retry = Retry()
        self._closed: list[Any] = []
        self._closed_bounds: list[float | None] = []
        self._late = 0
        self._late_loss = 0.0

    def _check_state(self) -> None:
        rounds: Any = self._ledger.opened
        inner = [id(opened.inner) for opened in rounds if opened.inner is not None]
        # No two rounds wait for the same answer.
        require(self, rounds=len(set(inner)) == len(inner))
        require(self, steps=all(map(self._left, self._retry.steps)))
        for opened in rounds:
            over = opened.segment < len(self.restarts)
            require(self, rounds=opened.inner is None if over else self._waits(opened))

    def _waits(self, opened: Any) -> bool:
        """Whether the learner at work waits for the same answer."""
        inner = opened.inner
        waiting = inner is not None and inner is self.current_learner.open_round(inner.number)
        return waiting and (inner.number is None) == (opened.number is None)

    def _left(self, step: Any) -> bool:
        """Whether this step can be left of the last round."""
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
        """That of the learner at work."""
        return getattr(self.learner, "loss_range", None)

    # The round --------------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """Play as the learner at work does; its own round waits for the same loss as this one."""
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
        """Let the learner at work learn, and show the detector how wrong its prediction was."""
        if self._retry.steps:
            self._retry.finish(self)
        if opened.segment < len(self.restarts):  # of no use to the learner that plays now
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
        # The round is complete: what fails from here on is tried before the next one.
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
        """Show the monitor's own predictor a round."""
        self._monitor.learn(*lesson)

    def _look_for_drift(self, rounds: int, news: tuple[Any, ...]) -> None:
        """Show the detector the last of so many rounds."""
        if self._monitor.drift(*news):
            self._retry.steps.append(("_restart", (), rounds))

    def _restart(self, rounds: int) -> None:
        """Replace the learner at work by a fresh one, after so many rounds."""
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
        """By the learner at work, unless it matters how many rounds came before it."""
        if self._timed:
            context = super().check_context(context, ahead)
        return self.current_learner.check_context(context, ahead)

    # What is to come --------------------------------------------------------------------------

    def would_play(self, context: Any = None, *args: Any, **options: Any) -> list[Any]:
        self._retry.finish(self)
        return self.current_learner.would_play(self._at(context), *args, **options)

    def propensities(self, context: Any = None, *args: Any, **options: Any) -> Propensities:
        self._retry.finish(self)
        return self.current_learner.propensities(self._at(context), *args, **options)

    def _at(self, context: Any) -> Any:
        """Return a context with its time, where the class changes with time."""
        return super().check_context(context) if self._timed else context

    # What is said -----------------------------------------------------------------------------

    def best_policy(self) -> Policy:
        """The best policy for the losses since the last restart."""
        return self._asked("best_policy")  # type: ignore[no-any-return]

    def certificate(self) -> Certificate:
        """What can be said about regret so far: the learner's certificates, added up.

        With full information it is about regret against the best policy of each segment; a
        statement stands only where it stands for all segments.
        """
        found: Certificate = self._asked("certificate")
        if self._closed:
            m = len(self.restarts)
            notes = [f"{m} restarts: statements are sums over {m + 1} segments"]
            if self.max_restarts is None:
                notes.append("restarts were not capped: nothing is promised in advance")
            found = Certificate.combined([*self._closed, found], notes)
        if self._late:  # in the segment that decided them, rounds without a loss were charged for
            note = (
                f"{self._late} losses came after a restart and were not learned: in statements "
                "their rounds cost the most that they could"
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
        """What theory promises over all segments; self-tuning needs max_restarts for it."""
        most, player = self.max_restarts, self.current_learner
        bounds = [*self._closed_bounds, player.regret_bound()]
        if None in bounds:
            return None
        if most == 0:
            return bounds[0]
        if isinstance(getattr(player, "learner", None), Learner):
            return None  # what is proved of a learner in a learner need not add up
        if self.rounds and hasattr(player, "worst_case"):
            late = self._ledger.total_delay, self._ledger.without_feedback + self._late
            worst = player.worst_case(self.rounds - self._late, most or 0, *late)
            if worst is not None:
                return worst if most is not None and worst < math.inf else None
        return sum(bound for bound in bounds if bound is not None)

    @property
    def hint(self) -> Any:
        """What hints and baselines have cost since the last restart; None where there are none."""
        return getattr(self.current_learner, "hint", None)

    @property
    def predictor_(self) -> Any:
        """The predictor of the learner at work, or None; `predictor` is the monitor's own."""
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

    @property
    def _scores_actions(self) -> bool:
        return True  # handled by the learner inside

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
