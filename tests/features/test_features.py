"""Rows of any kind: never a foreign error, the same width for ever, nothing changed by looking."""

import math
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.storage import reread
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.features import Category, Column, Date, Features, Flag, Number, Text, Vector
from hannan.features._cells import words_of
from tests.features import hostile

DECLARED = {
    "age": Number(),
    "plan": Category(["free", "pro"]),
    "city": Category(room=3, buckets=2),
    "note": Text(4),
    "when": Date(),
    "vip": Flag(),
}
CONTRACT = {
    "Features": Features(),
    "Features, declared": Features({"age": "number", "plan": ["free", "pro"]}, places=4),
    "Number": Number(),
    "Number, as it is": Number(standardise=False, indicator=False),
    "Category": Category(),
    "Category, declared": Category(["a", 2], buckets=3),
    "Text": Text(),
    "Date": Date(),
    "Date, read": Date(["day", "hour"], format="%d.%m.%Y"),
    "Flag": Flag(),
    "Vector": Vector(3),
    "Vector, long": Vector(300, indicator=False),
}


def state(features):
    """Everything that is kept."""
    return b"".join(packed(features, Encoder()))


def taken(features, row):
    """Encode and see: the array, or None for a row that is refused, and refused by both."""
    before = state(features)
    try:
        x = features.encode(row)
    except hn.HannanError:
        x = None
    assert state(features) == before
    try:
        features.see(row)
    except hn.HannanError:
        assert x is None
        assert state(features) == before
    return x


@given(st.lists(hostile.rows, max_size=8))
@settings(max_examples=300)
def test_any_rows_whatever_they_hold(rows):
    features = Features()
    for row in rows:
        before = features.width
        x = taken(features, row)
        if x is not None:
            assert x.dtype == np.float64
            assert x.shape == (features.width,)
            assert np.isfinite(x).all()
            assert before in (0, features.width)
            assert len(features.names) == features.width <= 512
            assert features.encode(row).tolist() == features.encode(row).tolist()


@given(st.lists(hostile.rows, max_size=8), st.integers(0, 3))
@settings(max_examples=200)
def test_any_rows_where_columns_are_declared(rows, places):
    features = Features(DECLARED, places=places)
    width = features.width
    for row in rows:
        x = taken(features, row)
        assert features.width == width == len(features.names)
        if x is not None:
            assert x.shape == (width,)
            assert np.isfinite(x).all()


@given(st.lists(hostile.rows, max_size=8), st.booleans())
@settings(max_examples=300)
def test_one_pass_is_encode_and_see(rows, declared):
    one = Features(DECLARED, places=3) if declared else Features()
    two = one.copy()
    for row in rows:
        before = state(one)
        try:
            x, learn = one.read(row)
        except hn.HannanError:
            with pytest.raises(hn.HannanError):
                two.encode(row)
            continue
        assert state(one) == before
        assert x.tobytes() == two.encode(row).tobytes()
        learn()
        two.see(row)
        assert state(one) == state(two)


@given(st.lists(hostile.mappings, min_size=3, max_size=6))
def test_what_was_read_before_other_rows_were_seen_is_learned_after_them(rows):
    one, two = Features(), Features()
    calls = [one.read(row)[1] for row in rows[1:]]
    for learn, row in zip([*calls, calls[0]], [*rows[1:], rows[1]], strict=True):
        learn()
        two.see(row)
        assert state(one) == state(two)


class Sign(Column):
    """A kind of somebody else's, made of the four methods that it has to have."""

    width = 1

    def __init__(self):
        self.seen = 0

    def labels(self, name):
        return [name]

    def write(self, value, out, at):
        out[at] = math.copysign(self.seen + 1.0, value)
        return True

    def see(self, value):
        self.seen += 1
        return True


def test_a_kind_of_ones_own():
    features = Features({"x": Sign()})
    for t, x in enumerate((3.0, -2.0)):
        row, learn = features.read({"x": x})
        assert row.tolist() == features.encode({"x": x}).tolist() == [math.copysign(t + 1.0, x)]
        learn()
    assert features.encode({"x": 1.0}).tolist() == [3.0]


@given(st.lists(hostile.mappings, min_size=1, max_size=6))
@settings(max_examples=200)
def test_a_mapping_with_good_names_is_never_refused(rows):
    features = Features()
    for row in rows:
        assert taken(features, row) is not None


