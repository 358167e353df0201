"""How contexts and actions of coba become contexts and actions of ours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.adapters._numbers import Numbering
from hannan.adapters._rows import Encoding, Rows
from hannan.core import ContextError, Menu, ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_integer, refuse

Actions = str | Sequence[Any]

_HOWS = ("names", "positions", "items")
_ADVICE = (
    "; or, if their features change from round to round, take hn.bandit(actions='items') with "
    "actions='items', or number them with actions='positions'"
)


class Translation:
    """Contexts and actions as `CobaLearner` documents them.

    Actions have numbers 0, 1, …: by name in order of first appearance, or by position. `read`
    changes nothing; actions that were new get their numbers by `keep`.
    """

    def __init__(
        self, owner: object, encoding: Encoding, actions: Actions, action_encoding: Encoding
    ) -> None:
        self.fixed = not isinstance(actions, str)
        if not self.fixed and actions not in _HOWS:
            accepted = "'names', 'positions', 'described' or a list of the actions there are"
            raise refuse(owner, "actions", accepted, actions)
        self.takes_items = not self.fixed and actions == "items"
        if action_encoding is not None and not self.takes_items:
            raise ParameterError(
                "action_encoding= says how features of actions become rows, so it goes with "
                "actions='items'."
            )
        self._contexts = Rows(owner, "encoding", encoding)
        self._rows = Rows(owner, "action_encoding", action_encoding)
        self._by_position = not self.fixed and actions == "positions"
        self._numbering = Numbering(actions if self.fixed else None)
        self.labels = self._numbering.labels
        if self.fixed and not 0 < len(self.labels) == len(actions):
            raise refuse(owner, "actions", "a list of different actions", actions)

    def read(
        self, context: Any, actions: Sequence[Any], limit: int | None = None
    ) -> tuple[Any, list[int]]:
        """Return the context, a `Menu` of described actions, and the numbers of the actions."""
        numbers = self.numbers(actions, limit)
        ours = _encoded(self._contexts, context, "context")
        if self.takes_items:
            return Menu(ours, [self._row(action) for action in actions]), numbers
        return ours, numbers

    def numbers(self, actions: Sequence[Any], limit: int | None = None) -> list[int]:
        """Return the numbers of the actions offered in a round, of which there may be `limit`."""
        return self._numbering.of(self._known_by(actions), limit, _ADVICE)

    def keep(self, actions: Sequence[Any]) -> None:
        """Give new ones among these actions their numbers; described ones have their places."""
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
                f"coba offered the action {short(action)}, which has no features. Such actions are "
                "numbered with actions='names'; or give action_encoding= a function that makes a "
                "row of numbers of each."
            )
        return row


def _encoded(rows: Rows, features: Any, what: str) -> Any:
    """A context or an action in our form."""
    if rows.function is not None or isinstance(features, Mapping):
        if rows.function is None and not rows.known:
            raise ContextError(
                f"coba gave a {what} by names, {short(dict(features))}: say with "
                f"{rows.parameter}= which names there are, a list, or to how many features they "
                "are to be hashed, a number."
            )
        return rows(features)
    if hasattr(features, "as_onehot"):
        return np.array(features.as_onehot, dtype=np.float64)
    if features is None or isinstance(features, str) or not hasattr(features, "__len__"):
        return features
    return _dense(features, rows.parameter, what) if len(features) else None


def as_coba(context: Any, actions: Iterable[int]) -> tuple[Any, list[Any]]:
    """A context as coba's learners take it, a vector being a tuple; and these actions.

    Those of a menu are the tuples of their features.
    """
    offered: list[Any] = list(actions)
    if isinstance(context, Menu):
        context, offered = context.context, [tuple(row) for row in context.rows.tolist()]
    return tuple(context.tolist()) if isinstance(context, np.ndarray) else context, offered


def check_rows_differ(context: Any, where: str) -> None:
    """Refuse a menu of actions with the same features, which coba could not tell apart."""
    if isinstance(context, Menu) and len({row.tobytes() for row in context.rows}) < len(context):
        raise ParameterError(
            f"{where} offers two actions with the same features, and coba tells actions apart by "
            "nothing else. Give them a feature in which they differ, or leave one out."
        )


def interactions(environment: Any, needed: str, take: int | None) -> Iterator[Mapping[str, Any]]:
    """Read interactions one by one, all or so many, as coba's own evaluators prepare them."""
    if take is not None:
        check_integer(needed, "take", take, 1)
    coba = package(
        "coba.environments",
        f"hannan.adapters.{needed} needs coba, which is not installed. Get it with "
        "pip install 'hannan[adapters]'.",
    )
    if isinstance(environment, coba.Environments):
        if len(environment) != 1:
            raise ParameterError(
                f"{needed} takes one environment; got {len(environment)}. Take them one by one, "
                "environments[0]."
            )
        environment = environment[0]
    if not callable(getattr(environment, "read", None)):
        raise refuse(needed, "environment", "a coba environment, with read()", environment)
    prepared: Iterator[Mapping[str, Any]] = coba.Finalize().filter(
        coba.Unbatch().filter(environment.read())
    )
    return islice(prepared, take)


def _dense(context: Iterable[Any], parameter: str, what: str) -> FloatArray:
    """Numbers as they are, categories as indicators."""
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
            f"{short(list(context))}. Encode the rest, or give {parameter}= a function that does."
        )
    return found.astype(np.float64)
