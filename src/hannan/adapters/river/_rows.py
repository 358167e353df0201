"""Dictionaries of features as the contexts of a learner."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from hannan.core import ContextError
from hannan.core.validation import FloatArray, check_integer, refuse

Features = Sequence[Hashable] | int | Callable[[Any], Any] | None


class Rows:
    """How a dictionary becomes a row, by the parameter `features` of its owner.

    Names: those features in that order, 0 where one is missing, others left out. None: the names
    of the first dictionary that was kept; later ones may lack some, not have others. A number n:
    each feature is added, with a sign, to one of n columns by a hash of its name, and text as a
    feature "name=text" of value 1. A function: what it returns is the context.
    """

    def __init__(self, owner: object, features: Features) -> None:
        self._columns = 0
        self._function: Callable[[Any], Any] | None = None
        self._names: tuple[Hashable, ...] | None = None
        self._learns = features is None
        if isinstance(features, int | np.integer):
            self._columns = check_integer(owner, "features", features, 1)
        elif callable(features):
            self._function = features
        elif features is not None:
            names = () if isinstance(features, str) else tuple(features)
            if not names or len(set(names)) < len(names):
                accepted = "distinct names, a number of columns, a function or None"
                raise refuse(owner, "features", accepted, features)
            self._names = names

    def __call__(self, given: Any) -> Any:
        """The context of a dictionary; what is not one passes as it is."""
        if self._function is not None:
            return self._function(given)
        if not isinstance(given, Mapping):
            return given
        if self._columns:
            return self._hashed(given)
        names = tuple(given) if self._names is None else self._names
        if self._learns:
            unknown = [name for name in given if name not in names]
            if unknown:
                raise ContextError(
                    f"Features {unknown} were not in the first context, which had {list(names)}. "
                    "Name all that count as features=[…], or hash them with features=n."
                )
        return np.array([_number(name, given.get(name, 0.0)) for name in names])

    def keep(self, given: Any) -> None:
        """Remember the names of a dictionary that was accepted, if none are known yet."""
        if self._learns and self._names is None and isinstance(given, Mapping):
            self._names = tuple(given)

    def _hashed(self, given: Mapping[Hashable, Any]) -> FloatArray:
        row = np.zeros(self._columns)
        for name, value in given.items():
            text = isinstance(value, str)
            number = 1.0 if text else _number(name, value)
            code = zlib.crc32(f"{name}={value}".encode() if text else str(name).encode())
            row[(code >> 1) % self._columns] += number if code & 1 else -number
        return row


def _number(name: Hashable, value: Any) -> float:
    if not isinstance(value, Real | np.bool_):
        raise ContextError(
            f"Feature {name!r} must be a number; got {value!r}. Encode it, or hash the features "
            "with features=n, which takes text."
        )
    return float(value)
