"""Rounds between `act` and `update`: the chosen actions, and the data for learning from feedback.

`act` and `decide` open a round, a `Ledger` holds it while it is open, and `update` passes it back
to the learner. Feedback that is delayed, out of order or missing therefore needs nothing else.
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import grown
from hannan.core.errors import DamagedFileError, DecisionError, OrderError, ParameterError
from hannan.core.oracle import Oracle, available_in
from hannan.core.policy import Action, same_action
from hannan.core.state import (
    MOST,
    Anything,
    Array,
    Count,
    DictOf,
    Flag,
    Kind,
    ListOf,
    Object,
    OneOf,
    Scope,
    State,
    Text,
    TupleOf,
)
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray

IntArray = NDArray[np.intp]

MOST_OPEN = 100_000  # largest number of open decisions of one learner


@dataclass(slots=True, eq=False)
class PropensityRecord:
    """Propensity and importance weights, shared by a `Decision` and its `OpenRound`.

    Randomly drawn weights stay hidden until the round has feedback or is abandoned. An environment
    that saw these weights could use them to choose for which rounds it gives feedback, and no
    regret bound would hold.
    """

    weights: Any  # one per chosen element; a number for a single action
    propensity: Any
    error: Any
    exact: bool = True  # whether there is a formula for the propensity; else it is 1 / weight
    hidden: bool = False

    def to_list(self) -> list[Any]:
        """Return the record as files store it: few bytes, because many rounds may be open."""
        numbers = np.atleast_1d(self.weights), self.propensity, self.error
        plain = [np.asarray(each, np.float64).tolist() for each in numbers]
        return [*plain, self.exact, self.hidden]

    @classmethod
    def of(cls, kept: Any) -> PropensityRecord:
        """Return a record from its stored list."""
        whole = type(kept) is list and len(kept) == 5 and type(kept[0]) is list
        numbers, flags = (kept[:3], kept[3:]) if whole else ([], [])
        single = [one for each in numbers for one in (each if type(each) is list else [each])]
        sound = all(type(one) is float for one in single) and all(type(it) is bool for it in flags)
        if not whole or not sound or any(weight < 0.0 for weight in kept[0]):
            raise DamagedFileError("The propensity of an open decision is not valid.")
        weights, *rest = (np.array(each) if type(each) is list else each for each in numbers)
        return cls(weights, rest[0], rest[1], *flags)


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A chosen action, with the id under which you report its loss."""

    id: int
    context: Any
    action: Action
    record: PropensityRecord = field(repr=False)
    available: IntArray | None = None
    """The actions that were available, sorted; None where all were."""
    maker: bytes = field(default=b"", repr=False)
    """Identity of the learner that decided: the `maker` of its ledger."""

    @property
    def weights(self) -> FloatArray:
        """Importance weight of each chosen element: 1/q, q its propensity, or an estimate of 1/q.

        The weights refer to the state at decision time and are unbiased up to the known truncation.
        The array is empty if the learner does not use weights. Randomly drawn weights are shown
        once the round has feedback or is abandoned.
        """
        return np.empty(0) if self.record.hidden else np.atleast_1d(self.record.weights)

    @property
    def propensity(self) -> Any:
        """Probability with which the action was chosen; for sets, one per chosen element.

        If the learner has no formula, the propensity is 1 / weight once the round has feedback or
        is abandoned; the weight, not its inverse, is unbiased. Before that, and without weights,
        the propensity is NaN: call `propensities` before the decision instead.
        """
        record = self.record
        return record.propensity if record.exact or not record.hidden else math.nan

    @property
    def propensity_error(self) -> Any:
        """Standard error of the propensity: 0 if the propensity is exact."""
        record = self.record
        return record.error if record.exact or not record.hidden else math.nan


def n_actions_of(self: Any) -> int | None:
    """Return K of the round that is being loaded."""
    n_actions: int | None = self.actions_on(self.context)
    return n_actions


def chooses_sets(self: Any) -> bool:
    """Return whether the learner that is being loaded chooses sets of elements."""
    return self.oracle is not None and bool(self.oracle.chooses_sets)


def is_action(value: Any, n_actions: int | None, sets: bool) -> bool:
    """Return whether this is an action: an integer below K, or the sorted elements of a set."""
    below = MOST if n_actions is None else n_actions
    if sets:
        return Array(None, dtype=np.intp, low=0, below=below, rising=True).fits(value)
    return Count(below).fits(value)


