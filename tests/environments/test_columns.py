import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.environments._columns import Labels, Numbers, check_names, read, survey
from hannan.environments.from_table import FrameTable

SOURCE = "the file 'a.csv'"
PARTS = [Numbers(["x", "y"], hn.ContextError), Labels("class", ["no", "yes"])]


def batch(n=6, **changes):
    columns = {"x": list(range(n)), "y": [0.5] * n, "class": ["no", "yes"] * (n // 2)}
    for name, (row, value) in changes.items():
        columns[name][row] = value
    return columns


def test_columns_become_a_table_and_places():
    table, places = read(SOURCE, PARTS, batch(4), 1)
    assert table.dtype == np.float64
    assert table.tolist() == [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]]
    assert places.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("values", [
    ["1", "2.5", "-3e2"],
    [1, 2.5, -300],
    np.array([1, 2.5, -300]),
    np.array(["1", "2.5", "-300"]),
    np.array([1, 2.5, -300], dtype=object),
    np.array([1, 2.5, -300], dtype=np.float32),
])  # fmt: skip
def test_numbers_may_come_as_text_or_in_any_type(values):
    table, fault = Numbers(["x"]).read({"x": values})
    assert fault is None
    assert table.tolist() == [[1.0], [2.5], [-300.0]]


@pytest.mark.parametrize(("value", "wrong"), [
    (float("nan"), "nan is missing"),
    (None, "None is missing"),
    ("", "'' is missing"),
    (" n/a", "' n/a' is missing"),
    ("red", "'red' is not a finite number"),
    (10**400, "10* is not a finite number"),
    (float("inf"), "inf is not a finite number"),
    ("-inf", "'-inf' is not a finite number"),
    ([1, 2], r"\[1, 2\] is not a finite number"),
    (1 + 2j, r"\(1\+2j\) is not a finite number"),
    (np.datetime64("2020-01-01"), "2020-01-01 is not a finite number"),
])  # fmt: skip
def test_what_is_no_number_is_refused_with_its_place(value, wrong):
    match = rf"Row 17382 of the file 'a.csv', column 'y': {wrong}"
    with pytest.raises(hn.ContextError, match=match):
        read(SOURCE, PARTS, batch(y=(2, value)), 17380)


@pytest.mark.parametrize(("value", "wrong"), [
    ("maybe", "'maybe' is not one of the declared labels 'no', 'yes'"),
    (None, "None is missing"),
    ("", "'' is missing"),
    (float("nan"), "nan is missing"),
    (["no"], "'no'. is not one of the declared labels"),
])  # fmt: skip
def test_what_is_no_label_is_refused_with_its_place(value, wrong):
    with pytest.raises(hn.LossError, match=rf"Row 3 of .*, column 'class': .*{wrong}"):
        read(SOURCE, PARTS, batch(**{"class": (2, value)}), 1)


@pytest.mark.parametrize("cuts", [[0, 6], [0, 1, 6], [0, 3, 6], [0, 1, 2, 3, 4, 5, 6]])
def test_the_earliest_fault_is_told_however_the_rows_are_cut(cuts):
    data = batch(x=(4, None), y=(3, "?"))
    data["class"][5] = "maybe"
    parts = [
        ({name: values[start:stop] for name, values in data.items()}, start + 1)
        for start, stop in itertools.pairwise(cuts)
    ]
    with pytest.raises(hn.ContextError, match=r"Row 4 of .*, column 'y'"):
        [read(SOURCE, PARTS, part, first) for part, first in parts]


@pytest.mark.parametrize(("declared", "values", "places"), [
    ([0, 1, 2], [2, 0.0, "1", "1.0", True], [2, 0, 1, 1, 1]),
    (["0", "1"], [0, 1.0, "1", np.int64(1)], [0, 1, 1, 1]),
    (["01", "1"], ["1", "01"], [1, 0]),
    ([False, True], [True, 0, "1"], [1, 0, 1]),
    (["a", 3], ["3", 3, "a"], [1, 1, 0]),
    (["None", "some"], ["None", "some"], [0, 1]),
])  # fmt: skip
def test_labels_are_compared_as_numbers_if_all_are_numbers_else_as_text(declared, values, places):
    found, fault = Labels("y", declared).read({"y": values})
    assert fault is None
    assert found.tolist() == places


def test_a_missing_label_is_not_the_text_none():
    assert Labels("y", ["None", "some"]).read({"y": [None]})[1].wrong.startswith("is missing")


@pytest.mark.parametrize(("declared", "match"), [
    (["a", "b", "a"], "declared once"),
    ([1, 1.0], "declared once"),
    (["a", ""], "must not be empty"),
    ([1, float("nan")], "must not be empty"),
])  # fmt: skip
def test_labels_declared_twice_or_empty_are_refused(declared, match):
    with pytest.raises(hn.ParameterError, match=match):
        Labels("y", declared)


def test_a_column_that_is_not_there_is_refused_with_the_nearest_one():
    check_names(SOURCE, ["x"], ["x", "y"])
    with pytest.raises(hn.ParameterError, match=r"no column 'hours' in .* mean 'hour'"):
        check_names(SOURCE, ["x", "hours"], ["x", "hour"])
    with pytest.raises(hn.ParameterError, match=r"no column 'z' in .* Columns: 'x', 'y'"):
        check_names(SOURCE, ["z"], ["x", "y"])


def found(values, name="y"):
    return survey(FrameTable(None, {name: values}), {name: hn.ContextError})[name]


def test_classes_are_sorted_by_size_or_text():
    assert found(np.array([10, 9, 10, 2])) == [2, 9, 10]
    assert found(["10", "9", "2"]) == ["2", "9", "10"]
    assert found(["b", "a", "10", "9"]) == ["10", "9", "a", "b"]
    assert [type(v) for v in found(np.array([2.5, 1.0]))] == [float, float]


@pytest.mark.parametrize(("value", "wrong"), [
    (None, "None is missing"),
    ("", "'' is missing"),
    (float("nan"), "nan is missing"),
    (["a"], r"\['a'\] cannot be the name of a class"),
])  # fmt: skip
def test_what_is_no_class_is_refused_with_its_place(value, wrong):
    column = np.empty(5000, dtype=object)
    column[:] = "b"
    column[4321] = value
    with pytest.raises(hn.ContextError, match=rf"Row 4322 of the frame, column 'y': {wrong}"):
        found(column)


def test_dates_and_complex_numbers_are_no_numbers():
    dates = [np.array(["2020-01-01"], dtype=f"M8[{unit}]") for unit in ("D", "s", "us", "ns")]
    for column in (*dates, np.array([5], dtype="m8[ns]"), np.array([1 + 2j])):
        assert Numbers(["x"]).read({"x": column})[1].wrong == "is not a finite number"
