"""Decisions and outcomes in the caller's terms, and the record of open decisions."""

from __future__ import annotations

import math
import operator
import secrets
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np

from hannan.core import (
    ClosedDecisionError,
    ContradictoryOutcomeError,
    DecisionError,
    InputTypeError,
    LossError,
    OpenDecisionError,
    ParameterError,
    UnknownDecisionError,
)
from hannan.core.arrays import as_scalar
from hannan.core.params import Parametrised, short
from hannan.core.rounds import OpenRound
from hannan.core.state import Count, DictOf, Flag, Number, State, Text, TupleOf, TuplesOf
from hannan.core.validation import FloatArray, check_bounded_range
from hannan.decisions.names import Name
from hannan.decisions.records import is_request

LONGEST = 200  # characters of an id

Id = str | int
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class NamedDecision:
    """A decision: the action, its propensity, and the id under which you report the outcome."""

    action: Any
    """Name of the action; for a set, a tuple with the names of its elements."""
    propensity: Any
    """Probability of the action; for a set, a tuple with that of each chosen element. It is NaN
    if the learner can only estimate it, which it may show only after the outcome: see `log`."""
    id: Id
    actions: tuple[Name, ...] = field(default=(), repr=False)
    """Names of all actions, or elements, at the time of the decision."""
    opened: OpenRound | None = field(default=None, repr=False)
    """The learner's round; None in the holdout."""
    distribution: FloatArray | None = field(default=None, repr=False)
    """Probabilities of `actions`, in their order; None if they are unknown."""

    @property
    def expected(self) -> FloatArray | None:
        """Losses in [0, 1] that the predictor expected of `actions`; None without predictions."""
        return None if self.opened is None else self.opened.values


@dataclass(frozen=True, slots=True)
class Why:
    """Explanation of a decision: the probability and the expected outcome of each action.

    For a set, these are about the chosen elements. `str(why)` is a table.
    """

    action: Any
    propensity: Any
    probabilities: Mapping[Name, float]
    scores: Mapping[Name, float]
    """Outcome that the predictor expected of each action; empty without predictions."""
    outcome: str
    """"reward" or "loss"."""

    def __str__(self) -> str:
        """Return a table with a row for each action, the most probable first."""
        width = max((len(str(name)) for name in self.probabilities), default=0)
        if isinstance(self.action, tuple):
            lines = [f"Chose {', '.join(map(str, self.action)) or 'no element'}."]
        else:
            lines = [f"Chose {self.action} with probability {self.propensity:.4g}."]
        for name, q in sorted(self.probabilities.items(), key=lambda item: -item[1]):
            score = f"  expected {self.outcome} {self.scores[name]:.4g}" if self.scores else ""
            chance = "not known before its outcome" if math.isnan(q) else f"{q:.4f}"
            lines.append(f"{name!s:<{width}}  probability {chance}{score}")
        return "\n".join(lines)


def as_id(decision: Any) -> Id:
    """Return the id of a decision, given the decision or its id: an integer, text, or a UUID.

    >>> from uuid import UUID
    >>> import numpy as np
    >>> as_id(np.int64(7)), as_id(UUID(int=7))
    (7, '00000000-0000-0000-0000-000000000007')
    """
    key = decision.id if isinstance(decision, NamedDecision) else decision
    if isinstance(key, str | UUID):
        key = str(key)
        if 0 < len(key) <= LONGEST:
            return key
    elif not isinstance(key, bool | np.bool_) and hasattr(type(key), "__index__"):
        key = operator.index(key)
        if -(2**63) <= key < 2**63:
            return key
    raise InputTypeError(
        f"The id of a decision must be an integer, a UUID, or text of 1 to {LONGEST} characters; "
        f"got {short(decision)}."
    )


def new_id(id: Any) -> Id:
    """Return the id for a new decision: the caller's, or a random one."""
    return secrets.token_hex(8) if id is None else as_id(id)


def check_distinct(keys: list[Id]) -> None:
    """Raise `OpenDecisionError` if two ids are equal."""
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise OpenDecisionError(f"ids= has {twice!r} twice: give each decision a different id.")


def mark_of(row: Any, numbers: list[int] | None, items: Any) -> int:
    """Return a checksum of a request: the context, the available actions and the items.

    The order of keys in a mapping does not matter, 31 equals 31.0, and None equals NaN.

    >>> first = mark_of({"age": 31, "city": None}, None, None)
    >>> first - mark_of({"city": math.nan, "age": 31.0}, None, None)
    0
    """
    if type(row) is dict:
        cells = [(key, _whole(x) if type(x) is float else x) for key, x in row.items()]
        row = sorted(map(repr, cells))
    text = repr((row, numbers, items)).encode("utf-8", "replace")
    return int.from_bytes(blake2b(text, digest_size=8).digest())


def _whole(value: float) -> float | None:
    """Return a float as an integer if it is one, and None for NaN."""
    return int(value) if value.is_integer() else value if value == value else None


