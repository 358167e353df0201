"""Declarations of stored state: what each kind accepts, and what a class must say."""

from collections import deque

import numpy as np
import pytest

import hannan as hn
from hannan.core.state import (
    Array,
    Count,
    DequeOf,
    DictOf,
    Flag,
    Key,
    ListOf,
    Number,
    Numbered,
    OneOf,
    RowBytes,
    Scope,
    State,
    Text,
    TupleOf,
)
from hannan.core.storage import reread
from hannan.core.stored import declared

KINDS = {
    "flag": (Flag(), [True, False], [1, 0, None, "True"]),
    "count": (Count(3), [0, 2], [-1, 3, True, 1.0, None]),
    "number": (Number(0.0, 2.0), [0, 1.5, 2.0], [-0.1, 2.1, np.nan, np.inf, 2**70, True, "1"]),
    "text": (Text(), ["", "a"], [b"a", 1]),
    "one of": (OneOf("a", 1), ["a", 1], ["b", True, 1.0]),
    "array": (
        Array(None, 2, low=0.0),
        [np.zeros((0, 2)), np.ones((3, 2))],
        [np.zeros(2), np.zeros((2, 2), int), -np.ones((1, 2)), np.full((1, 2), np.nan),
         np.asfortranarray(np.ones((3, 2))), [[1.0, 1.0]]],
    ),
    "indices": (
        Array(None, dtype=np.intp, low=0, below=4, rising=True),
        [np.array([0, 3])],
        [np.array([0, 4]), np.array([-1]), np.array([1, 1]), np.array([1.0])],
    ),
    "list": (ListOf(Count(), most=2), [[], [1, 2]], [[1, 2, 3], (1,), [-1]]),
    "tuple": (TupleOf(Count(), Text()), [(1, "a")], [(1,), ("a", 1), [1, "a"]]),
    "dictionary": (DictOf(Key(), Count()), [{}, {"a": 1}], [{"a": -1}, [], {"a": None}]),
    "numbered": (Numbered(Text()), [{"a": 0, "b": 1}], [{"a": 1}, {"a": 0, "b": 0}]),
    "row": (RowBytes(2), [np.ones(2).tobytes()], [np.ones(3).tobytes(), b"123", "x"]),
    "or none": (Count() | None, [None, 1], [-1, "1"]),
    "where": (Count().where(lambda self, n: n % 2 == 0), [0, 2], [1]),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_accepts_what_it_declares(name):
    kind, right, wrong = KINDS[name]
    assert all(kind.fits(value) for value in right)
    assert [value for value in wrong if kind.fits(value)] == []


def test_an_array_without_lengths_is_like_the_new_one():
    new = np.array([0.0, np.inf])
    kind = Array(low=0.0)
    assert kind.accepts(np.array([3.0, np.inf]), new, Scope())
    for wrong in ([3.0, 1.0], [np.inf, np.inf], [-1.0, np.inf], [1.0], [1e200, np.inf]):
        assert not kind.accepts(np.array(wrong), new, Scope())


def test_a_deque_has_the_length_of_the_new_one():
    kind = DequeOf(Count())
    assert kind.accepts(deque([1], 3), deque(maxlen=3), Scope())
    assert not kind.accepts(deque([1], 4), deque(maxlen=3), Scope())


def test_lengths_are_looked_up_in_the_objects_around():
    class Inner:
        rows = 2

    class Outer:
        rows, columns = 7, 3

    scope = Scope(Inner(), Outer())
    assert Array("rows", "columns").accepts(np.zeros((2, 3)), None, scope)
    assert not Array("rows", "columns").accepts(np.zeros((7, 3)), None, scope)
    assert Array(lambda self: self.rows + self.columns).accepts(np.zeros(5), None, scope)


class Silent(hn.predictors.Mean):
    def __init__(self):
        super().__init__()
        self.count = 0


class Counting(Silent):
    stored = State(count=Count())


def test_a_class_from_outside_says_what_to_store():
    with pytest.raises(hn.StorageError, match="Silent does not declare its state"):
        reread(Silent())
    with pytest.raises(hn.StorageError, match="Silent does not declare"):
        reread(Counting())  # its base has a constructor, too


class Vocal(hn.predictors.Mean):
    stored = State(count=Count(), _errors=None)

    def __init__(self):
        super().__init__()
        self.count = 0


def test_a_class_adds_to_what_its_bases_store_or_takes_it_off():
    assert declared(Vocal).keys() == declared(hn.predictors.Mean).keys() - {"_errors"} | {"count"}
    mine = Vocal()
    mine.count = 3
    mine._errors[:] = 1.0
    twin = reread(mine)
    assert (twin.count, twin._errors.tolist()) == (3, [0.0, 0.0])
    mine.count = -1
    with pytest.raises(hn.DamagedFileError, match="an invalid Vocal: wrong value of count"):
        reread(mine)
