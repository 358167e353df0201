"""The journal of a `Decider`: a file to which every call is written before it takes effect."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hannan.core import DamagedFileError, ParameterError, StorageError
from hannan.core.storage import container
from hannan.decisions import records

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

EVERY = 10_000  # calls after which a new snapshot is written

Call = list[Any]


class Journal:
    """A file with a snapshot and a line for each call since, written before the call takes effect.

    Only one process at a time can open the journal. It holds a lock on a file next to the journal,
    which ends with the process.

    Parameters
    ----------
    path
        Path of the journal.
    fsync
        Whether a call returns only after its line is on the disk. If False, the lines survive a
        killed process, but a machine that loses power may lose the last calls.
    every
        Number of calls after which a new snapshot replaces the old one and its lines.
    """

    def __init__(self, path: str | os.PathLike[str], fsync: bool, every: int) -> None:
        self._broken: str | None = None
        self.path = Path(os.path.realpath(path))
        self.fsync, self.every = fsync, every
        self._owner = (
            os.getpid()
        )  # locks are shared with copies of the process, which must not write
        self._file = self._lock = -1
        self._lock = self._locked()
        self._size = self._before = 0  # bytes, and those before the last line
        self._check = self._check_before = 0
        self._calls = 0

    # Reading ------------------------------------------------------------------------------------

    def go_on(self, torn: int, check: int, calls: int) -> None:
        """Continue an existing file after its calls; its last `torn` bytes are incomplete."""
        self._open()
        size = os.fstat(self._file).st_size - torn
        self._size = self._before = size
        self._check = self._check_before = check
        self._calls = calls
        if torn:
            self._cut(size, check)
            self.check_usable()

    # Writing ------------------------------------------------------------------------------------

    def begin(self, parts: Sequence[bytes | memoryview]) -> None:
        """Replace the file atomically by a snapshot, to which calls are then appended."""
        container.write(self.path, parts)
        self._sync_folder()
        self._open()
        self._size = self._before = sum(map(len, parts))
        self._check = self._check_before = start(parts[-1])
        self._calls = 0

    def append(self, call: Call) -> None:
        """Write a call; if this fails, raise `StorageError` and leave the file unchanged."""
        self.check_usable()
        text, check = records.line(call, self._check)
        try:
            left = memoryview(text)
            while left:
                left = left[os.write(self._file, left) :]
            if self.fsync:
                _sync(self._file)
        except OSError as error:
            self._cut(self._size, self._check)
            raise StorageError(
                f"The journal {self.path} cannot be written: {error.strerror}. The call had no "
                "effect."
            ) from None
        except BaseException:
            self._broken = "a call was interrupted while it was written"
            raise
        self._before, self._check_before = self._size, self._check
        self._size += len(text)
        self._check = check
        self._calls += 1

    def take_back(self) -> None:
        """Remove the last call, which has failed."""
        self._calls -= 1
        self._cut(self._before, self._check_before)

    @property
    def due(self) -> bool:
        """Whether it is time for a new snapshot."""
        return self._calls >= self.every

    def put_off(self) -> None:
        """Postpone a snapshot that could not be written; lines are still appended."""
        self._calls = 0

    def check_usable(self) -> None:
        """Raise `StorageError` if the journal cannot be written."""
        if self._broken is not None:
            raise StorageError(
                f"The journal {self.path} can no longer be written: {self._broken}. All completed "
                "calls are saved; reopen the journal with Decider.open(path)."
            )
        if os.getpid() != self._owner:
            raise StorageError(
                f"Only the process that opened the journal {self.path} can write it; this is a "
                "fork of that process. Open the journal in the process that decides."
            )

    def close(self) -> None:
        """Close the file and release the lock."""
        for file in (self._file, self._lock):
            if file >= 0:
                os.close(file)
        self._file = self._lock = -1
        self._broken = self._broken or "it was closed"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which cannot write."""
        broken = self._broken or "this is a copy of the Decider that writes it"
        return {**vars(self), "_file": -1, "_lock": -1, "_broken": broken}

    def __del__(self) -> None:
        if self._owner == os.getpid():
            self.close()

    # Parts --------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            self._broken = f"it cannot be opened, {error.strerror}"
            raise StorageError(f"{self.path} cannot be opened: {error.strerror}.") from None

    def _cut(self, size: int, check: int) -> None:
        try:
            os.ftruncate(self._file, size)
            if self.fsync:
                _sync(self._file)
        except OSError as error:
            self._broken = f"its last line could not be removed, {error.strerror}"
        else:
            self._size = self._before = size
            self._check = self._check_before = check

    def _sync_folder(self) -> None:
        if not self.fsync or not hasattr(os, "O_DIRECTORY"):
            return
        with suppress(OSError):  # not every file system can
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _locked(self) -> int:
        beside = self.path.with_name(self.path.name + ".lock")
        try:
            file = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            reason = error.strerror
            if not self.path.parent.is_dir():
                reason = f"the folder {self.path.parent} does not exist"
            raise StorageError(f"{beside} cannot be written: {reason}.") from None
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                raise StorageError(
                    f"The journal {self.path} is in use by another process, or by another Decider "
                    "of this process. Close it there first. To read a copy, use hannan.load(path)."
                ) from None
        return file


def start(mark: bytes | memoryview) -> int:
    """Return the checksum before the first line, which ties the lines to their snapshot."""
    return zlib.crc32(mark)


def calls_in(tail: bytes, check: int, path: str) -> list[tuple[Call, int, int]]:
    """Return the calls after a snapshot, each with its end in `tail` and its checksum.

    An incomplete last line is left out: its process was killed before the call returned. An invalid
    line with complete lines after it raises `DamagedFileError`.
    """
    found: list[tuple[Call, int, int]] = []
    used = 0
    while used < len(tail):
        end = tail.find(b"\n", used)
        read = None if end < 0 else records.call(tail[used:end], check)
        if read is None:
            rest = tail[end + 1 :] if end >= 0 else b""
            if any(_whole(one) for one in rest.split(b"\n")[:-1]):
                raise DamagedFileError(
                    f"{path} is damaged: line {len(found) + 1} after its snapshot does not match "
                    "its checksum, and more lines follow. Restore the file from a backup."
                )
            break
        call, check = read
        used = end + 1
        found.append((call, used, check))
    return found


def check_every(every: Any) -> int:
    """Check the number of calls after which a snapshot is written."""
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ParameterError(f"every= must be a number of calls, at least 1; got {every!r}.")
    return every


def _whole(line: bytes) -> bool:
    """Return whether this looks like a complete line, which no interrupted write leaves behind."""
    return len(line) > 11 and line[8:10] == b" [" and line[-1:] == b"]"


def _sync(file: int) -> None:
    getattr(os, "fdatasync", os.fsync)(file)
