"""Contents of a line, or a group of lines, of a Vowpal Wabbit file.

Features are stored by namespace and name, `{"user": {"age": 31.0, "city": "york"}}`; the default
namespace is `""`. A value is a number, a word as in `city:york`, or a tuple of these if a name
occurs more than once. Actions count from 0 here, in any format. Costs are losses, so lower is
better.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from hannan.core import ParameterError

Value = float | str | tuple[float | str, ...]
Features = Mapping[str, Mapping[str, Value]]

TOLERANCE = 1e-5  # tolerance for sums of probabilities rounded to single precision
UNSUPPORTED = "decisions for several slots together (ccb, slates) are not supported"


class VWFormatError(ParameterError):
    """A line that violates its format; the message states the line number."""


@dataclass(frozen=True, slots=True)
class CbRound:
    """A line of `cb`: the logged action, one of K, with its cost.

    Attributes
    ----------
    context
        Features by namespace and name.
    action, cost, probability
        Logged action, its cost and its propensity; None for a line without a label.
    available
        Available actions; None means all.
    tag
        Tag of the line.
    """

    context: Features
    action: int | None = None
    cost: float | None = None
    probability: float | None = None
    available: tuple[int, ...] | None = None
    tag: str = ""


@dataclass(frozen=True, slots=True)
class CbAdfRound:
    """A group of lines of `cb_adf`, or a dsjson record: actions with features.

    Attributes
    ----------
    context
        Features shared by all actions.
    actions
        Features of each available action.
    action, cost, probability
        Index of the logged action, its cost and its propensity; None if not known.
    others
        Probabilities of other actions, by index, if they were logged (dsjson).
    tag, tags
        Tags of the shared line and of the lines of the actions; no `tags` if all are empty.
    pdrop
        Share of such records that were dropped (dsjson), so that this record represents 1 / (1 -
        pdrop) records.
    skip_learn
        Whether learners must skip the record (dsjson), because its decision was never shown.
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
        """Number of records that this one represents, 1 / (1 - pdrop)."""
        return 1.0 / (1.0 - self.pdrop)


Round = CbRound | CbAdfRound


def number_in(value: Any, low: float, high: float) -> bool:
    """Return whether a value is a number, not a boolean, from `low` to `high`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(low <= value <= high)


def merged(pairs: Iterable[tuple[str, str, float | str]]) -> dict[str, dict[str, Value]]:
    """Return features by namespace and name; repeated names get a tuple of values."""
    lists: dict[str, dict[str, list[float | str]]] = {}
    for space, name, value in pairs:
        lists.setdefault(space, {}).setdefault(name, []).append(value)
    return {
        space: {name: vs[0] if len(vs) == 1 else tuple(vs) for name, vs in names.items()}
        for space, names in lists.items()
    }


def named(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of actions, or an empty tuple if all are empty."""
    found = tuple(tags)
    return found if any(found) else ()


def entries(*parts: Features) -> Iterator[tuple[str, str, float | str]]:
    """Yield namespace, name and value of each feature."""
    for part in parts:
        for space, values in part.items():
            for name, value in values.items():
                for one in value if isinstance(value, tuple) else (value,):
                    yield space, name, one
