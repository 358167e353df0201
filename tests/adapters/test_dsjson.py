"""dsjson: what is read is what VW reads."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import hannan as hn
from tests.adapters.vw_itself import learned, parsed

A = hn.adapters
LABEL = {"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1}
TWO = {"_multi": [{"A": {"id": "a"}}, {"A": {"id": "b"}}]}


def read(*records):
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    return list(A.read_dsjson(lines))


def context(**features):
    (found,) = read({"c": {**features, **TWO}})
    return found.context


def test_a_record_is_read_as_documented():
    record = {
        **LABEL, "Timestamp": "2021-07-29T10:00:00.999Z", "Version": "1", "EventId": "e7",
        "a": [2, 1], "c": {"U": {"age": 3}, **TWO}, "p": [0.8, 0.2], "VWState": {"m": "N/A"},
        "pdrop": 0.5, "_original_label_cost": -1,
    }  # fmt: skip
    (found,) = read(record)
    assert found == A.CbAdfRound(
        {"U": {"age": 3.0}},
        ({"A": {"id": "a"}}, {"A": {"id": "b"}}),
        action=1,
        cost=-1.0,
        probability=0.8,
        others={0: 0.2},
        pdrop=0.5,
    )
    assert found.weight == 2.0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"x": 1, "n": {"x": 2}}, {"": {"x": 1.0}, "n": {"x": 2.0}}),
        ({"n": {"m": {"x": 2}, "y": 1}}, {"m": {"x": 2.0}, "n": {"y": 1.0}}),
        ({"n": {"t": True, "f": False, "z": None, "s": "a b"}}, {"n": {"t": 1.0, "s": "a b"}}),
        ({"v": [1, None, 2.5]}, {"v": {"0": 1.0, "1": 2.5}}),
        ({"w": [{"t": "x"}, {"t": "y"}, {"q": 1}]}, {"w": {"t": ("x", "y"), "q": 1.0}}),
        ({"n": {"_text": "hello big:w\thello"}}, {"n": {"hello": (1.0, 1.0), "big_w": 1.0}}),
        ({" ": {"x": 1}, "y": 2}, {"": {"x": 1.0, "y": 2.0}}),
        ({"_ignored": {"x": 1}, "n": {"_also": 3}, "m": {}, "k": []}, {}),
    ],
)  # fmt: skip
def test_features(given, expected):
    assert context(**given) == expected


def test_labels_may_be_told_in_several_ways():
    c = {"c": TWO}
    for keys in ("_label_Action", "_labelIndex"):
        (found,) = read({k: v for k, v in LABEL.items() if k != keys} | c)
        assert (found.action, found.cost, found.probability) == (1, -1.0, 0.8)
    (found,) = read({"_label_cost": 1, "a": [2, 1], "_p": [0.75, 0.25], **c})
    assert (found.action, found.probability, found.others) == (1, 0.75, {0: 0.25})
    (found,) = read({"a": [2, 1], "p": [0.75, 0.25], **c})
    assert (found.action, found.cost, found.probability) == (1, None, 0.75)
    (found,) = read({**LABEL, "a": 2, "p": 0.8, "_skipLearn": True, **c})
    assert found.skip_learn
    assert not found.others
    (found,) = read(c)
    assert (found.action, found.cost, found.probability, found.others) == (None, None, None, {})


def test_probabilities_may_be_rounded_and_some_may_be_left_out():
    (found,) = read({**LABEL, "a": [2, 1], "p": [0.80003, 0.2], "c": TWO})
    assert (found.probability, found.others) == (0.8, {0: 0.2})
    (found,) = read({**LABEL, "a": [2, 1], "p": [0.8, 0.1], "c": {"_multi": [{}] * 3}})
    assert found.others == {0: 0.1}


def test_what_is_no_decision_is_passed_over():
    dangling = {"EventId": "e7", "_label_cost": 1}
    assert read("", "# a remark", "[1]", "  {", dangling, {"c": None}, {"c": TWO})[1:] == []


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ("{", "JSON"),
        ('{"c": NaN}', "NaN"),
        ('{"c": {"x": 1e999, "_multi": [{}]}}', "finite"),
        ('{"c": {"x": ' + "9" * 5000 + ', "_multi": [{}]}}', "JSON"),
        ('{"c": {"x": ' + "9" * 400 + ', "_multi": [{}]}}', "finite"),
        ('{"c": {"\\ud800": 1, "_multi": [{}]}}', "surrogate"),
        ("{" + '"c":{' * 5000, "deep"),
        ({"c": 3}, "an object in c"),
        ({"c": {}}, "at least one action"),
        ({"c": {"_multi": 3}}, "an array in _multi"),
        ({"c": {"_multi": [3]}}, "an object in _multi"),
        ({"c": {"x": {"_multi": []}, **TWO}}, "_multi only in c"),
        ({"c": {"_multi": [{"__aid": 5}]}}, "__aid"),
        ({"c": {"x": ["a"], **TWO}}, "finite"),
        ({"c": {"x": [[1]], **TWO}}, "finite"),
        ({"c": {"x": [True], **TWO}}, "finite"),
        ({"c": {"_text": 3, **TWO}}, "_text"),
        ({"c": TWO, **LABEL, "_label_Action": 1}, "_labelIndex"),
        ({"c": TWO, **LABEL, "_label_Action": 0}, "from 1"),
        ({"c": TWO, **LABEL, "_labelIndex": 2}, "from 0"),
        ({"c": TWO, **LABEL, "_labelIndex": 10**9}, "from 0"),
        ({"c": TWO, **LABEL, "_labelIndex": True}, "from 0"),
        ({"c": TWO, **LABEL, "_label_cost": "NaN"}, "finite"),
        ({"c": TWO, **LABEL, "_label_probability": 0}, "a positive probability"),
        ({"c": TWO, **LABEL, "_label_probability": 1.1}, "probability"),
        ({"c": TWO, **LABEL, "_label_probability": 0.1, "a": [2, 1], "p": [0.9, 0.1]}, "in p"),
        ({"c": TWO, "a": [1, 2], "p": [0.9, 0.4]}, "sum 1"),
        ({"c": TWO, "a": [1, 2], "p": [0.5, 0.4]}, "sum 1"),
        ({"c": {"_multi": [{}] * 3}, "a": [1, 2], "p": [0.9, 0.4]}, "sum 1"),
        ({"c": TWO, "_label_cost": 1, "a": [1]}, "a positive probability"),
        ({"c": TWO, "_label_cost": 1}, "because there is a label"),
        ({"c": TWO, "a": [1, 1]}, "once"),
        ({"c": TWO, "a": [1, 2], "p": [1]}, "each of the 2 actions"),
        ({"c": TWO, "a": [1, 3]}, "one of 2 actions, counted from 1"),
        ({"c": TWO, "pdrop": 1}, "pdrop"),
        ({"c": TWO, "pdrop": "0"}, "pdrop"),
        ({"c": TWO, "_skipLearn": 1}, "true or false"),
        ({"c": {**TWO, "_slots": [{}, {}]}, "_outcomes": [{}, {}]}, "slots .* not supported"),
        ({"c": {**TWO, "_slots": []}}, "slots .* not supported"),
        ({"c": {"x": {"_slots": []}, **TWO}}, "only in c"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(record, says):
    with pytest.raises(A.VWFormatError, match=says) as caught:
        read({"c": TWO}, record)
    assert str(caught.value).startswith("Line 2: found ")
    assert len(str(caught.value)) < 250


def test_vw_finds_the_same_features_in_a_record_and_in_the_text_we_make_of_it():
    records = [
        {"x": 1, "n": {"x": 2, "m": {"x": "new-york"}}, "v": [1, None, 2.5]},
        {"w": [{"t": "x"}, {"t": "y"}, {"q": 1}], "_text": "hello big:w", "n": {"t": True}},
        {" ": {"y": "q"}, "e": {"日": 0.5, "7": 2}},
    ]
    lines = [json.dumps({**LABEL, "a": [2], "c": {**r, **TWO}}) for r in records]
    # Words have the same hash in both formats only if hashes are chained.
    options = ("--cb_explore_adf", "--chain_hash")
    texts = []
    for this in A.read_dsjson(lines):
        text = io.StringIO()
        A.write_vw([this], text, "cb_adf")
        texts.append(text.getvalue().rstrip())
    theirs, ours = parsed(lines, *options, "--dsjson"), parsed(texts, *options)
    for line, mine, its in zip(lines, ours, theirs, strict=True):
        assert mine == its, line
        assert len(its[0]) >= 3


def test_vw_counts_and_weighs_records_as_we_do(tmp_path):
    ads = {"_multi": [{"ad": {"id": name}} for name in ("red", "green", "blue")]}
    rng = np.random.default_rng(0)
    records = []
    for _ in range(400):
        index, p = int(rng.integers(3)), float(rng.choice([0.2, 0.5]))
        label = {"_label_cost": float(rng.integers(-1, 2)), "_label_probability": p}
        label |= {"_label_Action": index + 1, "_labelIndex": index, "a": [index + 1]}
        records.append({**label, "c": {"v": {"kind": "young"}, **ads}})
    path = tmp_path / "log.dsjson"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    still = learned(path, "--cb_adf", "--dsjson", "--cb_type", "ips", "-l", "0")
    found = list(A.read_dsjson(path))
    ips = sum(r.cost / r.probability for r in found if r.action == 0)
    assert still["loss"] == pytest.approx(ips, rel=1e-5)
    assert still["weight"] == len(found) == 400
    records[0] = {**records[0], "pdrop": 0.75}
    records[1] = {**records[1], "_skipLearn": True}
    records[2] = {"c": records[2]["c"]}
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = list(A.read_dsjson(path))
    used = [r for r in found if r.action is not None and not r.skip_learn]
    told = learned(path, "--cb_explore_adf", "--dsjson")
    assert told["weight"] == sum(r.weight for r in used) == 397 + 4
