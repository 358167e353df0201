"""Data files that somebody made to hurt: refused by our errors, in little memory and time."""

from __future__ import annotations

import gzip
import struct
import time
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from examples.worlds.road_files import read_edges, read_tntp

import hannan as hn
from hannan.cli import main
from hannan.environments import FromFile, FromLog
from tests.for_each import for_each

MIB = 2**20


@contextmanager
def cheaply(megabytes=80, seconds=10.0):
    """What happens inside takes so much more memory, and time, at most."""
    before = resident()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds
    assert resident() - before < megabytes * MIB


def resident() -> int:
    """The most memory that this process has held, in bytes; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


@contextmanager
def at_most_our_errors():
    """No other exception, and no message that fills the screen."""
    message = ""
    try:
        yield
    except hn.HannanError as error:
        message = str(error)
    assert len(message) < 1500


def packed(path, start: bytes, filling: bytes, size: int):
    """A file that unpacks to a beginning and `size` bytes of filling."""
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(start)
        block = filling * (MIB // len(filling))
        for _ in range(size // MIB):
            stream.write(block)
    return path


READERS = {
    "x.csv.gz": lambda path, **more: FromFile(path, label="y", labels=[0, 1], **more).horizon,
    "x.jsonl.gz": lambda path, **more: FromFile(path, label="y", labels=[0, 1], **more).horizon,
    "log.csv.gz": lambda path, **more: FromLog(path, action="y", loss="z", propensity=0.5, **more),
    "x.vw.gz": lambda path, **more: list(hn.adapters.read_vw(path, "cb", **more)),
    "y.vw.gz": lambda path, **more: hn.adapters.FromVW(path, "cb", **more),
    "x.dsjson.gz": lambda path, **more: list(hn.adapters.read_dsjson(path, **more)),
    "net.csv.gz": lambda path, **more: read_edges(path, **more),
    "net.tntp.gz": lambda path, **more: read_tntp(path, **more),
}
ROWS = {
    "x.csv.gz": (b"y,z\n", b"1,0\n"),
    "x.jsonl.gz": (b"", b'{"y":1}\n'),
    "log.csv.gz": (b"y,z\n", b"1,0\n"),
    "x.vw.gz": (b"", b"1:0:1 |a b\n"),
    "y.vw.gz": (b"", b"1:0:1 |a b\n"),
    "x.dsjson.gz": (b"", b"not a record\n"),
    "net.csv.gz": (b"tail,head,length\n", b"1,2,3\n"),
    "net.tntp.gz": (b"", b"~\n"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_packed_file_of_short_rows_is_read_up_to_a_limit_that_is_named(name, tmp_path):
    file = packed(tmp_path / name, *ROWS[name], 2 * MIB)
    with (
        cheaply(),
        pytest.raises(
            hn.ParameterError, match=r"more than 100,000 bytes\. If .* pass a larger max"
        ),
    ):
        READERS[name](file, max_unpacked=100_000)


@pytest.mark.parametrize("name", READERS)
def test_a_packed_file_of_one_endless_row_is_refused(name, tmp_path):
    """64 MiB in 64 kB, as a file of 8.9 MB may unpack to 4.3 GB."""
    file = packed(tmp_path / name, b"", b"9", 64 * MIB)
    with cheaply(), pytest.raises(hn.HannanError, match=r"max_(columns|round|unpacked)"):
        READERS[name](file)


def test_a_zip_is_read_up_to_a_limit_whatever_it_says_of_itself(tmp_path):
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", b"y,z\n" + b"1,0\n" * (32 * MIB // 4))
    with cheaply(), pytest.raises(hn.ParameterError, match="more than 16,777,216"):
        FromFile(file, label="y", labels=[0, 1])
    content = bytearray(file.read_bytes())
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # a size that is a lie
        place = content.rindex(mark) + at
        content[place : place + 4] = struct.pack("<I", 1000)
    file.write_bytes(content)
    with cheaply(), at_most_our_errors():
        assert FromFile(file, label="y", labels=[0, 1]).horizon <= 250
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "y\n1\n")
        archive.writestr("b.csv", "y\n1\n")
    with pytest.raises(hn.ParameterError, match="must hold one file; it has 2"):
        FromFile(file, label="y")
    file.write_bytes(b"PK no archive")
    with pytest.raises(hn.ParameterError, match="cannot be read"):
        FromFile(file, label="y")


def test_the_limit_can_be_raised_and_ordinary_files_do_not_meet_it(tmp_path):
    file = packed(tmp_path / "net.tntp.gz", b"", b"~" * 1023 + b"\n", 20 * MIB)
    with pytest.raises(hn.ParameterError, match="more than 16,777,216"):
        read_tntp(file)
    with pytest.raises(hn.ParameterError, match="holds no links"):
        read_tntp(file, max_unpacked=30 * MIB)
    with pytest.raises(hn.ParameterError, match="'max_unpacked' parameter"):
        read_tntp(file, max_unpacked=0)
    days = tmp_path / "days.csv.gz"
    with gzip.open(days, "wt") as stream:
        stream.write("y,z\n" + "1,0\n0,1\n" * 100)
    assert FromFile(days, label="y", context=["z"]).horizon == 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_a_header_of_200_000_columns_is_refused_unless_it_is_wanted(name, tmp_path):
    names = [f"c{i}" for i in range(200_000)]
    if name == "x.csv":
        text = ",".join(names) + "\n" + ",".join(["1"] * 200_000) + "\n"
    else:
        text = "{" + ",".join(f'"{name}":1' for name in names) + "}\n"
    (tmp_path / name).write_text(text * 1, encoding="utf-8")
    with cheaply(150), pytest.raises(hn.ParameterError, match="200,000 columns, more than max_col"):
        FromFile(tmp_path / name, label="c0")
    with cheaply(300):
        wide = FromFile(
            tmp_path / name, label="c0", context=names[1:], max_columns=200_000, scale=None
        )
        (only,) = wide.rounds(1, np.random.default_rng(0))
    assert only.context.shape == (199_999,)


@pytest.mark.slow
def test_wide_rows_come_in_smaller_batches(tmp_path):
    """4096 rows of 10,000 columns at a time would be gigabytes."""
    names = [f"c{i}" for i in range(5000)]
    row = ",".join(["12"] * 5000) + "\n"
    (tmp_path / "x.csv").write_text(",".join(names) + "\n" + row * 1500, encoding="utf-8")
    with cheaply(100):
        assert FromFile(tmp_path / "x.csv", label="c0", labels=[12]).horizon == 1500


def test_a_row_of_many_lines_is_refused_like_a_long_one(tmp_path):
    (tmp_path / "x.csv").write_text("y,z\n" + '"\n",' * 100_000 + "\n", encoding="utf-8")
    with cheaply(), pytest.raises(hn.ParameterError, match="a row of more than 2,048 characters"):
        FromFile(tmp_path / "x.csv", label="y", max_columns=2)


def test_columns_that_hold_text_are_found_in_bounded_time(tmp_path, capsys):
    names = ",".join(f"c{i}" for i in range(9_999)) + ",y"
    row = ",".join(["a"] * 9_999) + ",1\n"
    (tmp_path / "x.csv").write_text(names + "\n" + row * 3 + row[:-2] + "0\n", encoding="utf-8")
    with cheaply(300):
        assert main(["replay", str(tmp_path / "x.csv"), "--label", "y", "--json"]) == 0
    (tmp_path / "x.csv").write_text(names + ",more\n", encoding="utf-8")
    assert main(["replay", str(tmp_path / "x.csv"), "--label", "y"]) == 2
    assert "10,001 columns" in capsys.readouterr().err


HUGE = ["9" * 400, "9" * 5000, "-" + "9" * 400, "1e400", "nan", "inf", "0x1", "1_0", "٣", ""]


@for_each("value", HUGE)
@for_each("ending", [".csv", ".jsonl", ".jsonl-text"])
@pytest.mark.parametrize("way", ["label", "losses", "context", "categorical", "action", "replay"])
def test_labels_and_numbers_of_any_length_meet_our_errors_only(value, ending, way, tmp_path):
    file = tmp_path / f"x{ending.removesuffix('-text')}"
    cell = f'"{value}"' if ending == ".jsonl-text" else value
    if ending == ".csv":
        file.write_text(f"a,b,p\n1,2,0.5\n{value},1,0.5\n", encoding="utf-8")
    else:
        file.write_text(
            f'{{"a":1,"b":2,"p":0.5}}\n{{"a":{cell},"b":1,"p":0.5}}\n', encoding="utf-8"
        )
    calls = {
        "label": lambda: FromFile(file, label="a", context=["b"]),
        "losses": lambda: FromFile(file, losses=["a", "b"]),
        "context": lambda: FromFile(file, label="b", context=["a"]),
        "categorical": lambda: FromFile(file, label="b", context=["a"], categorical=["a"]),
        "action": lambda: FromLog(file, action="a", loss="p", propensity="p"),
    }
    if way == "replay":
        assert main(["replay", str(file), "--label", "a", "--learner", "FollowTheLeader"]) in (0, 2)
        return
    with at_most_our_errors():
        world = calls[way]()
        for this_round in world.rounds(world.horizon, np.random.default_rng(0)):
            this_round.reveal(0)


def test_classes_of_400_digits_are_told_apart(tmp_path):
    (tmp_path / "x.jsonl").write_text(
        "".join(f'{{"y":{"9" * 400}{last}}}\n' for last in "121"), encoding="utf-8"
    )
    world = FromFile(tmp_path / "x.jsonl", label="y")
    assert world.n_actions == 2
    rounds = list(world.rounds(3, np.random.default_rng(0)))
    assert [this_round.reveal(0)[0] for this_round in rounds] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 100_000, '{"y":' + "[" * 100_000])
def test_deep_json_is_refused_with_its_row(line, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"y":1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(hn.ParameterError, match=r"Row 2 of .* (deep|JSON)"):
        FromFile(tmp_path / "x.jsonl", label="y")


@pytest.mark.parametrize("content", [
    b"\x1f\x8b", b"\x1f\x8b\x08" + b"\0" * 20, gzip.compress(b"y\n1\n", mtime=0)[:-9], b"\xff" * 50,
    gzip.compress(b"\xff\xfe\x00", mtime=0), gzip.compress(b'"' * 200_000, mtime=0), b"\0" * 100,
    b"",
])  # fmt: skip
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_meet_our_errors_only(content, name, tmp_path):
    (tmp_path / name).write_bytes(content)
    with at_most_our_errors():
        READERS[name](tmp_path / name)


def test_nodes_and_zones_without_end_are_not_listed(tmp_path):
    file = tmp_path / "net.tntp"
    file.write_text(f"<FIRST THRU NODE> {10**4000}\n<END OF METADATA>\n1 2 9 1 1 1 4 ;\n")
    with cheaply():
        assert read_tntp(file).zones == {1, 2}
    for node in ("inf", "nan", "1e400"):
        file.write_text(f"{node} 2 9 1 1 1 4 ;\n")
        with pytest.raises(hn.ParameterError, match="node that is no number"):
            read_tntp(file)
