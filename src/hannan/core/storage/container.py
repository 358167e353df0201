"""The outside of a file: its frame, its length and its checksum.

====================  ============================================================
8 bytes               magic
8 bytes               version of this frame, little-endian
8 bytes               length of the whole file
8 bytes               length of the head
the head              JSON in UTF-8: a tree, and where in the body each array lies
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
except ImportError:  # there are no such locks on Windows, and leftovers stay
    fcntl = None  # type: ignore[assignment]

MAGIC = b"\x93HANNAN\n"
FRAME = 1
_LENGTHS = struct.Struct("<QQQ")
_START = len(MAGIC) + _LENGTHS.size
DIGEST = 32
_ALIGN = 64
_MOMENT = 1.0  # seconds in which a save has locked what it writes


def place(size: int, used: int) -> tuple[int, int]:
    """Where in the body an array of this size starts, and how much of it is used then."""
    start = -(-used // _ALIGN) * _ALIGN
    return start, start + size


def pack(head: dict[str, Any], body: Sequence[memoryview]) -> list[bytes | memoryview]:
    """The content of a file, in parts."""
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
    """All bytes of a file."""
    source = _checked(path)
    try:
        _refuse_special(source)
        return memoryview(source.read_bytes())
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from None


def split(content: memoryview) -> tuple[memoryview, memoryview]:
    """What the frame is about, and what comes after it: journals go on there."""
    total = len(content)
    if bytes(content[: len(MAGIC)]) == MAGIC and total >= _START:
        _, total, _ = _LENGTHS.unpack(content[len(MAGIC) : _START])
    return content[:total], content[total:]


def unpack(content: memoryview, path: str) -> tuple[dict[str, Any], memoryview]:
    """The head and the body of a file's content."""
    known = bytes(content[: len(MAGIC)])
    if known != MAGIC[: len(known)] or not known:
        raise DamagedFileError(
            f"{path} is not a file of Hannan: it does not start with its signature."
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
        raise DamagedFileError(f"{path} is damaged or was changed: its checksum does not match.")
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
    """Write a file in one step: there is the old one or the new one, never half of it."""
    path = _checked(path)
    target = Path(os.path.realpath(path))  # a link goes on leading to what it led to
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
                file.close()  # Windows does not rename what is open
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
    """What is there must be a file: not a device, a pipe or a folder."""
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no file but a device or a pipe")


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")


def _for_us_alone(path: str, flags: int) -> int:
    """Until a file is whole nobody else may read it."""
    return os.open(path, flags, 0o600)


def _take_over(target: Path, new: Path) -> None:
    """Give a new file the mode and the owner of the one it replaces, or those of any new file."""
    try:
        old = target.stat()
    except FileNotFoundError:
        usual = _beside(target)  # asking for the umask would change it for a moment
        with usual.open("xb"):
            old = usual.stat()
        usual.unlink()
    with suppress(OSError, AttributeError):  # not everyone may, and not every system can
        os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode))  # who may read it stays the same


def _remove_leftovers(target: Path) -> None:
    """Remove what saves left behind that were killed: their locks went with them."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}")
    beside = [] if fcntl is None else list(target.parent.iterdir())
    for left in beside:
        if name.fullmatch(left.name) and left.is_file() and not left.is_symlink():
            with suppress(OSError), left.open("rb") as file:
                _lock(file.fileno())  # fails while another save is at work
                if time.time() - left.stat().st_mtime > _MOMENT:
                    left.unlink()


def _lock(file: int) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputTypeError(f"path= is the name of a file, a string or a Path; got {path!r}.")
    return Path(path)
