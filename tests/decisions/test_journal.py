"""A journal holds every acknowledged call, and nothing that was refused."""

import copy
import datetime as dt
import decimal
import errno
import os
import pickle
import resource
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.decisions import journal as journals
from hannan.decisions import records
from hannan.decisions.contexts import plain
from tests.decisions import journalling
from tests.decisions.test_decider import content, made
from tests.decisions.worlds import contexts, earned
from tests.thinning import more_at_night


def play(decider, rows, first=0):
    """Decisions with outcomes that come two steps late, some never."""
    for step, row in enumerate(rows, first):
        decider.decide(row, id=step, available=["red", "blue"] if step % 11 == 3 else None)
        if step >= 2 and step % 5:
            action = decider.decision(step - 2).action if step - 2 in decider.open_decisions else 0
            if action:
                decider.report(step - 2, reward=earned(rows[step - 2 - first], action))


def test_a_journal_is_taken_up_where_it_ended(tmp_path):
    path = tmp_path / "d.journal"
    rows = contexts(120)
    d = made().journal(path)
    play(d, rows[:90])
    known = content(d)
    d.close()
    for take_up in (hn.Decider.open, lambda path: made().journal(path), hn.load):
        again = take_up(path)
        assert content(again) == known
        again.close()
    again = made().journal(path)
    twin = hn.load(path)
    for row in rows[90:]:
        one, other = again.decide(row), twin.decide(row)
        assert (one.action, one.propensity) == (other.action, other.propensity)


@pytest.mark.parametrize("end", ["closed", "pickled", "copied"])
def test_what_no_file_would_have_is_refused(tmp_path, end):
    """After close(), and in copies, calls would be acknowledged and lost."""
    path, row = tmp_path / "d.journal", contexts(1)[0]
    d = made().journal(path)
    first = d.decide(row, id="a")
    if end == "closed":
        d.close()
    else:
        d = copy.deepcopy(d) if end == "copied" else pickle.loads(pickle.dumps(d))
    known, lines = content(d), path.read_bytes()
    for call in (
        lambda: d.decide(row, id="b"),
        lambda: d.decide_many([row, row]),
        lambda: d.report("a", reward=1.0),
        lambda: d.learn(row, "red", 1.0, 0.5),
        lambda: d.expire(0.0),
        lambda: d.add_action("violet"),
        lambda: d.retire("blue"),
    ):
        with pytest.raises(hn.StorageError, match=r"no longer be written.*Decider\.open"):
            call()
    assert content(d) == known
    assert path.read_bytes() == lines
    assert d.decide(row, id="a").action == first.action  # the file has that decision
    assert d.summary().decisions == 1
    assert d.warm_up(row) > 0.0
    d.close()


def test_journalled_and_not_it_decides_identically(tmp_path):
    rows = contexts(100)
    one, other = made().journal(tmp_path / "d", every=7, fsync=False), made()
    for row in rows:
        a, b = one.decide(row), other.decide(row)
        assert (a.action, a.propensity) == (b.action, b.propensity)
        for decider, answer in ((one, a), (other, b)):
            decider.report(answer, reward=earned(row, answer.action))


def test_a_call_is_in_the_file_before_it_returns(tmp_path):
    path = tmp_path / "d.journal"
    d = made().journal(path, every=13)
    for step, row in enumerate(contexts(40)):
        d.decide(row, id=step)
        assert content(hn.load(path)) == content(d)
        if step % 3 == 0:
            d.report(step, reward=3.0)
            assert content(hn.load(path)) == content(d)
    d.expire(older_than=0.0, reward=0.0)
    assert content(hn.load(path)) == content(d)
    assert d.report(39, reward=3.0) is False  # late: counted
    assert content(hn.load(path)) == content(d)


