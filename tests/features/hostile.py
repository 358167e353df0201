"""Values and rows of every kind, well meant and not."""

from __future__ import annotations

import enum
import math
from collections import namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import strategies as st


class Colour(enum.Enum):
    """Hashable, and of no plain type."""

    RED = 1
    GREEN = 2


class Silent:
    """Says nothing of itself but where it lies in memory."""


class Angry:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name):
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        raise RuntimeError(name)

    def __ne__(self, other):
        raise RuntimeError("ne")

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __hash__(self):
        return 1

    def __str__(self):
        raise RuntimeError("str")

    __repr__ = __str__

    def __float__(self):
        raise RuntimeError("float")


class BadNumber(float):
    """A number that cannot be read."""

    def __float__(self):
        raise RuntimeError("float")


HOLES = [None, math.nan, "", " ", "NA", "n/a", "null", "None", "NaN", pd.NA, pd.NaT, np.nan,
         np.datetime64("NaT"), np.ma.masked, Decimal("NaN"), Decimal("sNaN"),
         np.float32("nan")]  # fmt: skip
ODD = [
    10**400, -(10**5000), 1e308, -math.inf, math.inf, 5e-324, 1e-200, Fraction(10**400, 3), True,
    np.bool_(False), np.int8(3), np.float32(2.5), Decimal("1e400"), 3 + 4j, np.complex128(1j),
    "3,5", "1.234,5", "1,234,567", "1_000", "inf", "-", "?", "9" * 500, "x" * 5000, "\ud800", "\0",
    "2024-02-29", "2024-02-30", "2024-02-29T13:30:00+02:00", "20240229", "yes", "no", "02139",
    datetime(2024, 2, 29, 13, tzinfo=UTC), date(1, 1, 1), date(9999, 12, 31), datetime.max,
    pd.Timestamp("2024-02-29 13:30"), np.datetime64("2024-02-29"), np.datetime64(10**18, "Y"),
    timedelta(hours=2), np.timedelta64(5, "D"), pd.Timedelta("3h"), Colour.RED, ("a", 1), (1, 2),
    frozenset({1, "a"}), ["red", "blue"], {"a", "b"}, {"deep": {"er": 1}}, [], {}, b"raw", Silent(),
    Angry(), BadNumber(3.0), np.array([1.0, 2.0]), np.array("text"), np.zeros((2, 2)), object, len,
    "The parcel came two days late, again!",
]  # fmt: skip

Pair = namedtuple("Pair", "age plan")

values = st.one_of(
    st.sampled_from(HOLES),
    st.sampled_from(ODD),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.text(max_size=40),
    st.datetimes(),
    st.dates(),
    st.decimals(),
)
names = st.one_of(st.sampled_from(["age", "plan", "when", "note", "vip", "city"]), st.text())
mappings = st.dictionaries(st.one_of(names, st.integers(0, 5)), values, max_size=6)
ODD_ROWS = [
    None, {}, [], (), 3.5, "mobile", True, date(2024, 2, 29), Pair(31, "pro"), pd.NA, pd.NaT,
    pd.Series({"age": 31, "plan": None}), pd.Series([1.0, 2.0]), np.array([1.0, np.nan]),
    np.array(3.0), np.zeros((2, 2)), pd.DataFrame({"age": [31]}), np.array(["a", 1], dtype=object),
    {None: 1}, {("a", "b"): 1}, {2.5: 1}, {True: 1}, {Colour.RED: 2}, Angry(), Silent(), object,
    (x for x in range(3)), {1, 2}, range(3), b"raw", Colour.RED,
]  # fmt: skip
rows = st.one_of(
    mappings,
    mappings,
    mappings,
    st.lists(values, max_size=4),
    st.sampled_from(ODD_ROWS),
)
