"""Rows of files become rounds, whatever the format and however many there are."""

import csv
import gzip
import json
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hannan as hn
from hannan.environments import FromFile, _files
from tests import problems

HEADER = ["wind", "sky", "size", "rain", "left", "right", "did"]
ROWS = [
    [3.5, "grey", 10, "yes", 0.25, 1.0, "yes"],
    [1.0, "blue", 30, "no", 0.5, 0.0, "yes"],
    [2.0, "grey", 20, "no", 1.0, 0.5, "no"],
    [2.0, "black", 20, "yes", 0.0, 0.125, "no"],
]
ENDINGS = ["csv", "csv.gz", "jsonl", "ndjson", "jsonl.gz", "parquet"]
CONTRACT = {
    "FromFile": FromFile(problems.ADS, context=["hour"], losses=["cost", "other"]),
    "FromFile, label": FromFile(
        problems.ADS, context=["hour", "day"], categorical=["day"], label="ad", current="ad"
    ),
}


def write(path, header=HEADER, rows=ROWS):
    """A file of these rows, in the format its name asks for."""
    name = str(path)
    if name.endswith(".parquet"):
        columns = {key: [row[i] for row in rows] for i, key in enumerate(header)}
        pq.write_table(pa.table(columns), name, row_group_size=1000)
        return path
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "wt", newline="", encoding="utf-8") as stream:
        if ".csv" in name:
            csv.writer(stream).writerows([header, *rows])
        else:
            for row in rows:
                stream.write(json.dumps(dict(zip(header, row, strict=True))) + "\n")
    return path


def rounds(world, horizon=None):
    found = world.rounds(horizon or world.horizon, np.random.default_rng(0))
    return [(r.context, r.reveal(0)) for r in found]


