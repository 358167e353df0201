"""Missing cells are counted as they are read."""

import pytest

from hannan.environments._kinds import look
from hannan.environments.from_table import FrameTable

TEXTS = ["none", "NA", "null", "-", "nan", "?", "n/a"]


def missing(cells, counted=(), classes=(), asked=None, name="x"):
    columns = look(
        FrameTable(None, {name: cells}), [] if counted else [name], asked or {}, True, counted,
        classes,
    )  # fmt: skip
    return columns.missing.get(name, 0)


def test_texts_are_names_in_columns_of_actions_and_classes_only():
    cells = [*TEXTS, "", " ", None, float("nan"), "5%"]
    assert missing(cells, counted=["x"], classes=["x"]) == 4
    assert missing(cells, counted=["x"]) == 4 + len(TEXTS)  # such as a column of rewards


@pytest.mark.parametrize(("kind", "cells", "count"), [
    (None, [*map(str, range(50)), "unknown", "NA", ""], 3),
    ("number", [1.5, None, 2.5, "unbekannt"], 2),
    ("date %d.%m.%Y", ["01.02.2024", "unknown", "31.02.2024", "-", "03.02.2024"], 3),
    ("flag", ["yes", "no", "unknown", "NA", ""], 3),
    ("category 3", ["a", "unknown", "NA", "", None], 2),  # the others are levels
])  # fmt: skip
def test_cells_of_features_that_are_read_as_missing_are_counted(kind, cells, count):
    assert missing(cells, asked={} if kind is None else {"x": kind}) == count


@pytest.mark.parametrize(("cells", "kind"), [
    ([*range(80), *["unbekannt"] * 20], "number"),  # one word for a missing value
    ([*range(80), *["small"] * 10, *["large"] * 10], "category 30"),
    ([*range(20)] * 4 + ["extra"] * 20, "category 21"),  # few numbers may be names
    ([*range(40), *["unbekannt"] * 60], "category 30"),
])  # fmt: skip
def test_one_word_among_many_numbers_stands_for_a_missing_value(cells, kind):
    table = FrameTable(None, {"x": [str(cell) for cell in cells]})
    assert look(table, ["x"], {}, True, ()).kinds == {"x": kind}
