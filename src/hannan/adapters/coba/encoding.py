"""Convert contexts and actions of coba to contexts and actions of Hannan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.adapters._numbers import Numbering
from hannan.adapters._rows import Encoding, RowEncoder
from hannan.core import ContextError, Menu, ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_integer, refuse

Actions = str | Sequence[Any]

_HOWS = ("names", "positions", "items")
_ADVICE = (
    "; or, if the features of actions change from round to round, use hn.bandit(actions='items') "
    "with actions='items', or number the actions with actions='positions'"
)


class Translation:
    """Conversion of contexts and actions, as `CobaLearner` documents it.

    Actions have numbers 0, 1, …, in order of first appearance or by position. `read` changes
    nothing; `keep` assigns numbers to new actions.
    """

    def __init__(
        self, owner: object, encoding: Encoding, actions: Actions, action_encoding: Encoding
    ) -> None:
        self.fixed = not isinstance(actions, str)
        if not self.fixed and actions not in _HOWS:
            accepted = "'names', 'positions', 'items' or a list of all actions"
            raise refuse(owner, "actions", accepted, actions)
        self.takes_items = not self.fixed and actions == "items"
        if action_encoding is not None and not self.takes_items:
            raise ParameterError(
                "action_encoding= encodes the features of actions, so it needs actions='items'."
            )
        self._contexts = RowEncoder(owner, "encoding", encoding)
        self._rows = RowEncoder(owner, "action_encoding", action_encoding)
        self._by_position = not self.fixed and actions == "positions"
        self._numbering = Numbering(actions if self.fixed else None)
        self.labels = self._numbering.labels
        if self.fixed and not 0 < len(self.labels) == len(actions):
            raise refuse(owner, "actions", "a list of different actions", actions)

    def read(
        self, context: Any, actions: Sequence[Any], limit: int | None = None
    ) -> tuple[Any, list[int]]:
        """Return the context (a `Menu` for actions with features), and the actions' numbers."""
        numbers = self.numbers(actions, limit)
        ours = _encoded(self._contexts, context, "context")
        if self.takes_items:
            return Menu(ours, [self._row(action) for action in actions]), numbers
        return ours, numbers

    def numbers(self, actions: Sequence[Any], limit: int | None = None) -> list[int]:
        """Return the numbers of the actions of a round, of which there may be at most `limit`."""
        return self._numbering.of(self._known_by(actions), limit, _ADVICE)

    def keep(self, actions: Sequence[Any]) -> None:
        """Assign numbers to new actions, unless actions are items."""
        if not self.takes_items:
            self._numbering.keep(self._known_by(actions))

    def _known_by(self, actions: Sequence[Any]) -> Sequence[Any]:
        return range(len(actions)) if self._by_position else actions

    def _row(self, action: Any) -> Any:
        row = _encoded(self._rows, action, "action")
        if isinstance(row, int | float | np.number):
            return [float(row)]
        if row is None or isinstance(row, str):
            raise ContextError(
                f"coba offered the action {short(action)}, which has no features. Number such "
                "actions with actions='names', or pass action_encoding= a function that returns a "
                "feature vector."
            )
        return row


def _encoded(rows: RowEncoder, features: Any, what: str) -> Any:
    """Return a context or the features of an action, converted."""
    if rows.function is not None or isinstance(features, Mapping):
        if rows.function is None and not rows.known:
            raise ContextError(
                f"coba gave named features of the {what}, {short(dict(features))}. Pass "
                f"{rows.parameter}= a list of all names, or the number of features to hash the "
                "names to."
            )
        return rows(features)
    if hasattr(features, "as_onehot"):
        return np.array(features.as_onehot, dtype=np.float64)
    if features is None or isinstance(features, str) or not hasattr(features, "__len__"):
        return features
    return _dense(features, rows.parameter, what) if len(features) else None


def as_coba(context: Any, actions: Iterable[int]) -> tuple[Any, list[Any]]:
    """Return a context as coba's learners take it (a vector as a tuple), and these actions.

    The actions of a menu are the tuples of their features.
    """
    offered: list[Any] = list(actions)
    if isinstance(context, Menu):
        context, offered = context.context, [tuple(row) for row in context.rows.tolist()]
    return tuple(context.tolist()) if isinstance(context, np.ndarray) else context, offered


def check_rows_differ(context: Any, where: str) -> None:
    """Raise `ParameterError` for a menu with two equal actions, which coba cannot distinguish."""
    if isinstance(context, Menu) and len({row.tobytes() for row in context.rows}) < len(context):
        raise ParameterError(
            f"{where} offers two actions with the same features, but coba distinguishes actions "
            "only by their features. Add a feature in which the actions differ, or leave one out."
        )


def interactions(environment: Any, needed: str, take: int | None) -> Iterator[Mapping[str, Any]]:
    """Yield at most `take` interactions, prepared as in coba's evaluators."""
    if take is not None:
        check_integer(needed, "take", take, 1)
    coba = package(
        "coba.environments",
        f"hannan.adapters.{needed} needs coba, which is not installed. Run "
        "pip install 'hannan[adapters]'.",
    )
    if isinstance(environment, coba.Environments):
        if len(environment) != 1:
            raise ParameterError(
                f"{needed} takes one environment; got {len(environment)}. Pass a single one, such "
                "as environments[0]."
            )
        environment = environment[0]
    if not callable(getattr(environment, "read", None)):
        raise refuse(needed, "environment", "a coba environment, with read()", environment)
    prepared: Iterator[Mapping[str, Any]] = coba.Finalize().filter(
        coba.Unbatch().filter(environment.read())
    )
    return islice(prepared, take)


def _dense(context: Iterable[Any], parameter: str, what: str) -> FloatArray:
    """Return numbers unchanged, and categories as indicators, in one array."""
    flat: list[Any] = []
    for value in context:
        if hasattr(value, "as_onehot"):
            flat.extend(value.as_onehot)
        elif isinstance(value, list | tuple):
            flat.extend(value)
        else:
            flat.append(value)
    found = np.array(flat, dtype=None if all(map(np.isscalar, flat)) else object)
    if found.ndim != 1 or found.dtype.kind not in "biuf":
        raise ContextError(
            f"The features of a coba {what} must be numbers or coba.Categorical; got "
            f"{short(list(context))}. Encode other values, or pass {parameter}= a function that "
            "encodes them."
        )
    return found.astype(np.float64)
