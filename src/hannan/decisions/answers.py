"""Decisions and outcomes as their callers have them, and those whose outcomes are awaited."""

from __future__ import annotations

import math
import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hannan.core import DecisionError, InputTypeError, LossError, ParameterError
from hannan.core.arrays import as_scalar
from hannan.core.params import Parametrised, short
from hannan.core.rounds import OpenRound
from hannan.core.state import Count, DictOf, Number, State, Text, TupleOf
from hannan.core.validation import FloatArray, check_bounded_range
from hannan.decisions.names import Name

LONGEST = 200  # letters of an id

Id = str | int
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What was decided: an action by its name, its probability, and the id to report it under."""

    action: Name
    propensity: float
    id: Id
    actions: tuple[Name, ...] = field(default=(), repr=False)
    """The names of all actions then."""
    opened: OpenRound | None = field(default=None, repr=False)
    """The round of the learner that it is."""

    @property
    def law(self) -> FloatArray | None:
        """The probabilities of all actions, in their order; None where they are not known."""
        return None if self.opened is None else self.opened.odds_of_all()

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
    """Return the id of a decision, which is given by itself or by its id."""
    key = decision.id if isinstance(decision, Answer) else decision
    text = type(key) is str and 0 < len(key) <= LONGEST
    if not text and not (type(key) is int and -(2**63) <= key < 2**63):
        raise InputTypeError(
            "The id of a decision is a whole number, or text of 1 to "
            f"{LONGEST} letters; got {short(decision)}."
        )
    return key  # type: ignore[no-any-return]


_ID = Text().where(lambda self, id: 0 < len(id) <= LONGEST) | Count(2**63, low=-(2**63))


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
        waiting=DictOf(_ID, TupleOf(Count(), Count(), Number(0.0, 1.0), Number()), most="most"),
        _closed=DictOf(
            _ID.where(lambda self, id: id not in self.waiting), Number() | None, most="remembered"
        ),
    )

    def __init__(self, most: int, remembered: int) -> None:
        self.most = most
        self.remembered = remembered
        self.waiting: dict[Id, tuple[int, int, float, float]] = {}
        """The learner's number, the action, its propensity, and the time."""
        self._closed: dict[Id, float | None] = {}  # the outcome, None where it has expired
        self._order: deque[Id] = deque()  # of the closed ones

    def _restored(self) -> None:
        self._order = deque(self._closed)

    def admit(self, id: Any) -> Id:
        """An id for one more decision: the caller's, unless it is in use, or one that nobody has.

        Where the limit is reached it is refused.
        """
        key = secrets.token_hex(8) if id is None else as_id(id)
        if key in self.waiting:
            raise DecisionError(
                f"There is a decision {key!r} that waits for its outcome: ids are given once. "
                "decision(id) returns what was decided."
            )
        if key in self._closed:
            raise DecisionError(f"There was a decision {key!r} already: ids are given once.")
        if len(self.waiting) >= self.most:
            raise DecisionError(
                f"{len(self.waiting)} decisions wait for their outcomes, and max_open={self.most} "
                "may: report(id, …) those that are known, and let expire(older_than=seconds) say "
                "what no answer means for the others."
            )
        return key

    def check_closed(self, key: Id) -> None:
        """Refuse what does not wait and is not known to have been closed."""
        if key not in self._closed:
            raise DecisionError(
                f"There is no decision {key!r} that waits for its outcome, nor is it among the "
                f"last {self.remembered} that were closed; {len(self.waiting)} wait."
            )

    def told(self, key: Id, outcome: float) -> bool:
        """Whether a closed decision was told this; False where it has expired, else refused."""
        self.check_closed(key)
        before = self._closed[key]
        if before is not None and before != outcome:
            raise DecisionError(
                f"Decision {key!r} was answered by {before:g} before; got {outcome:g}. An outcome "
                "that was learned cannot be changed."
            )
        return before is not None

    def close(self, key: Id, outcome: float | None) -> None:
        """A decision was answered, or has expired."""
        del self.waiting[key]
        self._closed[key] = outcome
        self._order.append(key)
        if len(self._order) > self.remembered:
            del self._closed[self._order.popleft()]

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
            if not isinstance(given, int | float):
                raise InputTypeError(f"A {self.word} is one number; got {given!r:.100}.")
        value = float(given)
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
