"""The text formats: what is read is what VW reads, and what is written comes back."""

from __future__ import annotations

import gzip
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from tests.adapters.vw_examples import TEXT
from tests.adapters.vw_itself import learned, parsed

A = hn.adapters


def read(text, format, **options):
    return list(A.read_vw(io.BytesIO(text.encode()), format, **options))


def written(rounds, format):
    target = io.StringIO()
    assert A.write_vw(rounds, target, format) == len(rounds)
    return target.getvalue()


@pytest.mark.parametrize("examples", [15, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("format", TEXT)
def test_what_is_written_comes_back(format, examples):
    @settings(max_examples=examples, deadline=None)
    @given(st.lists(TEXT[format], max_size=2))
    def check(rounds):
        assert read(written(rounds, format), format) == rounds

    check()


def test_a_line_of_cb_is_read_as_documented():
    (found,) = read("2:-1.5:0.25 'who |user age:31 city:york | sun\n", "cb")
    context = {"user": {"age": 31.0, "city": "york"}, "": {"sun": 1.0}}
    assert found == A.CbRound(context, 1, -1.5, 0.25, None, "who")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("|n:0.5 x:3 y:foo z", {"n": {"x": 1.5, "y": "foo", "z": 0.5}}),
        ("|v :4 :5", {"v": {"0": 4.0, "1": 5.0}}),
        ("|v :4|v :5", {"v": {"0": (4.0, 5.0)}}),
        ("|n a a:2 a:x", {"n": {"a": (1.0, 2.0, "x")}}),
        ("|n a  b\tc|n d|| e", {"n": dict.fromkeys("abcd", 1.0), "": {"e": 1.0}}),
        ("|n l:a:b m:-x", {"n": {"l": "a:b", "m": "-x"}}),
        ("|n a:1e3 b:-.5 c:+2 d:5.", {"n": {"a": 1e3, "b": -0.5, "c": 2.0, "d": 5.0}}),
        ("|n|m x", {"m": {"x": 1.0}}),
        ("|n zero:0", {"n": {"zero": 0.0}}),
        ("", None),
        ("   ", {}),
    ],
)
def test_features(line, expected):
    found = [this.context for this in read(line + "\r\n", "cb")]
    assert found == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("label", "action", "available", "tag"),
    [
        ("1:2:0.5 |", 0, None, ""),
        ("3:2:0.5 x|", 2, None, "x"),
        ("1:2:0.5 x'y|", 0, None, "x'y"),
        ("1:2:0.5 'x |", 0, None, "x"),
        ("ignored\t1:2:0.5 |", 0, None, ""),
        ("12:30\t1:2:0.5 |", 0, None, ""),
        ("ignored\t|", None, None, ""),
        ("1 2:2:0.5 4 |", 1, (0, 1, 3), ""),
        ("1 4 |", None, (0, 3), ""),
        ("2 |", None, (1,), ""),
        ("x|", None, None, "x"),
        ("'1:2:0.5|", None, None, "1:2:0.5"),
        ("4294967295:2:1.000001 |", 2**32 - 2, None, ""),
    ],
)
def test_labels_and_tags_of_cb(label, action, available, tag):
    (found,) = read(label + " a\n", "cb")
    assert (found.action, found.available, found.tag) == (action, available, tag)
    assert found.probability is None or found.probability <= 1.0


def test_groups_end_with_a_blank_line_or_the_file():
    text = "shared |u x\n0:1:0.5 'one |a 1\n|a 2\n\n\n\n|a 1\n 7:2:1 |\n"
    first, second = read(text, "cb_adf")
    features = ({"a": {"1": 1.0}}, {"a": {"2": 1.0}})
    assert first == A.CbAdfRound({"u": {"x": 1.0}}, features, 0, 1.0, 0.5, tags=("one", ""))
    assert second == A.CbAdfRound({}, ({"a": {"1": 1.0}}, {}), 1, 2.0, 1.0)