def Choice(single: bool = False) -> Kind:
    """Declare an action of the round being loaded; with `single`, an int also for sets."""

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        return is_action(value, n_actions_of(scope), chooses_sets(scope) and not single)

    return Kind(accepts)


def are_substitutes(self: Any, plays: IntArray) -> bool:
    """Return whether each action is available or has an available substitute; for sets: -1."""
    if chooses_sets(self):
        return bool((plays == np.where(plays < 0, -1, np.arange(len(plays)))).all())
    known = n_actions_of(self) is not None and plays.min() >= 0
    return known and bool((plays[plays] == plays).all())


class OpenRound(Stored):
    """A round without feedback so far.

    Learners add the quantities of the moment of decision that they need, with a default in the
    class. Results of a call are stored here until nothing can fail any more.

    Parameters
    ----------
    context
        Checked context x, in the form that the policy class takes.

    Examples
    --------
    >>> opened = OpenRound("rain")
    >>> opened.plays = np.array([1, 1, 2])  # action 0 is not available
    >>> opened.play(0)
    >>> opened.chosen, opened.action, opened.available
    (0, 1, array([1, 2]))
    """

    plays: IntArray | None = None
    """The action plays[b] is played if b is chosen; for sets, -1 marks an unavailable element. None
    if all are available."""
    _indices: IntArray | None = None  # available indices, once computed; do not modify
    chosen: Action = -1
    action: Action = -1  # the action played: `chosen` or its substitute
    number: int | None = None  # id of its decision; None for the round that `act` opened
    late: bool = False  # whether feedback of other rounds may arrive first
    arrived_before: int = 0  # number of rounds with feedback at decision time, if `late`
    record: PropensityRecord | None = None  # propensity record of its decision
    values: FloatArray | None = None  # the predictor's prediction for each action, if it was asked
    named: bool = False  # whether the caller gave ids for the items
    calls: int = 0  # oracle calls of the present call of the learner

    stored = State(
        context=Anything().where(lambda self, context: self._holds(context)),
        plays=Array(n_actions_of, dtype=np.intp, low=-1, below=n_actions_of).where(are_substitutes)
        | None,
        action=Choice().where(
            lambda self, action: self.plays is None or np.all(self.plays[action] == action)
        ),
        chosen=Choice() | OneOf(-1),
        number=Count() | None,
        late=Flag(),
        arrived_before=Count(),
        stored_record=Anything().where(
            lambda self, record: record is not None or self.number is None
        ),
        values=Array(n_actions_of) | None,
        named=Flag().where(
            lambda self, named: not named or getattr(self.context, "ids", None) is not None
        ),
    )

    def __init__(self, context: Any) -> None:
        self.context = context

    def play(self, choice: Action) -> None:
        """Play a choice, or its substitute if the choice is not available."""
        self.chosen = self.action = choice
        if self.plays is not None and isinstance(choice, int):  # sets hold available elements only
            self.action = int(self.plays[choice])

    def replaced(self, values: FloatArray) -> FloatArray:
        """Return for each choice the value of the action played; sets have no substitutes."""
        plays = self.plays
        return values if plays is None or plays.min() < 0 else values[plays]

    @property
    def answer(self) -> Any:
        """Action as the caller knows it: the id if the items have ids, else the index."""
        return self.context.named(self.action) if self.named else self.action

    @property
    def available(self) -> IntArray | None:
        """Available actions, or None if all are available."""
        return None if self.plays is None else available_in(self.plays)

    @property
    def available_indices(self) -> IntArray:
        """Indices of the available actions in a restricted round, cached. Do not modify."""
        assert self.plays is not None
        if self._indices is None:
            self._indices = available_in(self.plays)
        return self._indices

    @property
    def inverse(self) -> FloatArray:
        """Inverse propensities of the chosen elements, if the learner uses them."""
        return np.empty(0)  # a fresh array, because files record shared objects

    def action_distribution(self) -> FloatArray | None:
        """Return the probability of each action if it was computed at decision time, else None."""
        return None

    @property
    def stored_record(self) -> list[Any] | None:
        """Propensity record of the decision, in the form that files store."""
        return None if self.record is None else self.record.to_list()

    @stored_record.setter
    def stored_record(self, listed: list[Any] | None) -> None:
        self.record = None if listed is None else PropensityRecord.of(listed)

    def _params_to_store(self) -> dict[str, Any]:
        return {"context": self.context}

    _by_action: ClassVar[tuple[str, ...]] = ("values",)  # arrays with one number per action

    def extended(self, n_actions: int) -> Self:
        """Return a copy of the round for more actions; the new actions are unavailable in it."""
        twin = copy.copy(self)
        for name in self._by_action:
            array = getattr(self, name)
            if array is not None:
                setattr(twin, name, grown(array, n_actions))
        if self.plays is not None:
            others = self.plays[self.plays != np.arange(len(self.plays))]
            twin.plays, twin._indices = grown(self.plays, n_actions, others[0]), None
        return twin


