import json
import os
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hannan.core.errors import HannanError
from hannan.experiments import results as module
from hannan.experiments.results import Results, ResultsError, read_results

KEYS = ["c", "a", "b", "ä€\n"]


def record(key, loss=0.1):
    return {
        "key": key,
        "cell": {"seed": 0, "title": "A “title”"},
        "result": {"curve": [loss, None]},
    }


def fill(folder, keys=KEYS):
    with Results.writing(folder) as results:
        for i, key in enumerate(keys):
            results.append(record(key, i / 3), {"seconds": i / 7})
    return folder


def keys_of(folder):
    return [r["key"] for r in read_results(folder).records()]


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path / "runs" / "one")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = fill(tmp_path_factory.mktemp("stored"))
    return (folder / "results.jsonl").read_bytes(), folder


def test_what_was_appended_is_read_back(folder):
    results = read_results(folder)
    assert results.records() == [record(key, i / 3) for i, key in enumerate(KEYS)]
    assert results.times() == {key: {"key": key, "seconds": i / 7} for i, key in enumerate(KEYS)}
    assert list(results.keys) == KEYS
    assert "a" in results
    assert "z" not in results


def test_records_of_some_keys_come_in_the_order_asked_for(folder):
    assert [r["key"] for r in read_results(folder).records(["b", "z", "c"])] == ["b", "c"]


def test_the_file_itself_may_be_named_even_under_another_name(folder, tmp_path):
    assert read_results(folder / "results.jsonl").records() == read_results(folder).records()
    (tmp_path / "mine.jsonl").write_bytes((folder / "results.jsonl").read_bytes())
    assert read_results(str(tmp_path / "mine.jsonl")).records() == read_results(folder).records()


@pytest.mark.parametrize("missing", ["nowhere", "", "nowhere.jsonl"])
def test_no_results_are_an_error_of_one_line(tmp_path, missing):
    with pytest.raises(ResultsError, match="no results at") as caught:
        read_results(tmp_path / missing)
    assert "\n" not in str(caught.value)


def test_lines_are_canonical_json(folder):
    for line in (folder / "results.jsonl").read_text().splitlines():
        plain = json.loads(line)
        assert line == json.dumps(plain, sort_keys=True, separators=(",", ":"))
        assert plain["format"] == 1


@given(cut=st.integers(min_value=0))
@settings(max_examples=300)
def test_any_prefix_reads_to_the_whole_lines_before_the_cut(stored, cut):
    content, folder = stored
    prefix = content[: cut % (len(content) + 1)]
    whole = prefix.count(b"\n")
    (folder / "cut.jsonl").write_bytes(prefix)
    found = read_results(folder / "cut.jsonl").records()
    assert found == [record(key, i / 3) for i, key in enumerate(KEYS)][:whole]


@given(cut=st.integers(min_value=0), which=st.sampled_from(["results.jsonl", "times.jsonl"]))
@settings(max_examples=25)
def test_writing_goes_on_after_a_cut_at_any_byte(tmp_path_factory, cut, which):
    folder = fill(tmp_path_factory.mktemp("cut"))
    content = (folder / "results.jsonl").read_bytes()
    times = read_results(folder).times()
    before = (folder / which).read_bytes()
    (folder / which).write_bytes(before[: cut % (len(before) + 1)])
    with Results.writing(folder) as results:
        for i, key in enumerate(KEYS):
            results.append(record(key, i / 3), {"seconds": i / 7})
    assert (folder / "results.jsonl").read_bytes() == content
    if which == "results.jsonl":  # times whose record is there are not measured again
        assert read_results(folder).times() == times


@pytest.mark.slow
@given(place=st.integers(min_value=0), flip=st.integers(1, 255))
@settings(max_examples=500)
def test_a_changed_byte_is_refused_with_the_line(stored, place, flip):
    content, folder = stored
    place %= len(content) - 1  # without the last newline the last line is merely torn
    damaged = bytearray(content)
    damaged[place] ^= flip
    (folder / "changed.jsonl").write_bytes(damaged)
    line = content[:place].count(b"\n") + 1
    with pytest.raises(ResultsError, match=rf"Line {line} of .*changed\.jsonl .*"):
        read_results(folder / "changed.jsonl")


@pytest.mark.parametrize("name", ["results.jsonl", "times.jsonl"])
def test_a_damaged_file_is_not_written_to(folder, name):
    damaged = (folder / name).read_bytes().replace(b"0.", b"1.", 1)
    (folder / name).write_bytes(damaged)
    with pytest.raises(ResultsError, match=f"{name} is damaged"), Results.writing(folder):
        pass
    assert (folder / name).read_bytes() == damaged


@pytest.mark.parametrize("line", [b"17\n", b"[]\n", b"\n", b"{}\n", b'{"key":"a"}\n', b"\xff\n"])
def test_a_line_of_another_kind_is_refused(folder, line):
    with (folder / "results.jsonl").open("ab") as file:
        file.write(line)
    with pytest.raises(ResultsError, match=r"Line 5 of .*damaged"):
        read_results(folder)


def test_a_newer_format_is_refused_by_name(folder, monkeypatch):
    monkeypatch.setattr(module, "FORMAT", 2)
    with Results.writing(folder) as results:
        results.append(record("new"), {})
    monkeypatch.undo()
    with pytest.raises(ResultsError, match=r"Line 5 .* format 2, .* up to 1"):
        read_results(folder)


