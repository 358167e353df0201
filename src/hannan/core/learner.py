"""Learners: choose an action for a context, then learn from its loss."""

from __future__ import annotations

import copy
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, overload

import numpy as np

from hannan.core.arrays import as_rows, check_comparable
from hannan.core.availability import Availability, available_to, loss_span
from hannan.core.environment import Feedback
from hannan.core.errors import InputTypeError, ParameterError
from hannan.core.menu import Menu, offered, undescribed
from hannan.core.oracle import Objective, Oracle, context_at
from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.rounds import (
    BrokenLedger,
    Decision,
    IntArray,
    Ledger,
    OpenRound,
    PropensityRecord,
    n_actions_of,
)
from hannan.core.state import Array, Count, Part, State
from hannan.core.storage import save
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, check_integer, check_probability, refuse

_OWN = 0x6F776E  # separates a learner's random stream from that of an environment with this seed
_REPLAYS = 0x636F696E  # separate random stream for `would_play`


def learner_rng(seed: int | None) -> np.random.Generator:
    """Return the generator of a learner: not `default_rng(seed)`, which many environments use.

    Sharing the stream would let the learner see the adversary's next draw.
    """
    return np.random.default_rng(None if seed is None else [_OWN, seed])


@dataclass(frozen=True, slots=True, eq=False)
class Propensities(Stored):
    """Probability that the learner now chooses each element, with its standard error."""

    probabilities: FloatArray
    standard_errors: FloatArray
    draws: int  # samples behind the estimate; 0 if the probabilities are exact

    stored = State(
        probabilities=Array(n_actions_of, low=0.0, high=1.0 + 1e-9),
        standard_errors=Array(n_actions_of, low=0.0),
        draws=Count(),
    )

    def given(self, action: int) -> FloatArray:
        """Count `action` as one more sample: see `off_policy.Recorder`."""
        if not self.draws:
            return self.probabilities
        counts = np.rint(self.probabilities * self.draws)
        counts[action] += 1.0
        return np.asarray(counts / (self.draws + 1))


