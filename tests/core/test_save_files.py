"""Files that are refused, and why."""

import copy
import hashlib
import json
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.storage import container, files, reread
from hannan.core.storage.arrays import Arrays, packed
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import decoded
from hannan.core.storage.files import packed as content_of
from tests.thinning import more_at_night


def some_learner():
    """A bandit with a predictor, an open decision and an open round."""
    oracle = hn.oracles.FinitePolicies(np.arange(24).reshape(8, 3) % 3)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=hn.predictors.Mean(), seed=0)
    for t in range(30):
        action = learner.act(t % 3)
        learner.update(0.1 * action)
    learner.decide(1)
    learner.act(2)
    return learner


CONTENT = b"".join(content_of(some_learner(), Encoder()))


def read(content):
    """The learner of a file with this content."""
    head, body = container.unpack(memoryview(content), "the file")
    return decoded(head, body, "the file", kind=hn.Learner)


def resealed(head, body):
    """A file with another head whose lengths and checksum are right."""
    return b"".join(container.pack(head, [body] if len(body) else []))


def test_a_whole_file():
    assert read(CONTENT).open_decisions == [0]


def test_every_shorter_file_is_refused_by_name():
    for length in range(len(CONTENT)):
        with pytest.raises((hn.TruncatedFileError, hn.DamagedFileError)) as error:
            read(CONTENT[:length])
        assert length < 8 or error.type is hn.TruncatedFileError


def test_longer_files_and_every_changed_byte_are_refused():
    with pytest.raises(hn.DamagedFileError, match="checksum"):
        read(CONTENT + b"\0")
    for place in range(0, len(CONTENT), 7):
        changed = bytearray(CONTENT)
        changed[place] ^= 1 << place % 8
        with pytest.raises(hn.StorageError):
            read(bytes(changed))


def test_files_of_something_else(tmp_path):
    for content in (b"", b"PK\x03\x04", b"\x80\x04\x95", b"\x93NUMPY\x01\x00" + bytes(99)):
        with pytest.raises(hn.DamagedFileError, match="not a file of Hannan"):
            read(content)
    with pytest.raises(hn.StorageError, match="cannot be read"):
        hn.load(tmp_path / "nothing")
    with pytest.raises(hn.StorageError, match="cannot be read"):
        hn.load(tmp_path)


def test_files_of_later_versions_are_refused_by_name():
    head, body = container.unpack(memoryview(CONTENT), "x")
    with pytest.raises(hn.NewerFileError, match=r"Hannan 9\.1.*schema 7"):
        read(resealed({**head, "schema": 7, "hannan": "9.1"}, body))
    newer = bytearray(CONTENT[:-32])
    newer[8:16] = struct.pack("<Q", 2)
    newer += hashlib.blake2b(newer, digest_size=32).digest()
    with pytest.raises(hn.NewerFileError, match="frame 2"):
        read(bytes(newer))


def test_files_of_earlier_versions_are_brought_up_to_date(monkeypatch):
    """As if version 4 had renamed a parameter and an attribute, and version 5 had added one."""
    head, body = container.unpack(memoryview(CONTENT), "x")
    old = copy.deepcopy(head)
    node = old["learner"]
    node["given"]["patience"] = node["given"].pop("max_resamples")
    node["learned"]["_count"] = node["learned"].pop("_decided")
    del node["learned"]["_hint"]["learned"]["refused"]

    def first(head):
        node = head["learner"]
        node["given"]["max_resamples"] = node["given"].pop("patience")
        node["learned"]["_decided"] = node["learned"].pop("_count")
        return head

    def second(head):
        hint = head["learner"]["learned"]["_hint"]["learned"]
        hint["refused"] = some_learner().hint.refused
        return head

    with pytest.raises(hn.DamagedFileError):
        read(resealed(old, body))
    monkeypatch.setattr(files, "SCHEMA", 5)
    monkeypatch.setattr(files, "STEPS", {3: first, 4: second})
    found = read(resealed(old, body))
    assert found.certificate() == some_learner().certificate()
    monkeypatch.setattr(files, "STEPS", {3: first})
    with pytest.raises(hn.DamagedFileError, match="schema 4, which no released version"):
        read(resealed(old, body))