def test_a_refused_call_leaves_no_line(tmp_path):
    path = tmp_path / "d.journal"
    d = made().journal(path)
    play(d, contexts(10))
    before = path.read_bytes()
    for bad in (
        lambda: d.report(9, reward=1e9),
        lambda: d.decide({"age": object()}),
        lambda: d.decide([1.0, 2.0]),  # a row of another kind, which Features refuses
        lambda: d.decide(contexts(1)[0], available=["pink"]),
    ):
        with pytest.raises(hn.HannanError):
            bad()
        assert path.read_bytes() == before
    assert content(hn.load(path)) == content(d)


def test_a_refused_call_whose_process_was_killed_is_left_out(tmp_path):
    """Between the line and its being taken back: the last call of the file is refused again."""
    path = tmp_path / "d.journal"
    d = made().journal(path)
    play(d, contexts(10))
    known, before = content(d), path.read_bytes()
    with pytest.raises(hn.ContextError):
        d.decide([1.0, 2.0])
    d._journal.append(["decide", d._action_checksum, [1.0, 2.0], None, "x", 1.0, 0, None])
    d._journal.close()
    assert path.read_bytes() != before
    again = hn.Decider.open(path)
    assert content(again) == known
    assert path.read_bytes() == before


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_is_what_it_was_after_some_call(data):
    path, whole, states = FILES()
    cut = data.draw(st.integers(len(whole) - 900, len(whole)))
    path.write_bytes(whole[:cut])
    if cut < states[0][0]:
        return
    expected = [state for size, state in states if size <= cut][-1]
    again = hn.Decider.open(path)
    try:
        assert content(again) == expected
        again.decide(contexts(1)[0])
        assert content(hn.load(path)) == content(again)
    finally:
        again.close()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_byte_that_changed_is_found_or_was_in_the_last_line(data):
    path, whole, states = FILES()
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[place]))
    path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        again = hn.load(path)
    except hn.StorageError:
        return
    assert place >= states[-2][0]
    assert content(again) == states[-2][1]


_FILES = []


def FILES():
    """A journal, and what was known after each of its calls."""
    if not _FILES:
        import tempfile

        folder = Path(tempfile.mkdtemp())
        path = folder / "d.journal"
        d = made().journal(path)
        states = [(path.stat().st_size, content(d))]
        for step, row in enumerate(contexts(8)):
            answer = d.decide(row, id=step)
            states.append((path.stat().st_size, content(d)))
            d.report(step, reward=earned(row, answer.action))
            states.append((path.stat().st_size, content(d)))
        d.close()
        _FILES.append((path, path.read_bytes(), states))
    return _FILES[0]


def test_lines_cannot_be_lost_repeated_or_moved(tmp_path):
    path, whole, states = FILES()
    size = states[0][0]
    lines = whole[size:].splitlines(keepends=True)
    for wrong in (
        lines[1:],
        lines[:3] + lines[4:],
        [*lines[:3], lines[3], *lines[3:]],
        [lines[1], lines[0], *lines[2:]],
    ):
        path.write_bytes(whole[:size] + b"".join(wrong))
        with pytest.raises(hn.DamagedFileError, match="checksum"):
            hn.load(path)


@pytest.mark.parametrize(
    "call",
    [
        ["nothing", 0],
        ["decide", 0],
        ["decide", 0, {"age": 3}, [7], "x", 1.0, 0, None],
        ["decide", 0, {"age": 3}, None, 3.5, 1.0, 0, None],
        ["decide", 0, {"age": 3}, None, 0, 1.0, 0, None],
        ["decide", 0, {"age": 3}, None, "x", "now", 0, None],
        ["decide", 0, {"age": 3}, None, "x", 1.0, 9, None],
        ["decide", 0, {"age": 3}, None, "x", 1.0, None, None],
        ["report", 0, "x", 1.0],
        ["report", 0, 0, 1e9],
        ["report", 0, 0, "1"],
        ["expire", 0, 1e18, 1e9],
        ["expire", 0, "x", None],
        ["late", 0, 1],
    ],
)
def test_forged_lines_are_refused(tmp_path, call):
    path = tmp_path / "d.journal"
    d = made().journal(path)
    d.decide({"age": 2}, id=0)
    known = content(d)
    call[1] = d._action_checksum
    d._journal.append(call)
    d.close()
    assert content(hn.load(path)) == known  # as if it had been refused when it was made
    again = hn.Decider.open(path)
    again._journal.append(call)
    again._journal.append(["late", d._action_checksum])
    again.close()
    with pytest.raises(hn.DamagedFileError, match="cannot be replayed"):
        hn.load(path)