class Learner(Parametrised, ABC):
    """Make two calls per round: `action = act(context)`, then `update(loss)`.

    Subclasses write `_act` and `_update` on an `OpenRound`. This class handles the order of calls,
    delayed feedback and changing action sets. A second `act` before `update` opens a new round with
    fresh randomness and drops the open round.

    A call has two steps. The preparation may fail and writes only into the round, so a call that
    raises an `Exception` changes nothing. The commit is short and cannot fail by itself. If the
    commit is interrupted, by Ctrl-C for example, the learner is marked as broken. Every later call
    then raises an `OrderError`, until you load the learner from a file or call `reset`.
    """

    feedback: ClassVar[Feedback] = Feedback.FULL
    Round: ClassVar[type[OpenRound]] = OpenRound
    oracle: Oracle | None = None
    late: str | None = None
    """Message of the `ParameterError` from `decide` if delayed feedback is unsupported; or None."""

    stored = State(
        rounds=Count(), oracle_calls=Count(), _availability=Part(last=True), _ledger=Part(last=True)
    )
    room_for = ("n_actions",)

    def __init__(self) -> None:
        self.rounds = 0
        self.oracle_calls = 0
        self._ledger = Ledger()
        self._availability = Availability()

    # The round ------------------------------------------------------------------------------

    @overload
    def act(self, context: Any = None, available: Any = None) -> Action: ...
    @overload
    def act(
        self, context: Any = None, available: Any = None, *, actions: Any = None, ids: Any = None
    ) -> Any: ...
    def act(
        self, context: Any = None, available: Any = None, *, actions: Any = None, ids: Any = None
    ) -> Any:
        """Choose an action for a context.

        Return an int, or the sorted indices of the chosen elements. For actions with features,
        return the id of the chosen item if `ids` or a mapping gives ids, else its row number.

        Parameters
        ----------
        context
            Context x of the round, in the form that the policy class takes. Default None: no
            context.
        available
            Actions that are available in this round, or elements that sets may contain: distinct
            integers, or K booleans. Default None: all are available.
        actions
            For learners of actions with features, such as `hn.bandit(actions="items")`: the items
            of this round, as feature vectors [n, q] or as a mapping from ids to feature vectors.
            Instead of `context` and `actions`, you can pass a `Menu`, which holds both.
        ids
            Ids of the items, one per row of `actions`. Default None: items are known by their row
            numbers.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0)
        >>> learner.act(available=[1, 2])
        1
        >>> learner.update([float("nan"), 0.9, 0.1])
        >>> learner.act(available=[1, 2])
        2
        """
        opened = self.open(context, available, actions, ids)
        answer = opened.answer if opened.named else opened.action
        # The caller may change the returned array.
        return answer.copy() if isinstance(answer, np.ndarray) else answer

    def decide(
        self, context: Any = None, available: Any = None, *, actions: Any = None, ids: Any = None
    ) -> Decision:
        """Choose an action whose loss you will report later, with `update(loss, decision=…)`.

        The importance weights and the propensity of the decision refer to the learner's state at
        the time of this call.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.Hedge([[0], [1]], seed=0)
        >>> first, second = learner.decide(0), learner.decide(0)
        >>> learner.update([1.0, 0.0], decision=second)
        >>> learner.open_decisions, first.propensity
        ([0], 0.5)
        """
        return self._ledger.decision(self.open(context, available, actions, ids, late=True))

    def decide_many(
        self,
        contexts: Iterable[Any],
        available: Iterable[Any] | None = None,
        *,
        actions: Iterable[Any] | None = None,
    ) -> list[Decision]:
        """Choose actions for several contexts, all from the same state.

        `available` has one entry per context: the available actions, or None. For actions with
        features, `actions` has one entry per context, too: the items of that round. All contexts
        are checked before the first decision. If a solver or a predictor fails at a later context,
        the decisions before it are discarded, because the caller does not know them.
        """
        rows = list(as_rows(contexts))
        masks = [None] * len(rows) if available is None else list(available)
        offers = [None] * len(rows) if actions is None else list(actions)
        for name, each in (("available", masks), ("actions", offers)):
            if len(each) != len(rows):
                raise ParameterError(
                    f"decide_many needs one entry of {name}= per context: {len(rows)} entries; got "
                    f"{len(each)}. In available=, pass None for all actions."
                )
        if actions is not None:
            rows = [offered(self, x, each) for x, each in zip(rows, offers, strict=True)]
        self._ledger.check_room(len(rows), self.late)
        ahead = int(self._ledger.current is not None)
        checked = [self.check_context(x, i) for i, x in enumerate(rows, ahead)]
        subsets = [available_to(self, mask) for mask in masks]
        decisions: list[Decision] = []
        try:
            for x, some in zip(checked, subsets, strict=True):
                opened = self.choose(x, some, late=True)
                self.commit(opened)
                opened.named = actions is not None and opened.context.ids is not None
                decisions.append(self._ledger.decision(opened))
        except Exception:
            for decision in decisions:
                self.forget(decision.id)
            raise
        return decisions

    def update(
        self, loss: Any = None, decision: Decision | int | None = None, *, reward: Any = None
    ) -> None:
        """Learn from the loss of the last `act`, or of a decision (pass the decision or its id).

        With full information, pass the losses of all actions. With bandit feedback, pass the loss
        of the action, or one loss per chosen element in the order of `action`. A reward raises an
        `InputTypeError` that explains how to turn rewards into losses.
        """
        if reward is not None:
            how = "R - reward and create the learner with loss_range=(0, R)"
            door = " hn.Decider accepts rewards."
            if self.oracle is not None and self.oracle.chooses_sets:  # R - r favours small sets
                how, door = "-reward and create the learner with loss_range=(-R, 0)", ""
            raise InputTypeError(
                f"update() takes a loss, not a reward. For rewards in [0, R], pass {how}.{door}"
            )
        opened = None if decision is not None else self._ledger.current
        if opened is None:
            opened = self._ledger.find(decision, self.oracle)
        self.close(opened, loss)

    def forget(self, decision: Decision | int) -> None:
        """Discard an open decision whose loss will never arrive."""
        opened = self._ledger.find(decision, self.oracle)
        try:
            self._ledger.forget(opened)
            self._abandoned(opened)
        except BaseException:
            _break(self)
            raise

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the open decisions."""
        return list(self._ledger.waiting)

    def open_round(self, decision: int | None = None) -> OpenRound | None:
        """Return the open round of a decision (pass its id) or of the last `act`, or None."""
        ledger = self._ledger
        return ledger.current if decision is None else ledger.waiting.get(decision)

    # Rounds, for `act`, `decide`, `update` and learners that play through this one ------------

    def open(
        self,
        context: Any,
        available: Any = None,
        actions: Any = None,
        ids: Any = None,
        *,
        late: bool = False,
        committed: bool = True,
    ) -> Any:
        """Open a round: choose its action, commit it, and hold the round until its loss arrives.

        If `late`, the round belongs to a decision: its loss may arrive after the losses of later
        rounds. A caller that passes `committed=False` plays another action, or calls `commit`
        itself.
        """
        if actions is not None or ids is not None:
            context = offered(self, context, actions, ids)
        if late:
            self._ledger.check_room(1, self.late)
        checked = self.check_context(context, late and self._ledger.current is not None)
        some = None if available is None else available_to(self, available)
        opened = self.choose(checked, some, late)
        if committed:
            self.commit(opened)
        if actions is not None:
            opened.named = opened.context.ids is not None
        return opened

    def close(self, opened: Any, loss: Any, *, recorded: bool = True) -> None:
        """Learn from the loss of a round; `begin` explains `recorded=False`."""
        sets, restricted = self._availability, opened.plays is not None
        by_score = restricted and self._scores_actions
        if restricted and recorded and self.feedback is Feedback.FULL:
            loss = sets.complete(opened, loss, loss_span(self) if by_score else None)
        learned = False
        try:
            opened.calls = 0
            self._update(opened, loss)
            learned = True
            self.rounds += 1
            self.oracle_calls += opened.calls
            if restricted:
                sets.count(by_score, opened, self.oracle)
            if recorded:
                if restricted or sets.costs is not None:
                    sets.note(opened, loss, self.feedback is Feedback.FULL)
                ledger = self._ledger
                if opened.number is None:
                    ledger.current = None
                else:
                    del ledger.waiting[opened.number]
                    opened.record.hidden = False
                if opened.late:
                    ledger.total_delay += ledger.closed - opened.arrived_before
                ledger.closed += 1
                ledger.delayed |= bool(ledger.waiting) or ledger.current is not None
        except BaseException as error:
            # If `_update` raises an Exception, it changes nothing; interrupts come at any moment.
            if learned or not isinstance(error, Exception):
                _break(self)
            raise

    def begin(self, context: Any, plays: IntArray | None = None, late: bool = False) -> Any:
        """Choose the action of a round that only the caller holds, another learner.

        The ledger does not record the round: call `commit` and `close` with recorded=False. The
        caller has checked the context, passes the action played for each choice (`plays`), and
        completes the losses. Until `commit`, nothing changes except generators of random numbers.
        """
        opened = self.Round(context)
        opened.late = late
        if plays is not None:
            opened.plays = plays
        self._prepare(opened)
        self._act(opened)
        return opened

    def commit(self, opened: Any, *, recorded: bool = True) -> None:
        """Play the action of a round, and hold the round until its loss arrives."""
        try:
            self._played(opened)
            self.oracle_calls += opened.calls
            if recorded:
                ledger = self._ledger
                current = ledger.current
                if opened.number is None:
                    ledger.current = opened
                    if current is not None:
                        ledger.dropped += 1
                        self._abandoned(current)
                else:
                    ledger.waiting[opened.number] = opened
                    ledger.made += 1
                    if current is not None and not current.late:
                        current.late, current.arrived_before = True, ledger.closed
        except BaseException:
            _break(self)
            raise

    def prepare(self, context: Any, available: Any = None, *, late: bool = False) -> Any:
        """Prepare a round for questions about its action, without changing the learner."""
        some = None if available is None else available_to(self, available)
        opened = self.Round(self.check_context(context))
        opened.number = self._ledger.made if late else None
        opened.late = late or bool(self._ledger.waiting)
        if some is not None:
            _restrict(self, opened, some)
        self._prepare(opened)
        return opened

    def choose(self, context: Any, some: IntArray | None, late: bool) -> Any:
        """Choose the action of a round from checked arguments; the caller must `commit` it."""
        ledger, opened = self._ledger, self.Round(context)
        if late:
            opened.number = ledger.made
        if late or ledger.waiting:
            opened.late, opened.arrived_before = True, ledger.closed
        if some is not None:
            _restrict(self, opened, some)
        self._prepare(opened)
        self._act(opened)
        if late and opened.record is None:
            opened.record = self._propensity_record(opened)
        return opened

    # Questions about the next action ----------------------------------------------------------

    def would_play(
        self,
        context: Any = None,
        copies: int = 1,
        seed: int = 0,
        available: Any = None,
        *,
        actions: Any = None,
        ids: Any = None,
    ) -> list[Any]:
        """Sample the next action `copies` times, with the same past and fresh randomness.

        Return independent draws from the distribution of the action that `act(context, available)`
        would return. The call changes nothing, and no `seed` yields the learner's own random
        numbers.
        """
        check_integer("would_play", "copies", copies, 1)
        seed = check_integer("would_play", "seed", seed, 0)
        named = actions is not None or ids is not None
        if named:
            context = offered(self, context, actions, ids)
        rng = np.random.default_rng([_REPLAYS, seed])
        answers = self._replay(self.prepare(context, available), copies, rng)
        return list(map(context.named, answers)) if named else answers

    def propensities(
        self,
        context: Any = None,
        draws: int = 1000,
        available: Any = None,
        *,
        actions: Any = None,
        decide: bool = False,
    ) -> Propensities:
        """Return the probability that `act(context, available)` would now choose each element.

        With `decide=True`, return the probabilities for `decide(context, available)`. These can
        differ: a learner with a predictor may use it more if a loss is known to arrive before the
        next round. The probabilities are exact if the learner has a formula. Otherwise, they are
        shares among `draws` draws of `would_play`. The call does not affect later actions.
        """
        check_integer(self, "draws", draws, 2)
        if actions is not None:
            context = offered(self, context, actions)
        opened = self.prepare(context, available, late=decide)
        distribution = self._action_distribution(opened)
        if distribution is not None:
            return Propensities(distribution, np.zeros(len(distribution)), 0)
        if self.action_count is None and not self.takes_items:
            raise ParameterError(
                f"propensities() needs the number of actions, which {type(self).__name__} does not "
                "know yet: play a round first."
            )
        # `clock` counts open decisions too, so that estimates of several rounds share no error.
        q = self._shares(opened, draws, np.random.default_rng([_REPLAYS, self.clock]))
        return Propensities(q, np.sqrt(q * (1.0 - q) / draws), draws)

    def regret_bound(self) -> float | None:
        """Return an upper bound on the expected regret so far, or None if none is known.

        The bound holds for any adversary, against the best policy of the class in hindsight (with
        bandit or semi-bandit feedback: against any fixed policy), on average over the learner's
        randomness. The call changes nothing and counts no oracle calls.
        """
        return None

    # More actions, and logged decisions -------------------------------------------------------

    def extended(self, n_actions: int, **changes: Any) -> Self:
        """Return a copy that continues with more actions, which get the next numbers.

        The copy keeps everything learned. In the totals of losses, a new action counts as good as
        the best action so far; a predictor has no data on the new action. This learner does not
        change.

        Parameters
        ----------
        n_actions
            New number of actions, greater than the present number.
        changes
            Parameters that change with it, such as `exploration`.
        """
        if self.oracle is None or self.action_count is None or self.oracle.chooses_sets:
            return Learner._extended(self, n_actions, changes)
        check_integer("extended", "n_actions", n_actions, self.action_count + 1)
        changes = {"oracle": self.oracle.clone(n_actions=n_actions), **changes}
        twin = self._extended(n_actions, changes)
        twin.rounds, twin.oracle_calls = self.rounds, self.oracle_calls + twin.oracle_calls
        twin._ledger = self._ledger.extended(n_actions)
        twin._availability = self._availability.extended(n_actions)
        return twin

    def _extended(self, n_actions: int, changes: dict[str, Any]) -> Self:
        """Return a clone with these changes and everything learned, except for open rounds."""
        raise ParameterError(
            f"{type(self).__name__} cannot take more actions than it began with: create a new one."
        )

    def learn(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """Learn from a logged decision of another system, given its propensity.

        The learner weights the loss like any other loss and passes it to its
        predictor. After that, the learner states no bound on its regret: the bounds assume
        that the learner started without data and made all decisions itself.

        Parameters
        ----------
        context, action, loss
            Context, chosen action and observed loss of the decision.
        propensity
            Probability with which the other system chose the action, greater than 0.
        """
        x = self.check_context(context)
        K = self.actions_on(x)
        a = check_integer("learn", "action", action, 0, math.inf if K is None else K)
        if check_probability("learn", "propensity", propensity) == 0.0:
            raise refuse("learn", "propensity", "greater than 0: the action was taken", 0)
        learned = False
        try:
            self._learn_logged(x, a, loss, float(propensity))
            learned = True
            self._ledger.logged += 1
        except BaseException as error:
            if learned or not isinstance(error, Exception):
                _break(self)
            raise

    def _learn_logged(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """Check the loss of a logged decision, then learn from it; change nothing on an error."""
        raise ParameterError(f"{type(self).__name__} cannot learn from logged decisions.")

    # Copies and files -------------------------------------------------------------------------

    def reset(self) -> None:
        """Discard everything learned; the learner then equals a fresh clone with the same seed."""
        self.__init__(**self.params)  # type: ignore[misc]

    def fresh(self, number: int) -> Self:
        """Return a new learner like this one, with a seed derived from its seed and `number`.

        Learners among its parameters get new seeds in the same way.
        """
        given = self.params
        changes: dict[str, Any] = {
            name: value.fresh(number) for name, value in given.items() if isinstance(value, Learner)
        }
        if given.get("seed") is not None:
            state = np.random.SeedSequence([given["seed"], number]).generate_state(1, np.uint64)
            changes["seed"] = int(state[0] >> np.uint64(1))
        return self.clone(**changes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the learner to a file; `hannan.load(path)` continues with identical results.

        The file is written in one step. It holds numbers and names, and no executable code.
        """
        save(self, path)

    def _holds(self, context: Any) -> bool:
        """Return whether `context` has the form that rounds store."""
        return True if self.oracle is None else self.oracle.holds(context)

    # Methods for subclasses to write ----------------------------------------------------------

    def _prepare(self, opened: Any) -> None:
        """Store in the round the quantities that its action distribution depends on.

        They are functions of the context and the past. Change only the round: `_act` need
        not follow.
        """

    @abstractmethod
    def _act(self, opened: Any) -> None:
        """Choose an action with `opened.play(choice)`.

        Code that can fail belongs here; changes of the learner's state belong in `_played`.
        """

    def _played(self, opened: Any) -> None:
        """Change state after the action is played, for example draw fresh noise. Must not fail."""

    def _abandoned(self, opened: Any) -> None:
        """Release resources of a round that will never get feedback. Must not fail."""

    @abstractmethod
    def _update(self, opened: Any, loss: Any) -> None:
        """Check the loss, then learn from it; change nothing on an error."""

    def _action_distribution(self, opened: Any) -> FloatArray | None:
        """Return the probability of each element in a prepared round, or None without a formula."""
        return None

    def _replay(self, opened: Any, copies: int, rng: np.random.Generator) -> list[Action]:
        """Sample the action of a prepared round `copies` times, with other random numbers."""
        again = [copy.copy(opened) for _ in range(copies)]
        for each in again:
            self._reseeded(rng)._act(each)
        return [each.action for each in again]

    def _shares(self, opened: Any, draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the share of `draws` samples of `_replay` in which each element is chosen."""
        K = self.actions_on(opened.context)
        assert K is not None
        counts = np.zeros(K)
        for action in self._replay(opened, draws, rng):
            counts[action] += 1.0
        return counts / draws

    def _reseeded(self, rng: np.random.Generator) -> Self:
        """Return a copy for one `_act` that uses `rng`; overrides may share unchanged parts."""
        known: dict[int, Any] = {id(self.oracle): self.oracle}
        for value in vars(self).values():
            if isinstance(value, np.random.Generator):
                known[id(value)] = rng
            elif isinstance(value, Learner):
                known[id(value)] = value._reseeded(rng)
        return copy.deepcopy(self, known)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        """Return the loss of an action, given a loss that `update` accepts, or raise its error."""
        raise NotImplementedError(f"{type(self).__name__} does not implement loss_suffered().")

    def _total(self) -> Objective | None:
        """Return the total of the losses learned so far, or None if the learner has no total."""
        return None

    @property
    def _scores_actions(self) -> bool:
        """Whether `_act` plays the action of `opened.available` with the best score.

        All other learners choose as if every action were available. An unavailable choice is then
        replaced by a substitute that was fixed before any random number was drawn.
        """
        return False

    @property
    def action_count(self) -> int | None:
        """K, if it is known, else None."""
        return getattr(self if self.oracle is None else self.oracle, "n_actions", None)

    @property
    def takes_items(self) -> bool:
        """Whether every round has its own items, each with a feature vector: see `Menu`."""
        return self.oracle is not None and self.oracle.takes_items

    def actions_on(self, context: Any) -> int | None:
        """Return K of a round: the size of its menu for actions with features, else the fixed K."""
        return len(context) if self.takes_items else self.action_count

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """Return the checked context of the next round, or of the round `ahead` rounds after it."""
        oracle = self.oracle
        if oracle is None:
            if isinstance(context, Menu):
                raise undescribed(self)
            return check_comparable(context)
        return context_at(oracle, self.clock + ahead, context)

    # Parts ------------------------------------------------------------------------------------

    @property
    def clock(self) -> int:
        """Number of the next round."""
        ledger = self._ledger
        return self.rounds + len(ledger.waiting) + ledger.discarded

    def _propensity_record(self, opened: Any) -> PropensityRecord:
        """Return the propensity record of a round, for its decision."""
        distribution = self._action_distribution(opened)
        if distribution is None:
            return PropensityRecord(opened.inverse, math.nan, math.nan)
        q = distribution[opened.action]
        single = isinstance(opened.action, int)
        return PropensityRecord(
            opened.inverse, float(q) if single else q, 0.0 if single else 0.0 * q
        )


def _restrict(learner: Learner, opened: OpenRound, some: IntArray) -> None:
    """Fix the action played for each choice in a round where not all actions are available."""
    assert learner.action_count is not None
    span = getattr(learner, "loss_range", None)
    given = learner.action_count, learner._total(), span
    learner._availability.restrict(opened, some, *given)


def _break(learner: Learner) -> None:
    """Mark a learner as broken: its commit was interrupted, so its state is unknown."""
    learner._ledger = BrokenLedger()  # type: ignore[assignment]
