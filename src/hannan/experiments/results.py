"""Finished cells on disk: one line each, and never a corrupt file, whenever the process dies."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, KeysView
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from hannan.core.errors import HannanError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = 1
"""Of the lines written here; lines with a higher number are refused by name."""

Record = dict[str, Any]


class ResultsError(HannanError, ValueError):
    """Results that cannot be read or written."""


class Results:
    """The results of a run: `results.jsonl` is reproducible, `times.jsonl` beside it is not.

    A line is one record as canonical JSON with its format and the CRC-32 of all that stands before
    it. Lines are only ever added, each by one write that is then forced to disk, times before
    record; so a killed process loses at most the record under way and leaves at most one torn line
    at the end, which readers ignore and the next writer cuts off. Any other line that is not as it
    was written is refused. Reading needs no lock. A key that occurs twice counts where it stands
    first; its times where they stand last, as the earlier ones belong to an unfinished record.
    """

    def __init__(self, folder: str | Path, name: str = "results.jsonl") -> None:
        self.folder = Path(folder)
        self.path = self.folder / name
        self.times_path = self.folder / "times.jsonl"
        self._keys = dict.fromkeys(record["key"] for record, _ in _lines(self.path))

    @classmethod
    @contextmanager
    def writing(cls, folder: str | Path) -> Iterator[Results]:
        """The results in a folder, which is made if need be, for this process alone to add to.

        A `ResultsError` of one line if the folder cannot be written or another process has it.
        """
        folder = Path(folder)
        with _explained(f"Results cannot be written to {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _hold(lock, folder)
            results = cls(folder)
            results.times()  # refused now if damaged, rather than after hours
            with _explained(f"Results cannot be written to {folder}"):
                _cut_torn_tail(results.path)
                _cut_torn_tail(results.times_path)
            yield results
        finally:
            os.close(lock)  # which also gives up the hold

    @property
    def keys(self) -> KeysView[str]:
        """Of all records, in the order of the file."""
        return self._keys.keys()

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def records(self, keys: Iterable[str] | None = None) -> list[Record]:
        """All records in the order of the file, or those of these keys in the order given."""
        found: dict[str, Record] = {}
        for record, _ in _lines(self.path):
            found.setdefault(record["key"], record)
        return [found[key] for key in (found if keys is None else keys) if key in found]

    def times(self) -> dict[str, Record]:
        """The times of each key."""
        return {times["key"]: times for times, _ in _lines(self.times_path)}

    def append(self, record: Record, times: Record) -> None:
        """Add a finished cell; it is on disk when this returns. A key is written once."""
        key = record.get("key")
        if not isinstance(key, str):
            raise ResultsError(f"A record needs a 'key', a string; got {key!r}.")
        if key in self._keys:
            return
        line, timed = _encode(record), _encode({**times, "key": key})
        with _explained(f"Results cannot be written to {self.folder}"):
            _add(self.times_path, timed)
            _add(self.path, line)
        self._keys[key] = None

    def settle(self, order: Iterable[str]) -> None:
        """Put the records of these keys first, in this order, and all others after them.

        Then the file of records is the same byte for byte whatever order they were finished in.
        Each file is replaced in one step, or left alone if nothing changes.
        """
        lines: dict[str, bytes] = {}
        for record, line in _lines(self.path):
            lines.setdefault(record["key"], line)
        timed = {times["key"]: line for times, line in _lines(self.times_path)}
        keys = dict.fromkeys([*(key for key in order if key in lines), *lines])
        with _explained(f"Results cannot be written to {self.folder}"):
            replace_file(self.times_path, b"".join(timed[key] for key in keys if key in timed))
            replace_file(self.path, b"".join(lines[key] for key in keys))
        self._keys = keys


def read_results(path: str | Path) -> Results:
    """The results at a path: their folder, or the file with the records itself."""
    path = Path(path)
    found = path / "results.jsonl" if path.is_dir() else path
    if not found.is_file():
        raise ResultsError(f"There are no results at {path}: it has no file results.jsonl.")
    return Results(found.parent, found.name)


def _encode(record: Record) -> bytes:
    """A record as a line; the checksum is written last, so that it covers the bytes before it."""
    try:
        text = json.dumps(
            {**record, "format": FORMAT}, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except (TypeError, ValueError) as error:
        raise ResultsError(f"Record {record.get('key')} cannot be stored: {error}.") from None
    body = text[:-1].encode("ascii")
    return body + b',"sum":"%08x"}\n' % crc32(body)


_TAIL = len(b',"sum":"01234567"}\n')


def _decode(line: bytes) -> Record | None:
    """The record of a line; None if it is not as it was written."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("key", ""), str):
        return None
    if isinstance(version := record.get("format"), int) and version > FORMAT:
        return record
    if line[-_TAIL:] != b',"sum":"%08x"}\n' % crc32(line[:-_TAIL]) or "key" not in record:
        return None
    del record["sum"]
    return record


def _lines(path: Path) -> Iterator[tuple[Record, bytes]]:
    """The records of a file with their lines, a torn one at the end left out."""
    with _explained(f"{path} cannot be read"):
        if not path.exists():
            return
        file = path.open("rb")
    with file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            record = _decode(line)
            if record is None:
                raise ResultsError(
                    f"Line {number} of {path} is damaged: it is not what was written there. Take "
                    "the file from a copy, or delete the line: its cell is then played again."
                )
            if (version := record.pop("format", 0)) > FORMAT:
                raise ResultsError(
                    f"Line {number} of {path} has format {version}, and this version of hannan "
                    f"reads formats up to {FORMAT}. Use the newer version that wrote it."
                )
            yield record, line


def _add(path: Path, line: bytes) -> None:
    """One line more at the end of a file, on disk; or, on any error, the file as it was."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
    try:
        size = os.fstat(file).st_size
        try:
            while line:  # once, unless the disk is full
                line = line[os.write(file, line) :]
            os.fsync(file)
        except BaseException:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def replace_file(path: Path, content: bytes) -> None:
    """A file with other content, in one step."""
    with _explained(f"{path} cannot be written"):
        with suppress(FileNotFoundError):
            if path.read_bytes() == content:
                return
        temporary = path.with_name(f".{path.name}.new")
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)


def _cut_torn_tail(path: Path) -> None:
    """Take back a line that a killed process did not finish, and make sure the file is there."""
    path.with_name(f".{path.name}.new").unlink(missing_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
        os.fsync(file.fileno())
    _sync_folder(path.parent)


_BINARY: int = getattr(os, "O_BINARY", 0)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # elsewhere folders cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _hold(lock: int, folder: Path) -> None:
    """Hold an open file alone; the system lets go of it when this process ends, however it ends."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Any other error is that of a file system without locks: better unguarded than nowhere.
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise ResultsError(
                f"Another run is writing to {folder}. Wait for its end, or choose another folder."
            ) from None


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Failures of the file system as one line."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{what}: {error.strerror or error}.") from error
