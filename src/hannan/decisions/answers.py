"""Decisions and outcomes as their callers have them, and those whose outcomes are awaited."""

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
from hannan.core.state import Count, DictOf, Flag, Number, State, Text, TupleOf
from hannan.core.validation import FloatArray, check_bounded_range
from hannan.decisions.names import Name
from hannan.decisions.records import is_request

LONGEST = 200  # letters of an id

Id = str | int
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class NamedDecision:
    """What was decided: an action by its name, its probability, and the id to report it under."""

    action: Name
    propensity: float
    id: Id
    actions: tuple[Name, ...] = field(default=(), repr=False)
    """The names of all actions then."""
    opened: OpenRound | None = field(default=None, repr=False)
    """The round of the learner that it is; None in the holdout."""
    distribution: FloatArray | None = field(default=None, repr=False)
    """The probabilities of all actions, in their order; None where they are not known."""

    @property
    def expected(self) -> FloatArray | None:
        """What the predictor expected of them, as losses in [0, 1], if it was asked."""
        return None if self.opened is None else self.opened.values


@dataclass(frozen=True, slots=True)
class Why:
    """Why an action was decided on: what each action's probability and expected outcome were.

    `str(why)` is a table.
    """

    action: Name
    propensity: float
    probabilities: Mapping[Name, float]
    scores: Mapping[Name, float]
    """The outcome that the predictor expected of each action; empty where none was asked."""
    outcome: str
    """"reward" or "loss"."""

    def __str__(self) -> str:
        """A row for each action, the likeliest first."""
        width = max(len(str(name)) for name in self.probabilities)
        lines = [f"{self.action} was decided on, with probability {self.propensity:.4g}."]
        for name, q in sorted(self.probabilities.items(), key=lambda item: -item[1]):
            score = f"  expected {self.outcome} {self.scores[name]:.4g}" if self.scores else ""
            lines.append(f"{name!s:<{width}}  probability {q:.4f}{score}")
        return "\n".join(lines)


def as_id(decision: Any) -> Id:
    """Return the id of a decision: its own, an integer of any kind, text, or a UUID as text.

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
        f"The id of a decision is a whole number, a UUID, or text of 1 to {LONGEST} letters; got "
        f"{short(decision)}."
    )


def new_id(id: Any) -> Id:
    """Return the id for a new decision: the caller's, or one that no other decision has."""
    return secrets.token_hex(8) if id is None else as_id(id)


def check_distinct(keys: list[Id]) -> None:
    """Refuse ids of which two are the same."""
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise OpenDecisionError(f"ids= has {twice!r} twice: give each decision an id of its own.")


