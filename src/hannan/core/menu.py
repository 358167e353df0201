"""Actions with features: the items of a round, and the context of that round."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core.arrays import as_floats
from hannan.core.errors import ContextError, InputTypeError, ParameterError
from hannan.core.rounds import context_key
from hannan.core.state import State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels.losses import extremes

LARGEST = 1e60
"""Largest absolute value of a feature: products of two features can be squared and added up."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Menu(Stored):
    """The items of a round, each with a feature vector, and the context of the round.

    Learners of actions with features use a menu as the context of a round. Every object that stores
    a round (delayed feedback, logs, files) therefore stores its items, too.
    `learner.act(x, actions=rows)` makes a menu; environments yield menus themselves.

    Parameters
    ----------
    context
        Context x, the other information of the round: a feature vector, any object that the policy
        class takes, or None.
    rows
        One feature vector per item, [n, q]: finite numbers.
    ids
        One id per item, distinct and hashable; the same id in another round is the same item.
        Default None: items are known by their feature vectors alone.

    Examples
    --------
    >>> import hannan as hn
    >>> menu = hn.Menu([0.2], [[1.0, 0.0], [0.0, 1.0]], ids=["news", "sport"])
    >>> len(menu), menu.rows.shape, menu.index("sport")
    (2, (2, 2), 1)
    """

    _is_value = True
    stored = State()

    context: Any
    rows: Any
    ids: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "rows", _check_rows(self.rows))
        if isinstance(self.context, np.ndarray):
            put(self, "context", self.context.copy())  # the caller may use its array again
        if self.ids is not None:
            put(self, "ids", _check_ids(self.ids, len(self.rows)))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def key(self) -> Hashable:
        """Key that identifies the menu among others."""
        return context_key(self.context), self.rows.shape, self.rows.tobytes(), self.ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Menu) and (self is other or self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def with_context(self, context: Any) -> Menu:
        """Return the same items in another context, which is not copied."""
        made = object.__new__(Menu)
        for name, value in (("context", context), ("rows", self.rows), ("ids", self.ids)):
            object.__setattr__(made, name, value)
        return made

    def index(self, name: Any) -> int:
        """Return the row of an id; without ids, check and return a row number."""
        if self.ids is not None:
            try:
                return self.ids.index(name)
            except ValueError:
                pass
        elif isinstance(name, int | np.integer) and 0 <= name < len(self.rows):
            return int(name)
        known = f"the {len(self.rows)} actions" if self.ids is None else _listed(self.ids)
        raise ParameterError(f"{name!r:.100} is not among {known} of this round.")

    def named(self, action: int) -> Any:
        """Return the id of an action, or its number if there are no ids."""
        return action if self.ids is None else self.ids[action]

    def __repr__(self) -> str:
        n, q = self.rows.shape
        return f"<menu of {n} actions with {q} features>"


def menu_of(context: Any, actions: Any, ids: Any = None) -> Menu:
    """Return a menu from `actions=`: an array, a list of rows, a frame, or a mapping by id.

    >>> menu_of(None, {"news": [1.0, 0.0], "sport": [0.0, 1.0]}).ids
    ('news', 'sport')
    """
    if isinstance(context, Menu):
        raise ParameterError(
            "The context is a Menu, which already holds the actions: leave out actions=."
        )
    if isinstance(actions, Mapping):
        if ids is not None:
            raise ParameterError("actions= is a mapping, whose keys are the ids: leave out ids=.")
        ids, actions = list(actions), list(actions.values())
    return Menu(context, actions, ids)


def offered(learner: Any, context: Any, actions: Any, ids: Any = None) -> Menu:
    """Return the menu of a round in which the learner chooses among these items."""
    if not learner.takes_items:
        raise undescribed(learner)
    if actions is None:
        raise ParameterError(
            "The actions of this round are missing: pass actions=, a feature vector per action."
        )
    return menu_of(context, actions, ids)


def undescribed(learner: Any) -> ParameterError:
    """Return the error for actions with features passed to a learner of fixed actions."""
    return ParameterError(
        f"{type(learner).__name__} is for actions that are the same in every round, so it takes "
        'no actions= and no Menu. For actions with features, use hn.bandit(actions="items"), or '
        "ContextSemiBanditFTPL over oracles.SharedLinear or oracles.ListedRules."
    )


def _check_rows(given: Any) -> FloatArray:
    if type(given) is np.ndarray and given.dtype == np.float64 and given.ndim == 2:
        rows = np.ascontiguousarray(given) + 0.0  # a copy, without negative zeros
    else:
        rows = _as_table(given)
    if not rows.size:
        raise ContextError(
            "actions= must contain at least one action with at least one feature; got an array "
            f"of shape {rows.shape}. Skip rounds without actions."
        )
    low, high = extremes(rows.ravel())
    if not (low >= -LARGEST and high <= LARGEST):
        row, column = np.argwhere(~(np.abs(rows) <= LARGEST))[0].tolist()
        raise ContextError(
            f"Features of actions must be finite and at most {LARGEST:g}; feature {column} of "
            f"action {row}, counting from 0, is {rows[row, column]}."
        )
    return rows


def _as_table(given: Any) -> FloatArray:
    """Return rows of numbers, or raise an error that names the first invalid row."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InputTypeError(
            "actions= takes one feature vector per action, [n, q], or a mapping from ids to "
            f"feature vectors; got {str(given)[:100]!r}."
        )
    given = given if hasattr(given, "__array__") else list(given)
    if isinstance(given, list) and not given:
        return np.empty((0, 0))
    try:
        found = np.array(as_floats(given))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim == 2:
        return np.ascontiguousarray(found) + 0.0
    widths = []
    for i, row in enumerate(given if isinstance(given, list) else ()):
        try:
            one = as_floats(row)
        except (TypeError, ValueError):
            one = np.empty(())
        if one.ndim != 1:
            raise ContextError(
                "actions= takes one feature vector per action, a row of numbers; for action "
                f"{i}, counting from 0, got {str(row)[:100]}."
            )
        widths.append(len(one))
        if len(one) != widths[0]:
            raise ContextError(
                f"All actions must have the same features: action 0 has {widths[0]}, and action "
                f"{i} has {len(one)}."
            )
    raise ContextError(
        f"actions= takes one feature vector per action, [n, q]; got {str(given)[:100]}."
    )


def _check_ids(given: Any, n: int) -> tuple[Hashable, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputTypeError(f"ids= takes a list, one id for each action; got {given!r:.100}.")
    found = tuple(given.tolist() if isinstance(given, np.ndarray) else given)
    if len(found) != n:
        raise ParameterError(f"ids= must have one id per action, {n} ids; got {len(found)}.")
    try:
        distinct = len(set(found))
    except TypeError:
        raise InputTypeError(f"ids must be hashable; got {_listed(found)}.") from None
    if distinct != n or any(each != each for each in found):  # NaN is not even equal to itself
        twice = next((each for i, each in enumerate(found) if each in found[:i]), found[0])
        raise ParameterError(f"ids= must be distinct; {twice!r:.100} is the id of two actions.")
    return found


def _listed(ids: tuple[Hashable, ...]) -> str:
    shown = ", ".join(f"{each!r:.40}" for each in ids[:5])
    return f"{shown}, …" if len(ids) > 5 else shown
