import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hannan as hn
from hannan.environments import FromFile, FromFrame

DATA = {
    "age": [31, 48, 25, 60],
    "hour": [9.5, 17.0, 12.0, 8.25],
    "member": [True, False, True, True],
    "bought": ["no", "yes", "no", "maybe"],
    "left": [0.0, 0.5, 1.0, 0.25],
    "right": [1.0, 0.25, 0.0, 0.5],
}
MAKERS = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
CONTRACT = {
    "FromFrame": FromFrame(
        {"x": [0, 1] * 20, "left": [0.1, 0.2] * 20, "right": [0.9, 0.3] * 20},
        context="x",
        losses=["left", "right"],
    ),
    "FromFrame, label": FromFrame(
        {"x": [0, 1] * 20, "day": ["Mon", "Tue"] * 20, "y": [0, 1] * 20, "did": [1, 1] * 20},
        context=["x", "day"],
        categorical=["day"],
        label="y",
        current="did",
    ),
}


def rounds(world, horizon=None):
    found = world.rounds(horizon or world.horizon, np.random.default_rng(0))
    return [(r.context, r.reveal(0)) for r in found]


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_of_every_kind_of_frame_become_contexts_and_losses(kind):
    world = FromFrame(
        MAKERS[kind](DATA), context=["hour", "age", "member"], label="bought", scale=None
    )
    assert world.actions == ["maybe", "no", "yes"]
    assert world.n_actions == 3
    found = rounds(world)
    assert [x.tolist() for x, _ in found] == [
        [9.5, 31, 1], [17.0, 48, 0], [12.0, 25, 1], [8.25, 60, 1]
    ]  # fmt: skip
    assert [v.tolist() for _, v in found] == [[1, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]]
    assert [x.tolist() for x in world.contexts] == [x.tolist() for x, _ in found]


@pytest.mark.parametrize("kind", MAKERS)
def test_losses_may_stand_in_columns(kind):
    world = FromFrame(MAKERS[kind](DATA), losses=["right", "left"])
    assert world.actions == ["right", "left"]
    assert [v.tolist() for _, v in rounds(world)] == [[1, 0], [0.25, 0.5], [0, 1], [0.5, 0.25]]
    assert [x for x, _ in rounds(world)] == [None] * 4
    assert world.contexts is None


def test_one_name_makes_contexts_of_plain_numbers():
    found = [x for x, _ in rounds(FromFrame(DATA, context="age", losses=["left"]))]
    assert found == [31, 48, 25, 60]
    assert {type(x) for x in found} == {int}
    found = [x for x, _ in rounds(FromFrame(DATA, context="hour", losses=["left"]))]
    assert [(x, type(x)) for x in found] == [(9.5, float), (17, int), (12, int), (8.25, float)]


def test_declared_labels_set_the_order_of_the_actions():
    world = FromFrame(DATA, label="bought", labels=["yes", "no", "maybe", "never"])
    assert world.n_actions == 4
    assert [int(v.argmin()) for _, v in rounds(world)] == [1, 0, 1, 2]


def test_many_rows_come_in_order():
    n = 9500
    frame = {"x": np.arange(n), "y": np.arange(n) % 7}
    world = FromFrame(frame, context=["x"], label="y", scale=None)
    found = rounds(world, 9300)
    assert len(found) == 9300
    assert [int(x[0]) for x, _ in found] == list(range(9300))
    assert [int(x[0]) for x in world.contexts] == list(range(9500))
    assert [int(v.argmin()) for _, v in found] == [t % 7 for t in range(9300)]
    assert all(v.sum() == 6 for _, v in found)


def test_a_game_can_be_played_on_it():
    frame = pd.DataFrame({"d": [0, 1, 2] * 60, "y": [2, 0, 1] * 60})
    world = FromFrame(frame, context="d", label="y", oracle=hn.oracles.AllPolicies(3, 3))
    trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world)
    assert len(trace) == 180
    assert trace.best_policy(0) == 2
    assert trace.losses[-60:].sum() == 0


