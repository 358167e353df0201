"""What a line, or a group of lines, of a Vowpal Wabbit file says.

Features are kept by namespace and name, `{"user": {"age": 31.0, "city": "york"}}`; the default
namespace is `""`. A value is a number, or a word as in `city:york`, or a tuple of them where a name
comes more than once. Actions count from 0 here, whatever the format does; costs are losses, so
lower is better.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from hannan.core import ParameterError
from hannan.core.params import short

Value = float | str | tuple[float | str, ...]
Features = Mapping[str, Mapping[str, Value]]

LARGEST = 3.4e38  # Vowpal Wabbit computes in single precision
LAST = 2**32 - 2  # of actions, from 0
ROUNDED = 1e-3  # of probabilities that a log may have cut to a few digits
TOLERANCE = 1e-5  # of sums of probabilities that were rounded to single precision


class VWFormatError(ParameterError):
    """A line that is not what its format says, with its number."""


@dataclass(frozen=True, slots=True)
class CbRound:
    """A line of `cb`: one of K actions was taken, and its cost is known.

    Attributes
    ----------
    context
        Features by namespace and name.
    action, cost, probability
        What was done, what it cost and how likely it was; None in a line without a label.
    available
        The actions there were; None if all.
    tag
        The name of the line.
    """

    context: Features
    action: int | None = None
    cost: float | None = None
    probability: float | None = None
    available: tuple[int, ...] | None = None
    tag: str = ""


@dataclass(frozen=True, slots=True)
class CbAdfRound:
    """A group of lines of `cb_adf`, or a dsjson record: actions have features of their own.

    Attributes
    ----------
    context
        Features that all actions share.
    actions
        The features of each action there was.
    action, cost, probability
        The place of the action taken, its cost and its probability; None where not known.
    others
        Probabilities of further actions, by place, where they were recorded (dsjson).
    tag, tags
        The names of the shared line and of the lines of the actions; no `tags` if all are empty.
    pdrop
        The share of such records that were thrown away (dsjson), so that each kept one stands for
        1 / (1 - pdrop).
    skip_learn
        Whether nobody should learn from the record (dsjson): its decision was never shown.
    event_id, timestamp
        As recorded (dsjson).
    """

    context: Features
    actions: tuple[Features, ...]
    action: int | None = None
    cost: float | None = None
    probability: float | None = None
    others: Mapping[int, float] = field(default_factory=dict)
    tag: str = ""
    tags: tuple[str, ...] = ()
    pdrop: float = 0.0
    skip_learn: bool = False
    event_id: str = ""
    timestamp: str = ""

    @property
    def weight(self) -> float:
        """How many records this one stands for: 1 / (1 - pdrop)."""
        return 1.0 / (1.0 - self.pdrop)


@dataclass(frozen=True, slots=True)
class CcbSlot:
    """A slot of `ccb`: the place that an action was chosen for.

    Attributes
    ----------
    features
        Of the slot.
    action, cost, probability, others
        As in `CbAdfRound`.
    available
        The actions that may stand here; None if all.
    tag
        The name of the line.
    """

    features: Features = field(default_factory=dict)
    action: int | None = None
    cost: float | None = None
    probability: float | None = None
    others: Mapping[int, float] = field(default_factory=dict)
    available: tuple[int, ...] | None = None
    tag: str = ""


@dataclass(frozen=True, slots=True)
class CcbRound:
    """A group of lines of `ccb`, or a dsjson record with slots: several actions, one a slot.

    Attributes
    ----------
    context, actions, tag, tags, pdrop, skip_learn, event_id, timestamp
        As in `CbAdfRound`.
    slots
        In the order in which they were filled; at most as many as there are actions.
    """

    context: Features
    actions: tuple[Features, ...]
    slots: tuple[CcbSlot, ...]
    tag: str = ""
    tags: tuple[str, ...] = ()
    pdrop: float = 0.0
    skip_learn: bool = False
    event_id: str = ""
    timestamp: str = ""

    @property
    def weight(self) -> float:
        """How many records this one stands for: 1 / (1 - pdrop)."""
        return 1.0 / (1.0 - self.pdrop)


@dataclass(frozen=True, slots=True)
class CsoaaRound:
    """A line of `csoaa`: what every action costs.

    Attributes
    ----------
    context
        Features by namespace and name.
    costs
        The cost of each action that there is; None of one whose cost is not known.
    tag
        The name of the line.
    """

    context: Features
    costs: Mapping[int, float | None] = field(default_factory=dict)
    tag: str = ""


Round = CbRound | CbAdfRound | CcbRound | CsoaaRound
Decided = CbRound | CbAdfRound | CcbSlot


def number_in(value: Any, low: float, high: float) -> bool:
    """Whether this is a number from `low` to `high`, and no truth value."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and bool(low <= value <= high)


