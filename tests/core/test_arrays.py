"""The one rule for what is like an array."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hannan as hn
from hannan.core import ContextError
from hannan.core.arrays import as_array, as_floats, as_list, as_rows, as_scalar, is_frame, missing


def test_plain_arrays_are_themselves():
    for given in (np.zeros(3), np.zeros((2, 2), np.float32), np.array(["a"]), np.arange(4)):
        assert as_array(given) is given
    numbers = np.zeros(3)
    assert as_floats(numbers) is numbers


def test_types_are_kept_where_they_are_numbers():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    assert as_array(frame).dtype == np.int64
    assert as_array(pl.DataFrame({"a": [1.5], "b": [True]})).dtype == np.float64
    assert as_array(pa.table({"a": [True, False]})).dtype == bool
    assert as_array(pd.Series([True, None], dtype="boolean")).tolist()[0] == 1.0


@pytest.mark.parametrize(
    "given",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.Series([1, pd.NA, 3], dtype=object),
        pl.Series([1, None, 3]),
        pa.array([1, None, 3]),
        pa.chunked_array([[1], [None, 3]]),
        np.ma.array([1, 2, 3], mask=[False, True, False]),
        [1, None, 3],
        [pa.scalar(1), pa.scalar(None), pa.scalar(3)],
    ],
    ids=lambda given: f"{type(given).__module__}.{type(given).__name__}",
)
def test_what_is_missing_is_nan(given):
    assert as_floats(given) == pytest.approx([1.0, np.nan, 3.0], nan_ok=True)


def test_masked_words_are_missing():
    found = as_array(np.ma.array(["a", "b"], mask=[False, True]))
    assert found[0] == "a"
    assert missing(found[1])


def test_numbers_in_other_forms():
    exact = [Fraction(1, 4), Decimal("0.5"), 2**70, True]
    assert as_floats(exact).tolist() == [0.25, 0.5, 2.0**70, 1.0]
    assert as_floats(pl.Series(["1.5"]).cast(pl.Decimal(10, 2))).tolist() == [1.5]
    assert as_floats([]).shape == (0,)


@pytest.mark.parametrize(
    "given",
    [
        ["1", "2"],
        pd.Series(["1", "2"]),
        pl.Series(["1", "2"]),
        pa.array(["1", "2"]),
        pd.Series(["1", "2"], dtype="category"),
        pd.to_datetime(pd.Series(["2026-01-01"])),
        pd.to_timedelta(pd.Series([1], name="x"), unit="s"),
        [datetime.date(2026, 1, 1)],
        np.array([1j]),
        [{"a": 1}],
        "12",
        pl.LazyFrame({"a": [1]}),
    ],
    ids=str,
)
def test_what_is_no_number_is_refused(given):
    with pytest.raises(TypeError, match="is not a number"):
        as_floats(given)


def test_what_is_lent_may_be_written_to():
    for given in (pa.array([1.0, 2.0]), pl.Series([1.0, 2.0]), pd.Series([1.0, 2.0])):
        found = as_floats(given)
        found[0] = 9.0
        assert as_list(given) == [1.0, 2.0]


def test_rows():
    assert as_rows(np.array([3, 1])) == [3, 1]
    table = np.eye(2)
    assert as_rows(table) is table
    listed = ["a", "b"]
    assert as_rows(listed) is listed
    assert [row.tolist() for row in as_rows(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))] == [
        [1, 3],
        [2, 4],
    ]
    assert as_rows(pa.table({"a": ["x", "y"]})) == [("x",), ("y",)]
    assert as_rows(pd.Series(["x", "y"], index=[1, 0])) == ["x", "y"]
    days = np.array(["2026-01-01"], dtype="datetime64[ns]")
    assert as_rows(days) == [days[0]]
    for hole in (pd.Series(pd.to_datetime(["2026-01-01", None])), pa.array(["x", None])):
        with pytest.raises(ContextError, match="number 1, counting from 0, is"):
            as_rows(hole)


def test_scalars_and_frames_are_told():
    assert [as_scalar(x) for x in (np.int64(3), pa.scalar("x"), 0.5)] == [3, "x", 0.5]
    assert type(as_scalar(np.int64(3))) is int
    assert all(map(is_frame, (pd.DataFrame(), pl.DataFrame(), pa.table({}))))
    assert not any(map(is_frame, (pd.Series(dtype=float), np.eye(2), [[1]], pl.LazyFrame())))
    assert all(map(missing, (None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("nan"))))
    assert not any(map(missing, (0, "", "nan", False, pd.Timestamp(0), ())))


def test_frames_that_are_not_computed_yet_are_told_so():
    lazy = pl.LazyFrame({"a": [1.0, 2.0]})
    for take in (as_floats, as_rows, hn.oracles.LinearPolicies(2).check_contexts):
        with pytest.raises((TypeError, ContextError), match=r"call \.collect\(\)"):
            take(lazy)


TABLE = {"age": [31, 48], "sky": [None, "grey"]}
DAYS = pd.DataFrame({"age": [31, 48], "day": pd.to_datetime(["2026-01-01"] * 2)})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (pd.DataFrame(TABLE), r"feature 1 \('sky'\) of row 1, counting from 0, is 'grey'"),
        (pl.DataFrame(TABLE), r"feature 1 \('sky'\) of row 1, counting from 0, is 'grey'"),
        (pa.table(TABLE), r"feature 1 \('sky'\) of row 1, counting from 0, is 'grey'"),
        (DAYS, r"feature 1 \('day'\) of row 0, counting from 0, is Timestamp"),
        ([[1.0, 2.0], [3.0, "x"]], "feature 1 of row 1, counting from 0, is 'x'"),
        (pd.Series([1, "x"], index=["b", "c"]), "feature 0 of row 1, counting from 0, is 'x'"),
        (pd.Series([1, None], index=["b", "c"]), "feature 0 of row 1, counting from 0, is nan"),
        ([[1.0, 2.0], [3.0]], r"got '\[\[1.0, 2.0\], \[3.0\]\]'"),
        ("abc", "got 'abc'"),
    ],
    ids=lambda value: f"{type(value).__module__}.{type(value).__name__}",
)
def test_features_that_are_no_numbers_are_told_by_name_and_place(given, told):
    with pytest.raises(ContextError, match=told):
        hn.ContextFTPL(hn.oracles.LinearPolicies(2), contexts=given)


def test_a_row_of_pandas_names_its_feature():
    with pytest.raises(ContextError, match=r"feature 1 \('sky'\) of row 0.* is 'grey'"):
        hn.oracles.LinearPolicies(2).check_context(pd.DataFrame(TABLE).iloc[1])


def test_nan_cannot_be_declared_as_a_context():
    def first(contexts, losses):
        return lambda context: 0

    free = hn.oracles.AllPolicies(1, 2)
    for make in (
        lambda given: hn.ContextFTPL(hn.oracles.FunctionOracle(first, 2), contexts=given),
        lambda given: hn.ContextFTPL(hn.oracles.PerContext(free), contexts=given),
        lambda given: hn.oracles.PerContext(free, given),
    ):
        for nan in (float("nan"), np.float32("nan"), Decimal("nan")):
            with pytest.raises(ContextError, match="number 1, counting from 0, is"):
                make([0.5, nan])
        make([0.5, None])
