"""Learners: act on a context, then learn from what it cost."""

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

_OWN = 0x6F776E  # sets a learner's random numbers apart from those of a world with the same seed
_REPLAYS = 0x636F696E  # sets those of `would_play` apart from both


def learner_rng(seed: int | None) -> np.random.Generator:
    """The generator of a learner: not `default_rng(seed)`, which is that of many environments.

    Sharing the stream would let the learner see the adversary's next draw.
    """
    return np.random.default_rng(None if seed is None else [_OWN, seed])


@dataclass(frozen=True, slots=True, eq=False)
class Propensities(Stored):
    """For each element the probability of being chosen now, with its standard error."""

    probabilities: FloatArray
    standard_errors: FloatArray
    draws: int  # behind the estimate; 0 where the probabilities are exact

    stored = State(
        probabilities=Array(n_actions_of, low=0.0, high=1.0 + 1e-9),
        standard_errors=Array(n_actions_of, low=0.0),
        draws=Count(),
    )

    def given(self, action: int) -> FloatArray:
        """With the action drawn as one more draw: see `off_policy.Recorder`."""
        if not self.draws:
            return self.probabilities
        counts = np.rint(self.probabilities * self.draws)
        counts[action] += 1.0
        return np.asarray(counts / (self.draws + 1))