def test_a_replay_that_decides_otherwise_is_refused(tmp_path):
    path = tmp_path / "d.journal"
    d = made().journal(path)
    d.decide({"age": 2}, id=0)
    d._journal.append(["late", d._action_checksum ^ 1])
    d._journal.append(["late", d._action_checksum ^ 1])
    d.close()
    with pytest.raises(hn.StorageError, match="other decisions"):
        hn.load(path)


# Who may write --------------------------------------------------------------------------------


def test_a_second_process_is_refused(tmp_path):
    path = tmp_path / "d.journal"
    d = made().journal(path, every=2)
    play(d, contexts(5))
    script = (
        "import sys, hannan as hn\n"
        "try:\n    hn.Decider.open(sys.argv[1])\n"
        "except hn.StorageError as error:\n    print('refused:', error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=300
    )
    assert found.stdout.startswith("refused:"), found.stderr
    assert "in use" in found.stdout
    with pytest.raises(hn.StorageError, match="in use"):
        hn.Decider.open(path)
    d.close()
    hn.Decider.open(path).close()


def test_a_forked_copy_is_refused(tmp_path):
    path = tmp_path / "d.journal"
    d = made().journal(path)
    play(d, contexts(3))
    before = path.read_bytes()
    child = os.fork()
    if child == 0:
        try:
            d.decide(contexts(1)[0])
        except hn.StorageError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert path.read_bytes() == before
    d.decide(contexts(1)[0])


def test_a_journal_of_another_decider_is_not_taken_up(tmp_path):
    path = tmp_path / "d.journal"
    made().journal(path).close()
    with pytest.raises(hn.ParameterError, match="other values of rewards"):
        made(rewards=(0, 100)).journal(path)
    with pytest.raises(hn.ParameterError, match="other values of actions"):
        made(actions=["red", "pink"]).journal(path)
    with pytest.raises(hn.ParameterError, match="other values of seed"):
        made(seed=4).journal(path)
    used = made()
    used.decide({"age": 3})
    with pytest.raises(hn.ParameterError, match="Decider is not new"):
        used.journal(path)
    made(seed=None).journal(path).close()
    other = tmp_path / "learner"
    hn.bandit(3, seed=0).save(other)
    with pytest.raises(hn.StorageError, match="does not hold a Decider"):
        hn.Decider.open(other)
    with pytest.raises(hn.HannanError):
        made().journal(other)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(hn.DamagedFileError):
        made().journal(tmp_path / "text")
    with pytest.raises(hn.StorageError):
        hn.Decider.open(tmp_path / "nothing")
    with pytest.raises(hn.StorageError):
        made().journal(tmp_path / "no" / "folder")
    assert not (tmp_path / "nothing").exists()


def test_a_baseline_function_is_trusted_by_who_gives_it(tmp_path):
    path = tmp_path / "d.journal"

    def rule(context):
        return "red"

    made(baseline=rule).journal(path).close()
    with pytest.raises(hn.UntrustedError):
        hn.Decider.open(path)
    hn.Decider.open(path, trusted=[rule]).close()
    made(baseline=rule).journal(path).close()


# Disks ----------------------------------------------------------------------------------------


