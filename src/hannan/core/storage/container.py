"""The frame of a file: its magic number, its lengths and its checksum.

====================  ============================================================
8 bytes               magic
8 bytes               version of this frame, little-endian
8 bytes               length of the whole file
8 bytes               length of the head
the head              JSON in UTF-8: a tree, and the place of each array in the body
the body              arrays, each from a multiple of 64 bytes on
32 bytes              BLAKE2b of everything before
====================  ============================================================
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hannan.core.errors import (
    DamagedFileError,
    InputTypeError,
    NewerFileError,
    StorageError,
    TruncatedFileError,
)

try:
    import fcntl
except ImportError:  # Windows has no such locks, and leftover files stay
    fcntl = None  # type: ignore[assignment]

MAGIC = b"\x93HANNAN\n"
FRAME = 1
_LENGTHS = struct.Struct("<QQQ")
_START = len(MAGIC) + _LENGTHS.size
DIGEST = 32
_ALIGN = 64
_MOMENT = 1.0  # seconds until a save has locked the file that it writes


def place(size: int, used: int) -> tuple[int, int]:
    """Return where in the body an array of this size starts and ends."""
    start = -(-used // _ALIGN) * _ALIGN
    return start, start + size


def pack(head: dict[str, Any], body: Sequence[memoryview]) -> list[bytes | memoryview]:
    """Return the content of a file, in parts."""
    text = json.dumps(head, separators=(",", ":"), allow_nan=True).encode()
    parts: list[bytes | memoryview] = [b"", text, bytes(-len(text) % _ALIGN)]
    used = 0
    for array in body:
        start, end = place(len(array), used)
        parts += [bytes(start - used), array]
        used = end
    total = _START + sum(map(len, parts)) + DIGEST
    parts[0] = MAGIC + _LENGTHS.pack(FRAME, total, len(text))
    digest = hashlib.blake2b(digest_size=DIGEST)
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def content_of(path: str | os.PathLike[str]) -> memoryview:
    """Return all bytes of a file."""
    source = _checked(path)
    try:
        _refuse_special(source)
        return memoryview(source.read_bytes())
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from None


def split(content: memoryview) -> tuple[memoryview, memoryview]:
    """Return the framed part of the content and the rest, which holds a journal."""
    total = len(content)
    if bytes(content[: len(MAGIC)]) == MAGIC and total >= _START:
        _, total, _ = _LENGTHS.unpack(content[len(MAGIC) : _START])
    return content[:total], content[total:]


def unpack(content: memoryview, path: str) -> tuple[dict[str, Any], memoryview]:
    """Return the head and the body of a file's content."""
    known = bytes(content[: len(MAGIC)])
    if known != MAGIC[: len(known)] or not known:
        raise DamagedFileError(
            f"{path} is not a file of Hannan: it does not start with Hannan's signature."
        )
    if len(content) < _START:
        raise TruncatedFileError(f"{path} ends within its first {_START} bytes.")
    frame, total, length = _LENGTHS.unpack(content[len(MAGIC) : _START])
    if len(content) < total and frame <= FRAME:
        raise TruncatedFileError(
            f"{path} has been cut off: it has {len(content)} of its {total} bytes."
        )
    found = hashlib.blake2b(content[:-DIGEST], digest_size=DIGEST).digest()
    if found != content[-DIGEST:]:
        raise DamagedFileError(
            f"{path} is damaged or was changed: its checksum does not match. Restore a backup."
        )
    if frame > FRAME:
        raise NewerFileError(
            f"{path} was written by a newer version of Hannan (frame {frame}; this one reads up "
            f"to {FRAME}): upgrade to read it."
        )
    inside = content[_START:-DIGEST]
    if frame < 1 or len(content) != total or length > len(inside):
        raise DamagedFileError(f"{path} is damaged: its lengths do not add up.")
    try:
        head = json.loads(bytes(inside[:length]))
    except (ValueError, RecursionError):
        raise DamagedFileError(f"{path} is damaged: its head is not JSON.") from None
    if not isinstance(head, dict):
        raise DamagedFileError(f"{path} is damaged: its head is not a table.")
    start, _ = place(0, length)
    return head, inside[start:]


def write(path: str | os.PathLike[str], parts: Sequence[bytes | memoryview]) -> None:
    """Write a file in one step: readers see the old file or the new one, never a part of it."""
    path = _checked(path)
    target = Path(os.path.realpath(path))  # a link keeps its target
    new = _beside(target)
    try:
        _refuse_special(target)
        _remove_leftovers(target)
        with open(new, "xb", opener=_for_us_alone) as file:
            with suppress(OSError):  # not every file system has locks
                _lock(file.fileno())
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            _take_over(target, new)
            if fcntl is None:
                file.close()  # Windows does not rename open files
            os.replace(new, target)
    except OSError as error:
        reason = error.strerror
        if not target.parent.is_dir():
            reason = f"there is no folder {path.parent}"
        raise StorageError(f"{path} cannot be written: {reason}.") from None
    finally:
        with suppress(OSError):
            new.unlink()


def _refuse_special(path: Path) -> None:
    """Raise an `OSError` if the path is a device, a pipe or a folder."""
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")


def _for_us_alone(path: str, flags: int) -> int:
    """Open a file that only its owner can read until it is complete."""
    return os.open(path, flags, 0o600)


def _take_over(target: Path, new: Path) -> None:
    """Copy the mode and the owner of the replaced file, or of any new file, to the new file."""
    try:
        old = target.stat()
    except FileNotFoundError:
        usual = _beside(target)  # reading the umask would change it for a moment
        with usual.open("xb"):
            old = usual.stat()
        usual.unlink()
    with suppress(OSError, AttributeError):  # not every user may, and not every system can
        os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode))  # the same users may read the new file


def _remove_leftovers(target: Path) -> None:
    """Remove leftover files of killed saves, whose locks the system has released."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}")
    beside = [] if fcntl is None else list(target.parent.iterdir())
    for left in beside:
        if name.fullmatch(left.name) and left.is_file() and not left.is_symlink():
            with suppress(OSError), left.open("rb") as file:
                _lock(file.fileno())  # fails while another save writes this file
                if time.time() - left.stat().st_mtime > _MOMENT:
                    left.unlink()


def _lock(file: int) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputTypeError(f"path= must name a file, as a string or a Path; got {path!r}.")
    return Path(path)