@given(st.lists(hostile.mappings, min_size=2, max_size=6), st.randoms())
@settings(max_examples=200)
def test_the_order_of_keys_does_not_matter(rows, random):
    one, other = Features(), Features()
    for row in rows:
        keys = list(row)
        random.shuffle(keys)
        shuffled = {key: row[key] for key in keys}
        assert one.encode(row).tobytes() == other.encode(shuffled).tobytes()
        one.see(row)
        other.see(shuffled)
    assert one.names == other.names


@given(st.lists(hostile.mappings, min_size=2, max_size=8), st.integers(0, 7))
@settings(max_examples=200)
def test_after_a_file_or_a_copy_all_goes_on_bit_for_bit(rows, pause):
    features = Features()
    for row in rows[:pause]:
        features.see(row)
    twins = [reread(features), features.copy()]
    for row in rows[pause:]:
        x = features.encode(row).tobytes()
        assert all(twin.encode(row).tobytes() == x for twin in twins)
        for each in (features, *twins):
            each.see(row)
    assert all(twin.names == features.names for twin in twins)


def test_a_copy_goes_its_own_way():
    features = Features()
    features.see({"age": 3})
    twin = features.copy()
    twin.see({"age": 9})
    assert (features.rows, twin.rows) == (1, 2)
    assert features.encode({"age": 9}).tolist() != twin.encode({"age": 9}).tolist()


@given(st.lists(hostile.mappings, min_size=1, max_size=5))
@settings(max_examples=100)
def test_a_row_is_read_as_if_it_had_been_seen(rows):
    """The first row of a pass looks as it does in a Features that has just found its columns."""
    features = Features()
    before = features.encode(rows[0])
    features.find([rows[0]])
    assert features.encode(rows[0]).tobytes() == before.tobytes()
    features.see(rows[0])
    assert len(before) == features.width


# Forms of rows -----------------------------------------------------------------------------------


@dataclass
class Visit:
    age: int
    plan: str


def test_forms_of_one_row_are_equal():
    first = {"age": 20, "plan": "free"}
    row = {"age": 31, "plan": "pro"}
    frame = pd.DataFrame([first, row])
    forms = [
        row,
        pd.Series(row),
        frame.iloc[1],
        next(frame.iloc[1:].itertuples(index=False)),
        pl.DataFrame([first, row]).row(1, named=True),
        hostile.Pair(31, "pro"),
        Visit(31, "pro"),
    ]
    features = Features()
    features.see(first)
    wanted = features.encode(row).tolist()
    for form in forms:
        assert features.encode(form).tolist() == wanted, type(form)
        twin = features.copy()
        twin.see(form)
        assert twin.encode(first).tolist() != features.encode(first).tolist()


def test_sequences_and_rows_of_numbers():
    features = Features()
    features.see(np.array([1.0, 2.0]))
    assert features.names[:3] == ["x0", "x1", "free 0"]
    wanted = features.encode([3.0, np.nan]).tolist()
    forms = (np.array([3.0, np.nan]), (3, None), pl.Series([3.0, None]), np.array([3, "NA"], "O"))
    for row in forms:
        assert features.encode(row).tolist() == wanted


@pytest.mark.parametrize(
    ("first", "row", "said"),
    [
        ({"a": 1}, [1], "Got a sequence, but the earlier rows were mappings"),
        ([1], {"a": 1}, "Got a mapping, but the earlier rows were sequences"),
        ([1, 2], [1], "must have 2 values; got 1"),
        ({"a": 1}, pd.DataFrame({"a": [1]}), "a frame has many"),
        ({"a": 1}, pl.LazyFrame({"a": [1]}), "a frame has many"),
        ({"a": 1}, np.zeros((2, 2)), "its shape is (2, 2)"),
        ({"a": 1}, {1, 2}, "neither a mapping nor a sequence"),
        ({"a": 1}, {None: 1}, "must be strings or integers; got None"),
    ],
)
def test_rows_that_are_refused(first, row, said):
    features = Features()
    features.see(first)
    for call in (features.encode, features.see):
        with pytest.raises(hn.ContextError) as error:
            call(row)
        assert said in str(error.value)
    assert features.rows == 1


def test_no_features_at_all_is_everything_missing():
    for first in ({"age": 31, "vip": True}, [31, True]):
        features = Features()
        features.see(first)
        x = features.encode(None)
        assert x.tolist() == features.encode({}).tolist() == features.encode([]).tolist()
        assert x[:4].tolist() == [0.0, 0.0, 1.0, 1.0]


# Found columns -----------------------------------------------------------------------------------