def sums_up(law: Collection[float], count: int) -> bool:
    """Whether these can be probabilities of `count` actions, or of some of them."""
    total = math.fsum(law)
    return total <= 1.0 + ROUNDED and (len(law) < max(count, 2) or total >= 1.0 - ROUNDED)


def check_decided(what: Decided, count: int | None) -> None:
    """Refuse a label that cannot be written: of `count` actions, or of any number of them."""
    action, cost, p = what.action, what.cost, what.probability
    if action is None:
        if cost is not None or p is not None or getattr(what, "others", None):
            raise _bad(what, "action", "known, as there is a cost or a probability", action)
        return
    if not _is_place(action, count):
        raise _bad(what, "action", f"an integer {_from_to(count)}", action)
    if cost is not None and not number_in(cost, -LARGEST, LARGEST):
        raise _bad(what, "cost", "a finite number, or None", cost)
    if not (number_in(p, 0, 1) and p) and (cost is not None or p is not None):
        raise _bad(what, "probability", "a number in (0, 1], as the action was taken", p)
    if not isinstance(what, CbRound):
        _check_others(what, action, count)


def check_places(what: CbRound | CcbSlot, count: int | None) -> None:
    """Refuse a set of actions that is empty, or that has one twice, or some that are not there."""
    places = what.available
    if places is None:
        return
    fine = all(_is_place(k, count) for k in places)
    if not fine or not places or len(set(places)) < len(places):
        raise _bad(what, "available", f"different integers {_from_to(count)}", places)


def check_group(what: CbAdfRound | CcbRound) -> None:
    """Refuse a round whose parts do not fit together."""
    if not what.actions:
        raise _bad(what, "actions", "the features of at least one action", what.actions)
    if what.tags and len(what.tags) != len(what.actions):
        raise _bad(what, "tags", "empty, or one for each action", what.tags)
    if not number_in(what.pdrop, 0, 1) or what.pdrop == 1:
        raise _bad(what, "pdrop", "a number in [0, 1)", what.pdrop)
    if isinstance(what, CcbRound) and not 1 <= len(what.slots) <= len(what.actions):
        raise _bad(what, "slots", "at least one, and no more than actions", what.slots)


def _check_others(what: CbAdfRound | CcbSlot, action: int, count: int | None) -> None:
    for k, p in what.others.items():
        if not _is_place(k, count) or k == action:
            raise _bad(what, "others", f"probabilities of other actions {_from_to(count)}", k)
        if not number_in(p, 0, 1):
            raise _bad(what, "others", "probabilities in [0, 1]", p)
    if what.others and what.probability is None:
        raise _bad(what, "probability", "a number in (0, 1], as there are others", None)


def _is_place(value: object, count: int | None) -> bool:
    most = LAST if count is None else count - 1
    return isinstance(value, Integral) and number_in(value, 0, most)


def _from_to(count: int | None) -> str:
    return f"from 0 to {LAST if count is None else count - 1}"


def _bad(what: object, name: str, accepted: str, got: object) -> ParameterError:
    return ParameterError(
        f"The {name!r} of {type(what).__name__} must be {accepted}. Got {short(got)} instead."
    )


def merged(pairs: Sequence[tuple[str, str, float | str]]) -> dict[str, dict[str, Value]]:
    """Features by namespace and name; values of a name that comes again make a tuple."""
    found: dict[str, dict[str, Any]] = {}
    for space, name, value in pairs:
        names = found.setdefault(space, {})
        if name not in names:
            names[name] = value
        elif isinstance(names[name], list):
            names[name].append(value)
        else:
            names[name] = [names[name], value]
    for names in found.values():
        for name, value in names.items():
            if isinstance(value, list):
                names[name] = tuple(value)
    return found