@dataclass(slots=True)
class Ledger(Stored):
    """The open rounds of a learner, and counts of its past rounds."""

    current: OpenRound | None = None  # open round of the last `act`
    waiting: dict[int, OpenRound] = field(default_factory=dict)  # open rounds of decisions, by id
    made: int = 0
    discarded: int = 0
    dropped: int = 0  # rounds of `act` that a second `act` replaced
    delayed: bool = False  # whether a round got feedback while other rounds were open
    closed: int = 0  # rounds with feedback
    total_delay: int = 0  # pairs of rounds that were open together, of which one got feedback
    maker: bytes = field(default_factory=lambda: os.urandom(16))  # equal in copies; in no file
    inherited: int = 0  # decisions from before the learner was loaded, by any learner
    logged: int = 0  # logged decisions of other systems that the learner learned from
    added: int = 0  # how often actions were added after the first round

    stored = State(
        made=Count(),
        discarded=Count(),
        dropped=Count(),
        delayed=Flag(),
        closed=Count(),
        total_delay=Count(),
        logged=Count(),
        added=Count(),
        current=Object(OpenRound).where(
            lambda self, opened: type(opened) is self.Round and opened.number is None
        )
        | None,
        waiting=DictOf(
            Count("made"), Object(OpenRound).where(lambda self, opened: type(opened) is self.Round)
        ).where(lambda self, waiting: all(each.number == key for key, each in waiting.items())),
    )

    @property
    def opened(self) -> list[OpenRound]:
        """All open rounds."""
        return [*self.waiting.values(), *([] if self.current is None else [self.current])]

    @property
    def abandoned(self) -> int:
        """Number of rounds that will never get feedback.

        The abandoned rounds may depend on the actions played. Regret over the other rounds is then
        meaningless.
        """
        return self.discarded + self.dropped

    @property
    def immediate(self) -> bool:
        """Whether every round with feedback was the only open one, and no round was left out."""
        return not (self.delayed or self.abandoned or self.logged or self.added)

    def pending(self, opened: OpenRound) -> int:
        """Return the number of rounds open at this decision, without a round that it replaces."""
        return len(self.waiting) + (self.current is not None and opened.number is not None)

    def supersedes_open_round(self, opened: OpenRound) -> bool:
        """Return whether this round replaces an open round, which will never get feedback."""
        return self.current is not None and opened.number is None

    def decided_since_last_update(self, opened: OpenRound) -> list[OpenRound]:
        """Return the other open rounds decided since the learner last learned from a loss.

        Quantities that depend on the state at their decision must be computed before the learner
        learns from this round.
        """
        found: list[OpenRound] = []
        if self.current is None and len(self.waiting) == (opened.number is not None):
            return found
        for number in reversed(self.waiting):
            other = self.waiting[number]
            if other.arrived_before < self.closed:
                break
            found.append(other)
        if self.current is not None and self.current.arrived_before == self.closed:
            found.append(self.current)
        return [other for other in found if other is not opened]

    def check_room(self, decisions: int, refusal: str | None) -> None:
        """Raise an error if delayed feedback is unsupported or too many decisions are open."""
        if refusal is not None:
            raise ParameterError(refusal)
        if len(self.waiting) + decisions > MOST_OPEN:
            raise DecisionError(
                f"Too many open decisions: {len(self.waiting)} open, {decisions} requested, "
                f"{MOST_OPEN} allowed. Report losses with update(loss, decision=…), or abandon "
                "decisions with forget(decision); open_decisions lists all ids."
            )

    @property
    def without_feedback(self) -> int:
        """Number of decided rounds that have no feedback, or none yet."""
        return self.abandoned + len(self.waiting) + (self.current is not None)

    def decision(self, opened: OpenRound) -> Decision:
        """Return the `Decision` of a stored round, for the caller."""
        assert opened.number is not None
        assert opened.record is not None
        answer = opened.answer if opened.named else opened.action
        if isinstance(answer, np.ndarray):
            answer = answer.copy()  # the caller may change it
        some = None if opened.plays is None else opened.available
        return Decision(opened.number, opened.context, answer, opened.record, some, self.maker)

    def find(self, decision: Decision | int | None, oracle: Oracle | None) -> OpenRound:
        """Return the round that a loss belongs to, or raise an error that explains its absence."""
        if decision is None:
            if self.current is None:
                raise OrderError(
                    "update() needs a round: call act(context) first, then update(loss) once."
                )
            return self.current
        number = decision.id if isinstance(decision, Decision) else decision
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole or number not in self.waiting:
            known = whole and 0 <= number < self.made
            state = "already has feedback or was abandoned" if known else "was never made here"
            raise DecisionError(
                f"Decision {number!r} {state}; the number of open decisions is {len(self.waiting)}."
            )
        opened = self.waiting[number]
        if isinstance(decision, Decision):
            same = number < self.inherited or decision.maker == self.maker
            key = context_key if oracle is None else oracle.key
            same = same and key(decision.context) == key(opened.context)
            if not same or not same_action(decision.action, opened.answer):
                raise DecisionError(
                    f"Decision {number} was made by another learner: report its loss there."
                )
        return opened

    def forget(self, opened: OpenRound) -> None:
        """Drop the open round of a decision that will never get feedback."""
        assert opened.number is not None
        assert opened.record is not None
        del self.waiting[opened.number]
        opened.record.hidden = False
        self.discarded += 1

    def extended(self, n_actions: int) -> Ledger:
        """Return a ledger for more actions, which no open round could have played."""
        rounds = {number: opened.extended(n_actions) for number, opened in self.waiting.items()}
        current = None if self.current is None else self.current.extended(n_actions)
        more = 1 if self.closed or self.waiting or current is not None else 0
        return replace(self, waiting=rounds, current=current, added=self.added + more)

    def _restored(self) -> None:
        self.inherited = self.made