def test_the_first_of_two_records_counts_and_the_last_of_their_times(folder):
    other = fill(folder.parent / "other", ["a"])
    for name in ("results.jsonl", "times.jsonl"):
        with (folder / name).open("ab") as file:
            file.write((other / name).read_bytes())
    results = read_results(folder)
    assert results.records(["a"]) == [record("a", 1 / 3)]
    assert len(results.records()) == len(KEYS)
    assert results.times()["a"]["seconds"] == 0.0


def test_a_key_is_appended_once(folder):
    before = (folder / "results.jsonl").read_bytes(), (folder / "times.jsonl").read_bytes()
    with Results.writing(folder) as results:
        results.append(record("a", 99.0), {"seconds": 99.0})
    assert before == (
        (folder / "results.jsonl").read_bytes(),
        (folder / "times.jsonl").read_bytes(),
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"key": "x", "result": float("nan")},
        {"key": "x", "result": object()},
        {"key": "x", "result": {1: 2, "1": 3}},
        {"key": 3},
        {},
    ],
)
def test_a_record_that_cannot_be_stored_changes_nothing(folder, bad):
    before = (folder / "results.jsonl").read_bytes(), (folder / "times.jsonl").read_bytes()
    with Results.writing(folder) as results, pytest.raises(ResultsError):
        results.append(bad, {"seconds": 1.0})
    with Results.writing(folder) as results, pytest.raises(ResultsError):
        results.append(record("x"), {"seconds": float("inf")})
    assert before == (
        (folder / "results.jsonl").read_bytes(),
        (folder / "times.jsonl").read_bytes(),
    )


@given(keys=st.permutations(["a", "b", "c", "d"]), others=st.permutations(["y", "z"]))
@settings(max_examples=10)
def test_settled_files_do_not_depend_on_the_order_of_work(tmp_path_factory, keys, others):
    folder = tmp_path_factory.mktemp("order")
    with Results.writing(folder) as results:
        for key in (*others, *keys):
            results.append(record(key), {"seconds": 1.0})
        results.settle(["d", "missing", "a", "b", "c"])
        assert list(results.keys) == ["d", "a", "b", "c", *others]
        results.append(record("later"), {})
    assert keys_of(folder) == ["d", "a", "b", "c", *others, "later"]
    assert list(read_results(folder).times()) == ["d", "a", "b", "c", *others, "later"]
    content = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    assert content[0] == module._encode(record("d"))


def test_settling_twice_touches_nothing(folder):
    with Results.writing(folder) as results:
        results.settle(sorted(KEYS))
        files = [(folder / name).stat() for name in ("results.jsonl", "times.jsonl")]
        results.settle(sorted(KEYS))
        again = [(folder / name).stat() for name in ("results.jsonl", "times.jsonl")]
    assert [(f.st_ino, f.st_mtime_ns) for f in files] == [(f.st_ino, f.st_mtime_ns) for f in again]
    assert sorted(os.listdir(folder)) == [".lock", "results.jsonl", "times.jsonl"]


def test_settling_drops_doubles_and_times_without_a_record(folder):
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join(lines[:2] + lines[:1]))
    with Results.writing(folder) as results:
        results.settle([])
    assert keys_of(folder) == KEYS[:2]
    assert list(read_results(folder).times()) == KEYS[:2]
    assert (folder / "results.jsonl").read_bytes() == b"".join(lines[:2])


def test_a_second_writer_is_refused_and_readers_are_not(folder):
    with Results.writing(folder) as first:
        with (
            pytest.raises(ResultsError, match="Another run is writing to"),
            Results.writing(folder),
        ):
            pass
        first.append(record("more"), {})
        assert keys_of(folder) == [*KEYS, "more"]
    with Results.writing(folder) as second:
        assert "more" in second


@pytest.mark.parametrize("place", ["file", "file/below", "folder"])
def test_a_place_that_cannot_be_written_is_an_error_of_one_line(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "results.jsonl").mkdir(parents=True)
    with pytest.raises(HannanError, match="cannot be") as caught, Results.writing(tmp_path / place):
        pass
    assert str(tmp_path / place) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no write permission there")
def test_a_folder_without_permission_is_an_error_of_one_line(tmp_path, monkeypatch):
    if os.geteuid() == 0:  # whom no permission stops

        def denied(*args, **kwargs):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(module.os, "open", denied)
    tmp_path.chmod(0o500)
    with pytest.raises(ResultsError, match=r"written to .*: Permission denied"):
        Results.writing(tmp_path).__enter__()


def test_a_full_disk_leaves_no_half_line(folder, monkeypatch):
    before = (folder / "results.jsonl").read_bytes(), (folder / "times.jsonl").read_bytes()
    write, calls = os.write, []

    def half(file, line):
        calls.append(line)
        if len(calls) == 1:
            return write(file, line[: len(line) // 2])
        raise OSError(28, "No space left on device")

    with Results.writing(folder) as results:
        monkeypatch.setattr(module.os, "write", half)
        with pytest.raises(ResultsError, match="No space left on device"):
            results.append(record("x"), {})
        monkeypatch.undo()
        assert before == (
            (folder / "results.jsonl").read_bytes(),
            (folder / "times.jsonl").read_bytes(),
        )
        results.append(record("x"), {})
    assert keys_of(folder) == [*KEYS, "x"]


def test_a_file_system_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def unsupported(*args):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert keys_of(fill(tmp_path)) == KEYS