@pytest.mark.parametrize("schema", [0, -1, True, "3", 3.0, None])
def test_files_that_do_not_say_their_schema_are_refused(schema):
    head, body = container.unpack(memoryview(CONTENT), "x")
    with pytest.raises(hn.DamagedFileError, match="has no schema version"):
        read(resealed({**head, "schema": schema}, body))


def test_files_of_the_schema_that_was_never_released_are_refused():
    head, body = container.unpack(memoryview(CONTENT), "x")
    with pytest.raises(hn.DamagedFileError, match=r"schema 1, .* this version reads schema 3\."):
        read(resealed({**head, "schema": 1}, body))


def test_what_was_learned_must_be_of_the_kind_that_a_new_learner_has():
    head, body = container.unpack(memoryview(CONTENT), "x")
    total = head["learner"]["learned"]["_leader"]["learned"]["total"]
    place = total["learned"]["scores"]["array"]
    shape = head["arrays"][place]["shape"]
    assert len(shape) == 1
    for wrong in ([shape[0], 1], [1, shape[0]]):
        changed = copy.deepcopy(head)
        changed["arrays"][place]["shape"] = wrong
        with pytest.raises(hn.DamagedFileError, match="wrong value of scores"):
            read(resealed(changed, body))
    for part, name, wrong in (
        ("_step", "D", "much"),
        ("_account", "loss", "much"),
        ("_ledger", "waiting", {"list": []}),
        ("_ledger", "made", "two"),
        ("_ledger", "delayed", 1),
    ):
        changed = copy.deepcopy(head)
        assert name in changed["learner"]["learned"][part]["learned"]
        changed["learner"]["learned"][part]["learned"][name] = wrong
        with pytest.raises(hn.DamagedFileError, match=f"wrong value of {name}, "):
            read(resealed(changed, body))


def test_an_open_round_has_only_what_its_class_knows():
    head, body = container.unpack(memoryview(CONTENT), "x")
    ledger = head["learner"]["learned"]["_ledger"]["learned"]
    for name in ("luck", "play", "available", "__class__", "_params_to_store"):
        changed = copy.deepcopy(head)
        found = changed["learner"]["learned"]["_ledger"]["learned"]["current"]
        found["learned"][name] = 7
        with pytest.raises(hn.DamagedFileError, match=f"unexpected .*{name}"):
            read(resealed(changed, body))
    assert ledger["current"]["class"].endswith("ContextSemiBanditFTPL.Round")


# Trust ------------------------------------------------------------------------------------


class OwnTree(DecisionTreeClassifier):
    """An estimator from outside scikit-learn."""


class OwnOracle(hn.oracles.AllPolicies):
    """A class from outside Hannan."""


def solve(contexts, losses):
    """The action that is best on average."""
    best = int(losses.sum(axis=0).argmin())
    return lambda context: best


def saved(learner, tmp_path):
    path = tmp_path / "x.hannan"
    learner.save(path)
    return path


def test_functions_and_classes_from_outside_need_trust(tmp_path):
    oracles = [
        hn.oracles.FunctionOracle(solve, n_actions=2),
        OwnOracle(2, 2),
        hn.oracles.SklearnPolicies(OwnTree(max_depth=1), 2),
    ]
    for oracle, thing in zip(oracles, (solve, OwnOracle, OwnTree), strict=True):
        path = saved(hn.ContextFTPL(oracle, contexts=_contexts(oracle), seed=0), tmp_path)
        with pytest.raises(hn.UntrustedError, match=r"trusted=\['tests'\]"):
            hn.load(path)
        for trusted in ([__name__], ["tests"], [thing]):
            assert type(hn.load(path, trusted=trusted).oracle) is type(oracle)
        with pytest.raises(hn.UntrustedError):
            hn.load(path, trusted=["test"])


def _contexts(oracle):
    return [[0.0], [1.0]] if isinstance(oracle, hn.oracles.SklearnPolicies) else [0, 1]