def test_more_rounds_than_rows_are_refused():
    with pytest.raises(hn.ParameterError, match="Cannot play 5 rounds: the frame has only 4 rows"):
        rounds(FromFrame(DATA, losses=["left"]), 5)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_missing_cell_is_refused_with_its_place(kind):
    holes = {**DATA, "hour": [9.5, 17.0, None, 8.25], "bought": ["no", None, "no", "no"]}
    frame = MAKERS[kind](holes)
    with pytest.raises(hn.ContextError, match="Row 3 of the frame, column 'hour'"):
        FromFrame(frame, context=["age", "hour"], losses=["left"])
    with pytest.raises(hn.LossError, match="Row 2 of the frame, column 'bought'"):
        FromFrame(frame, label="bought")
    with pytest.raises(hn.LossError, match="Row 2 of the frame, column 'bought'"):
        FromFrame(frame, label="bought", labels=["no", "yes"])
    with pytest.raises(hn.LossError, match="Row 3 of the frame, column 'hour'"):
        FromFrame(frame, losses=["left", "hour"])


@pytest.mark.parametrize("kind", MAKERS)
def test_a_missing_column_is_refused_with_the_nearest(kind):
    with pytest.raises(hn.ParameterError, match=r"no column 'hours' in the frame. Did you mean"):
        FromFrame(MAKERS[kind](DATA), context=["hours"], label="bought")


def test_a_label_that_was_not_declared_is_refused():
    with pytest.raises(
        hn.LossError, match="Row 4 of the frame, column 'bought': 'maybe' is not one"
    ):
        FromFrame(DATA, label="bought", labels=["no", "yes"])


@pytest.mark.parametrize(("options", "match"), [
    ({}, "either label="),
    ({"label": "bought", "losses": ["left"]}, "either label="),
    ({"label": 3}, "'label' parameter of FromFrame"),
    ({"losses": "left"}, "'losses' parameter of FromFrame"),
    ({"losses": []}, "'losses' parameter of FromFrame"),
    ({"losses": ["left", "left"]}, "'losses' parameter of FromFrame"),
    ({"losses": ["left"], "labels": ["a"]}, "'labels' parameter of FromFrame"),
    ({"label": "bought", "labels": []}, "'labels' parameter of FromFrame"),
    ({"label": "bought", "labels": "no"}, "'labels' parameter of FromFrame"),
    ({"label": "bought", "context": ["age", "age"]}, "'context' parameter of FromFrame"),
    ({"label": "bought", "context": [3]}, "'context' parameter of FromFrame"),
    ({"label": "bought", "current": 3}, "'current' parameter of FromFrame"),
    ({"label": "bought", "scale": "unit"}, "'scale' parameter of FromFrame"),
    ({"label": "bought", "categorical": ["age"]}, "'categorical' parameter of FromFrame"),
    ({"losses": ["left"], "value_range": (1, 0)}, "low < high"),
])  # fmt: skip
def test_columns_named_badly_are_refused(options, match):
    with pytest.raises(hn.ParameterError, match=match):
        FromFrame(DATA, **options)


@pytest.mark.parametrize("frame", [
    [1, 2, 3],
    {"y": [0, 1], "x": [1]},
    {"y": [], "x": []},
    {"y": [0, 1], "x": [[1, 2], [3, 4]]},
])  # fmt: skip
def test_what_is_no_table_is_refused(frame):
    with pytest.raises(hn.ParameterError, match="'frame' parameter of FromFrame"):
        FromFrame(frame, context=["x"], label="y")


