"""Rounds between `act` and `update`: what was decided, and what its feedback will need.

`act` and `decide` open one, a `Ledger` keeps it while its loss is awaited, and `update` hands it
back. So feedback that is late, out of order or missing needs nothing else.
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

MOST_OPEN = 100_000  # decisions of one learner that wait for their losses


@dataclass(slots=True, eq=False)
class PropensityRecord:
    """How likely the action of a decision was: shared by the decision and its round.

    Drawn weights stay hidden until the round is answered or forgotten. An environment that saw
    them could choose by them which rounds it answers, and no statement about regret would hold.
    """

    weights: Any  # one for each chosen element; a number for a single action
    propensity: Any
    error: Any
    exact: bool = True  # whether there is a formula for the propensity; else the weights are its
    hidden: bool = False

    def to_list(self) -> list[Any]:
        """As files have it: few bytes, since many rounds may be open."""
        numbers = np.atleast_1d(self.weights), self.propensity, self.error
        plain = [np.asarray(each, np.float64).tolist() for each in numbers]
        return [*plain, self.exact, self.hidden]

    @classmethod
    def of(cls, kept: Any) -> PropensityRecord:
        """From a file."""
        whole = type(kept) is list and len(kept) == 5 and type(kept[0]) is list
        numbers, flags = (kept[:3], kept[3:]) if whole else ([], [])
        single = [one for each in numbers for one in (each if type(each) is list else [each])]
        sound = all(type(one) is float for one in single) and all(type(it) is bool for it in flags)
        if not whole or not sound or any(weight < 0.0 for weight in kept[0]):
            raise DamagedFileError("The propensity of an open decision is none.")
        weights, *rest = (np.array(each) if type(each) is list else each for each in numbers)
        return cls(weights, rest[0], rest[1], *flags)


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided for a context, under an id that feedback refers to later."""

    id: int
    context: Any
    action: Action
    record: PropensityRecord = field(repr=False)
    available: IntArray | None = None
    """The actions that were available, sorted; None where all were."""
    maker: bytes = field(default=b"", repr=False)
    """Whose decision it is: the `maker` of its ledger."""

    @property
    def weights(self) -> FloatArray:
        """For each chosen element 1/q, q its probability of being chosen, or an estimate of it.

        Of the state at decision time: inverse propensities, unbiased up to the known truncation.
        Empty where the learner has no use for them; drawn ones are shown once the round has been
        answered or forgotten.
        """
        return np.empty(0) if self.record.hidden else np.atleast_1d(self.record.weights)

    @property
    def propensity(self) -> Any:
        """The probability with which the action was chosen; for sets one for each chosen element.

        Where the learner has no formula for it: one over the weight, whose inverse is the unbiased
        number, once the round has been answered. NaN before that, and where there are no weights
        (ask `propensities` beforehand).
        """
        record = self.record
        return record.propensity if record.exact or not record.hidden else math.nan

    @property
    def propensity_error(self) -> Any:
        """The standard error of the propensity: 0 where it is exact."""
        record = self.record
        return record.error if record.exact or not record.hidden else math.nan


def n_actions_of(self: Any) -> int | None:
    """K of the round that is being loaded."""
    n_actions: int | None = self.actions_on(self.context)
    return n_actions


def chooses_sets(self: Any) -> bool:
    """Whether the learner that is being loaded chooses sets of elements."""
    return self.oracle is not None and bool(self.oracle.chooses_sets)


def is_action(value: Any, n_actions: int | None, sets: bool) -> bool:
    """Whether this can be played: an integer below K, or the rising elements of a set."""
    below = MOST if n_actions is None else n_actions
    if sets:
        return Array(None, dtype=np.intp, low=0, below=below, rising=True).fits(value)
    return Count(below).fits(value)


def Choice(single: bool = False) -> Kind:
    """An action of the round that is being loaded; with `single` also where sets are chosen."""

    def accepts(value: Any, _: Any, scope: Scope) -> bool:
        return is_action(value, n_actions_of(scope), chooses_sets(scope) and not single)

    return Kind(accepts)


def are_substitutes(self: Any, plays: IntArray) -> bool:
    """Whether each action is available, or replaced by one that is; elements of sets are -1."""
    if chooses_sets(self):
        return bool((plays == np.where(plays < 0, -1, np.arange(len(plays)))).all())
    known = n_actions_of(self) is not None and plays.min() >= 0
    return known and bool((plays[plays] == plays).all())