def mark_of(row: Any, numbers: list[int] | None, items: Any) -> int:
    """Return a checksum of a request: the context, the available actions and the offer.

    Mappings may have their keys in any order, 31 and 31.0 are the same, and so are None and NaN.

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


def _fits(scope: Any, action: int, text: str | None) -> bool:
    """Whether a decision of a file took an action that its request, if it is kept, allowed."""
    size = scope._size
    return text is None if size == 0 else text is not None and is_request(text, action, size)


class OpenDecisions(Parametrised):
    """Which decisions wait, since when, and what came of the last ones that do not.

    Parameters
    ----------
    most
        How many may wait.
    remembered
        How many closed ones are remembered, so that their outcomes may be reported again.
    """

    stored = State(
        waiting=DictOf(
            _ID,
            TupleOf(
                Count(2**63, low=-(2**63)),
                Count(),
                Number(0.0, 1.0),
                Number(),
                _MARK,
                Count() | None,
                Text() | None,
            ).where(lambda self, one: _fits(self, one[1], one[-1])),
            most="most",
        ),
        closed=DictOf(
            _ID.where(lambda self, id: id not in self.waiting),
            TupleOf(
                Count(),
                Number(0.0, 1.0).where(lambda self, q: q > 0.0),
                _MARK,
                Number() | None,
                Flag(),
                Number(),
                Text() | None,
            ).where(lambda self, one: _fits(self, one[0], one[-1])),
            most="remembered",
        ),
    )

    def __init__(self, most: int, remembered: int) -> None:
        self.most = most
        self.remembered = remembered
        self.waiting: dict[Id, tuple[int, int, float, float, int, int | None, str | None]] = {}
        """The learner's number, or a negative one in the holdout; the action, its propensity, the
        time, and the request's mark; the action that the holdout would have taken, if any; and the
        request as text, None where every decision offers its own actions."""
        self.closed: dict[Id, tuple[int, float, int, float | None, bool, float, str | None]] = {}
        """The action, its propensity, the mark, the outcome, None if there is none, whether the
        decision expired, the time, and the request as text."""
        self._order: deque[Id] = deque()  # of the closed ones

    def _restored(self) -> None:
        self._order = deque(self.closed)

    def check_room(self, count: int) -> None:
        """Refuse more decisions than may wait."""
        if len(self.waiting) + count > self.most:
            more = "" if count == 1 else f" and {count} more are asked for"
            raise DecisionError(
                f"{len(self.waiting)} decisions wait for their outcomes{more}, and "
                f"max_open={self.most} may: report(id, …) those that are known, and let "
                "expire(older_than=seconds) say what no answer means for the others."
            )

    def again(self, key: Id, mark: int) -> tuple[int, float]:
        """Return the action and the propensity of a known decision, if this was its request."""
        if key in self.waiting:
            _, action, q, _, before, _, _ = self.waiting[key]
        else:
            action, q, before, *_ = self.closed[key]
        if mark != before:
            if key in self.waiting:
                raise OpenDecisionError(
                    f"There is an open decision {key!r} with another context, other available "
                    "actions or another offer: give each decision an id of its own. "
                    "decision(id) returns that decision."
                )
            raise ClosedDecisionError(
                f"There was a decision {key!r} already, with another context, other available "
                "actions or another offer: give each decision an id of its own."
            )
        return action, q

    def check_closed(self, key: Id) -> None:
        """Refuse what does not wait and is not known to have been closed."""
        if key not in self.closed:
            raise UnknownDecisionError(
                f"There is no decision {key!r} that waits for its outcome, nor is it among the "
                f"last {self.remembered} that were closed; {len(self.waiting)} wait."
            )

    def told(self, key: Id, outcome: float) -> bool:
        """Whether a closed decision was told this; False where it has expired, else refused."""
        self.check_closed(key)
        before, expired = self.closed[key][3:5]
        if expired:
            return False
        if before != outcome:
            raise ContradictoryOutcomeError(
                f"Decision {key!r} was answered by {before:g} before; got {outcome:g}. An outcome "
                "that was learned cannot be changed."
            )
        return True

    def close(self, key: Id, outcome: float | None, expired: bool = False) -> None:
        """A decision was answered, or has expired; an outcome may stand for no answer."""
        _, action, q, moment, mark, _, asked = self.waiting.pop(key)
        self.closed[key] = action, q, mark, outcome, expired, moment, asked
        self._order.append(key)
        if len(self._order) > self.remembered:
            del self.closed[self._order.popleft()]

    def older(self, than: float) -> list[Id]:
        """Those that were made before a time, the oldest first."""
        return [key for key, one in self.waiting.items() if one[3] < than]


class Units:
    """Rewards or losses in [low, high], as losses in [0, 1] and back.

    Parameters
    ----------
    rewards, losses
        The range of outcomes, of which one is given.
    clip
        Whether outcomes outside of the range count as its nearest end; else they are refused.
    """

    def __init__(self, rewards: Any, losses: Any, clip: Any) -> None:
        if (rewards is None) == (losses is None):
            given = "neither" if rewards is None else "both"
            raise ParameterError(
                "A Decider needs the range of its outcomes, either rewards=(low, high), where more "
                f"is better, or losses=(low, high), where less is; got {given}."
            )
        if not isinstance(clip, bool):
            raise InputTypeError(f"clip= is True or False; got {clip!r}.")
        self.word = "loss" if rewards is None else "reward"
        name, span = ("losses", losses) if rewards is None else ("rewards", rewards)
        self.low, self.high = check_bounded_range("Decider", span, name)
        self.width = self.high - self.low  # from one end of the range to the other
        self.clip = clip

    def outcome(self, reward: Any, loss: Any) -> float:
        """The outcome that was given under the right name, checked."""
        given, other = (reward, loss) if self.word == "reward" else (loss, reward)
        if type(given) is float and self.low <= given <= self.high and other is None:
            return given  # the usual case
        if given is None or other is not None:
            made, wrong = ("rewards", "loss") if self.word == "reward" else ("losses", "reward")
            got = "neither" if other is None else f"{wrong}={other!r}"
            got = got if given is None else f"both {self.word}= and {wrong}="
            raise ParameterError(
                f"This Decider was made with {made}=, so an outcome is {self.word}=…, one number; "
                f"got {got}."
            )
        return self.checked(given)

    def checked(self, given: Any) -> float:
        """An outcome: a finite number within the range; yes and no count as 1 and 0."""
        if type(given) is not float:
            given = as_scalar(given)
            if not isinstance(given, int | float | Decimal | Fraction):
                raise InputTypeError(f"A {self.word} is one number; got {given!r:.100}.")
        try:
            value = float(given)
        except OverflowError:  # of an integer or a fraction that is too large
            value = math.inf if given > 0 else -math.inf
        if self.low <= value <= self.high:
            return value
        if math.isnan(value) or not self.clip:
            mend = "Give the true range when the Decider is made, or clip=True."
            if math.isnan(value):
                mend = "Leave it out, or let expire() say what no answer means."
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
        """The outcome whose loss this is."""
        moved = loss * self.width
        return self.low + moved if self.word == "loss" else self.high - moved

    def interval(self, losses: Interval) -> Interval:
        """An interval for a mean, from one of losses in [0, 1]."""
        ends = self.back(losses[0]), self.back(losses[1])
        return min(ends), max(ends)