def test_a_function_without_a_name_must_be_given_again(tmp_path):
    first = lambda chosen: len(chosen) <= 1  # noqa: E731
    path = saved(hn.ContextFTPL(hn.oracles.Matroid(3, first), seed=0), tmp_path)
    for trusted in ([], ["tests"]):
        with pytest.raises(hn.UntrustedError, match=r"[Pp]ass the object itself"):
            hn.load(path, trusted=trusted)
    assert hn.load(path, trusted=[first]).oracle.independent is first
    second = lambda chosen: True  # noqa: E731
    with pytest.raises(hn.UntrustedError, match="2 functions or classes"):
        hn.load(path, trusted=[first, second])


def test_a_file_cannot_name_what_is_no_part_of_a_learner():
    head, body = container.unpack(memoryview(CONTENT), "x")
    for name in ("os:system", "builtins:eval", "subprocess:Popen", "hannan.cli:main",
                 "sklearn.tree:DecisionTreeClassifier"):  # fmt: skip
        with pytest.raises(hn.UntrustedError):
            read(resealed({**head, "learner": {**head["learner"], "class": name}}, body))
    others = ("hannan.core.learner:os", "hannan.core:HannanError", "hannan.oracles:nothing",
              "hannan.core", 7, None, ["a:b"])  # fmt: skip
    for name in others:
        with pytest.raises(hn.DamagedFileError):
            read(resealed({**head, "learner": {**head["learner"], "class": name}}, body))


def test_pipelines_with_a_cache_on_disk_are_refused(tmp_path):
    pipe = Pipeline([("tree", DecisionTreeClassifier(max_depth=1))], memory=str(tmp_path))
    learner = hn.ContextFTPL(hn.oracles.SklearnPolicies(pipe, 2), contexts=[[0.0], [1.0]], seed=0)
    with pytest.raises(hn.StorageError, match="memory="):
        hn.load(saved(learner, tmp_path))


def test_functions_of_numpy_in_a_pipeline(tmp_path):
    pipe = make_pipeline(FunctionTransformer(np.log1p), DecisionTreeClassifier(max_depth=1))
    learner = hn.ContextFTPL(hn.oracles.SklearnPolicies(pipe, 2), contexts=[[0.0], [1.0]], seed=0)
    path = saved(learner, tmp_path)
    with pytest.raises(hn.UntrustedError, match="numpy:log1p"):
        hn.load(path)
    for trusted in (["numpy"], [np.log1p]):
        found = hn.load(path, trusted=trusted)
        assert found.oracle.estimator.steps[0][1].func is np.log1p


def test_trusted_is_a_list(tmp_path):
    path = saved(some_learner(), tmp_path)
    with pytest.raises(hn.InputTypeError, match=r"trusted=\['tests'\]"):
        hn.load(path, trusted="tests")
    with pytest.raises(hn.InputTypeError, match="names of packages"):
        hn.load(path, trusted=[3])


class Odd:
    """A predictor that is no `Predictor`."""

    def predict(self, context):
        return np.zeros(3)

    def learn(self, context, action, loss):
        pass


def test_what_no_file_can_hold_is_refused_before_anything_is_written(tmp_path):
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), predictor=Odd(), seed=0)
    with pytest.raises(hn.StorageError, match=r"ContextSemiBanditFTPL\.predictor.*Odd"):
        learner.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


# Arrays -----------------------------------------------------------------------------------

TYPES = st.one_of(
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.floating_dtypes(),
    arrays.boolean_dtypes(),
    arrays.unicode_string_dtypes(min_len=1, max_len=5),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    arrays.arrays(TYPES, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9)),
    st.booleans(),
)
def test_arrays_come_back_as_they_were(array, turned):
    given_array = np.asfortranarray(array) if turned else array
    entry, content = packed(given_array)
    found = Arrays([json.loads(json.dumps(entry))], memoryview(content), "x").take(0)
    assert found.dtype == array.dtype
    assert found.flags.writeable
    assert found.tobytes() == array.tobytes()
    assert found.flags.f_contiguous == given_array.flags.f_contiguous


def test_an_array_is_handed_out_once():
    entry, content = packed(np.arange(3.0))
    held = Arrays([entry], memoryview(content), "x")
    held.take(0)
    for wrong in (0, 1, -1, True, None, "0"):
        with pytest.raises(hn.DamagedFileError):
            held.take(wrong)