class Learner(Parametrised, ABC):
    """Two calls a round: `action = act(context)`, then `update(loss)`.

    Subclasses write `_act` and `_update` on an `OpenRound`; here are only the order of calls, late
    feedback and action sets that change. A second `act` before `update` opens a new round with
    randomness of its own: the unanswered one is dropped.

    A call has two steps. Preparing may fail and writes into the round only, so a call that raises
    an `Exception` changes nothing. Committing is short and cannot fail by itself; if it is
    interrupted, by Ctrl-C for example, the learner is marked as broken. Every later call then
    raises an `OrderError`, until the learner is loaded from a file or `reset`.
    """

    feedback: ClassVar[Feedback] = Feedback.FULL
    Round: ClassVar[type[OpenRound]] = OpenRound
    oracle: Oracle | None = None
    late: str | None = None
    """Why this learner cannot be given losses late, so that it refuses `decide`; or None."""

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
        """The action for this context: an int, or the sorted indices of the chosen elements.

        Parameters
        ----------
        context
            x, as the policy class takes it.
        available
            The actions that are available in this round, or the elements that sets may be made of:
            distinct integers, or K booleans. None where all are.
        actions
            For learners of described actions, such as `hn.bandit(actions="items")`: what is
            offered in this round, a row of features for each action, [n, q], or a mapping from
            ids to rows. In place of `context` and this a `Menu` can be given, which has both.
        ids
            A name for each of those rows. Where there are ids the answer is one of them, else the
            number of a row.

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
        """Like `act`, but a decision, to be answered by `update(loss, decision=…)` at any time.

        Its weights and its propensity belong to the state it was made from.

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
        """A decision for each of several contexts, all from the same state.

        `available` has one entry for each of them: what is available, or None. So has `actions`,
        what is offered, where actions are described. All contexts are checked before the first
        decision. If a solver or a predictor fails in the middle, the decisions before it are
        forgotten, because the caller does not know them.
        """
        rows = list(as_rows(contexts))
        masks = [None] * len(rows) if available is None else list(available)
        offers = [None] * len(rows) if actions is None else list(actions)
        for name, each in (("available", masks), ("actions", offers)):
            if len(each) != len(rows):
                raise ParameterError(
                    f"decide_many needs {name}= for each of {len(rows)} contexts, a list with None "
                    f"where all actions are available; got {len(each)}."
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
        """Learn the losses of the round that `act` opened, or of a decision, given it or its id.

        With full information the losses of all actions; else that of the action, or one for each
        chosen element in the order of `action`. A reward is refused, with what to do.
        """
        if reward is not None:
            how = "R - reward, with loss_range=(0, R)"
            door = " hn.Decider takes rewards as they are."
            if self.oracle is not None and self.oracle.chooses_sets:  # it would favour small ones
                how, door = "-reward, with loss_range=(-R, 0)", ""
            raise InputTypeError(
                f"update takes losses, loss=: of rewards from 0 to R give {how} where the learner "
                f"is made.{door}"
            )
        opened = None if decision is not None else self._ledger.current
        if opened is None:
            opened = self._ledger.find(decision, self.oracle)
        self.close(opened, loss)

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss."""
        opened = self._ledger.find(decision, self.oracle)
        try:
            self._ledger.forget(opened)
            self._abandoned(opened)
        except BaseException:
            _break(self)
            raise

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the decisions not answered yet."""
        return list(self._ledger.waiting)

    def open_round(self, decision: int | None = None) -> OpenRound | None:
        """Return the open round of a decision, by its id, or of `act`; None where there is none."""
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
        """Open a round: choose its action, commit it, and hold it until its loss comes.

        `late`: as a decision, whose loss may come after those of later rounds. A caller that has
        the round not `committed` plays another action, or calls `commit` itself.
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
        """Learn from the loss of a round; see `begin` for one that is not `recorded`."""
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
                sets.count(by_score)
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
            # `_update` changes nothing if it raises an Exception; others come at any moment.
            if learned or not isinstance(error, Exception):
                _break(self)
            raise

    def begin(self, context: Any, plays: IntArray | None = None, late: bool = False) -> Any:
        """Choose the action of a round that only the caller holds, another learner.

        The ledger does not record the round: `commit` and `close` it with recorded=False. The
        caller has checked the context and says what is played for each choice, and it completes
        losses. Until `commit` nothing has changed, except generators of random numbers.
        """
        opened = self.Round(context)
        opened.late = late
        if plays is not None:
            opened.plays = plays
        self._prepare(opened)
        self._act(opened)
        return opened

    def commit(self, opened: Any, *, recorded: bool = True) -> None:
        """Play the action of a round, and hold the round until its loss comes."""
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
        """Prepare a round for questions about its action; nothing changes."""
        some = None if available is None else available_to(self, available)
        opened = self.Round(self.check_context(context))
        opened.number = self._ledger.made if late else None
        opened.late = late or bool(self._ledger.waiting)
        if some is not None:
            _restrict(self, opened, some)
        self._prepare(opened)
        return opened

    def choose(self, context: Any, some: IntArray | None, late: bool) -> Any:
        """Choose the action of a round for checked arguments; `commit` has to follow."""
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

    # What is to come --------------------------------------------------------------------------

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
        """What so many copies of this learner would play now: same past, other randomness.

        Independent draws from the distribution of the action that `act(context, available)` would
        return.
        Asking changes nothing, and no `seed` gives the random numbers of the learner itself.
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
        """The probability of each element to be chosen by `act(context, available)` now.

        With `decide`, by `decide(context, available)`: a learner with a predictor may have more
        use for it where a loss is known to come before the next round.
        Exact where there is a formula; else from `draws` draws of `would_play`. Asking never
        changes what is played.
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
        # Decisions that wait count too: estimates of several rounds shall not share their error.
        q = self._shares(opened, draws, np.random.default_rng([_REPLAYS, self.clock]))
        return Propensities(q, np.sqrt(q * (1.0 - q) / draws), draws)

    def regret_bound(self) -> float | None:
        """What theory promises for expected regret so far, whatever the adversary; None if nothing.

        Against the best policy of the class in hindsight (semi-bandit feedback: any fixed one), on
        average over the learner's randomness. Asking changes nothing and counts no calls.
        """
        return None

    # More actions, and decisions of others ----------------------------------------------------

    def extended(self, n_actions: int, **changes: Any) -> Self:
        """A learner that goes on from here with more actions, whose numbers are the next ones.

        What was learned stays. A new action counts as good as the best so far, in the totals of
        losses, and a predictor knows nothing of it. This learner itself does not change.

        Parameters
        ----------
        n_actions
            How many actions there are then.
        changes
            Parameters that change with them, such as `exploration`.
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
        """Return a clone with these changes that goes on from here, except for open rounds."""
        raise ParameterError(
            f"{type(self).__name__} cannot take more actions than it began with: make a new one."
        )

    def learn(self, context: Any, action: int, loss: Any, propensity: float) -> None:
        """Learn a decision that was made elsewhere, and of which a log has the probability.

        Its loss is weighted as those of decisions made here, and a predictor is shown it. Nothing
        is said about regret after that: statements are about decisions made here alone, and what
        was known before the first of them is in none of them.

        Parameters
        ----------
        context, action, loss
            What was decided, and what it cost.
        propensity
            The probability with which it was decided on.
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
        """Check the loss of a logged decision, then learn; must change nothing if it raises."""
        raise ParameterError(f"{type(self).__name__} does not learn decisions of others.")

    # Copies and files -------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget everything learned; equal to a fresh clone with the same seed."""
        self.__init__(**self.params)  # type: ignore[misc]

    def fresh(self, number: int) -> Self:
        """A new learner like this one; its seed is a function of this one's and of `number`.

        The same goes for a learner that it plays through.
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
        """Write everything to one file, in one step: `hannan.load(path)` plays on bit for bit.

        The file holds numbers and names, nothing that could be executed.
        """
        save(self, path)

    def _holds(self, context: Any) -> bool:
        """Whether this is a context as rounds keep it."""
        return True if self.oracle is None else self.oracle.holds(context)

    # What subclasses write --------------------------------------------------------------------

    def _prepare(self, opened: Any) -> None:
        """Note in the round what its distribution depends on: functions of the context and the past.

        Nothing but the round changes: `_act` need not follow.
        """

    @abstractmethod
    def _act(self, opened: Any) -> None:
        """Choose: `opened.play(choice)`. What can fail belongs here, what changes to `_played`."""

    def _played(self, opened: Any) -> None:
        """The action is played: go on to fresh noise and the like. Must not fail."""

    def _abandoned(self, opened: Any) -> None:
        """A round will never be answered: release what was reserved for it. Must not fail."""

    @abstractmethod
    def _update(self, opened: Any, loss: Any) -> None:
        """Check the loss, then learn; must change nothing if it raises."""

    def _action_distribution(self, opened: Any) -> FloatArray | None:
        """The probability of each element in a prepared round, where there is a formula."""
        return None

    def _replay(self, opened: Any, copies: int, rng: np.random.Generator) -> list[Action]:
        """Independent draws of the action of a prepared round, by other random numbers."""
        again = [copy.copy(opened) for _ in range(copies)]
        for each in again:
            self._reseeded(rng)._act(each)
        return [each.action for each in again]

    def _shares(self, opened: Any, draws: int, rng: np.random.Generator) -> FloatArray:
        """How often each element is chosen among so many draws of `_replay`, as shares."""
        K = self.actions_on(opened.context)
        assert K is not None
        counts = np.zeros(K)
        for action in self._replay(opened, draws, rng):
            counts[action] += 1.0
        return counts / draws

    def _reseeded(self, rng: np.random.Generator) -> Self:
        """A copy for one `_act`, with `rng` for its generators; others may share what stays."""
        known: dict[int, Any] = {id(self.oracle): self.oracle}
        for value in vars(self).values():
            if isinstance(value, np.random.Generator):
                known[id(value)] = rng
            elif isinstance(value, Learner):
                known[id(value)] = value._reseeded(rng)
        return copy.deepcopy(self, known)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        """What an action has cost, by a loss that `update` would accept; else its error."""
        raise NotImplementedError(f"{type(self).__name__} does not say what a loss means.")

    def _total(self) -> Objective | None:
        """The total of what was learned, where one is kept."""
        return None

    @property
    def _scores_actions(self) -> bool:
        """Whether `_act` plays the best of `opened.available` by scores of its own.

        All others play as if every action were available; a choice that is not is then replaced by
        a substitute that was fixed before any random number was drawn.
        """
        return False

    @property
    def action_count(self) -> int | None:
        """K, where it is known."""
        return getattr(self if self.oracle is None else self.oracle, "n_actions", None)

    @property
    def takes_items(self) -> bool:
        """Whether a round offers actions of its own, each described by a row: see `Menu`."""
        return self.oracle is not None and self.oracle.takes_items

    def actions_on(self, context: Any) -> int | None:
        """K of a round: that of its menu where actions are described, else the same for all."""
        return len(context) if self.takes_items else self.action_count

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """The context of the next round, or of one that many rounds later."""
        oracle = self.oracle
        if oracle is None:
            if isinstance(context, Menu):
                raise undescribed(self)
            return check_comparable(context)
        return context_at(oracle, self.clock + ahead, context)

    # Parts ------------------------------------------------------------------------------------

    @property
    def clock(self) -> int:
        """The number of the round that comes next."""
        ledger = self._ledger
        return self.rounds + len(ledger.waiting) + ledger.forgotten

    def _propensity_record(self, opened: Any) -> PropensityRecord:
        """Return how likely the action of a round was, for its decision."""
        distribution = self._action_distribution(opened)
        if distribution is None:
            return PropensityRecord(opened.inverse, math.nan, math.nan)
        q = distribution[opened.action]
        single = isinstance(opened.action, int)
        return PropensityRecord(
            opened.inverse, float(q) if single else q, 0.0 if single else 0.0 * q
        )


def _restrict(learner: Learner, opened: OpenRound, some: IntArray) -> None:
    """Fix what is played for each choice, where not all actions are available."""
    assert learner.action_count is not None
    span = getattr(learner, "loss_range", None)
    given = learner.action_count, learner._total(), span
    learner._availability.restrict(opened, some, *given)


def _break(learner: Learner) -> None:
    """Mark a learner as broken: committing was interrupted, so its state is unknown."""
    learner._ledger = BrokenLedger()  # type: ignore[assignment]