class OpenRound(Stored):
    """A round that waits for its loss.

    Learners add what they need of the moment of decision, with a default in the class. Whatever a
    call computes is kept here until nothing can fail any more.

    Parameters
    ----------
    context
        x, as the policy class takes it once it has been checked.

    Examples
    --------
    >>> opened = OpenRound("rain")
    >>> opened.plays = np.array([1, 1, 2])  # action 0 is not available
    >>> opened.play(0)
    >>> opened.chosen, opened.action, opened.available
    (0, 1, array([1, 2]))
    """

    plays: IntArray | None = None
    """r[b] is played where b is chosen; of sets, -1 for the elements that are not available. None
    where all are."""
    _indices: IntArray | None = None  # the available ones, once they are known; not to be changed
    chosen: Action = -1
    action: Action = -1  # what is played where `chosen` was chosen
    number: int | None = None  # the id of its decision; None for the round that `act` opened
    late: bool = False  # whether other losses may be learned before its own
    arrived_before: int = 0  # how many rounds had been learned when it was decided, if it is late
    record: PropensityRecord | None = None  # of its decision
    values: FloatArray | None = None  # what a predictor expects of each action, if it was asked
    named: bool = False  # whether the caller knows described actions by their ids
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
        """Play a choice, or its substitute where it is not available."""
        self.chosen = self.action = choice
        if self.plays is not None and isinstance(choice, int):  # sets are chosen among these
            self.action = int(self.plays[choice])

    def replaced(self, values: FloatArray) -> FloatArray:
        """For each choice the value of what is played for it; of sets none is replaced."""
        plays = self.plays
        return values if plays is None or plays.min() < 0 else values[plays]

    @property
    def answer(self) -> Any:
        """The action as the caller knows it: its id, where described actions were given ids."""
        return self.context.named(self.action) if self.named else self.action

    @property
    def available(self) -> IntArray | None:
        """The available actions, or None where all are."""
        return None if self.plays is None else available_in(self.plays)

    @property
    def available_indices(self) -> IntArray:
        """The same where not all are, found once; not to be changed."""
        assert self.plays is not None
        if self._indices is None:
            self._indices = available_in(self.plays)
        return self._indices

    @property
    def inverse(self) -> FloatArray:
        """Inverse propensities of the chosen elements, where the learner uses them."""
        return np.empty(0)  # a new one: files tell objects that are shared from those that are not

    def action_distribution(self) -> FloatArray | None:
        """The probability of each action, where it was found when the round was decided."""
        return None

    @property
    def stored_record(self) -> list[Any] | None:
        """The odds of its decision, as files hold them."""
        return None if self.record is None else self.record.to_list()

    @stored_record.setter
    def stored_record(self, listed: list[Any] | None) -> None:
        self.record = None if listed is None else PropensityRecord.of(listed)

    def _params_to_store(self) -> dict[str, Any]:
        return {"context": self.context}

    _by_action: ClassVar[tuple[str, ...]] = ("values",)  # arrays with a number for each action

    def extended(self, n_actions: int) -> Self:
        """The same round where there are more actions, which it could not play."""
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
    """The rounds of a learner that wait for their losses."""

    current: OpenRound | None = None  # the one that `act` opened
    waiting: dict[int, OpenRound] = field(default_factory=dict)  # those of decisions, by id
    made: int = 0
    forgotten: int = 0
    dropped: int = 0  # rounds of `act` that a second `act` replaced
    delayed: bool = False  # whether a round was learned while others waited
    closed: int = 0  # rounds that were learned
    total_delay: int = 0  # pairs of rounds that were open together, of which one was learned
    maker: bytes = field(default_factory=lambda: os.urandom(16))  # the same in copies; in no file
    inherited: int = 0  # decisions from before the learner was loaded, whoever made them
    logged: int = 0  # decisions of others that were learned
    added: int = 0  # how often actions came after the first round

    stored = State(
        made=Count(),
        forgotten=Count(),
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
        """All rounds that wait."""
        return [*self.waiting.values(), *([] if self.current is None else [self.current])]

    @property
    def abandoned(self) -> int:
        """Rounds that will never be answered.

        Which ones may depend on what was played, so that regret over the others says nothing.
        """
        return self.forgotten + self.dropped

    @property
    def immediate(self) -> bool:
        """Whether every round that was answered was the only one open, and none was left out."""
        return not (self.delayed or self.abandoned or self.logged or self.added)

    def pending(self, opened: OpenRound) -> int:
        """How many rounds wait while this one is decided; one that it replaces does not."""
        return len(self.waiting) + (self.current is not None and opened.number is not None)

    def supersedes_open_round(self, opened: OpenRound) -> bool:
        """Whether this round takes the place of one that will never be answered."""
        return self.current is not None and opened.number is None

    def decided_since_last_update(self, opened: OpenRound) -> list[OpenRound]:
        """Other open rounds, which were decided since a loss was last learned.

        What depends on the state of their decision must be known before this one is learned.
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
        """Refuse decisions whose losses could not come late, and too many of them."""
        if refusal is not None:
            raise ParameterError(refusal)
        if len(self.waiting) + decisions > MOST_OPEN:
            raise DecisionError(
                f"{len(self.waiting)} decisions wait for their losses, and {MOST_OPEN} may: give "
                "update(loss, decision=…) the losses that are known, and forget(decision) those "
                "that will never be; open_decisions lists all ids."
            )

    @property
    def without_feedback(self) -> int:
        """Rounds that were decided and have no loss, at least not yet."""
        return self.abandoned + len(self.waiting) + (self.current is not None)

    def decision(self, opened: OpenRound) -> Decision:
        """What the caller sees of a round that is kept."""
        assert opened.number is not None
        assert opened.record is not None
        answer = opened.answer if opened.named else opened.action
        if isinstance(answer, np.ndarray):
            answer = answer.copy()  # the caller may change it
        some = None if opened.plays is None else opened.available
        return Decision(opened.number, opened.context, answer, opened.record, some, self.maker)

    def find(self, decision: Decision | int | None, oracle: Oracle | None) -> OpenRound:
        """The round that a loss belongs to, or an error that says why there is none."""
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
            state = "has been answered or forgotten already" if known else "was never made here"
            raise DecisionError(
                f"Decision {number!r} {state}; {len(self.waiting)} decisions are open."
            )
        opened = self.waiting[number]
        if isinstance(decision, Decision):
            same = number < self.inherited or decision.maker == self.maker
            key = context_key if oracle is None else oracle.key
            same = same and key(decision.context) == key(opened.context)
            if not same or not same_action(decision.action, opened.answer):
                raise DecisionError(f"Decision {number} was made by another learner.")
        return opened

    def forget(self, opened: OpenRound) -> None:
        """A decision will never be answered."""
        assert opened.number is not None
        assert opened.record is not None
        del self.waiting[opened.number]
        opened.record.hidden = False
        self.forgotten += 1

    def extended(self, n_actions: int) -> Ledger:
        """With more actions, which no open round could have played."""
        rounds = {number: opened.extended(n_actions) for number, opened in self.waiting.items()}
        current = None if self.current is None else self.current.extended(n_actions)
        more = 1 if self.closed or self.waiting or current is not None else 0
        return replace(self, waiting=rounds, current=current, added=self.added + more)

    def _restored(self) -> None:
        self.inherited = self.made


class BrokenLedger:
    """The ledger of a learner that was interrupted while it committed: every call raises."""

    def __getattr__(self, name: str) -> Any:
        raise OrderError(
            "This learner is broken: a call was interrupted while it changed the learner, by "
            "Ctrl-C or by an error that must not occur there, so its state is half-way between two "
            "rounds. Load the file that was saved last, or call reset()."
        )


class Retry(Stored):
    """The steps that the last round of a learner left undone.

    A round is complete once its loss has been learned: an error in a further step, of a detector or
    of one copy among several, must not undo it. Such a step waits here, and the learner does it
    before anything else in its next call.

    Attributes
    ----------
    steps
        For each step the name of a method of the learner, arguments, and the last argument: data of
        the caller, of which a step that failed has its own copy.
    """

    stored = State(steps=ListOf(TupleOf(Text(), Anything(), Anything())))  # owners check them

    def __init__(self) -> None:
        self.steps: list[tuple[str, tuple[Any, ...], Any]] = []

    def keep(self, *steps: tuple[str, tuple[Any, ...], Any]) -> None:
        """Leave steps that failed for `finish`, with their own copy of the caller's data."""
        data = copy.deepcopy([last for _, _, last in steps])
        self.steps = [(*step[:2], last) for step, last in zip(steps, data, strict=True)]

    def finish(self, owner: object) -> None:
        """Do what is left, each step once; a step that fails again raises, and stays."""
        while self.steps:
            name, args, last = self.steps[0]
            getattr(owner, name)(*args, last)
            del self.steps[0]


def context_key(context: Any) -> Hashable:
    """What tells a context from others where no oracle does."""
    if isinstance(context, np.ndarray):
        return context.shape, context.tobytes()
    try:
        hash(context)
    except TypeError:
        return repr(context)
    return context  # type: ignore[no-any-return]