def test_a_full_disk_is_said_by_name_and_nothing_has_changed(tmp_path):
    """A limit on the file's size: the kernel writes a part of the line and refuses the rest."""
    path = tmp_path / "d.journal"
    d = made().journal(path)
    play(d, contexts(10))
    known, size = content(d), path.stat().st_size
    usual, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, usual[1]))
    try:
        for _ in range(3):
            with pytest.raises(hn.StorageError, match="had no effect"):
                d.decide(contexts(1)[0])
            assert path.stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, handler)
    assert content(d) == known
    d.decide(contexts(1)[0])
    assert content(hn.load(path)) == content(d)


def test_a_snapshot_that_cannot_be_written_is_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "d.journal"
    d = made().journal(path, every=5)
    usual = journals.container.write

    def full(path, parts):
        raise hn.StorageError("the disk is full")

    monkeypatch.setattr(journals.container, "write", full)
    play(d, contexts(12))
    assert content(hn.load(path)) == content(d)
    lines = path.read_bytes().count(b'["decide"')
    assert lines == 12
    monkeypatch.setattr(journals.container, "write", usual)
    play(d, contexts(12), first=12)
    assert path.read_bytes().count(b'["decide"') < 10
    assert content(hn.load(path)) == content(d)


def test_a_line_that_cannot_be_taken_back_ends_the_journal(tmp_path, monkeypatch):
    path = tmp_path / "d.journal"
    d = made().journal(path)
    play(d, contexts(4))
    known = content(d)

    def fail(*args):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(journals.os, "fdatasync", fail)
        with pytest.raises(hn.StorageError, match="cannot be written"):
            d.decide(contexts(1)[0])
    with pytest.raises(hn.StorageError, match="no longer be written"):
        d.decide(contexts(1)[0])
    d.close()
    again = hn.Decider.open(path)
    assert content(again) == known


# What lines hold ------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.binary()
    | st.timedeltas(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_contexts_come_back_as_they_were(value):
    known = plain(value)
    text, check = records.line(["x", 0, known], 17)
    assert text.count(b"\n") == 1
    found = records.call(text[:-1], 17)
    assert found == (["x", 0, known], check)
    assert repr(found[0][2]) == repr(known)
    assert plain(known) == known


class Named(NamedTuple):
    a: int
    b: str


@dataclass
class Kept:
    a: int
    b: str


def test_values_of_other_packages_become_plain_ones():
    row = pd.Series({"a": np.int32(3), "b": pd.NaT, "c": pd.NA, "d": pd.Timestamp("2026-01-02")})
    assert plain(row) == {"a": 3, "b": None, "c": None, "d": dt.datetime(2026, 1, 2)}
    assert plain(np.array([1.5, 2.0])) == [1.5, 2.0]
    assert plain({"x": np.datetime64("2026-01-02T03:04")}) == {"x": dt.datetime(2026, 1, 2, 3, 4)}
    assert plain({"x": decimal.Decimal("1.5"), "y": uuid.UUID(int=3)})["y"].int == 3
    assert plain({"$date": 3, 4: True}) == {"$date": 3, 4: True}
    assert plain(Named(3, "x")) == plain(Kept(3, "x")) == {"a": 3, "b": "x"}


def test_no_call_is_lost_when_a_process_is_killed(tmp_path):
    acknowledged, wrong, same = run_killed(4)
    assert acknowledged > 0
    assert (wrong, same) == (0, 100)


@pytest.mark.slow
@pytest.mark.parametrize("kills", more_at_night(40, 200))
def test_no_call_is_lost_when_many_processes_are_killed(kills):
    acknowledged, wrong, same = run_killed(kills)
    assert acknowledged > 5 * kills
    assert (wrong, same) == (0, 100)


def run_killed(kills):
    """In a process of its own, which forks: this one may have threads."""
    root = Path(journalling.__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-m", "tests.decisions.journalling", str(kills)],
        capture_output=True, text=True, cwd=root, timeout=3000,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    words = found.stdout.replace(":", "").replace(",", "").split()
    return int(words[2]), int(words[8]) + int(words[10]), int(words[-2])
