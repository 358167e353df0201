"""Conversion of contexts and items to the input of learners."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any

import numpy as np

from hannan.core import ContextError, InputTypeError, ParameterError
from hannan.core.arrays import as_scalar, is_frame
from hannan.core.menu import Menu
from hannan.core.params import Parametrised
from hannan.core.state import Part, State
from hannan.decisions.names import as_name
from hannan.decisions.records import PLAIN, TAGS
from hannan.features import Features

_WORDS = frozenset({str})

Items = list[list[Any]]
"""The items of a decision: pairs of an id and the item's features."""


def plain(value: Any) -> Any:
    """Convert a context to plain numbers, words, dates and collections, as a journal returns it."""
    if type(value) in PLAIN:
        return value
    if type(value) is dict:
        if PLAIN.issuperset(map(type, value.values())) and _WORDS.issuperset(map(type, value)):
            return value.copy()
        return {_plain(key, "a key"): _plain(each, key) for key, each in value.items()}
    return _plain(value, None)


def _plain(value: Any, where: Any) -> Any:
    if isinstance(value, date | np.datetime64):
        return _moment(value)
    if type(value) in PLAIN or type(value) in TAGS:
        return value
    value = _with_names(value)
    if isinstance(value, Mapping):
        return plain(dict(value))
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    single = _single(value)
    if type(single) in PLAIN or type(single) in TAGS:
        return single
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    place = "The context" if where is None else f"The feature {where!r:.60}"
    raise InputTypeError(
        f"{place} is of type {type(value).__module__}.{type(value).__qualname__}; features must "
        "be numbers, strings, booleans, dates, or lists or mappings of them."
    )


def _moment(value: Any) -> date | None:
    """Return a date or a time of the standard library; None for NaT."""
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[us]").item()  # type: ignore[no-any-return]
    if value != value:
        return None
    kind = datetime if isinstance(value, datetime) else date
    return kind.fromisoformat(kind.isoformat(value))  # keeps only the offset of a time zone


def _with_names(value: Any) -> Any:
    """Return a row with names (a named tuple, a dataclass, a row of a frame) as a mapping."""
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return dict(zip(names, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if hasattr(value, "to_dict") and not isinstance(value, Mapping) and not is_frame(value):
        return value.to_dict()
    return value


def _single(value: Any) -> Any:
    """Return a single value as a plain one, if it is one."""
    found = as_scalar(value)
    if type(found) in PLAIN or type(found) in TAGS:
        return found
    for base in (bool, int, float, str):
        if isinstance(found, base):
            return base(found)
    return None if type(found).__name__ in ("NAType", "NaTType") else found


def new_features(owner: str, given: Any) -> Features:
    """Return new `Features` from a specification; raise `ParameterError` if it is invalid."""
    if isinstance(given, Features):
        return given.clone()
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(
            f"{owner}= must be a Features, a mapping that declares the columns, or None to infer "
            f"them from the first rows; got {given!r:.100}."
        )
    return Features(given)


def offered(actions: Any) -> Items:
    """Check the items of a decision, and convert their features to plain values."""
    if not isinstance(actions, Mapping):
        raise InputTypeError(
            "actions= must be a mapping from the ids of the items to their features, such as "
            f"{{'sku-1': {{'price': 9.5}}}}; got {actions!r:.100}."
        )
    if not actions:
        raise ParameterError("actions= is empty. Pass at least one item.")
    return [[as_name(name), plain(row)] for name, row in actions.items()]


class Contexts(Parametrised):
    """Encoder of contexts and items, of the kind of the first decision.

    Parameters
    ----------
    rows
        Whether decisions have contexts.
    items
        Whether items are passed to each decision.
    features, item_features
        Encoders of contexts and items, as in `Decider`.
    keys
        Whether contexts go to the policy class as they are. Default False.
    """

    stored = State(_rows=Part(), _items=Part())

    def __init__(
        self, rows: bool, items: bool, features: Any, item_features: Any, keys: bool = False
    ) -> None:
        self.rows, self.items, self.keys = rows, items, keys
        self.features, self.item_features = features, item_features
        self._rows = new_features("features", features) if rows else None
        self._items = new_features("item_features", item_features) if items else None

    def read(self, row: Any, items: Items | None) -> tuple[Any, Callable[[], None]]:
        """Return the encoded context of a decision, and a function that updates the encoder.

        The encoder changes only when you call this function, which never fails.
        """
        x, learn = None, _learn_nothing
        if self.keys:
            return row, learn
        if self._rows is not None:
            x, learn = self._rows.read(row)
        elif row is not None:
            raise ContextError(
                "The first decision had no context, so this Decider takes none; got "
                f"{row!r:.100}. Create another Decider for decisions with contexts."
            )
        if self._items is None:
            return x, learn
        assert items is not None
        described = [features for _, features in items]
        reader = self._items
        if not reader.width:
            reader = reader.copy()
            reader.find(described)
        rows = np.array([reader.encode(each) for each in described])
        menu = Menu(x, rows, tuple(name for name, _ in items))
        return menu, partial(self._saw, learn, described)

    @property
    def quality(self) -> dict[str, Any]:
        """Quality of each column; the names of item columns begin with "item "."""
        readers = {"": self._rows, "item ": self._items}
        return {
            prefix + name: shares
            for prefix, reader in readers.items()
            if reader is not None
            for name, shares in reader.quality.items()
        }

    def changes(self) -> list[str]:
        """Return a sentence for each column whose quality has clearly declined."""
        rows = [] if self._rows is None else self._rows.changes("decisions")
        items = [] if self._items is None else self._items.changes("items")
        return [*rows, *(f"item {each}" for each in items)]

    def _saw(self, learn: Callable[[], None], described: list[Any]) -> None:
        """Update the encoders on a context and on the items."""
        learn()
        assert self._items is not None
        if not self._items.width:
            self._items.find(described)
        for each in described:
            self._items.see(each)


def _learn_nothing() -> None:
    """Do nothing, because there are no contexts."""


def place(name: Any, items: Items, what: str) -> int:
    """Return the index of an item."""
    names = [each for each, _ in items]
    if name not in names:
        raise ParameterError(f"{what} {name!r:.100} is not among the {len(items)} items.")
    return names.index(name)