class BrokenLedger:
    """Ledger of a learner whose commit was interrupted: every later call raises an error."""

    def __getattr__(self, name: str) -> Any:
        raise OrderError(
            "This learner is broken: Ctrl-C or an unexpected error interrupted a call that was "
            "changing it, so its state is half-way between two rounds. Load the last saved file, "
            "or call reset()."
        )


class Retry(Stored):
    """Steps of the last round that failed and that the learner must repeat.

    A round is complete once the learner has learned from its loss. An error in a further step, of a
    detector or of one copy among several, must not undo the round. Such a step is stored here, and
    the learner repeats it at the beginning of its next call.

    Attributes
    ----------
    steps
        One tuple per step: the name of a method of the learner, its arguments, and the last
        argument. The last argument holds data of the caller; a failed step has its own copy.
    """

    stored = State(steps=ListOf(TupleOf(Text(), Anything(), Anything())))  # owners check them

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Any, ...], Any]] = []

    def keep(self, *steps: tuple[str, tuple[Any, ...], Any]) -> None:
        """Store failed steps for `finish`, with copies of the caller's data."""
        data = copy.deepcopy([last for _, _, last in steps])
        self.steps = [(*step[:2], last) for step, last in zip(steps, data, strict=True)]

    def finish(self, owner: object) -> None:
        """Repeat the stored steps in order; a step that fails again raises, and stays stored."""
        while self.steps:
            name, args, last = self.steps[0]
            getattr(owner, name)(*args, last)
            del self.steps[0]


def context_key(context: Any) -> Hashable:
    """Return a key that identifies a context, for learners without an oracle."""
    if isinstance(context, np.ndarray):
        return context.shape, context.tobytes()
    try:
        hash(context)
    except TypeError:
        return repr(context)
    return context  # type: ignore[no-any-return]
