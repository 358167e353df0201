"""How contexts, actions and rewards of coba become contexts, actions and losses."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.core import ContextError, LossError, Menu, ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, LossRange, check_bounded_range, check_integer, refuse

Encoding = None | int | Sequence[Hashable] | Callable[[Any], Any]
Actions = str | Sequence[Any]

_HOWS = ("names", "positions", "described")


class Contexts:
    """The encoding of contexts that `CobaLearner` and `FromCoba` document.

    Described actions are encoded in the same way; `name` is then that of their parameter.
    """

    def __init__(
        self, owner: object, encoding: Encoding, name: str = "encoding", what: str = "context"
    ) -> None:
        self._name, self._what = name, what
        self._own: Callable[[Any], Any] | None = None
        self._width = 0
        self._places: dict[Hashable, int] | None = None
        if encoding is None:
            return
        if callable(encoding):
            self._own = encoding
        elif isinstance(encoding, Sequence) and not isinstance(encoding, str):
            self._places = {name: place for place, name in enumerate(encoding)}
            self._width = len(encoding)
            if not 0 < len(self._places) == self._width:
                raise refuse(owner, name, "a list of different names", encoding)
        else:
            self._width = check_integer(owner, name, encoding, 1)

    def __call__(self, context: Any) -> Any:
        """The context in our form."""
        if self._own is not None:
            return self._own(context)
        if context is None:
            return None
        if isinstance(context, Mapping):
            return self._sparse(context)
        if hasattr(context, "as_onehot"):
            return np.array(context.as_onehot, dtype=np.float64)
        if isinstance(context, str) or not hasattr(context, "__len__"):
            return context
        return _dense(context, self._name, self._what) if len(context) else None

    def _sparse(self, context: Mapping[Any, Any]) -> FloatArray:
        if not self._width:
            raise ContextError(
                f"coba gave a {self._what} by names, {short(dict(context))}: say with "
                f"{self._name}= which names there are, a list, or to how many features they are to "
                "be hashed, a number."
            )
        row = np.zeros(self._width)
        for name, value in _entries(context, self._what):
            if self._places is None:
                code = zlib.crc32(str(name).encode())
                row[code % self._width] += value if code < 2**31 else -value
            elif name in self._places:
                row[self._places[name]] = value
            else:
                raise ContextError(
                    f"coba gave a {self._what} with the feature {name!r}, which {self._name}= does "
                    f"not list. Add it there, or hash the names with {self._name}=<number of "
                    "features>."
                )
        return row


class Menus:
    """What a round offers as a `Menu`, where actions are described by features of their own."""

    def __init__(self, owner: object, actions: Actions, encoding: Encoding) -> None:
        self.wanted = isinstance(actions, str) and actions == "described"
        if encoding is not None and not self.wanted:
            raise ParameterError(
                "action_encoding= says how features of actions become rows, so it goes with "
                "actions='described'."
            )
        self._encode = Contexts(owner, encoding, "action_encoding", "action")

    def of(self, context: Any, actions: Sequence[Any]) -> Menu:
        """The actions offered on a context of ours, each with its row."""
        return Menu(context, [self._row(action) for action in actions])

    def _row(self, action: Any) -> Any:
        row = self._encode(action)
        if isinstance(row, int | float | np.number):
            return [float(row)]
        if row is None or isinstance(row, str):
            raise ContextError(
                f"coba offered the action {short(action)}, which has no features. Such actions are "
                "numbered with actions='names'; or give action_encoding= a function that makes a "
                "row of numbers of each."
            )
        return row


class Numbers:
    """Numbers 0, 1, … for actions: by name in order of first appearance, or by position.

    Described actions have no other numbers than their positions.

    `of` changes nothing; what it found new is kept by `keep`.
    """

    def __init__(self, owner: object, actions: Actions) -> None:
        if isinstance(actions, str) and actions not in _HOWS:
            accepted = "'names', 'positions', 'described' or a list of the actions there are"
            raise refuse(owner, "actions", accepted, actions)
        self.fixed = not isinstance(actions, str)
        self._described = not self.fixed and actions == "described"
        self._positions = self._described or (not self.fixed and actions == "positions")
        self.known: dict[Hashable, int] = {}
        self.labels: list[Any] = []
        if self.fixed:
            self.keep(actions)
            if not 0 < len(self.known) == len(actions):
                raise refuse(owner, "actions", "a list of different actions", actions)

    def of(self, actions: Sequence[Any], limit: int | None) -> list[int]:
        """The numbers of the actions offered in a round, of which there may be `limit`."""
        if self._positions:
            numbers = list(range(len(actions)))
            if self._described:
                _check_distinct(actions, list(map(action_key, actions)))
        else:
            known, fresh = self.known, dict[Hashable, int]()
            numbers = []
            for action in actions:
                key = action_key(action)
                place = known.get(key)
                if place is None:
                    place = fresh.setdefault(key, len(known) + len(fresh))
                numbers.append(place)
            if fresh and self.fixed:
                raise ParameterError(
                    f"coba offered the action {short(next(iter(fresh)))}, which is not in the list "
                    "actions=. Add it there, or let actions='names' number them as they appear."
                )
            _check_distinct(actions, numbers)
        if limit is not None and max(numbers) >= limit:
            raise ParameterError(
                f"coba offered the action {short(actions[numbers.index(max(numbers))])}, and the "
                f"learner has no more than {limit}, which are taken. Make the learner with as many "
                "actions as there are in all; or, if their features change from round to round, "
                "take hn.bandit(actions='described') with actions='described', or number them with "
                "actions='positions'."
            )
        return numbers

    def keep(self, actions: Sequence[Any]) -> None:
        """Give new ones among these actions their numbers."""
        if self._described:
            return
        for position, action in enumerate(actions):
            key = position if self._positions else action_key(action)
            if key not in self.known:
                self.known[key] = len(self.known)
                self.labels.append(position if self._positions else action)


class Rewards:
    r"""Rewards in [low, high] as losses in [0, 1]: :math:`(high - r)/(high - low)`."""

    def __init__(self, owner: object, reward_range: Any) -> None:
        self._low, self._high = check_bounded_range(owner, reward_range, "reward_range")

    def loss(self, reward: Any) -> float:
        """The loss in [0, 1] of a reward."""
        try:
            value = float(reward)
        except (TypeError, ValueError):
            value = math.nan
        if not self._low <= value <= self._high:
            raise LossError(
                f"coba's rewards must lie in reward_range=({self._low:g}, {self._high:g}); got "
                f"{reward!r}. Pass the range they really have."
            )
        return (self._high - value) / (self._high - self._low)

    def reward(self, loss: float, loss_range: LossRange = (0.0, 1.0)) -> float:
        """The reward that has this loss."""
        low, high = loss_range
        return self._high - (loss - low) / (high - low) * (self._high - self._low)


def action_key(action: Any) -> Hashable:
    """What tells an action from others: lists count as tuples, dictionaries by what they hold."""
    try:
        hash(action)
    except TypeError:
        if isinstance(action, Mapping):
            return frozenset((name, action_key(value)) for name, value in action.items())
        return tuple(map(action_key, action))
    return action  # type: ignore[no-any-return]


def _check_distinct(actions: Sequence[Any], keys: Sequence[Hashable]) -> None:
    if len(set(keys)) < len(keys):
        twice = actions[next(i for i, key in enumerate(keys) if keys.count(key) > 1)]
        raise ParameterError(
            f"coba offered the action {short(twice)} more than once in a round, "
            f"{short(actions)}: nothing tells them apart. Leave one out, or give each a "
            "name of its own."
        )


def as_coba(context: Any) -> Any:
    """A context as coba's learners take it: a vector is a tuple."""
    return tuple(context.tolist()) if isinstance(context, np.ndarray) else context


def offer(menu: Menu) -> tuple[Any, list[Any]]:
    """The context of a menu, and its actions as the tuples of their features."""
    return as_coba(menu.context), [tuple(row) for row in menu.rows.tolist()]


def check_rows_differ(menu: Menu, where: str) -> None:
    """Refuse actions with the same features, which coba could not tell apart."""
    if len({row.tobytes() for row in menu.rows}) < len(menu):
        raise ParameterError(
            f"{where} offers two actions with the same features, and coba tells actions apart by "
            "nothing else. Give them a feature in which they differ, or leave one out."
        )


def interactions(environment: Any, needed: str) -> Iterator[Mapping[str, Any]]:
    """The interactions of an environment one by one, as coba's own evaluators prepare them."""
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
    return prepared


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


def _entries(context: Mapping[Any, Any], what: str) -> Iterator[tuple[Hashable, float]]:
    """Names with numbers; text is an indicator with the name "name=text"."""
    for name, value in context.items():
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
            continue
        try:
            yield name, float(value)
        except (TypeError, ValueError):
            raise ContextError(
                f"The feature {name!r} of a coba {what} must be a number or text; got {value!r}."
            ) from None