OPTIONS = {
    "label": {"context": ["age", "bought", "hour"], "categorical": ["bought"], "label": "bought"},
    "declared": {
        "context": ["bought"],
        "categorical": {"bought": ["yes", "maybe", "no"]},
        "label": "bought",
        "labels": ["no", "maybe", "yes"],
    },
    "numbers": {"context": ["hour", "age"], "label": "age", "scale": None},
    "losses": {"context": "age", "losses": ["age", "left"], "value_range": (0.0, 60.0)},
    "current": {"label": "bought", "current": "bought"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_frame_and_a_file_of_the_same_rows_are_the_same_rounds(tmp_path, kind, options):
    path = tmp_path / "rows.csv"
    pd.DataFrame(DATA).to_csv(path, index=False)
    frame, file = FromFrame(MAKERS[kind](DATA), **options), FromFile(path, **options)
    assert list(map(str, frame.actions)) == list(map(str, file.actions))
    assert frame.features == file.features
    for ours, theirs in zip(frame.rounds(4, None), file.rounds(4, None), strict=True):
        np.testing.assert_array_equal(ours.context, theirs.context)
        assert ours.reveal(0).tolist() == theirs.reveal(0).tolist()
        assert ours.current == theirs.current
    limits = {"max_columns", "max_unpacked", "dialect"}  # what a frame holds has been read
    assert set(FromFile(path, **options).params) - {"path"} - limits == set(frame.params) - {
        "frame"
    }


def test_a_frame_tells_what_was_really_done():
    frame = {**DATA, "took": ["left", "left", "right", "left"]}
    world = FromFrame(frame, losses=["left", "right"], current="took")
    trace = hn.play(hn.baselines.UniformRandom(2, seed=0), world)
    assert trace.current_losses.tolist() == [0.0, 0.5, 0.0, 0.25]
    told = "Row 3 of the frame, column 'took': 'right' is not one of the actions 'left', 'hour'"
    with pytest.raises(hn.LossError, match=told):
        FromFrame(frame, losses=["left", "hour"], current="took")


def test_losses_outside_their_range_are_refused_at_once():
    with pytest.raises(hn.LossError, match="Row 4 of the frame, column 'age': 60 is outside"):
        FromFrame(DATA, losses=["left", "age"], value_range=(0.0, 50.0))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_frame_is_not_printed(kind):
    text = repr(FromFrame(MAKERS[kind](DATA), context=["age"], label="bought"))
    size = {"mapping": "<dict of 6>", "pyarrow": "<Table [4, 6]>"}.get(kind, "<DataFrame [4, 6]>")
    assert text == f"FromFrame(frame={size}, context=['age'], label='bought')"


@pytest.mark.parametrize("unit", ["D", "us", "ns"])
def test_dates_of_any_unit_are_read_as_dates(unit):
    days = np.array(["2020-01-01", "2020-02-02", "NaT"], dtype=f"M8[{unit}]")
    world = FromFrame({"day": days, "y": list("aba")}, context={"day": "date"}, label="y")
    same = FromFrame(
        {"day": ["2020-01-01", "2020-02-02", ""], "y": list("aba")},
        context={"day": "date"},
        label="y",
    )
    assert np.array_equal(world.contexts, same.contexts)


@pytest.mark.parametrize("kind", MAKERS)
def test_classes_may_be_called_what_says_missing_elsewhere(kind):
    classes = ["none", "NA", "null", "-", "nan", "<NA>"]
    data = {"x": np.arange(12.0), "best": classes * 2, "did": classes[1:] * 2 + ["NA", "-"]}
    frame = FromFrame(
        MAKERS[kind](data), context=["x"], label="best", current="did", missing="drop"
    )
    assert frame.actions == sorted(classes)
    assert (frame.horizon, frame.left_out.rows) == (12, 0)
    assert [frame.actions[r.current] for r in frame.rounds(12, None)] == data["did"]


def test_empty_labels_are_left_out_and_counted_by_action():
    data = {
        "best": ["none", "", None, "5%", float("nan"), "none"],
        "did": ["none", "none", "5%", None, "5%", "5%"],
    }
    frame = FromFrame(data, label="best", current="did", missing="drop")
    assert [frame.actions[r.current] for r in frame.rounds(2, None)] == ["none", "5%"]
    assert (frame.left_out.rows, frame.left_out.of) == (4, 6)
    assert frame.left_out.reasons == {"best": {"": 3}, "did": {"": 1}}
    assert frame.left_out.counts == {
        "best": {"": 3, "5%": 1}, "did": {"5%": 2, "": 1, "none": 1},
    }  # fmt: skip


def test_a_real_nan_is_no_class_called_nan():
    column = np.array(["nan", float("nan"), "yes"], dtype=object)
    frame = FromFrame({"y": column}, label="y", labels=["nan", "yes"], missing="drop")
    assert (frame.horizon, frame.left_out.rows) == (2, 1)