@pytest.mark.parametrize(
    ("format", "text", "says"),
    [
        ("cb", "|a\n1:2:0.5|a b\n", "Line 2"),
        ("cb", "1:2:0.5\n", "next to the bar is a tag"),
        ("cb", "1:2 |\n", "action:cost:probability"),
        ("cb", "0:2:0.5 |\n", "from 1"),
        ("cb", "-1:2:0.5 |\n", "from 1"),
        ("cb", "red:2:0.5 |\n", "from 1"),
        ("cb", "99999999999:2:0.5 |\n", "from 1"),
        ("cb", "1:2:0 |\n", "above 0"),
        ("cb", "1:2:1.1 |\n", "propensity of .* at most 1"),
        ("cb", "1:x:1 |\n", "a number"),
        ("cb", "1:nan:1 |\n", "a number"),
        ("cb", "1:1e999:1 |\n", "finite"),
        ("cb", "1:1:1 2:1:1 |\n", "one action:cost:probability"),
        ("cb", "|a x:nan\n", "name:number"),
        ("cb", "|a x:5days\n", "name:number"),
        ("cb", "|a x:nancy\n", "name:number"),
        ("cb", "|a x: y\n", "name:number"),
        ("cb", "|a x:1e999\n", "finite"),
        ("cb", "|a:1e308 x:1e308\n", "finite"),
        ("cb", "|a x:word|b y\n", "a blank between a word and the bar"),
        ("cb", "|:3 x\n", "namespace"),
        ("cb", "|a:x y\n", "a number"),
        ("cb", "|a b\rc\n", "carriage"),
        ("cb", "|a \0\n", "null"),
        ("cb_adf", "shared |u\n\n", "then one line per action"),
        ("cb_adf", "shared|u\n|a\n\n", "next to the bar is a tag"),
        ("cb_adf", "|a\nshared |u\n\n", "from 0"),
        ("cb_adf", "|a\n0:1:1 |\n0:1:1 |\n|b\n\n", "Line 3: "),
        ("cb_adf", "shared |u\n0:1:7 |a\n|b\n|c\n\n", "Line 2: found '7'"),
        ("cb_adf", "|a\n\n\nshared |u\nshared |a\n|b\n", "Line 5: found 'shared'"),
        ("cb_adf", "shared 3 |u\n|a\n|b\n\n|c\n", "Line 1: "),
        ("cb", "1:2:0.5 |x\n2:0.5:0.5\t|x a\n", "Line 2: .* after a tab"),
        ("cb", "2 1:0.5:0.5 \t'tag |x a\n", "after a tab"),
        ("cb_adf", "shared\t|u\n|a\n", "after a tab"),
        ("cb", "|a\nccb shared |u\n", "Line 2: found 'ccb shared'; .* not supported"),
        ("cb_adf", "ccb shared |u\nccb action |a\n\n", "several slots .* not supported"),
        ("cb_adf", "slates shared 1 |u\n\n", "several slots .* not supported"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(format, text, says):
    with pytest.raises(A.VWFormatError, match=says) as caught:
        read(text, format)
    assert isinstance(caught.value, hn.ParameterError)
    assert str(caught.value).startswith("Line")


def test_sources_and_targets_of_all_kinds(tmp_path):
    rounds = [A.CbRound({"a": {"ü": 2.5}}, 1, 0.5, 0.25)] * 3
    plain, packed = tmp_path / "log.vw", tmp_path / "log.vw.gz"
    assert A.write_vw(rounds, plain, "cb") == A.write_vw(iter(rounds), str(packed), "cb") == 3
    data = plain.read_bytes()
    assert data == gzip.decompress(packed.read_bytes()) == 3 * "2:0.5:0.25 |a ü:2.5\n".encode()
    binary = io.BytesIO()
    A.write_vw(rounds, binary, "cb")
    assert binary.getvalue() == data
    lines = data.decode().splitlines()
    with open(plain, encoding="utf-8") as text, open(plain, "rb") as raw:
        for source in (plain, packed, text, raw, lines, data.splitlines(), iter(lines)):
            assert list(A.read_vw(source, "cb")) == rounds
    assert list(A.read_vw(["\ufeff" + lines[0]], "cb")) == rounds[:1]


def test_a_refused_write_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "log.vw"
    path.write_text("before")
    with pytest.raises(hn.ParameterError, match="probability"):
        A.write_vw([A.CbRound({}, 0, 1.0, 1.0), A.CbRound({}, 0, 1.0, 2.0)], path, "cb")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_cannot_be_read_are_named(tmp_path):
    broken = tmp_path / "log.vw.gz"
    broken.write_bytes(gzip.compress(b"|a b\n" * 1000)[:-20])
    with pytest.raises(hn.ParameterError, match="cannot be read"):
        list(A.read_vw(broken, "cb"))
    with pytest.raises(hn.ParameterError, match="No such file"):
        list(A.read_vw(tmp_path / "none.vw", "cb"))
    with pytest.raises(hn.ParameterError, match="cannot be written"):
        A.write_vw([], tmp_path / "none" / "log.vw", "cb")
    with pytest.raises(A.VWFormatError, match=r"Line 2: .*UTF-8"):
        list(A.read_vw([b"|a", b"|\xff"], "cb"))
    for source in (3, [3]):
        with pytest.raises(hn.InputTypeError):
            list(A.read_vw(source, "cb"))
    with pytest.raises(hn.InputTypeError):
        A.write_vw([], 3, "cb")
    with pytest.raises(hn.ParameterError, match="format"):
        A.read_vw([], "cats")


@pytest.mark.parametrize("format", ["ccb", "slates"])
def test_formats_with_slots_are_not_supported(format):
    with pytest.raises(hn.ParameterError, match=f"'{format}' cannot be used: .* not supported"):
        A.read_vw([], format)
    with pytest.raises(hn.ParameterError, match=f"'{format}' cannot be used: .* not supported"):
        A.write_vw([], io.StringIO(), format)
    with pytest.raises(hn.ParameterError, match="one of 'cb', 'cb_adf'"):
        A.write_vw([], io.StringIO(), "csoaa")


@pytest.mark.parametrize(
    ("format", "this"),
    [
        ("cb", A.CbAdfRound({}, ({},))),
        ("cb_adf", A.CbRound({})),
        ("cb", A.CbRound({"a b": {"x": 1.0}})),
        ("cb", A.CbRound({"a": {"x|": 1.0}})),
        ("cb", A.CbRound({"a": {"": 1.0}})),
        ("cb", A.CbRound({"a": {"x": "12"}})),
        ("cb", A.CbRound({"a": {"x": ""}})),
        ("cb", A.CbRound({"a": {"x": "b c"}})),
        ("cb", A.CbRound({"a": {"x": math.nan}})),
        ("cb", A.CbRound({"a": {"x": 1e39}})),
        ("cb", A.CbRound({"a": {"x": True}})),
        ("cb", A.CbRound({"a": {"x": None}})),
        ("cb", A.CbRound({"a": {"\ud800": 1.0}})),
        ("cb", A.CbRound({}, tag="a b")),
        ("cb", A.CbRound({}, 0, 1.0)),
        ("cb", A.CbRound({}, 0, math.inf, 1.0)),
        ("cb", A.CbRound({}, 0, 1.0, 0.0)),
        ("cb", A.CbRound({}, -1, 1.0, 1.0)),
        ("cb", A.CbRound({}, 1.0, 1.0, 1.0)),
        ("cb", A.CbRound({}, None, 1.0, 1.0)),
        ("cb", A.CbRound({}, 0, 1.0, 1.0, (1, 2))),
        ("cb", A.CbRound({}, 0, 1.0, 1.0, (0,))),
        ("cb", A.CbRound({}, available=(1, 1))),
        ("cb_adf", A.CbAdfRound({}, ())),
        ("cb_adf", A.CbAdfRound({}, ({},), 1, 1.0, 1.0)),
        ("cb_adf", A.CbAdfRound({}, ({},), "0", 1.0, 1.0)),
        ("cb_adf", A.CbAdfRound({}, ({},), tags=("a", "b"))),
        ("cb_adf", A.CbAdfRound({}, ({}, {}), tags=("a",))),
        ("cb", A.CbRound({"a:2": {"x": 1.0}})),
        ("cb", A.CbRound({"a": {"x:y": 1.0}})),
        ("cb", A.CbRound({"a": {"x": "y|z"}})),
        ("cb", A.CbRound({"a": {"x": "y\n"}})),
        ("cb", A.CbRound({"a": {"x": "y\r"}})),
        ("cb", A.CbRound({"a": {"x": "y\tz"}})),
        ("cb", A.CbRound({"a": {"x": "\0"}})),
        ("cb", A.CbRound({}, "0", 1.0, 1.0)),
        ("cb", A.CbRound({}, 0, 1e39, 1.0)),
        ("cb", A.CbRound({}, 0, 1.0, math.nan)),
        ("cb", A.CbRound({}, None, None, 1.0)),
        ("cb", A.CbRound({}, available=())),
        ("cb", A.CbRound({}, available=(1, -1))),
        ("cb", A.CbRound({}, available=(2**33, 1))),
    ],
)
def test_what_the_text_cannot_hold_is_not_written(format, this):
    target = io.StringIO()
    with pytest.raises(hn.HannanError):
        A.write_vw([this], target, format)


@pytest.mark.parametrize(
    "this",
    [
        A.CbAdfRound({}, ({}, {}), 1, None, 0.5),
        A.CbAdfRound({}, ({}, {}), 1, 0.25, 0.5, skip_learn=True),
    ],
)
def test_a_decision_that_teaches_nothing_is_written_without_a_label(this):
    (back,) = read(written([this], "cb_adf"), "cb_adf")
    assert back == A.CbAdfRound({}, ({}, {}))


def test_what_cannot_be_written_is_named_with_its_round():
    ads = ({"ad": {"id": "red"}}, {"ad": {"id": "12", "price": 2.0}})
    for this, format, says in (
        (A.CbAdfRound({}, ads), "cb_adf", "Round 2: The value '12' cannot be written"),
        (A.CbRound({"u v": {"x": 1.0}}), "cb", "Round 2: The namespace 'u v'"),
        (A.CbRound({}, 0, 1.0, 1.0, (0,)), "cb", "Round 2: The available"),
        (A.CbRound({}, 0, 1.0, 2.0), "cb", "Round 2: The label"),
    ):
        fine = A.CbRound({}) if format == "cb" else A.CbAdfRound({}, ({},))
        with pytest.raises(hn.ParameterError, match=says):
            A.write_vw([fine, this], io.StringIO(), format)


def test_features_are_written_plainly():
    """Empty namespaces, integers and numbers of NumPy are no others when they come back."""
    this = A.CbRound({"e": {}, "a": {"x": (np.float32(0.5),), "n": 2**60 + 1}}, 0, np.int64(1), 1)
    assert read(written([this], "cb"), "cb") == [
        A.CbRound({"a": {"x": 0.5, "n": 2.0**60}}, 0, 1.0, 1.0)
    ]
    group = A.CbAdfRound(this.context, [this.context], np.int64(0), 1, 1, tags=("",))
    plain = A.CbAdfRound({"a": {"x": 0.5, "n": 2.0**60}}, ({"a": {"x": 0.5, "n": 2.0**60}},))
    (back,) = read(written([group], "cb_adf"), "cb_adf")
    assert (back.context, back.actions, back.tags) == (plain.context, plain.actions, ())


def test_no_more_is_held_than_allowed():
    with pytest.raises(A.VWFormatError, match="max_round"):
        read("|a " + "b" * 100, "cb", max_round=100)
    assert len(read("|" + "b" * 99 + "\n", "cb", max_round=100)) == 1
    with pytest.raises(A.VWFormatError, match="blank line"):
        list(A.read_vw(["|a b"] * 10_000, "cb_adf", max_round=1000))


N = 400


@pytest.fixture
def world():
    """Two kinds of visitors; the first likes the second of three ads, the second the third."""
    rng = np.random.default_rng(0)
    kinds, actions = rng.integers(2, size=N), rng.choice(3, size=N, p=[0.5, 0.3, 0.2])
    costs = np.where(actions == kinds + 1, -1.0, 0.5)
    p = [(0.5, 0.3, 0.2)[a] for a in actions]
    return list(zip(kinds.tolist(), actions.tolist(), costs.tolist(), p, strict=True))


def ips_of_always(world, action):
    return sum(cost / p for _, taken, cost, p in world if taken == action)


def test_vw_learns_cb_from_what_we_write(tmp_path, world):
    path = tmp_path / "log.vw"
    A.write_vw([A.CbRound({"v": {f"kind{k}": 1.0}}, a, c, p) for k, a, c, p in world], path, "cb")
    told = learned(path, "--cb", "3", "--cb_type", "ips", ask=["|v kind0", "|v kind1"])
    assert told["answers"] == [2, 3]  # VW counts from 1
    # Without learning VW plays its first action, and tells what that would have cost.
    still = learned(path, "--cb", "3", "-l", "0")
    assert still["loss"] == pytest.approx(ips_of_always(world, 0), rel=1e-5)
    assert still["weight"] == N


def adf(world):
    ads = tuple({"ad": {f"id{k}": 1.0}} for k in range(3))
    return [A.CbAdfRound({"v": {f"kind{k}": 1.0}}, ads, a, c, p) for k, a, c, p in world]


def test_vw_learns_cb_adf_from_what_we_write(tmp_path, world):
    path = tmp_path / "log.vw"
    A.write_vw(adf(world), path, "cb_adf")
    ads = "|ad id0\n|ad id1\n|ad id2"
    asked = [f"shared |v kind{k}\n{ads}" for k in range(2)]
    told = learned(path, "--cb_explore_adf", "--epsilon", "0.1", "-q", "va", ask=asked)
    assert [int(np.argmax(answer)) for answer in told["answers"]] == [1, 2]
    # Zero weights: the greedy action is the first one.
    still = learned(path, "--cb_adf", "--cb_type", "ips", "-l", "0")
    assert still["loss"] == pytest.approx(ips_of_always(world, 0), rel=1e-5)


def test_vw_finds_the_same_features_in_what_we_write_again():
    """Unusual ways of writing, read by us and written plainly, are the same to VW."""
    lines = [
        "1:2:0.5 |n:0.5 x:3 y:foo z",
        "1:2:0.5 tag|v :4 :5 :0.5",
        "1:2:0.5 |n a a:2 a:x b:.5|n c\td  e",
        "1:2:0.5 |  a b ||c|d e",
        "x\t1:2:0.5 'tag |n l:a:b m:-x k:1E-7 7:2 007:2",
        "1:2:0.5 |ü é:2.5 日本:東京",
        "1:2:0.5 |0 1:1e3 -5 :2|0 :3",
    ]
    again = []
    for this in A.read_vw(lines, "cb"):
        again += written([this], "cb").splitlines()
    ours, theirs = parsed(again, "--cb", "4"), parsed(lines, "--cb", "4")
    for line, mine, its in zip(lines, ours, theirs, strict=True):
        assert mine == its, line
        assert sum(map(len, its)) >= 2