_ID = Text().where(lambda self, id: 0 < len(id) <= LONGEST) | Count(2**63, low=-(2**63))
_MARK = Count(2**64)
_ACTION = Count() | TuplesOf(Count())


def _fits(scope: Any, action: Any, numbers: Any, text: str | None) -> bool:
    """Return whether a stored decision chose an action that its stored request allowed.

    `numbers` are its propensity, its outcome or another action, if known.
    """
    size, sets = scope._size, scope._sets is not None
    known = [each for each in numbers if each is not None]
    if any((type(each) is tuple) != sets for each in (action, *known)):
        return False
    return text is None if size == 0 else text is not None and is_request(text, action, size)


class OpenDecisions(Parametrised):
    """Record of all open decisions and of the last closed ones.

    Parameters
    ----------
    most
        Maximum number of open decisions.
    remembered
        Number of closed decisions held in memory, to recognise an outcome that is reported again.
    """

    stored = State(
        waiting=DictOf(
            _ID,
            TupleOf(
                Count(2**63, low=-(2**63)),
                _ACTION,
                Number(0.0, 1.0) | None,
                Number(),
                _MARK,
                _ACTION | None,
                Text() | None,
            ).where(
                lambda self, held: (
                    _fits(self, held[1], held[5:6], held[-1])
                    and (held[2] is None) == (type(held[1]) is tuple)
                )
            ),
            most="most",
        ),
        closed=DictOf(
            _ID.where(lambda self, id: id not in self.waiting),
            TupleOf(
                _ACTION,
                Number(0.0, 1.0).where(lambda self, q: q > 0.0) | TuplesOf(Number(0.0, 1.0)) | None,
                _MARK,
                Number() | TuplesOf(Number()) | None,
                Flag(),
                Number(),
                Text() | None,
            ).where(
                lambda self, held: (
                    _fits(self, held[0], (held[1], held[3]), held[-1])
                    and (held[1] is not None or type(held[0]) is tuple)
                    and all(len(each) == len(held[0]) for each in held[:4] if type(each) is tuple)
                )
            ),
            most="remembered",
        ),
    )

    def __init__(self, most: int, remembered: int) -> None:
        self.most = most
        self.remembered = remembered
        self.waiting: dict[Id, tuple[int, Any, Any, float, int, Any, str | None]] = {}
        """The learner's number of the decision, or a negative number in the holdout; the action,
        its propensity (None for a set), the time, and the request's checksum; the action that the
        holdout would have taken, if any; and the request as text, None if items are passed to each
        decision. A set is a tuple of the numbers of its elements."""
        self.closed: dict[Id, tuple[Any, Any, int, Any, bool, float, str | None]] = {}
        """The action, its propensity, the request's checksum, the outcome or None, whether the
        decision expired, the time, and the request as text. A set has a tuple of propensities, or
        None in the holdout, and a tuple of outcomes."""
        self._order: deque[Id] = deque()  # ids of closed decisions, the oldest first

    def _restored(self) -> None:
        self._order = deque(self.closed)

    def check_room(self, count: int) -> None:
        """Raise `DecisionError` if there is no room for `count` more open decisions."""
        if len(self.waiting) + count > self.most:
            more = "" if count == 1 else f", and {count} more are requested"
            raise DecisionError(
                f"The number of open decisions is {len(self.waiting)}{more}; max_open={self.most} "
                "is the limit. Report the known outcomes with report(id, …), and close the other "
                "decisions with expire(older_than=seconds)."
            )

    def again(self, key: Id, mark: int) -> tuple[Any, Any]:
        """Return the action and the propensity of a known decision, if its request was the same."""
        if key in self.waiting:
            _, action, q, _, before, _, _ = self.waiting[key]
        else:
            action, q, before, *_ = self.closed[key]
        if mark != before:
            if key in self.waiting:
                raise OpenDecisionError(
                    f"There is an open decision {key!r} with another context, other available "
                    "actions or other items. Give each decision a different id. "
                    "decision(id) returns the open decision."
                )
            raise ClosedDecisionError(
                f"There was a decision {key!r} already, with another context, other available "
                "actions or other items. Give each decision a different id."
            )
        return action, q

    def check_closed(self, key: Id) -> None:
        """Raise `UnknownDecisionError` if a decision is not among the last closed ones."""
        if key not in self.closed:
            raise UnknownDecisionError(
                f"Unknown decision id {key!r}: it is not open and not among the last "
                f"{self.remembered:,} closed decisions. Open decisions: {len(self.waiting):,}."
            )

    def action(self, key: Id) -> Any:
        """Return the action of an open decision, or of one of the last closed ones."""
        if key in self.waiting:
            return self.waiting[key][1]
        self.check_closed(key)
        return self.closed[key][0]

    def told(self, key: Id, outcome: Any) -> bool:
        """Return whether this outcome of a closed decision was reported before.

        False if the decision has expired. Another outcome raises `ContradictoryOutcomeError`.
        """
        self.check_closed(key)
        before, expired = self.closed[key][3:5]
        if expired:
            return False
        if before != outcome:
            raise ContradictoryOutcomeError(
                f"Decision {key!r} already has the outcome {_shown(before)}; got "
                f"{_shown(outcome)}. A reported outcome cannot be changed."
            )
        return True

    def close(self, key: Id, outcome: Any, expired: bool = False, shown: Any = None) -> None:
        """Close a decision that has an outcome, has expired, or expired with a default outcome.

        `shown` are the propensities of a set, which are known only now.
        """
        _, action, q, moment, mark, _, asked = self.waiting.pop(key)
        self.closed[key] = action, shown if q is None else q, mark, outcome, expired, moment, asked
        self._order.append(key)
        if len(self._order) > self.remembered:
            del self.closed[self._order.popleft()]

    def older(self, than: float) -> list[Id]:
        """Return the ids of open decisions made before a time, the oldest first."""
        return [key for key, one in self.waiting.items() if one[3] < than]


