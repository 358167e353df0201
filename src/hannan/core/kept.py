"""What play could have left in an object: the words in which `_check_stored` says it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from hannan.core.errors import DamagedFileError
from hannan.core.stored import Stored

MOST = 2**62
"""More than any count."""

LARGEST = 1e150
"""No number is larger, so that squares of numbers stay finite."""


def expect(owner: object, **holds: bool) -> None:
    """Refuse a file unless all of this holds, by the names of attributes.

    >>> expect("a total", rounds=is_count(-1))
    Traceback (most recent call last):
    ...
    hannan.core.errors.DamagedFileError: The file holds a str whose rounds cannot be what play left.
    """
    for name, true in holds.items():
        if not true:
            raise DamagedFileError(
                f"The file holds a {type(owner).__name__} whose {name} cannot be what play left."
            )


def is_count(value: Any, below: int = MOST) -> bool:
    """Whether this is an integer from 0 on."""
    return type(value) is int and 0 <= value < below


def is_number(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether this is a finite number within bounds."""
    if type(value) is int and abs(value) > MOST:  # NumPy would make objects of it
        return False
    least, most = max(low, -LARGEST), min(high, LARGEST)
    return type(value) in (float, int, np.float64) and least <= value <= most


def is_array(
    value: Any,
    *shape: int | None,
    dtype: Any = np.float64,
    low: float = -math.inf,
    high: float = math.inf,
) -> bool:
    """Whether this is an array as kernels take it, its numbers finite and within bounds.

    >>> is_array(np.zeros((3, 2)), None, 2), is_array(np.array([np.nan]), 1)
    (True, False)
    """
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != len(shape):
        return False
    fits = all(wanted in (None, found) for wanted, found in zip(shape, value.shape, strict=True))
    if not fits or not value.flags.c_contiguous:
        return False
    if not value.size or value.dtype.kind == "b":
        return True
    least, most = value.min(), value.max()  # NaN where one of them is
    return bool(max(low, -LARGEST) <= least and most <= min(high, LARGEST))


def is_action(value: Any, n_actions: int | None, sets: bool) -> bool:
    """Whether this is what can be played: an integer below K, or the rising ones of a set."""
    below = MOST if n_actions is None else n_actions
    if not sets or type(value) is int:
        return not sets and is_count(value, below)
    rising = is_array(value, None, dtype=np.intp, low=0, high=below - 1)
    return rising and bool((np.diff(value) > 0).all())


def are_places(index: Any) -> bool:
    """Whether a dictionary numbers its keys 0, 1, 2, … in their order."""
    return isinstance(index, dict) and all(
        type(place) is int and place == i for i, place in enumerate(index.values())
    )


def are(kind: type, values: Any, within: type[Collection[Any]] = list) -> bool:
    """Whether this is a list of one kind of thing."""
    return type(values) is within and all(isinstance(value, kind) for value in values)


def same(one: Any, other: Any, but: Iterable[str] = ()) -> bool:
    """Whether two things are alike: objects by what makes them anew, some parameters apart."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Stored):
        ours, theirs = one._params_to_store(), other._params_to_store()
        return ours.keys() == theirs.keys() and all(
            name in but or same(ours[name], theirs[name], but) for name in ours
        )
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and _equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other, [but] * len(one)))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key], but) for key in one)
    if hasattr(one, "get_params"):  # an estimator
        return same(one.get_params(deep=False), other.get_params(deep=False), but)
    if dataclasses.is_dataclass(one):
        return same(vars(one), vars(other), but)
    return bool(one == other) or (one != one and other != other)


def _equal(one: Any, other: Any) -> bool:
    if one.dtype.kind == "O":
        return same(one.ravel().tolist(), other.ravel().tolist())
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def like_new(before: Any, after: Any, growing: bool = False) -> bool:
    """Whether a value may take the place of the one that a new object has."""
    if type(before) in (float, np.float64):
        return is_number(after) or (type(after) is float and same(float(before), after))
    if type(before) is not type(after):
        return False
    if isinstance(before, np.ndarray):
        return _like_new_array(before, after, growing)
    if type(before) is int:
        return bool(min(before, 0) <= after < MOST)
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(like_new, before, after))
    if isinstance(before, dict | set | frozenset) or hasattr(before, "maxlen"):
        return bool(before == after)
    if isinstance(before, Stored | str):
        return before is after or before == after or not is_ours(type(after))
    return True


def like_new_loosely(before: Any, after: Any, growing: bool) -> bool:
    """The same for classes that the caller trusts: types, and shapes of arrays."""
    if before is None or after is None:
        return True
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        fits = before.shape == after.shape or (growing and before.ndim == after.ndim)
        return fits and before.dtype == after.dtype
    if isinstance(before, float):
        return type(after) in (float, int, np.float64)
    if isinstance(before, Stored):
        return isinstance(after, Stored)
    return type(before) is type(after)


def is_ours(made: type) -> bool:
    """Whether a class is one of Hannan's, which checks what it finds in a file."""
    return made.__module__.startswith("hannan.")


def _like_new_array(before: Any, after: Any, growing: bool) -> bool:
    if before.dtype != after.dtype or before.ndim != after.ndim:
        return False
    if growing:
        return bool(after.flags.c_contiguous)
    if before.shape != after.shape or (after.size and before.strides != after.strides):
        return False
    if before.dtype.kind != "f":
        return True
    with np.errstate(invalid="ignore"):
        usual = np.abs(after) <= LARGEST
    if usual.all():
        return bool(np.isfinite(before).all())
    # What is infinite stays so: places that no policy has.
    return bool((usual == np.isfinite(before)).all() and (after[~usual] == before[~usual]).all())