def test_what_is_shared_in_a_tree_is_one_object():
    restarting = hn.Restarting(some_learner().clone())
    twin = reread(restarting)
    assert twin._monitor.watches(twin.current_learner)
    assert twin.current_learner.oracle is twin.learner.oracle


# Fuzzing ----------------------------------------------------------------------------------

FUZZ = """
import resource, sys
from tests.core.test_save_files import fuzz_bytes, fuzz_trees
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(fuzz_bytes(int(sys.argv[1])), fuzz_trees(int(sys.argv[2])))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def mutated(content, rng):
    """A file with a few bytes changed, left out, put in or repeated."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(len(changed)))
        length = int(rng.integers(1, 40))
        kind = rng.integers(5)
        if kind == 0:
            changed[place] = int(rng.integers(256))
        elif kind == 1:
            del changed[place : place + length]
        elif kind == 2:
            changed[place:place] = rng.bytes(length)
        elif kind == 3:
            changed[place : place + length] = changed[:length]
        else:
            changed[8:32] = rng.bytes(24)
        if not changed:
            break
    return bytes(changed)


def fuzz_bytes(count):
    """How many of so many mutated files were refused; anything but a `HannanError` escapes."""
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(count):
        try:
            read(mutated(CONTENT, rng))
        except hn.HannanError:
            refused += 1
    return refused


VALUES = (None, True, -1, 0, 1, 3, 2.5, float("nan"), "", "x", [], {}, [[]], {"ref": 0},
          {"list": []}, {"list": [1, 2]}, {"tuple": [0, 1]}, {"dict": [[1, 2]]},
          {"dict": [[[], 1]]}, {"array": 0}, {"array": 1}, {"range": [0, 5, 1]}, {"range": [0]},
          {"scalar": 2}, {"generator": None}, {"generator": [1, 2, 0, 0]},
          {"objects": [1, 2], "shape": [2]},
          {"enum": "hannan.core.environment:Feedback", "value": "full"})  # fmt: skip


def tampered(head, rng):
    """A head in which some nodes were replaced, taken out, renamed or exchanged."""
    head = copy.deepcopy(head)
    places = []

    def walk(node):
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            places.append((node, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(head)
    for _ in range(int(rng.integers(1, 4))):
        node, key = places[int(rng.integers(len(places)))]
        other, name = places[int(rng.integers(len(places)))]
        kind = rng.integers(4)
        if isinstance(node, list) and not 0 <= key < len(node):
            continue
        if kind == 0 or (key not in node and isinstance(node, dict)):
            node[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
        elif kind == 1:
            del node[key]
        elif kind == 2 and isinstance(node, dict):
            node[f"{key}_"] = node.pop(key)
        elif isinstance(other, dict) and name in other:
            node[key] = copy.deepcopy(other[name])
    return head


def fuzz_trees(count):
    """The same with files whose checksum is right, by someone who knows how they are made."""
    rng = np.random.default_rng(2)
    head, body = container.unpack(memoryview(CONTENT), "x")
    refused = 0
    for _ in range(count):
        try:
            read(resealed(tampered(head, rng), body))
        except hn.HannanError:
            refused += 1
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("count", more_at_night(20_000, 100_000))
def test_many_mutated_files_are_read_or_refused(count):
    found = subprocess.run(
        [sys.executable, "-c", FUZZ, str(count), "1500"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    (by_bytes, by_trees), (more,) = (map(int, line.split()) for line in found.stdout.splitlines())
    assert by_bytes >= 0.99 * count
    assert by_trees >= 750
    assert more < 200  # MB


def test_deep_and_odd_json_is_refused():
    for text in (
        b"[" * 10**5,
        b'{"schema": 1e999}',
        b'{"schema": ' + b"9" * 10**4 + b"}",
        b"\xff\xfe",
        b'{"schema": 3, "arrays": [], "learner": ' + b'{"list": [' * 4000 + b"]}" * 4000 + b"}",
        b'{"schema": 3}',
        b"null",
    ):
        framed = container.MAGIC + struct.pack("<QQQ", 1, 32 + len(text) + 32, len(text)) + text
        framed += hashlib.blake2b(framed, digest_size=32).digest()
        with pytest.raises(hn.HannanError):
            read(framed)