def text(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_tells_the_same(tmp_path, ending):
    path = write(tmp_path / f"days.{ending}")
    world = FromFile(
        path, context=["wind", "sky", "size"], categorical=["sky"], label="rain", scale=None
    )
    assert world.horizon == 4
    assert world.actions == ["no", "yes"]
    assert world.features == ["wind", "sky=black", "sky=blue", "sky=grey", "size"]
    found = rounds(world)
    assert [x.tolist() for x, _ in found] == [
        [3.5, 0, 0, 1, 10], [1, 0, 1, 0, 30], [2, 0, 0, 1, 20], [2, 1, 0, 0, 20]
    ]  # fmt: skip
    assert [v.tolist() for _, v in found] == [[1, 0], [0, 1], [0, 1], [1, 0]]


@pytest.mark.parametrize("ending", ENDINGS)
def test_losses_may_stand_in_columns(tmp_path, ending):
    path = write(tmp_path / f"days.{ending}")
    world = FromFile(path, losses=["right", "left"])
    assert (world.n_actions, world.actions) == (2, ["right", "left"])
    assert rounds(world)[0][0] is None
    assert [v.tolist() for _, v in rounds(world)] == [
        [1, 0.25], [0, 0.5], [0.5, 1], [0.125, 0]
    ]  # fmt: skip


def test_losses_are_brought_into_the_unit_interval(tmp_path):
    path = write(tmp_path / "days.csv")
    world = FromFile(path, losses=["size", "wind"], value_range=(0.0, 40.0))
    assert rounds(world)[0][1].tolist() == [0.25, 3.5 / 40.0]
    with pytest.raises(hn.LossError, match=r"Row 2 of .*'size': 30 is outside value_range"):
        rounds(FromFile(path, losses=["size", "wind"], value_range=(0.0, 20.0)))


def test_one_name_makes_contexts_of_plain_numbers(tmp_path):
    found = [x for x, _ in rounds(FromFile(write(tmp_path / "a.csv"), context="size", label="sky"))]
    assert found == [10, 30, 20, 20]
    assert {type(x) for x in found} == {int}


def test_numbers_are_standardised_by_what_has_come_so_far(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal([1e6, -3.0, 0.0], [2.0, 50.0, 0.0], size=(300, 3))
    path = write(tmp_path / "x.csv", ["a", "b", "c", "y"], [[*row, 0] for row in X.tolist()])
    found = [x for x, _ in rounds(FromFile(path, context=["a", "b", "c"], label="y"))]
    for t, x in enumerate(found):
        past = X[: t + 1, :2]
        deviation = past.std(axis=0)
        expected = (past[-1] - past.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        np.testing.assert_allclose(x[:2], expected, atol=1e-7)
        assert x[2] == 0.0  # it never varies


def test_the_future_is_not_told(tmp_path):
    rows = np.random.default_rng(1).normal(size=(100, 2)).tolist()
    other = [*rows[:60], *([[1e9, -1e9]] * 40)]
    kinds = [write(tmp_path / f"{i}.csv", ["a", "y"], r) for i, r in enumerate((rows, other))]
    a, b = (rounds(FromFile(path, context=["a"], losses=["y"]), 60) for path in kinds)
    assert [x.tolist() for x, _ in a] == [x.tolist() for x, _ in b]


def test_how_rows_are_cut_into_batches_makes_no_difference(tmp_path, monkeypatch):
    rows = [[*row, 0] for row in np.random.default_rng(2).normal(size=(100, 2)).tolist()]
    found = []
    for ending, batch in (("csv", 4096), ("csv", 7), ("jsonl", 33), ("parquet", 9)):
        monkeypatch.setattr(_files, "BATCH", batch)
        path = write(tmp_path / f"x.{ending}", ["a", "b", "y"], rows)
        world = FromFile(path, context=["a", "b"], label="y")
        found.append([x.tobytes() for x, _ in rounds(world)])
        assert world.horizon == 100
        assert len(rounds(world, 50)) == 50
    assert found[0] == found[1] == found[2] == found[3]


def test_classes_are_ordered_as_numbers_if_they_are(tmp_path):
    rows = [[v] for v in (10, 9, 2, 10)]
    for ending in ENDINGS:
        world = FromFile(write(tmp_path / f"x.{ending}", ["y"], rows), label="y")
        assert [float(v) for v in world.actions] == [2, 9, 10]
        assert [int(v.argmin()) for _, v in rounds(world)] == [2, 1, 0, 2]
        declared = FromFile(tmp_path / f"x.{ending}", label="y", labels=[9, 10, 2, 1])
        assert [int(v.argmin()) for _, v in rounds(declared)] == [1, 0, 2, 1]


def test_categories_may_be_declared(tmp_path):
    path = write(tmp_path / "days.csv")
    sky = {"sky": ["blue", "grey", "black", "red"]}
    world = FromFile(path, context=["sky"], categorical=sky, label="rain", labels=["yes", "no"])
    assert [int(x.argmax()) for x, _ in rounds(world)] == [1, 0, 1, 2]
    assert len(rounds(world)[0][0]) == 4


def test_what_was_really_done_is_handed_on(tmp_path):
    path = write(tmp_path / "days.csv")
    world = FromFile(path, label="rain", current="did")
    assert [r.current for r in world.rounds(4, None)] == [1, 1, 0, 0]
    assert [r.current for r in FromFile(path, label="rain").rounds(4, None)] == [None] * 4


def test_what_was_really_done_adds_no_actions(tmp_path):
    path = write(tmp_path / "days.csv")
    world = FromFile(path, label="rain", current="sky")
    assert world.actions == ["no", "yes"]
    told = (
        r"Row 1 of the file '.*days.csv', column 'sky': 'grey' is not one of the actions 'no', 'y"
    )
    with pytest.raises(hn.LossError, match=told + "es'; .* declare them all as labels"):
        rounds(world)
    declared = FromFile(path, label="rain", current="sky", labels=["no", "yes", "grey"])
    with pytest.raises(
        hn.LossError, match=r"Row 2 .*'sky': 'blue' is not one of the actions [^;]*$"
    ):
        rounds(declared)
    priced = FromFile(path, losses=["left", "right"], current="did")
    with pytest.raises(
        hn.LossError, match=r"Row 1 .*'did': 'yes' is not one of the actions 'left'"
    ):
        rounds(priced)
    with pytest.raises(hn.ParameterError, match="'current' parameter of FromFile"):
        FromFile(path, label="rain", current=["did"])


def test_what_was_really_done_has_its_losses_in_the_trace(tmp_path):
    path = write(tmp_path / "days.csv", rows=ROWS * 50)
    oracle = hn.oracles.AllPolicies(1, 2)
    trace = hn.play(hn.ContextFTPL(oracle, seed=0), FromFile(path, label="rain", current="did"))
    assert trace.current_losses.tolist() == [0, 1, 0, 1] * 50
    assert trace.current_mean_loss == 0.5
    trace = hn.play(hn.ContextFTPL(oracle, seed=0), FromFile(path, label="rain"))
    assert trace.current_losses is trace.current_mean_loss is None


def test_whole_numbers_of_any_format_are_contexts(tmp_path):
    for ending in ENDINGS:
        world = FromFile(write(tmp_path / f"a.{ending}"), context="size", label="sky")
        assert [(x, type(x)) for x, _ in rounds(world, 2)] == [(10, int), (30, int)]


def test_a_learner_plays_a_file(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3))
    rows = [[*x, "up" if x[0] > x[1] else "down"] for x in X.tolist()]
    path = write(tmp_path / "x.jsonl", ["a", "b", "c", "y"], rows)
    oracle = hn.oracles.LinearPolicies(n_actions=2)
    world = FromFile(path, context=["a", "b", "c"], label="y", oracle=oracle)
    trace = hn.play(hn.ContextFTPL(oracle, seed=0), world, seed=0)
    assert trace.losses[1000:].mean() < 0.05


@pytest.mark.parametrize(
    ("content", "options", "error", "told"),
    [
        ("a,y\n1,0\nnan,1\n", {}, hn.ContextError, ["Row 2", "'a'", "nan"]),
        ("a,y\n1,0\n,1\n", {}, hn.ContextError, ["Row 2", "'a'", "missing"]),
        ("a,y\n1,0\nred,1\n", {}, hn.ContextError, ["Row 2", "'a'", "'red'", "categorical"]),
        ("a,y\n1,0\n2\n", {}, hn.ParameterError, ["Row 2", "1 values", "2 columns"]),
        ("a,y\n1,0\n2,1,3\n", {}, hn.ParameterError, ["Row 2", "3 values"]),
        ("a,y\n1,0\n2,\n", {}, hn.LossError, ["Row 2", "'y'", "missing"]),
        ("a,y\n1,0\n2,7\n", {"labels": [0, 1]}, hn.LossError, ["Row 2", "'y'", "'7'", "0, 1"]),
        ("a,y\n1,0\n", {"label": "yy"}, hn.ParameterError, ["'yy'", "Did you mean 'y'?"]),
        ("a,y\n1,0\n", {"context": ["b"]}, hn.ParameterError, ["no column 'b'", "'a', 'y'"]),
        ("a,y\n1,x\n", {"label": None, "losses": ["y"]}, hn.LossError, ["Row 1", "'y'", "'x'"]),
        ("a,a,y\n1,1,0\n", {}, hn.ParameterError, ["more than one column 'a'"]),
        ("", {}, hn.ParameterError, ["is empty"]),
        ("a,y\n", {}, hn.ParameterError, ["no rows"]),
        ("a,y\n1,0\n", {"losses": ["a"]}, hn.ParameterError, ["either label="]),
        ("a,y\n1,0\n", {"label": None}, hn.ParameterError, ["either label="]),
        ("a,y\n1,0\n", {"label": None, "losses": "y"}, hn.ParameterError, ["'losses'"]),
        ("a,y\n1,0\n", {"labels": "01"}, hn.ParameterError, ["'labels'"]),
        ("a,y\n1,0\n", {"scale": "unit"}, hn.ParameterError, ["'scale'", "'running'"]),
        ("a,y\n1,0\n", {"categorical": ["y"]}, hn.ParameterError, ["'categorical'"]),
        ("a,y\n1,0\n", {"context": ["a", "a"]}, hn.ParameterError, ["'context'", "once"]),
        ("a,y\n1,0\n", {"value_range": (1, 0)}, hn.ParameterError, ["low < high"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(tmp_path, content, options, error, told):
    path = text(tmp_path, content)
    with pytest.raises(error) as caught:
        rounds(FromFile(path, **{"context": ["a"], "label": "y"} | options))
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in told), message


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.jsonl", '{"a": 1, "y": 0}\n{"a": 1, "y"\n', "Row 2 .* is not valid JSON"),
        ("x.jsonl", '{"a": 1, "y": 0}\n\n{"a": 1}\n', "Row 2 .*'y': None is missing"),
        ("x.jsonl", '{"a": 1, "y": 0}\n[1, 0]\n', "Row 2 .* must be a JSON object"),
        ("x.jsonl", '{"a": 1, "y": 0}\n{"a": null, "y": 0}\n', "Row 2 .*'a': None is missing"),
        (
            "x.jsonl",
            '{"a": 1, "y": 0}\n{"a": 1, "y": [0]}\n',
            "Row 2 .*'y': .0. cannot be the name",
        ),
        ("x.jsonl", "", "is empty"),
        ("x.parquet", "no such thing", "cannot be read"),
        ("x.csv.gz", "not packed", "cannot be read"),
        ("x.csv", "a,y\n1,\x00\n2," + "b" * 200_000 + "\n", "cannot be read"),
        ("x.xlsx", "a,y\n1,0\n", "must end in .csv, .* Save the sheet as CSV"),
        ("x.csv.zip", "not packed", "cannot be read"),
        ("x", "a,y\n1,0\n", "must end in .csv"),
        ("x.parquet.gz", "", "must end in .csv"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, name, content, told):
    with pytest.raises(hn.HannanError, match=told) as caught:
        rounds(FromFile(text(tmp_path, content, name), context=["a"], label="y"))
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(hn.ParameterError, match=r"none\.csv' cannot be read: No such file"):
        FromFile(tmp_path / "none.csv", label="y")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(hn.ParameterError, match="Is a directory"):
        FromFile(tmp_path / "folder.csv", label="y")
    (tmp_path / "latin.csv").write_bytes("größe,y\n1,0\n".encode("latin-1"))
    with pytest.raises(hn.ParameterError, match="cannot be read"):
        FromFile(tmp_path / "latin.csv", label="y", dialect={"encoding": "utf-8"})
    with gzip.open(tmp_path / "cut.csv.gz", "wb") as stream:
        stream.write(b"y\n" + b"1\n2\n3\n" * 20_000)
    packed = (tmp_path / "cut.csv.gz").read_bytes()
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(hn.ParameterError, match="cannot be read"):
        rounds(FromFile(tmp_path / "cut.csv.gz", label="y", labels=[1, 2, 3]))


@pytest.mark.slow
def test_a_hole_far_down_is_found_by_its_row(tmp_path):
    rows = [[0.5, i % 2] for i in range(20_000)]
    rows[17_381][0] = float("nan")
    for ending in ("csv", "jsonl", "parquet"):
        path = write(tmp_path / f"x.{ending}", ["a", "y"], rows)
        world = FromFile(path, context=["a"], label="y")
        assert len(rounds(world, 17_381)) == 17_381  # what is not played is not looked at
        with pytest.raises(
            hn.ContextError, match=r"Row 17382 of .*, column 'a': '?nan'? is missing"
        ):
            rounds(world)


def test_rows_are_named_as_in_the_file_where_others_are_dropped(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n0.1,0.2\n,0.5\n0.3,0.4\n0.2,7\n")
    days = FromFile(file, losses=["a", "b"], missing="drop", value_range=(0, 1))
    with pytest.raises(hn.LossError, match=r"Row 4 of .*column 'b': 7 is outside"):
        list(days.rounds(3, None))


def test_more_classes_than_can_be_meant_are_refused(tmp_path):
    path = write(tmp_path / "x.csv", ["id", "y"], [[i, i % 1000] for i in range(1200)])
    assert FromFile(path, label="y").n_actions == 1000
    with pytest.raises(hn.ParameterError, match=r"'id' .* more than 1000 different values"):
        FromFile(path, label="id")
    assert FromFile(path, label="id", labels=range(1200)).n_actions == 1200


def test_declared_labels_spare_the_reading_in_advance(tmp_path):
    path = text(tmp_path, "a,y\n1,0\n2\n")
    assert FromFile(path, label="y", labels=[0, 1]).n_actions == 2
    with pytest.raises(hn.ParameterError, match="Row 2"):
        FromFile(path, label="y")


def test_more_rounds_than_rows_are_refused(tmp_path):
    world = FromFile(write(tmp_path / "days.csv"), label="rain")
    with pytest.raises(hn.ParameterError, match=r"Cannot play 5 rounds: .* has only 4 rows"):
        rounds(world, 5)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "days.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(hn.MissingPackageError, match=r"hannan\[parquet\]"):
        FromFile(path, label="rain")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl"])
def test_memory_does_not_grow_with_the_file(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(_files, "BATCH", 256)
    peaks = []
    for n in (2000, 20_000):
        path = write(tmp_path / f"{n}.{ending}", ["a", "b", "y"], [[0.5, 1.5, "no"]] * n)
        world = FromFile(path, context=["a", "b"], label="y")
        tracemalloc.start()
        assert world.horizon == sum(1 for _ in world.rounds(n, None)) == n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_memory_does_not_grow_with_a_parquet_file(tmp_path):
    peaks = []
    for n in (10_000, 100_000):
        path = write(tmp_path / f"{n}.parquet", ["a", "y"], [[0.5, "no"]] * n)
        world = FromFile(path, context=["a"], label="y")
        pool = pa.system_memory_pool()
        before = pa.default_memory_pool()
        pa.set_memory_pool(pool)
        start = pool.bytes_allocated()
        highest = 0
        for i, _ in enumerate(world.rounds(n, None)):
            if i % 1000 == 0:
                highest = max(highest, pool.bytes_allocated() - start)
        pa.set_memory_pool(before)
        peaks.append(highest)
    assert peaks[1] < 1.2 * peaks[0] + 100_000