def _shown(outcome: Any) -> str:
    """Return an outcome as text: a number, or the numbers of a set."""
    numbers = outcome if isinstance(outcome, tuple) else (outcome,)
    return ", ".join(f"{number:g}" for number in numbers) or "of no element"


class Units:
    """Conversion of rewards or losses in [low, high] to losses in [0, 1] and back.

    Parameters
    ----------
    rewards, losses
        Range (low, high) of the outcomes. Exactly one of the two is not None.
    clip
        Whether an outcome outside of the range counts as the nearest end of the range. If False,
        it raises `LossError`.
    """

    def __init__(self, rewards: Any = None, losses: Any = None, clip: Any = False) -> None:
        if (rewards is None) == (losses is None):
            given = "neither" if rewards is None else "both"
            raise ParameterError(
                "A Decider needs the range of its outcomes: either rewards=(low, high), if more is "
                f"better, or losses=(low, high), if less is better; got {given}."
            )
        if not isinstance(clip, bool):
            raise InputTypeError(f"clip= must be True or False; got {clip!r}.")
        self.word = "loss" if rewards is None else "reward"
        self.plural, span = ("losses", losses) if rewards is None else ("rewards", rewards)
        self.low, self.high = check_bounded_range("Decider", span, self.plural)
        self.width = self.high - self.low  # from one end of the range to the other
        self.clip = clip

    def outcome(self, reward: Any, loss: Any) -> float:
        """Return the checked outcome, which must have the right name, reward or loss."""
        given, other = (reward, loss) if self.word == "reward" else (loss, reward)
        if type(given) is float and self.low <= given <= self.high and other is None:
            return given  # the usual case
        if given is None or other is not None:
            made, wrong = ("rewards", "loss") if self.word == "reward" else ("losses", "reward")
            got = "neither" if other is None else f"{wrong}={other!r}"
            got = got if given is None else f"both {self.word}= and {wrong}="
            raise ParameterError(
                f"This Decider was created with {made}=, so pass one number as {self.word}=; got "
                f"{got}."
            )
        return self.checked(given)

    def checked(self, given: Any) -> float:
        """Return an outcome as a finite number in the range; True and False count as 1 and 0."""
        if type(given) is not float:
            given = as_scalar(given)
            if not isinstance(given, int | float | Decimal | Fraction):
                raise InputTypeError(f"A {self.word} must be one number; got {given!r:.100}.")
        try:
            value = float(given)
        except OverflowError:  # a large integer or fraction
            value = math.inf if given > 0 else -math.inf
        if self.low <= value <= self.high:
            return value
        if math.isnan(value) or not self.clip:
            mend = "Create the Decider with the true range, or with clip=True."
            if math.isnan(value):
                mend = "Do not report an unknown outcome; expire() closes such decisions."
            raise LossError(
                f"A {self.word} must lie in [{self.low:g}, {self.high:g}]; got {value:g}. {mend}"
            )
        return min(max(value, self.low), self.high)

    def as_loss(self, given: float) -> float:
        """Check an outcome and return its loss in [0, 1]; less is better."""
        within = type(given) is float and self.low <= given <= self.high
        outcome = given if within else self.checked(given)
        above = outcome - self.low if self.word == "loss" else self.high - outcome
        share = above / self.width
        return 0.0 if share < 0.0 else 1.0 if share > 1.0 else share

    def back(self, loss: float) -> float:
        """Return the outcome that corresponds to a loss in [0, 1]."""
        moved = loss * self.width
        return self.low + moved if self.word == "loss" else self.high - moved

    def interval(self, losses: Interval) -> Interval:
        """Convert an interval for a mean loss in [0, 1] to the units of the outcomes."""
        ends = self.back(losses[0]), self.back(losses[1])
        return min(ends), max(ends)