def test_kinds_are_found_from_the_first_row():
    features = Features()
    features.see(
        {"n": 3, "text number": "3,5", "flag": True, "word": "yes", "day": "2024-02-29",
         "moment": pd.Timestamp("2024-02-29 13:30"), "plan": "pro", "code": "02139", "tags": ["a"],
         "note": "The parcel came two days late.", "hole": None, "pair": ("a", 1)}
    )  # fmt: skip
    assert features.kinds == {
        "n": "Number", "text number": "Number", "flag": "Flag", "word": "Flag", "day": "Date",
        "moment": "Date", "plan": "Category", "code": "Category", "tags": "Text", "note": "Text",
        "hole": "other", "pair": "Category",
    }  # fmt: skip
    assert "moment hour sin" in features.names
    assert "day hour sin" not in features.names


@pytest.mark.parametrize("value", [3.5, "pro", "2024-02-29", True, "The parcel came late."])
def test_a_column_without_a_value_takes_places_when_one_comes(value):
    features = Features()
    features.see({"a": None})
    width = features.width
    x = features.encode({"a": value})
    features.see({"a": value})
    assert features.kinds == {"a": "other"}
    assert features.width == width == len(x) == len(features.names)
    for other in (None, 7, "free", "2024-03-15"):
        assert features.encode({"a": value}).tolist() != features.encode({"a": other}).tolist()
    twin = reread(features)
    assert twin.encode({"a": value}).tolist() == features.encode({"a": value}).tolist()


def test_sixteen_mixed_columns_stay_narrow():
    features = Features()
    row = {f"number {i}": 1.5 for i in range(6)} | {f"category {i}": "a" for i in range(6)}
    features.see(row | {"a": True, "b": False, "when": "2024-02-29T12:00", "note": "a b c d e"})
    assert len(features.kinds) == 16
    assert features.width <= 70


@pytest.mark.parametrize("count", [1, 40, 400, 700, 3000])
def test_the_width_has_a_limit(count):
    for first in ({f"c{i}": "a" for i in range(count)}, {f"c{i}": 1.0 for i in range(count)}):
        features = Features()
        features.see(first)
        assert features.width <= 512
        assert np.isfinite(features.encode(first)).all()
    row = [1.0] * count
    features = Features()
    features.see(row)
    other = [*row[:-1], 2.0]
    assert features.encode(row).tolist() != features.encode(other).tolist()


def test_what_comes_later_is_told_apart():
    features = Features()
    features.see({"a": 1.0})
    values = ("x", "y", "z", None)
    for value in values:
        features.see({"a": 1.0, "late": value})
    assert len({features.encode({"a": 1.0, "late": value}).tobytes() for value in values}) == 4
    for price in (10.0, 20.0, 30.0):
        features.see({"a": 1.0, "price": price})
    low, high = (features.encode({"a": 1.0, "price": price}) for price in (10.0, 30.0))
    assert np.abs(low - high).sum() > 1.0
    assert np.abs(low).max() < 3.0


def test_a_column_whose_kind_changes():
    features = Features()
    features.see({"age": 31, "when": "2024-02-29", "vip": True})
    x = features.encode({"age": "unknown", "when": "soon", "vip": "maybe"})
    features.see({"age": "unknown", "when": "soon", "vip": "maybe"})
    names = features.names
    assert [x[names.index(name)] for name in ("age=unknown", "when=soon", "vip=maybe")] == [1.0] * 3
    assert x[: names.index("age=unknown")].tolist() == [0.0] * 7


def test_places_are_given_in_order_of_appearance_and_then_shared():
    features = Features()
    features.see({"plan": "free", "city": "Rome", "age": 3.0})
    free = features.names.index("free 2")
    for row in ({"plan": "pro", "city": "Oslo", "age": None}, {"plan": None, "city": "Rome"}):
        x = features.encode(row)
        features.see(row)
        assert features.encode(row)[free:].tolist() == x[free:].tolist()
    assert features.names[1:8] == [
        "city=Rome", "plan=free", "city=Oslo", "plan=pro", "age missing", "plan missing", "free 6"
    ]  # fmt: skip
    for i in range(100):
        features.see({"plan": "free", "city": f"city {i}", "age": 1.0})
    kept = [name for name in features.names if name.startswith("city=")]
    assert len(kept) == 12  # half of the places: what else may come has room
    rows = [
        features.encode({"plan": "free", "city": f"city {i}", "age": 1.0}) for i in range(30, 60)
    ]
    shared = np.array(rows)[:, features.names.index("other 0") :]
    assert (np.abs(shared).sum(axis=1) == 1.0).all()


