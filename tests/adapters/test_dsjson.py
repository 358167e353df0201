"""dsjson: what is read is what VW reads, and what is written comes back."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from tests.adapters.vw_examples import JSON
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


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON, max_size=2))
def test_what_is_written_comes_back(rounds):
    target = io.BytesIO()
    assert A.write_dsjson(rounds, target) == len(rounds)
    assert list(A.read_dsjson(io.BytesIO(target.getvalue()))) == rounds


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
        event_id="e7",
        timestamp="2021-07-29T10:00:00.999Z",
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


def test_slots_are_labelled_by_outcomes_or_by_themselves():
    slots = [{"S": {"n": 1}, "_inc": [0, 1]}, {"_label_cost": 2, "_a": 0, "_p": 1.0}]
    outcomes = [{"_label_cost": -1, "_a": [1, 0], "_p": [0.8, 0.2]}]
    (found,) = read({"c": {**TWO, "_slots": slots}, "_outcomes": outcomes})
    assert isinstance(found, A.CcbRound)
    assert found.slots == (
        A.CcbSlot({"S": {"n": 1.0}}, 1, -1.0, 0.8, {0: 0.2}, (0, 1)),
        A.CcbSlot({}, 0, 2.0, 1.0),
    )


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
        ({"c": TWO, **LABEL, "_label_probability": 0}, "above 0"),
        ({"c": TWO, **LABEL, "_label_probability": 1.1}, "probability"),
        ({"c": TWO, **LABEL, "_label_probability": 0.1, "a": [2, 1], "p": [0.9, 0.1]}, "in p"),
        ({"c": TWO, "a": [1, 2], "p": [0.9, 0.4]}, "sum 1"),
        ({"c": TWO, "a": [1, 2], "p": [0.5, 0.4]}, "sum 1"),
        ({"c": {"_multi": [{}] * 3}, "a": [1, 2], "p": [0.9, 0.4]}, "sum 1"),
        ({"c": TWO, "_label_cost": 1, "a": [1]}, "above 0"),
        ({"c": TWO, "_label_cost": 1}, "as there is a label"),
        ({"c": TWO, "a": [1, 1]}, "once"),
        ({"c": TWO, "a": [1, 2], "p": [1]}, "each of the 2 actions"),
        ({"c": TWO, "a": [1, 3]}, "2 actions, from 1"),
        ({"c": TWO, "pdrop": 1}, "pdrop"),
        ({"c": TWO, "pdrop": "0"}, "pdrop"),
        ({"c": TWO, "_skipLearn": 1}, "true or false"),
        ({"c": TWO, "EventId": 3}, "EventId"),
        ({"c": {**TWO, "_slots": [{}] * 3}}, "as slots"),
        ({"c": {**TWO, "_slots": []}}, "as slots"),
        ({"c": {**TWO, "_slots": [{}]}, "_outcomes": [{}, {}]}, "outcomes"),
        ({"c": {**TWO, "_slots": [{}]}, "_outcomes": [{"_label_cost": 1}]}, "_a and _p"),
        ({"c": {**TWO, "_slots": [{"_a": [0, 1], "_p": [0.5, 0.4]}]}}, "sum 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(record, says):
    with pytest.raises(A.VWFormatError, match=says) as caught:
        read({"c": TWO}, record)
    assert str(caught.value).startswith("Line 2: found ")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "this",
    [
        A.CbAdfRound({"_a": {"x": 1.0}}, ({},)),
        A.CbAdfRound({"a": {"_x": 1.0}}, ({},)),
        A.CbAdfRound({"a": {"": 1.0}}, ({},)),
        A.CbAdfRound({" a": {"x": 1.0}}, ({},)),
        A.CbAdfRound({"a": {"x": math.inf}}, ({},)),
        A.CbAdfRound({"a": {"\0": 1.0}}, ({},)),
        A.CbAdfRound({"a": {"x": "\ud800"}}, ({},)),
        A.CbAdfRound({}, ({},), pdrop=1.0),
        A.CbAdfRound({}, ({}, {}), 0, 1.0, 0.5, {0: 0.5}),
        A.CbAdfRound({}, ({}, {}), 0, 1.0, 0.5, {1: 1.5}),
        A.CbAdfRound({}, ({}, {}), 0, others={1: 0.5}),
        A.CbAdfRound({}, ({}, {}), 0, 1.0, 0.5, {1: 0.8}),
        A.CbRound({}, 0, 1.0, 1.0),
    ],
)
def test_what_dsjson_cannot_hold_is_not_written(this):
    with pytest.raises(hn.HannanError):
        A.write_dsjson([this], io.StringIO())


def test_vw_finds_the_same_features_in_what_we_write_again():
    records = [
        {"x": 1, "n": {"x": 2, "m": {"x": "new york"}}, "v": [1, None, 2.5]},
        {"w": [{"t": "x"}, {"t": "y"}, {"q": 1}], "_text": "hello big:w", "n": {"t": True}},
        {" ": {"y": "q"}, "e": {"日": 0.5, "7": 2}},
    ]
    lines = [json.dumps({**LABEL, "a": [2], "c": {**r, **TWO}}) for r in records]
    again = io.StringIO()
    A.write_dsjson(A.read_dsjson(lines), again)
    options = ("--cb_explore_adf", "--dsjson")
    theirs, ours = parsed(lines, *options), parsed(again.getvalue().splitlines(), *options)
    for line, mine, its in zip(lines, ours, theirs, strict=True):
        assert mine == its, line
        assert len(its[0]) >= 3


N = 400


@pytest.fixture
def rounds():
    rng = np.random.default_rng(0)
    ads = tuple({"ad": {"id": name}} for name in ("red", "green", "blue"))
    found = []
    for kind in rng.integers(2, size=N).tolist():
        law = dict(enumerate((0.5, 0.3, 0.2)))
        action = int(rng.choice(3, p=list(law.values())))
        p = law.pop(action)
        cost = -1.0 if action == kind + 1 else 0.5
        shown = {"v": {"kind": ("old", "young")[kind]}}
        found.append(A.CbAdfRound(shown, ads, action, cost, p, law, event_id=str(len(found))))
    return found


def test_vw_learns_from_what_we_write(tmp_path, rounds):
    path = tmp_path / "log.dsjson"
    A.write_dsjson(rounds, path)
    # Questions have an action, as VW passes over records without.
    asked = io.StringIO()
    ads = rounds[0].actions
    kinds = [{"v": {"kind": name}} for name in ("old", "young")]
    A.write_dsjson([A.CbAdfRound(kind, ads, 0, None, 0.5) for kind in kinds], asked)
    told = learned(
        path, "--cb_explore_adf", "--dsjson", "--epsilon", "0.1", "-q", "va",
        ask=asked.getvalue().splitlines(),
    )  # fmt: skip
    assert [int(np.argmax(answer)) for answer in told["answers"]] == [1, 2]
    still = learned(path, "--cb_adf", "--dsjson", "--cb_type", "ips", "-l", "0")
    ips = sum(r.cost / r.probability for r in rounds if r.action == 0)
    assert still["loss"] == pytest.approx(ips, rel=1e-5)
    assert still["weight"] == N


def test_vw_weighs_what_we_say_was_dropped_and_skips_what_is_to_be_skipped(tmp_path, rounds):
    rounds[0] = replace(rounds[0], pdrop=0.75)
    rounds[1] = replace(rounds[1], skip_learn=True)
    rounds[2] = replace(rounds[2], action=None, cost=None, probability=None, others={})
    A.write_dsjson(rounds, tmp_path / "log.dsjson.gz")
    A.write_dsjson(A.read_dsjson(tmp_path / "log.dsjson.gz"), tmp_path / "log.dsjson")
    told = learned(tmp_path / "log.dsjson", "--cb_explore_adf", "--dsjson")
    assert told["weight"] == N - 3 + rounds[0].weight


def test_vw_learns_slots_from_what_we_write(tmp_path, rounds):
    slotted = [
        A.CcbRound(
            r.context, r.actions, (A.CcbSlot({}, r.action, r.cost, r.probability, r.others),)
        )
        for r in rounds
    ]
    A.write_dsjson(slotted, tmp_path / "log.dsjson")
    asked = io.StringIO()
    kinds = [{"v": {"kind": name}} for name in ("old", "young")]
    slot = (A.CcbSlot({}, 0, 0.0, 1.0),)
    A.write_dsjson([A.CcbRound(kind, rounds[0].actions, slot) for kind in kinds], asked)
    told = learned(
        tmp_path / "log.dsjson", "--ccb_explore_adf", "--dsjson", "-q", "va",
        ask=asked.getvalue().splitlines(),
    )  # fmt: skip
    assert [answer[0][0][0] for answer in told["answers"]] == [1, 2]
    assert told["weight"] == N
