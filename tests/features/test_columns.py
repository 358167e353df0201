"""Each kind of column against what its definition says, slowly."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

import hannan as hn
from hannan.features import Category, Date, Features, Flag, Number, Text, Vector
from tests.features.hostile import HOLES, Colour


def written(column, value):
    """Whether all was said, and the numbers."""
    out = [0.0] * column.width
    return column.write(value, out, 0), out


# Numbers -----------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=7)
    | st.lists(st.sampled_from([-9.0, -4.5, -1.0, 0.5, 4.0, 7.0]), min_size=1, max_size=30)
)
def test_numbers_are_standardised_over_all_up_to_this_one(values):
    column = Number(clip=1e6)
    for t, value in enumerate(values):
        seen = np.array(values[: t + 1])
        deviation = seen.std()
        _, (z, missing) = written(column, value)
        if deviation > 1e-6 * (1.0 + np.abs(seen).max()):
            assert z == pytest.approx((value - seen.mean()) / deviation, rel=1e-4, abs=1e-6)
        assert missing == 0.0
        column.see(value)


@pytest.mark.parametrize("hole", HOLES, ids=repr)
def test_a_missing_number_is_the_mean_and_an_indicator(hole):
    column, plain = Number(), Number(standardise=False)
    for value in (1.0, 2.0, 6.0):
        column.see(value)
        plain.see(value)
        plain.see(hole)
    assert written(column, hole) == (True, [0.0, 1.0])
    assert written(plain, hole) == (True, [3.0, 1.0])
    column.see(hole)
    assert written(column, hole) == (True, [0.0, 1.0])


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3.0), (" -3.5 ", -3.5), ("3,5", 3.5), ("1,234", 1.234), ("1.234,5", 1234.5),
     ("1,234.5", 1234.5), ("1,234,567", 1234567.0), ("1.234.567,8", 1234567.8), ("1e3", 1000.0),
     (Decimal("2.5"), 2.5), (True, 1.0), (np.float32(0.5), 0.5), (np.int8(-3), -3.0)],
)  # fmt: skip
def test_what_reads_as_a_number(text, value):
    assert written(Number(standardise=False), text) == (True, [value, 0.0])


@pytest.mark.parametrize(
    "text", ["three", "1_000", "12 EUR", "2024-01-01", date(2024, 1, 1), 1j, [1]]
)
def test_what_does_not(text):
    assert written(Number(), text) == (False, [0.0, 1.0])


@pytest.mark.parametrize("value", [math.inf, 1e300, 10**400, "inf"])
def test_infinite_numbers_are_clipped_and_teach_nothing(value):
    column = Number()
    for x in (1.0, 2.0, 3.0):
        column.see(x)
    before = written(column, 2.5)
    assert written(column, value) == (True, [10.0, 0.0])
    column.see(value)
    assert written(column, 2.5) == before
    features = Features({"x": Number(standardise=False)})
    with pytest.raises(hn.ContextError, match="declared as Number"):
        features.encode({"x": value})


def test_an_accident_is_forgotten_and_a_new_scale_is_learned():
    rng = np.random.default_rng(0)
    column = Number()
    for x in rng.normal(size=1000):
        column.see(x)
    column.see(1e50)
    (_, (z, _)) = written(column, 1.0)
    assert 0.5 < z < 1.1
    for x in rng.normal(0.0, 1e6, size=60):
        column.see(x)
    spread = np.std([written(column, x)[1][0] for x in rng.normal(0.0, 1e6, size=1000)])
    assert 0.5 < spread < 8.0


@pytest.mark.parametrize("at", [0, 1, 4, 20, 63, 64, 100])
def test_an_accident_anywhere_hardly_changes_the_scale(at):
    rng = np.random.default_rng(at)
    values = rng.normal(50.0, 3.0, size=200)
    column, spoiled = Number(), Number()
    for t, x in enumerate(values.tolist()):
        column.see(x)
        spoiled.see(1e6 if t == at else x)
    for x in (47.0, 50.0, 53.0):
        assert written(spoiled, x)[1][0] == pytest.approx(written(column, x)[1][0], abs=0.1)
    assert written(spoiled, 1e6) == (True, [10.0, 0.0])


def test_a_number_for_what_is_not_known_does_not_hide_the_others():
    rng = np.random.default_rng(0)
    column = Number()
    for x in rng.normal(50.0, 3.0, size=2000).tolist():
        column.see(999_999 if rng.random() < 0.05 else x)
    assert written(column, 53.0)[1][0] - written(column, 50.0)[1][0] > 0.5


class Slowly:
    """Mean and deviation, written and learned one after the other, bit for bit."""

    def __init__(self):
        self.values, self.mean, self.squares = [], 0.0, 0.0

    def with_one(self, x):
        """Mean and squares with one more, what is written for it, and nothing else changed."""
        before, count, off = self.mean, len(self.values) + 1, x - self.mean
        squares = self.squares + off * (off - off / count)
        spread = math.sqrt(squares / count)
        z = (off - off / count) / spread if spread > 0.0 else 0.0
        if count > 64 and abs(z) <= 5.0:
            return before + off / count, squares, z
        last = [*self.values[-64:], x]
        middle = sorted(last)[len(last) // 2]
        unit = sorted(abs(each - middle) for each in last)[4 * (len(last) - 1) // 5] / 1.2816
        moments = count - 1, self.mean, self.squares
        if count <= 64:
            moments = 0, 0.0, 0.0
            for each in self.values:
                moments = self.moved(moments, each, middle, unit, len(last))
        _, mean, squares = self.moved(moments, x, middle, unit, len(last))
        far = len(last) >= 8 and unit > 0.0 and abs(x - middle) > 30.0 * unit
        off = x - moments[1]
        rest = x - mean if far else off - off / count
        spread = math.sqrt(squares / count)
        return mean, squares, max(-10.0, min(10.0, rest / spread)) if spread > 0.0 else 0.0

    @staticmethod
    def moved(moments, x, middle, unit, size):
        count, mean, squares = moments
        off = x - mean
        if size >= 8 and unit > 0.0:
            if abs(x - middle) > 30.0 * unit:
                off = middle + math.copysign(5.0 * unit, x - middle) - mean
        elif count >= 32 and 0.0 < 30.0 * math.sqrt(squares / count) < abs(off):
            off = math.copysign(30.0 * math.sqrt(squares / count), off)
        step = off / (count + 1)
        return count + 1, mean + step, squares + off * (off - step)

    def write(self, x):
        return self.with_one(x)[2]

    def see(self, x):
        self.mean, self.squares, _ = self.with_one(x)
        self.values.append(x)


@given(st.integers(0, 2**32 - 1), st.floats(-170, 18), st.sampled_from([0.0, 3.0, 12.0, 40.0]))
def test_one_pass_is_two_bit_for_bit(seed, size, accident):
    rng, column, slow = np.random.default_rng(seed), Number(indicator=False), Slowly()
    values = 10.0**size * rng.choice([rng.normal(), 0.5, rng.normal()], size=150)
    values[40::13] *= rng.uniform(1.0, 10.0) ** accident
    for x in values.tolist():
        out, news = [0.0], []
        assert column.read(x, out, 0, news)
        assert out == [slow.write(x)] == written(column, x)[1]
        for learn, what in news:
            learn(what)
        slow.see(x)
    state = column._state()
    assert sorted(state.pop("_lately")) == sorted(slow.values[-64:])
    assert state == {"_count": 150, "_mean": slow.mean, "_squares": slow.squares}


# Vectors ----------------------------------------------------------------------------------------


def test_each_entry_of_a_vector_is_a_number():
    rng = np.random.default_rng(0)
    column, entries = Vector(3), [Number(indicator=False) for _ in range(3)]
    for value in rng.normal(size=(100, 3)):
        forms = value, value.tolist(), tuple(value)
        expected = [written(entry, x)[1][0] for entry, x in zip(entries, value, strict=True)]
        assert all(written(column, form) == (True, [*expected, 0.0]) for form in forms)
        column.see(value)
        for entry, x in zip(entries, value, strict=True):
            entry.see(x)
    assert column.labels("emb") == ["emb[0]", "emb[1]", "emb[2]", "emb missing"]


@pytest.mark.parametrize("value", [[1.0, 2.0], [1.0] * 4, [1.0, "a", 3.0], "1,2,3", [], 3.0])
def test_other_values_are_no_vector(value):
    column = Vector(3)
    column.see([1.0, 2.0, 3.0])
    assert written(column, value) == (False, [0.0, 0.0, 0.0, 1.0])
    assert written(column, None) == (True, [0.0, 0.0, 0.0, 1.0])
    assert written(column, [math.nan, 2.0, 9.0])[1][0] == 0.0


def test_a_long_vector_is_folded_and_keeps_its_distances():
    rng = np.random.default_rng(0)
    column, rows = Vector(1000, indicator=False), rng.normal(size=(60, 1000))
    for row in rows:
        column.see(row)
    assert column.width == len(column.labels("emb")) == 256
    short = np.array([written(column, row)[1] for row in rows])
    true = ((rows[0] - rows[1:]) ** 2).sum(axis=1)
    folded = ((short[0] - short[1:]) ** 2).sum(axis=1)
    np.testing.assert_allclose(folded.mean() / true.mean(), 1.0, atol=0.15)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(np.arange(8.0), "Vector"), (np.arange(8), "Vector"), ([0.5, 1], "Vector"),
     (["red", "blue"], "Text"), ([], "Text"), ([True, False], "Text")],
)  # fmt: skip
def test_lists_of_numbers_are_found(value, kind):
    features = Features().find([{"emb": value}])
    assert features.kinds == {"emb": kind}
    features.see({"emb": value})
    assert features.encode({"emb": [1.0, 2.0, "a"]}).shape == (features.width,)
    if kind == "Vector":
        assert features.names[: len(value)] == [f"emb[{i}]" for i in range(len(value))]


# Categories --------------------------------------------------------------------------------------


def test_levels_are_found_in_order_up_to_the_room():
    column = Category(room=2, buckets=3)
    for level in ("b", "a", "c", "d", "b"):
        column.see(level)
    assert column.labels("x") == ["x=b", "x=a", "x missing", *(f"x other {i}" for i in range(3))]
    assert written(column, "a") == (True, [0, 1, 0, 0, 0, 0])
    others = [written(column, f"level {i}")[1] for i in range(60)]
    assert all(row[:3] == [0, 0, 0] and sum(row) == 1 for row in others)
    assert len({tuple(row) for row in others}) == 3


def test_levels_that_read_alike_are_one():
    column = Category([3, "pro", Colour.RED, ("a", 1)])
    for alike in (3, 3.0, "3", " 3", np.int64(3), np.float32(3.0)):
        assert written(column, alike)[1][0] == 1.0
    assert written(column, " pro ")[1][1] == 1.0
    assert written(column, Colour.RED)[1][2] == 1.0
    assert written(column, ("a", 1))[1][3] == 1.0
    assert written(column, Colour.GREEN)[1][5] == 1.0


def test_a_declared_level_may_look_like_a_missing_one():
    column = Category(["NA", "none"])
    assert written(column, "NA") == (True, [1, 0, 0, 0])
    assert written(column, None) == (True, [0, 0, 1, 0])


@pytest.mark.parametrize("hole", HOLES, ids=repr)
def test_a_missing_category_is_one_of_its_own(hole):
    column = Category(room=2)
    column.see(hole)
    assert written(column, hole) == (True, [0, 0, 1, 0])


def test_long_levels_are_told_apart():
    column = Category(room=3)
    for end in "ab":
        column.see("x" * 5000 + end)
    assert written(column, "x" * 5000 + "b")[1][1] == 1.0
    assert max(map(len, column.labels(""))) < 220


# Text --------------------------------------------------------------------------------------------


def test_words_are_as_far_apart_as_those_of_scikit_learn():
    """Another hash, so other places: what is kept are the products of texts, on average."""
    texts = ["late again", "late and broken", "all fine", "fine, all fine", "broken late"]
    mine = np.array([written(Text(400), text)[1][:-1] for text in texts])
    theirs = HashingVectorizer(n_features=400, norm=None).transform(texts).toarray()
    lengths = np.sqrt([len(text.split()) for text in texts])
    assert mine @ mine.T == pytest.approx(theirs @ theirs.T / np.outer(lengths, lengths))


def test_signs_and_places_are_spread_evenly():
    out = [0.0] * 9
    counts = np.zeros(8)
    for i in range(4000):
        out = [0.0] * 9
        Text(8).write(f"word{i}", out, 0)
        counts += np.abs(out[:8])
    assert counts.sum() == 4000
    assert np.abs(counts - 500).max() < 100
    total = sum(written(Text(1), f"word{i}")[1][0] for i in range(4000))
    assert abs(total) < 4 * math.sqrt(4000)


def test_lists_sets_and_mappings_are_bags():
    column = Text(6)
    assert written(column, ["a", "b"]) == written(column, ("a", "b")) == written(column, {"b", "a"})
    assert written(column, {"k": 1}) == written(column, ["k=1"])
    assert written(column, []) == written(column, None) == (True, [0] * 6 + [1])


# Dates -------------------------------------------------------------------------------------------

MOMENT = datetime(2024, 2, 29, 13, 30)


@pytest.mark.parametrize(
    "value",
    [MOMENT, MOMENT.replace(tzinfo=UTC), pd.Timestamp(MOMENT), np.datetime64(MOMENT),
     np.datetime64("2024-02-29T13:30", "ns"), "2024-02-29 13:30:00", " 2024-02-29T13:30Z "],
)  # fmt: skip
def test_dates_of_every_kind(value):
    circle = [f(2 * math.pi * i / n) for i, n in ((3, 7), (1, 12), (13, 24))
              for f in (math.sin, math.cos)]  # fmt: skip
    said, found = written(Date(), value)
    assert said
    assert found == pytest.approx([0.0, *circle, 0.0])


def test_days_are_standardised():
    column = Date(["day"])
    for day in (1, 2, 3):
        column.see(date(2024, 1, day))
    days = np.array([1, 2, 3, 9.0])
    assert written(column, "2024-01-09")[1] == pytest.approx([(9 - days.mean()) / days.std(), 0.0])


def test_dates_in_other_forms_are_read_by_their_format():
    column = Date(["weekday"], format="%d.%m.%Y")
    assert written(column, "29.02.2024") == written(Date(["weekday"]), "2024-02-29")
    assert written(column, "2024-02-29")[0] is False


@pytest.mark.parametrize("hole", HOLES, ids=repr)
def test_missing_dates_and_flags(hole):
    assert written(Date(), hole) == (True, [0.0] * 7 + [1.0])
    assert written(Flag(), hole) == (True, [0.0, 1.0])
    assert written(Text(3), hole) == (True, [0.0] * 3 + [1.0])


@pytest.mark.parametrize(
    "value", [3, 3.5, "soon", True, "2024-02-30", [MOMENT], np.datetime64(10**18, "Y")]
)
def test_what_is_no_date(value):
    assert written(Date(), value) == (False, [0.0] * 7 + [1.0])


# Flags -------------------------------------------------------------------------------------------


def test_flags():
    for yes in (True, 1, 1.0, np.True_, "true", "Yes", " ON ", "1", Decimal(1)):
        assert written(Flag(), yes) == (True, [1.0, 0.0])
    for no in (False, 0, 0.0, np.False_, "False", "no", "off", "0"):
        assert written(Flag(), no) == (True, [0.0, 0.0])
    for other in (2, "maybe", 0.5, [True], "x" * 100):
        assert written(Flag(), other) == (False, [0.0, 1.0])


# Parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Number(standardise=None), "'standardise' parameter of Number"),
        (lambda: Number(clip=0), "'clip' parameter of Number"),
        (lambda: Category("free"), "'levels' parameter of Category"),
        (lambda: Category(3), "'levels' parameter of Category"),
        (lambda: Category([[1]]), "'levels' parameter of Category"),
        (lambda: Category(room=-1), "'room' parameter of Category"),
        (lambda: Category(buckets=0), "'buckets' parameter of Category"),
        (lambda: Text(0), "'buckets' parameter of Text"),
        (lambda: Date("day"), "'parts' parameter of Date"),
        (lambda: Date(["year"]), "'parts' parameter of Date"),
        (lambda: Date(["day", "day"]), "'parts' parameter of Date"),
        (lambda: Date([["day"]]), "'parts' parameter of Date"),
        (lambda: Date(format=3), "'format' parameter of Date"),
        (lambda: Features(places=-1), "'places' parameter of Features"),
        (lambda: Features(room=0), "'room' parameter of Features"),
    ],
)
def test_parameters_that_are_refused(make, said):
    with pytest.raises(hn.ParameterError) as error:
        make()
    assert said in str(error.value)
