"""What a line, or a group of lines, of a Vowpal Wabbit file says.

Features are kept by namespace and name, `{"user": {"age": 31.0, "city": "york"}}`; the default
namespace is `""`. A value is a number, or a word as in `city:york`, or a tuple of them where a name
comes more than once. Actions count from 0 here, whatever the format does; costs are losses, so
lower is better.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from hannan.core import ParameterError

Value = float | str | tuple[float | str, ...]
Features = Mapping[str, Mapping[str, Value]]

TOLERANCE = 1e-5  # of sums of probabilities that were rounded to single precision
UNSUPPORTED = "decisions for several slots at once (ccb, slates) are not supported"


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
        The actions that were available; None if all.
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
        The features of each action that was available.
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
        Whether the record is not to be learned from (dsjson): its decision was never shown.
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

    @property
    def weight(self) -> float:
        """How many records this one stands for: 1 / (1 - pdrop)."""
        return 1.0 / (1.0 - self.pdrop)


Round = CbRound | CbAdfRound


def number_in(value: Any, low: float, high: float) -> bool:
    """Whether this is a number from `low` to `high`, and no truth value."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(low <= value <= high)


def merged(pairs: Iterable[tuple[str, str, float | str]]) -> dict[str, dict[str, Value]]:
    """Features by namespace and name; values of a name that comes again make a tuple."""
    lists: dict[str, dict[str, list[float | str]]] = {}
    for space, name, value in pairs:
        lists.setdefault(space, {}).setdefault(name, []).append(value)
    return {
        space: {name: vs[0] if len(vs) == 1 else tuple(vs) for name, vs in names.items()}
        for space, names in lists.items()
    }


def named(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags of actions, or none if all are empty."""
    found = tuple(tags)
    return found if any(found) else ()


def entries(*parts: Features) -> Iterator[tuple[str, str, float | str]]:
    """Namespace, name and value of each feature."""
    for part in parts:
        for space, values in part.items():
            for name, value in values.items():
                for one in value if isinstance(value, tuple) else (value,):
                    yield space, name, one