def test_what_a_row_brings_all_at_once_does_not_share_a_place():
    features = Features()
    features.see({"a": "x", "b": "y"})
    x = features.encode({"a": "new", "b": "new"})
    assert x[2:4].tolist() == [1.0, 1.0]


def test_several_rows_tell_more_than_the_first():
    rows = [{"code": 7, "note": None}, {"code": "B", "note": "It came four days late."}, {"x": 1}]
    features = Features().find(rows)
    assert features.kinds == {"code": "Category", "note": "Text", "x": "Number"}
    assert features.rows == 0
    width = features.width
    features.find([{"else": 1}])
    features.see(rows[0])
    assert features.width == width


def test_memory_stays_bounded():
    features = Features()
    features.see({"id": "customer 0"})
    for i in range(3000):
        features.see({"id": f"customer {i}", f"column {i}": float(i)})
    assert len(features.names) == features.width
    assert len(repr(features._state())) < 20_000


# Declared columns --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [("age", "old"), ("age", date(2024, 1, 1)), ("when", "soon"), ("when", 3), ("vip", "maybe"),
     ("plan", ["free"]), ("vip", 2)],
)  # fmt: skip
def test_what_cannot_be_read_as_declared_is_refused_by_name(name, value):
    features = Features(DECLARED)
    with pytest.raises(hn.ContextError, match=f"Column '{name}' is declared as"):
        features.encode({name: value})


def test_unknown_columns_are_ignored_or_take_places():
    ignoring, hashing = Features({"age": "number"}), Features({"age": "number"}, places=4)
    assert ignoring.encode({"age": 1, "shoes": 43}).tolist() == ignoring.encode({"age": 1}).tolist()
    assert (ignoring.width, hashing.width) == (2, 6)
    one, other = ({"age": 1, "shoes": size} for size in ("small", "large"))
    hashing.see(one)
    assert hashing.encode(one).tolist() != hashing.encode(other).tolist()


def test_declared_columns_in_a_sequence():
    features = Features({"age": Number(standardise=False), "plan": ["free", "pro"]})
    assert features.encode([31, "pro"]).tolist() == [31.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    with pytest.raises(hn.ContextError, match="must have 2 values; got 1"):
        features.encode([31])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"age": "numbr"}, "one of ('number', 'category'"),
        ({"age": 3}, "a column such as Number"),
        ({"age": Number}, "needs an instance, Number()"),
        (["age"], "a mapping from names to kinds"),
        ({"plan": ["free", "free"]}, "each once"),
        ({"plan": ["free", None]}, "none of them missing"),
        ({"plan": Category([f"{i}" for i in range(500)]), "more": Text(500)}, "at most 512"),
        ({None: "number"}, "must be strings or integers"),
    ],
)
def test_declarations_that_are_refused(columns, said):
    with pytest.raises(hn.HannanError) as error:
        Features(columns)
    assert said in str(error.value)


def test_what_was_declared_learns_nothing():
    declared = {"age": Number()}
    features = Features(declared)
    features.see({"age": 3})
    assert Features(declared).encode({"age": 9}).tolist() == [0.0, 0.0]
    assert features.clone().rows == 0


# Everywhere the same -----------------------------------------------------------------------------

SCRIPT = """
from hannan.features import Features
features = Features()
for i, c in enumerate("abcdefghij" * 3):
    features.see({"city": c, "note": "late again " + c, "x": i, "l": ["a", c]})
row = {"city": "zz", "note": "never before seen", "later": "new", "l": {"p", "q"}}
print(features.encode(row).tolist())
"""


def test_hashes_are_the_same_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert "1.0" in found.pop()


def test_words_between_blanks_are_the_words_of_any_text():
    letters = [chr(code) for code in range(sys.maxunicode + 1)]
    assert [c for c in letters if (c.isalnum() or c == "_") != bool(re.match(r"\w", c))] == []
    for text in ("Late AGAIN", " a  b ", "a\u00a0b", "a\tb", "a_b c", "", " ", "don't", "\u0130 x"):
        assert words_of(text) == re.findall(r"\w+", text.lower())


def test_a_file_of_its_own(tmp_path):
    features = Features()
    features.see({"age": 31, "plan": "pro"})
    features.save(tmp_path / "features.hannan")
    twin = hn.load(tmp_path / "features.hannan")
    assert twin.names == features.names
