"""Finished cells on disk, one line each; a killed process never leaves a corrupt file."""

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
"""Format of the lines written here; a line with a higher number raises `ResultsError`."""

Record = dict[str, Any]


class ResultsError(HannanError, ValueError):
    """Raised if results cannot be read or written."""


class Results:
    """Results of a run: `results.jsonl`, which is reproducible, and `times.jsonl`, which is not.

    A line is one record as canonical JSON with its format and the CRC-32 of the bytes before it.
    Lines are only appended, each by one write that is then forced to disk, times before record. So
    a killed process loses at most the unfinished record and leaves at most one incomplete line at
    the end. Readers ignore this line, and the next writer removes it. Any other damaged line raises
    `ResultsError`. Reading needs no lock. If a key occurs twice, its first record counts. Its last
    times count, because the earlier ones belong to an unfinished record.
    """

    def __init__(self, folder: str | Path, name: str = "results.jsonl") -> None:
        self.folder = Path(folder)
        self.path = self.folder / name
        self.times_path = self.folder / "times.jsonl"
        self._keys = dict.fromkeys(record["key"] for record, _ in _lines(self.path))

    @classmethod
    @contextmanager
    def writing(cls, folder: str | Path) -> Iterator[Results]:
        """Open the results in a folder for this process alone to append to.

        The folder is created if it does not exist. If the folder cannot be written or another
        process has opened it, the method raises `ResultsError`.
        """
        folder = Path(folder)
        with _explained(f"Results cannot be written to {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _hold(lock, folder)
            results = cls(folder)
            results.times()  # a damaged file raises now rather than after hours
            with _explained(f"Results cannot be written to {folder}"):
                _cut_torn_tail(results.path)
                _cut_torn_tail(results.times_path)
            yield results
        finally:
            os.close(lock)  # also releases the lock

    @property
    def keys(self) -> KeysView[str]:
        """Keys of all records, in the order of the file."""
        return self._keys.keys()

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def records(self, keys: Iterable[str] | None = None) -> list[Record]:
        """Return all records in the order of the file, or those of `keys` in the given order."""
        found: dict[str, Record] = {}
        for record, _ in _lines(self.path):
            found.setdefault(record["key"], record)
        return [found[key] for key in (found if keys is None else keys) if key in found]

    def times(self) -> dict[str, Record]:
        """Return the times of each key."""
        return {times["key"]: times for times, _ in _lines(self.times_path)}

    def append(self, record: Record, times: Record) -> None:
        """Append a finished cell unless its key is stored; the cell is on disk on return."""
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
        """Sort the files: the records of the keys in `order` first, then all others.

        After sorting, the bytes of `results.jsonl` do not depend on the order in which the cells
        finished. Each file is replaced atomically, or not touched if its content stays equal.
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
    """Read the results at a path: their folder, or the file with the records itself."""
    path = Path(path)
    found = path / "results.jsonl" if path.is_dir() else path
    if not found.is_file():
        raise ResultsError(f"There are no results at {path}: the file results.jsonl is missing.")
    return Results(found.parent, found.name)


def _encode(record: Record) -> bytes:
    """Encode a record as a line; the checksum at the end covers the bytes before it."""
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
    """Decode the record of a line; return None if the line is damaged."""
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
    """Yield the records of a file with their lines, without an incomplete line at the end."""
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
                    f"Line {number} of {path} is damaged (checksum mismatch). Restore the file "
                    "from a backup, or delete the line to run this cell again."
                )
            if (version := record.pop("format", 0)) > FORMAT:
                raise ResultsError(
                    f"Line {number} of {path} has format {version}, and this version of hannan "
                    f"reads formats up to {FORMAT}. Use the newer version that wrote it."
                )
            yield record, line


def _add(path: Path, line: bytes) -> None:
    """Append a line to a file and force it to disk; on any error, restore the file."""
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
    """Replace the content of a file atomically."""
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
    """Remove a line that a killed process did not finish; create the file if it is missing."""
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
    """Lock an open file; the operating system releases the lock when this process ends."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Other errors come from file systems without locks: writing without a lock is better there.
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise ResultsError(
                f"Another run is writing to {folder}. Wait until it ends, or choose another folder."
            ) from None


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn an `OSError` into a `ResultsError` with a message of one line."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{what}: {error.strerror or error}.") from error
